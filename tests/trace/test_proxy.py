"""The proxy: what passes is the same as without it, and what belongs together is recorded together."""

import asyncio
import contextlib
import gzip
import io
import json
import os
import signal
import subprocess
import sys

import aiohttp
import pytest
from yarl import URL

import mesero
from mesero.audit import audit
from mesero.demo.notes import server as notes
from mesero.errors import UsageError
from mesero.trace.format import HttpLine, MessageLine
from mesero.trace.proxy import Proxy, open_proxy, parse_listen, run_proxy
from mesero.trace.reader import TraceReader, open_file
from tests.http_serving import serving
from tests.peers.conftest import sdk_python  # noqa: F401 - a fixture
from tests.peers.our_server import build_server
from tests.peers.test_sdk_client import run

CANARY = "canary-5eCr3t-value"
WITHIN_S = 30
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


class Told(list):
    """Stands for a scribe: keeps what it is told."""

    def tell(self, event, *values, bulk=0):
        self.append((event, *values))

    def of(self, name):
        return [one[1:] for one in self if one[0] == name]


class Upstream:
    """A server that gets whole requests and answers with the bytes of a test, piece by piece."""

    def __init__(self):
        self.requests = []
        self.pieces = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"]
        self.hung_up = asyncio.Event()
        self.go_on = asyncio.Event()

    async def serve(self, reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            body = await reader.readexactly(int(length[0].partition(b":")[2])) if length else b""
            self.requests.append((head, body))
            for piece in self.pieces:
                if piece is None:
                    await self.go_on.wait()
                    continue
                writer.write(piece)
                await writer.drain()
            if self.pieces[-1] is None:
                await reader.read(1)
                self.hung_up.set()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    def header(self, name):
        found = [line for line in self.requests[-1][0].split(b"\r\n") if line.lower().startswith(name + b":")]
        return [line.partition(b":")[2].strip() for line in found]


@pytest.fixture
async def upstream():
    server = Upstream()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp"
    yield server
    server.go_on.set()
    listener.close()
    await listener.wait_closed()


@contextlib.asynccontextmanager
async def proxied(url, **settings):
    """A proxy in this process; its URL, what it told, what it said to people."""
    told, said = Told(), []
    proxy = Proxy(URL(url, encoded=True), told, complain=said.append, **settings)
    async with asyncio.timeout(WITHIN_S), open_proxy(proxy, "127.0.0.1", 0) as own:
        yield own, told, said


async def until(condition):
    while not condition():  # noqa: ASYNC110  (no event tells of it; the test has a time limit)
        await asyncio.sleep(0.01)


async def exchange(url, request):
    """Send bytes as they are; all that comes back until the end."""
    address = URL(url)
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(request)
    data = await reader.read()
    writer.close()
    return data


def request_of(url, *headers, method="POST", path="/mcp", body=PING):
    head = [f"{method} {path} HTTP/1.1", f"Host: {URL(url).authority}", "Connection: close", *headers]
    return "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body


async def test_headers_and_bodies_pass_as_they_are(upstream):
    upstream.pieces = [
        b"HTTP/1.1 203 Very Well\r\nX-One: 1\r\nX-Two: a\r\nX-Two: b\r\nContent-Length: 5\r\n\r\n[1,2]"
    ]
    body = b'{"jsonrpc" : "2.0",\r\n "id":1, "method":"\xc3\xa4"}'
    async with proxied(upstream.url) as (url, told, _):
        got = await exchange(url, request_of(url, "X-Odd:  spaced out ", "x-odd: again", body=body))
    head, _, answer = got.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 203 Very Well\r\n")
    assert answer == b"[1,2]"
    assert [line for line in head.split(b"\r\n") if line.startswith(b"X-")] == [
        *(b"X-One: 1", b"X-Two: a", b"X-Two: b")
    ]
    # Nothing is added that the server did not send.
    assert not [line for line in head.split(b"\r\n") if line.startswith((b"Server", b"Date", b"Content-T"))]
    assert upstream.requests[0][1] == body
    assert upstream.header(b"x-odd") == [b"spaced out", b"again"]
    assert upstream.header(b"host") == [URL(upstream.url).authority.encode()]
    assert not upstream.header(b"user-agent")
    assert not upstream.header(b"accept-encoding")
    assert told.of("message")[0][1] == body
    assert told.of("message")[0][2]["headers"]["x-odd"] == ["spaced out", "again"]
    assert told.of("message")[1][2]["status"] == 203


async def test_events_pass_one_by_one(upstream):
    upstream.pieces = [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
        b'id: 7\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\n',
        None,
        b"retry: 10\ndata: \n\n",
        b'event: other\ndata: {"jsonrpc":"2.0",\ndata: "id":1,"result":{}}\n\n',
    ]
    async with (
        proxied(upstream.url) as (url, told, _),
        aiohttp.ClientSession() as session,
        session.post(url, data=PING) as answer,
    ):
        first = await answer.content.readuntil(b"\n\n")
        assert first == upstream.pieces[1]
        assert len(told.of("message")) == 2
        upstream.go_on.set()
        rest = await answer.content.read()
    assert rest == b"".join(upstream.pieces[3:])
    assert told.of("http")[0][1]["status"] == 200
    _, first, last = told.of("message")
    assert (first[2]["sse"], first[2]["event_id"]) == (True, "7")
    assert last[1] == b'{"jsonrpc":"2.0",\n"id":1,"result":{}}'
    assert last[2]["event"] == "other"
    assert told.of("http")[1][1]["retry"] == 10
    assert told.of("end_exchange") == [("s2c", 1)]


async def test_a_host_that_hangs_up_closes_the_request_upstream(upstream):
    upstream.pieces = [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n",
        None,
    ]
    upstream.go_on.set()
    async with proxied(upstream.url) as (url, told, _):
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            assert await answer.content.readuntil(b"\n\n") == b": hello\n\n"
        await upstream.hung_up.wait()
        await until(lambda: told.of("end_exchange"))
    assert told.of("end_exchange") == [("c2s", 1)]


async def test_a_host_that_hangs_up_before_any_answer_closes_it_too(upstream):
    upstream.pieces = [None]
    upstream.go_on.set()
    async with proxied(upstream.url) as (url, told, _):
        address = URL(url)
        _, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(request_of(url))
        await until(lambda: upstream.requests)
        writer.close()
        await upstream.hung_up.wait()
    assert told.of("end_exchange") == [("c2s", 1)]


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS"])
async def test_requests_without_a_body_pass(upstream, method):
    upstream.pieces = [b"HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\nContent-Length: 0\r\n\r\n"]
    async with proxied(upstream.url) as (url, told, _):
        got = await exchange(url, request_of(url, "Mcp-Session-Id: s1", method=method, body=b""))
    assert got.startswith(b"HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\n")
    assert upstream.requests[0][0].startswith(f"{method} /mcp HTTP/1.1".encode())
    assert [(one[0], one[1].get("method"), one[1].get("status")) for one in told.of("http")] == [
        ("c2s", method, None),
        ("s2c", None, 405),
    ]


async def test_redirects_and_refusals_are_not_swallowed(upstream):
    async with proxied(upstream.url) as (url, told, said):
        upstream.pieces = [
            b"HTTP/1.1 307 Temporary Redirect\r\n"
            b"Location: https://other.example/mcp?code=" + CANARY.encode() + b"\r\nContent-Length: 0\r\n\r\n"
        ]
        assert b"Location: https://other.example/mcp?code=" in await exchange(url, request_of(url))
        upstream.pieces = [
            b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer ",
            b'resource_metadata="https://other.example/.well-known/oauth-protected-resource/mcp"\r\n',
            b'Content-Type: application/json\r\nContent-Length: 25\r\n\r\n{"error":"invalid_token"}',
        ]
        got = await exchange(url, request_of(url))
        assert got.startswith(b"HTTP/1.1 401 Unauthorized\r\n")
        assert b"resource_metadata=" in got
        await exchange(url, request_of(url))
    # What leads past the proxy is explained, once, and without secrets.
    assert len(said) == 2
    assert "redirects to https://other.example/mcp:" in said[0]
    assert "--bearer-env" in said[1]
    assert [one[0] for one in told.of("note")] == said
    assert told.of("http")[-1][1]["status"] == 401


async def test_metadata_passes_unchanged_and_another_resource_is_explained(upstream):
    document = b'{"resource": "https://real.example/mcp"}'
    upstream.pieces = [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(document), document)]
    path = "/.well-known/oauth-protected-resource/mcp"
    async with proxied(upstream.url) as (url, told, said):
        got = await exchange(url, request_of(url, method="GET", path=path, body=b""))
    assert got.endswith(document)
    assert upstream.requests[0][0].startswith(f"GET {path} ".encode())
    assert "names the resource https://real.example/mcp" in said[0]
    assert url in said[0]
    assert told.of("http")[1][2] == document


