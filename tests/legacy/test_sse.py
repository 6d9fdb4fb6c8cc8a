"""The transport of 2024-11-05: a stream that says where to POST, and everything else on that stream."""

import asyncio
import json
from urllib.parse import urlsplit

import pytest

from mesero.errors import UsageError
from mesero.legacy import sse
from mesero.revisions import HANDSHAKE_REVISIONS
from tests.legacy.http_talk import ME, build_server, events_of, text_of, until
from tests.transports.asgi_driver import GOOD_HEADERS, Exchange

PATHS = {"sse_path": "/sse", "messages_path": "/messages"}


class SseTalk:
    """A client of the two paths: a stream that stays open, and POSTs."""

    def __init__(self, app, *, root_path=""):
        self.app = app
        self.root_path = root_path
        self.stream = None
        self.place = None

    def _headers(self, changes):
        return GOOD_HEADERS | {name.replace("_", "-"): value for name, value in changes.items()}

    async def connect(self, **changes):
        path = f"{self.root_path}/sse"
        headers = self._headers({"content_type": None, "accept": "text/event-stream"} | changes)
        self.stream = Exchange(self.app, method="GET", path=path, headers=headers, root_path=self.root_path)
        self.stream.start()
        await self.stream.until(lambda: len(self.stream.sent) > 1)
        if self.stream.status == 200:
            await self.stream.until(lambda: events_of(self.stream))
            self.place = events_of(self.stream)[0].data.decode()
        return self

    async def send(self, message, *, place=None, **changes):
        parts = urlsplit(self.place if place is None else place)
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        exchange = Exchange(
            self.app, path=parts.path, body=body, headers=self._headers(changes), root_path=self.root_path
        )
        exchange.scope["query_string"] = parts.query.encode()
        return await exchange.run()

    async def answer_to(self, id):
        await until(lambda: any(message.get("id") == id for message in self.said))
        return next(message for message in self.said if message.get("id") == id)

    @property
    def said(self):
        found = [json.loads(event.data) for event in events_of(self.stream)[1:]]
        return [message for one in found for message in (one if isinstance(one, list) else [one])]

    async def open(self, revision="2024-11-05", capabilities=None):
        await self.connect()
        params = {"protocolVersion": revision, "capabilities": capabilities or {}, "clientInfo": ME}
        await self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        assert (await self.answer_to(0))["result"]["protocolVersion"] == revision
        assert (await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})).status == 202
        return self

    async def call(self, name, arguments=None, *, id=1):
        params = {"name": name, "arguments": arguments or {}, "_meta": {"progressToken": 7}}
        exchange = await self.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        assert (exchange.status, exchange.body) == (202, b"")

    async def leave(self):
        self.stream.disconnect()
        async with asyncio.timeout(10):
            await self.stream.task


def open_sessions(app):
    return len(app.sessions)


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_the_answers_come_on_the_stream(revision):
    app = build_server().asgi(**PATHS)
    talk = await SseTalk(app).open(revision)
    await talk.call("add", {"a": 1, "b": 2})

    assert text_of(await talk.answer_to(1)) == "3"
    await talk.leave()
    assert open_sessions(app) == 0


async def test_the_first_event_names_the_place_wherever_the_application_is_mounted():
    app = build_server().asgi(**PATHS)
    talk = await SseTalk(app, root_path="/apps/notes").connect()
    first = events_of(talk.stream)[0]

    assert first.event == "endpoint"
    assert talk.place.startswith("/apps/notes/messages?session_id=")
    assert (await talk.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})).status == 202
    assert (await talk.answer_to(1))["result"] == {}
    await talk.leave()


async def test_progress_and_questions_come_on_the_stream_and_answers_by_post():
    app = build_server().asgi(**PATHS)
    talk = await SseTalk(app).open("2025-06-18", {"elicitation": {}})
    await talk.call("count", {"to": 2}, id=1)
    await talk.answer_to(1)
    await talk.call("confirm", id=2)
    await until(lambda: talk.said[-1].get("method") == "elicitation/create")
    answer = {"jsonrpc": "2.0", "id": talk.said[-1]["id"], "result": {"action": "decline"}}
    await talk.send(answer)

    assert text_of(await talk.answer_to(2)) == "decline"
    assert [message.get("method") for message in talk.said].count("notifications/progress") == 2
    await talk.leave()


async def test_two_clients_hear_only_their_own():
    app = build_server().asgi(**PATHS)
    one, other = await SseTalk(app).open(), await SseTalk(app).open()
    await one.call("add", {"a": 1, "b": 2}, id=5)
    await one.answer_to(5)
    await other.call("add", {"a": 3, "b": 4}, id=5)

    assert text_of(await other.answer_to(5)) == "7"
    assert text_of(await one.answer_to(5)) == "3"
    await one.leave()
    await other.leave()


async def test_the_end_of_the_stream_is_the_end_of_the_session_and_of_what_runs_in_it():
    server = build_server()
    app = server.asgi(**PATHS)
    talk = await SseTalk(app).open()
    await talk.call("wait", id=5)
    await until(lambda: talk.said[-1].get("method") == "notifications/progress")
    await talk.leave()

    assert server.cancelled == [5]
    assert open_sessions(app) == 0
    assert len(server.subscriptions) == 0
    assert (await talk.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})).status == 404


