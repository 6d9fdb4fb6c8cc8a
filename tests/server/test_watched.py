"""A server's connections while somebody watches: what is told is what passed."""

import asyncio
import contextlib
import gc
import json

import pytest

import mesero
from mesero.jsonrpc import encode_request
from mesero.transports import HttpFacts
from mesero.types import PROTOCOL_VERSION_KEY
from tests.transports.asgi_driver import Exchange
from tests.transports.children import until
from tests.transports.links import Link

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
META = {PROTOCOL_VERSION_KEY: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
CALL = encode_request(
    1, "tools/call", {"name": "slow", "arguments": {}, "_meta": META | {"progressToken": 1}}
)
HEADERS = {
    "host": "127.0.0.1:8000",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "slow",
}


class Links:
    """A recording that is a list, with one link for all connections."""

    def __init__(self):
        self.one = Link()
        self.opened = []

    def link(self, name, transport, target):
        self.opened.append((name, transport, target))
        return self.one


@pytest.fixture
def links():
    return Links()


def build_server(trace):
    server = mesero.Server("notes", trace=trace)

    @server.tool
    async def slow(ctx: mesero.Context) -> str:
        await ctx.report_progress(1, 2)
        return "done"

    @server.tool
    async def endless() -> str:
        await asyncio.Event().wait()

    return server


# --- streams ---


async def test_a_stream_is_told_line_by_line_as_it_passed(links):
    sent = []
    connection = build_server(links).connect(sent.append)
    for data in (PING[:10], PING[10:] + b"\nhello\n", b"unfinished"):
        connection.receive_bytes(data)
    connection.receive_eof()
    await connection.finish(5)
    await connection.aclose()
    await connection.aclose()
    assert links.opened == [("notes", "memory", "notes (memory)")]
    kinds = links.one.brief
    assert kinds[:4] == ["message c2s", "message c2s", "text c2s", "eof c2s"]
    assert kinds[-1] == "eof s2c"
    assert kinds.count("eof s2c") == 1
    answers = [event[2] for event in links.one.told if event[:2] == ("message", "s2c")]
    assert b"".join(answer + b"\n" for answer in answers) == b"".join(sent)
    assert len(answers) == 3


async def test_a_line_over_the_limit_is_told_by_its_beginning(links):
    server = mesero.Server("notes", trace=links, max_message_bytes=100)
    connection = server.connect(lambda data: None)
    connection.receive_bytes(b"x" * 300 + b"\n")
    await connection.aclose()
    assert links.one.brief == ["text c2s", "note", "message s2c", "eof c2s", "eof s2c"]


async def test_a_function_sees_the_messages_of_every_connection():
    seen = []
    server = build_server(lambda *what: seen.append(what))
    for _ in range(2):
        async with mesero.Client(server, discover=False) as client:
            await client.call_tool("slow")
    assert [direction for direction, _, _ in seen] == ["c2s", "s2c"] * 2


def test_without_anybody_who_watches_a_connection_is_a_plain_one():
    server = mesero.Server("notes")
    assert type(server.connect(print)).__name__ == "StreamConnection"
    assert server.asgi().tap is None


async def test_a_file_is_closed_with_its_server(tmp_path):
    server = mesero.Server("notes", trace=tmp_path / "a.jsonl")
    recorder = server._recorder
    async with mesero.Client(server):
        pass
    del server
    await until(lambda: gc.collect() and recorder.error is not None)
    assert json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])["links"]["1"]["name"] == "notes"


# --- HTTP ---


async def test_a_request_is_told_with_its_answer(links):
    app = build_server(links).asgi()
    await Exchange(app, chunks=[CALL[:20], CALL[20:]], headers=HEADERS).run()
    await Exchange(app, body=PING, headers=HEADERS | {"accept": "application/json"}).run()
    assert links.opened == [("notes", "http", "/mcp")]
    assert links.one.brief == [
        "message c2s 1 POST",
        "http s2c 1 200",
        "message s2c 1 200 event",
        "message s2c 1 200 event",
        "eof s2c 1",
        "message c2s 2 POST",
        "message s2c 2 400",
    ]
    asked = links.one.told[0]
    assert asked[2] == CALL
    assert asked[3].url == "http://127.0.0.1:8000/mcp"
    assert ("mcp-name", "slow") in asked[3].headers


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ({"path": "/elsewhere", "body": b"abc"}, ["http c2s 1 POST", "http s2c 1 404"]),
        ({"method": "OPTIONS"}, ["http c2s 1 OPTIONS", "message s2c 1 405"]),
        ({"headers": {"host": "evil.example"}, "body": PING}, ["http c2s 1 POST", "message s2c 1 421"]),
    ],
)
async def test_what_is_refused_before_it_is_read_is_told(links, request_, told):
    await Exchange(build_server(links).asgi(), **request_).run()
    assert links.one.brief == told


async def test_a_client_that_leaves_ends_its_exchange(links):
    call = CALL.replace(b'"slow"', b'"endless"')
    exchange = Exchange(build_server(links).asgi(), body=call, headers=HEADERS | {"mcp-name": "endless"})
    exchange.start()
    await until(lambda: links.one.told)
    exchange.disconnect()
    await asyncio.wait_for(exchange.task, 10)
    assert links.one.brief[0] == "message c2s 1 POST"
    assert links.one.brief[-1] == "eof c2s 1"


async def test_a_header_that_came_twice_is_told_twice(links):
    pairs = [*HEADERS.items(), ("x-tag", "a"), ("x-tag", "b")]
    await Exchange(build_server(links).asgi(), body=CALL, headers=pairs).run()
    http = links.one.told[0][3]
    assert isinstance(http, HttpFacts)
    assert [pair for pair in http.headers if pair[0] == "x-tag"] == [("x-tag", "a"), ("x-tag", "b")]


async def test_the_end_of_the_application_is_no_request(links):
    app = build_server(links).asgi()
    events = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive():
        return events.pop(0)

    async def send(event):
        pass

    with contextlib.suppress(IndexError):
        await app({"type": "lifespan"}, receive, send)
    assert links.one.told == []