async def test_a_token_of_the_proxy_is_sent_in_place_of_the_hosts(upstream):
    async with proxied(upstream.url, bearer="own") as (url, _, _):
        await exchange(url, request_of(url, "Authorization: Bearer theirs"))
    assert upstream.header(b"authorization") == [b"Bearer own"]


async def test_the_query_of_the_target_is_added_where_the_host_has_none(upstream):
    async with proxied(f"{upstream.url}?key=1%2F2") as (url, _, _):
        assert url.endswith("/mcp")
        await exchange(url, request_of(url))
        await exchange(url, request_of(url, path="/mcp?a=b"))
        await exchange(url, request_of(url, path="/a%2Fb//c"))
    lines = [head.split(b"\r\n")[0] for head, _ in upstream.requests]
    assert lines == [
        b"POST /mcp?key=1%2F2 HTTP/1.1",
        b"POST /mcp?a=b HTTP/1.1",
        b"POST /a%2Fb//c HTTP/1.1",
    ]


async def test_compressed_bodies_pass_as_they_are_and_are_recorded_in_plain(upstream):
    plain = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    packed = gzip.compress(plain)
    upstream.pieces = [
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed),
        packed,
    ]
    request = gzip.compress(PING)
    async with proxied(upstream.url) as (url, told, said):
        headers = ("Content-Encoding: gzip", "Accept-Encoding: gzip, br;q=0.5, deflate")
        got = await exchange(url, request_of(url, *headers, body=request))
    assert got.endswith(packed)
    assert upstream.requests[0][1] == request
    # What cannot be read here is not asked for; everything else stays.
    assert upstream.header(b"accept-encoding") == [b"gzip, deflate"]
    assert "gzip, deflate" in said[0]
    assert [one[1] for one in told.of("message")] == [PING, plain]