async def test_arrays_are_served_in_the_revision_that_has_them():
    app = build_server().asgi(**PATHS)
    talk = await SseTalk(app).open("2025-03-26")
    await talk.send([{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in (1, 2)])

    assert [(await talk.answer_to(number))["result"] for number in (1, 2)] == [{}, {}]
    await talk.leave()


@pytest.mark.parametrize(("place", "status"), [("/messages", 400), ("/messages?session_id=nobody", 404)])
async def test_a_post_that_names_no_session_is_refused(place, status):
    talk = SseTalk(build_server().asgi(**PATHS))

    assert (await talk.send(b"{}", place=place)).status == status


async def test_what_is_no_message_is_400_and_the_session_goes_on():
    app = build_server().asgi(**PATHS)
    talk = await SseTalk(app).open()
    for raw in (b"", b"[", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', b"[]"):
        assert (await talk.send(raw)).status == 400
    await talk.send({"jsonrpc": "2.0", "id": 9, "method": "ping"})

    assert (await talk.answer_to(9))["result"] == {}
    await talk.leave()


async def test_there_is_a_limit_to_sessions():
    app = build_server().asgi(max_sessions=1, **PATHS)
    one, other = await SseTalk(app).connect(), await SseTalk(app).connect()

    assert (one.stream.status, other.stream.status) == (200, 503)
    await one.leave()


@pytest.mark.parametrize(
    ("changes", "status"),
    [({"host": "evil.example"}, 421), ({"origin": "http://evil.example"}, 403), ({"accept": "a/b"}, 406)],
)
async def test_the_gate_is_for_both_paths(changes, status):
    app = build_server().asgi(**PATHS)
    talk = await SseTalk(app).connect(**changes)

    assert talk.stream.status == status
    assert (await talk.send(b"{}", place="/messages?session_id=x", **changes)).status == status
    assert open_sessions(app) == 0


async def test_a_get_that_accepts_only_json_is_406():
    talk = await SseTalk(build_server().asgi(**PATHS)).connect(accept="application/json")

    assert talk.stream.status == 406


@pytest.mark.parametrize(("method", "path"), [("POST", "/sse"), ("GET", "/messages"), ("DELETE", "/sse")])
async def test_each_path_has_one_method(method, path):
    exchange = await Exchange(build_server().asgi(**PATHS), method=method, path=path).run()

    assert exchange.status == 405


@pytest.mark.parametrize("path", ["/sse", "/messages"])
async def test_without_being_asked_for_there_is_nothing_at_these_paths(path):
    exchange = await Exchange(build_server().asgi(), method="GET", path=path).run()

    assert exchange.status == 404


async def test_the_end_of_the_application_ends_the_streams():
    server = build_server()
    app = server.asgi(**PATHS)
    talk = await SseTalk(app).open()
    app.end_streams()
    async with asyncio.timeout(10):
        await talk.stream.task

    assert talk.stream.is_complete
    assert open_sessions(app) == 0
    assert (await SseTalk(app).connect()).stream.status == 503


async def test_nothing_of_what_was_said_is_kept():
    app = build_server().asgi(**PATHS)
    talk = await SseTalk(app).open()
    for number in range(1, 20):
        await talk.call("count", {"to": 3}, id=number)
        await talk.answer_to(number)
    (session,) = app.sessions._sse._open.values()

    assert session.stream.size == 0
    await talk.leave()


@pytest.mark.parametrize(
    "options",
    [{"sse_path": "/sse"}, {"messages_path": "/m"}, {"sse_path": "sse", "messages_path": "/m"}],
)
async def test_both_paths_or_none(options):
    with pytest.raises(UsageError):
        build_server().asgi(**options)


async def test_a_client_that_does_not_read_gets_to_say_no_more():
    server = build_server()

    @server.tool
    async def much() -> str:
        return "x" * 2 * 1024 * 1024

    app = server.asgi(**PATHS)
    talk = await SseTalk(app).open()
    talk.stream.room.clear()
    await talk.call("much", id=1)
    await talk.call("add", {"a": 1, "b": 2}, id=2)
    session = next(iter(app.sessions._sse._open.values()))
    await until(lambda: not session._tasks)
    assert session.stream.written < session.stream.count
    await talk.call("much", id=3)
    await until(lambda: not session._tasks)
    held = asyncio.create_task(talk.call("add", {"a": 3, "b": 4}, id=4))
    await asyncio.wait({held}, timeout=0.1)
    assert not held.done()
    talk.stream.room.set()

    await asyncio.wait_for(held, 10)
    assert text_of(await talk.answer_to(4)) == "7"
    await talk.leave()


async def test_what_was_held_for_a_client_that_left_finds_its_session_gone():
    server = build_server()

    @server.tool
    async def much() -> str:
        return "x" * 2 * 1024 * 1024

    app = server.asgi(**PATHS)
    talk = await SseTalk(app).open()
    talk.stream.room.clear()
    session = next(iter(app.sessions._sse._open.values()))
    for number in range(2):
        await talk.call("much", id=number)
        await until(lambda: not session._tasks)
    held = asyncio.create_task(talk.send({"jsonrpc": "2.0", "id": 4, "method": "ping"}))
    await asyncio.wait({held}, timeout=0.1)
    talk.stream.disconnect()
    talk.stream.room.set()

    assert (await asyncio.wait_for(held, 10)).status == 404


async def test_there_is_a_limit_to_the_calls_of_a_session(monkeypatch):
    monkeypatch.setattr(sse, "MAX_RUNNING", 2)
    server = build_server()
    app = server.asgi(**PATHS)
    talk = await SseTalk(app).open()
    await talk.call("silent", id=1)
    await talk.call("silent", id=2)
    refused = await talk.send({"jsonrpc": "2.0", "id": 3, "method": "ping"})
    server.gate.set()
    await talk.answer_to(2)

    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    await talk.leave()


async def test_an_array_of_very_many_parts_is_refused():
    talk = await SseTalk(build_server().asgi(**PATHS)).open("2025-03-26")
    refused = await talk.send(b"[" + b"{} ," * 600_000 + b"1]")

    assert refused.status == 400
    assert "at most 1000000 strings" in refused.json["error"]["message"]
    await talk.leave()