async def test_a_server_that_is_not_there_is_a_502_with_the_reason():
    async with proxied("http://127.0.0.1:9/mcp") as (url, told, said):
        got = await exchange(url, request_of(url))
    assert got.startswith(b"HTTP/1.1 502 ")
    assert b"127.0.0.1:9" in got
    assert told.of("http")[0][3] == said[0]


async def test_an_answer_that_breaks_off_breaks_off_for_the_host_too(upstream):
    upstream.pieces = [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"9\r\n: hello\n\n\r\n",
    ]
    async with (
        proxied(upstream.url) as (url, told, _),
        aiohttp.ClientSession() as session,
        session.get(url) as answer,
    ):
        assert await answer.content.readuntil(b"\n\n") == b": hello\n\n"
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer.content.read()
    assert "broke off" in told.of("http")[-1][3]


@pytest.mark.parametrize(
    "headers",
    [["Host: evil.example"], ["Origin: https://evil.example"], ["Origin: null"]],
)
async def test_other_names_and_pages_are_refused(upstream, headers):
    async with proxied(upstream.url) as (url, _, said):
        request = request_of(url, *headers)
        if headers[0].startswith("Host"):
            request = request.replace(f"Host: {URL(url).authority}\r\n".encode(), b"", 1)
        got = await exchange(url, request)
    assert got.startswith(b"HTTP/1.1 403 ")
    assert not upstream.requests
    assert "refused" in said[0]


async def test_pages_of_this_machine_are_let_in(upstream):
    async with proxied(upstream.url) as (url, _, _):
        got = await exchange(url, request_of(url, "Origin: http://localhost:5173"))
    assert got.startswith(b"HTTP/1.1 200 ")
    assert upstream.header(b"origin") == [b"http://localhost:5173"]


async def test_a_request_for_another_server_is_refused(upstream):
    async with proxied(upstream.url) as (url, _, _):
        got = await exchange(url, request_of(url, path="http://other.example/"))
        assert got.startswith(b"HTTP/1.1 403 ")
        got = await exchange(url, request_of(url, path=url))
        assert got.startswith(b"HTTP/1.1 400 ")
    assert not upstream.requests


async def test_large_messages_pass_whole(upstream):
    answer = b'{"jsonrpc":"2.0","id":1,"result":{"text":"' + b"y" * 5_000_000 + b'"}}'
    upstream.pieces = [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer), answer]
    body = PING[:-1] + b',"x":"' + b"z" * 5_000_000 + b'"}'
    async with (
        proxied(upstream.url) as (url, told, _),
        aiohttp.ClientSession() as session,
        session.post(url, data=io.BytesIO(body)) as got,
    ):
        assert await got.read() == answer
    assert upstream.requests[0][1] == body
    assert [one[1] == raw for one, raw in zip(told.of("message"), (body, answer), strict=True)] == [True] * 2


async def test_our_client_works_through_it_and_the_audit_finds_nothing(tmp_path):
    path = tmp_path / "trace.jsonl"
    async with (
        serving(notes.asgi()) as target,
        running(path, target) as (url, _),
        mesero.Client(url) as client,
    ):
        await client.list_tools()
        await client.call_tool("notes_search", {"query": ""})
    with TraceReader(open_file(path)) as trace:
        lines = [trace.header, *trace]
    assert sum(isinstance(line, MessageLine) for line in lines) >= 4
    assert list(audit(lines)) == []


async def test_the_handshake_era_works_through_it(tmp_path):
    path = tmp_path / "trace.jsonl"
    async with (
        serving(notes.asgi()) as target,
        running(path, target) as (url, _),
        mesero.Client(url, era="2025-11-25") as client,
    ):
        result = await client.call_tool("notes_search", {"query": ""})
        assert result.is_error is False
    with TraceReader(open_file(path)) as trace:
        lines = list(trace)
    methods = [line.http.method for line in lines if isinstance(line, HttpLine) and line.dir == "c2s"]
    assert {"GET", "DELETE"} <= set(methods)
    assert any('"initialize"' in line.raw for line in lines if isinstance(line, MessageLine))


@contextlib.asynccontextmanager
async def running(path, target, *options, env=None):
    """The command, as people start it; gives the URL and what it writes to stderr, when it is over."""
    command = [sys.executable, "-m", "mesero", "trace", "--listen", "127.0.0.1:0", "-o", str(path), *options]
    process = await asyncio.create_subprocess_exec(
        *command, target, stderr=asyncio.subprocess.PIPE, env=env and {**os.environ, **env}
    )
    said = []
    try:
        async with asyncio.timeout(WITHIN_S):
            while True:
                line = (await process.stderr.readline()).decode()
                assert line, said
                said.append(line)
                if " put http" in line:
                    break
        yield line.partition(" put ")[2].split()[0], said
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(WITHIN_S):
            said.append((await process.stderr.read()).decode())
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_secrets_are_in_no_output(tmp_path, upstream):
    path = tmp_path / "trace.jsonl"
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"token": CANARY}}).encode()
    upstream.pieces = [
        b"HTTP/1.1 200 OK\r\nSet-Cookie: s=%s\r\nContent-Length: %d\r\n\r\n%s"
        % (CANARY.encode(), len(body), body)
    ]
    target = f"{upstream.url}?api_key={CANARY}"
    options = ("--live", "--bearer-env", "MY_TOKEN")
    async with running(path, target, *options, env={"MY_TOKEN": CANARY}) as (url, said):
        got = await exchange(url, request_of(url, f"Cookie: s={CANARY}"))
        assert got.endswith(body)
    assert f"Bearer {CANARY}".encode() in upstream.header(b"authorization")
    assert CANARY not in path.read_text()
    assert CANARY not in "".join(said)
    assert "ping" in said[-1]


async def test_the_sdks_client_runs_through_it(tmp_path, sdk_python):  # noqa: F811 - the fixture
    path = tmp_path / "trace.jsonl"
    async with serving(build_server().asgi()) as target, running(path, target) as (url, _):
        got = await run(sdk_python, url)
    assert got["revision"] == "2026-07-28"
    assert got["add"]["structuredContent"] == 3
    assert got["listen"]["has_grown"]
    with TraceReader(open_file(path)) as trace:
        lines = list(trace)
        assert trace.problems.kept == []
    assert any('"subscriptions/listen"' in line.raw for line in lines if isinstance(line, MessageLine))


@pytest.mark.parametrize("text", ["9000", "127.0.0.1", "127.0.0.1:x", ":80", "127.0.0.1:70000"])
def test_what_is_no_address_is_a_usage_error(text):
    with pytest.raises(UsageError, match="no address"):
        parse_listen(text)


def test_only_loopback_is_listened_on():
    assert parse_listen("[::1]:9000") == ("::1", 9000)
    assert parse_listen("localhost:0") == ("localhost", 0)
    with pytest.raises(UsageError, match="other machines"):
        parse_listen("0.0.0.0:9000")


async def test_an_address_that_is_taken_is_a_usage_error(upstream):
    proxy = Proxy(URL(upstream.url), Told(), complain=print)
    with pytest.raises(UsageError, match="cannot listen"):
        async with open_proxy(proxy, "127.0.0.1", URL(upstream.url).port):
            pass


def test_plain_http_to_other_machines_is_refused(tmp_path):
    with pytest.raises(UsageError, match="plain HTTP"):
        run_proxy(
            "http://example.com/mcp", listen="127.0.0.1:0", to=str(tmp_path / "t.jsonl"), complain=print
        )


def test_a_signal_ends_it_with_streams_open(tmp_path):
    # No process of ours serves here: the whole of it is in two children.
    command = [sys.executable, "-m", "mesero.demo", "--http", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        target = server.stderr.readline().split()[-1]
        asyncio.run(_stream_until_the_end(tmp_path / "t.jsonl", target))
    finally:
        server.terminate()
        server.wait(WITHIN_S)
        server.stderr.close()


async def _stream_until_the_end(path, target):
    message = b'{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},"_meta":'
    message += b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    message += b'"io.modelcontextprotocol/clientCapabilities":{}}}}'
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "subscriptions/listen",
    }
    async with aiohttp.ClientSession() as session:
        async with running(path, target) as (url, _):
            answer = await session.post(url, data=message, headers=headers)
            assert b"acknowledged" in await answer.content.readuntil(b"\n\n")
        with contextlib.closing(answer), pytest.raises(aiohttp.ClientPayloadError):
            await answer.content.read()
