"""Sessions on real sockets: connections that break, clients that vanish, servers that end."""

import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest

from mesero.errors import UsageError
from mesero.framing import EventFramer
from mesero.server.run_http import open_http
from tests.legacy.http_talk import ME, build_server, text_of

BOTH = {"accept": "application/json, text/event-stream"}


class SocketTalk:
    """One client with connections of its own."""

    def __init__(self, url, session):
        self.url = url
        self._session = session
        self.headers = dict(BOTH)

    async def open(self, capabilities=None):
        params = {"protocolVersion": "2025-11-25", "capabilities": capabilities or {}, "clientInfo": ME}
        begun = await self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        self.headers["mcp-session-id"] = begun.headers["mcp-session-id"]
        self.headers["mcp-protocol-version"] = "2025-11-25"
        accepted = await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert accepted.status == 202
        return self

    async def send(self, message):
        async with self._session.post(self.url, json=message, headers=self.headers) as response:
            await response.read()
            return response

    @asynccontextmanager
    async def call(self, name, id):
        """The response of a call, open."""
        params = {"name": name, "arguments": {}, "_meta": {"progressToken": 1}}
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        async with self._session.post(self.url, json=message, headers=self.headers) as response:
            yield response

    @asynccontextmanager
    async def listen(self, event_id=None):
        more = {} if event_id is None else {"last-event-id": event_id}
        async with self._session.get(self.url, headers=self.headers | more) as response:
            yield response


async def read_events(response, enough=lambda events: False):
    """Events until there are enough, or to the end."""
    framer, events = EventFramer(), []
    async with asyncio.timeout(10):
        while not enough(events):
            data = await response.content.readany()
            if not data:
                break
            events += framer.receive(data)
    return events


def has_message(events):
    return any(event.data for event in events)


@asynccontextmanager
async def serving(server, **options):
    """The URL, and a client that was not opened yet."""
    async with open_http(server, **options) as url, aiohttp.ClientSession() as session:
        yield SocketTalk(url, session)


async def test_a_call_whose_connection_breaks_is_finished_and_fetched():
    server = build_server()
    async with serving(server) as talk:
        await talk.open()
        async with talk.call("wait", 5) as response:
            events = await read_events(response, has_message)
            response.close()
        async with talk.listen(events[-1].event_id) as response:
            server.gate.set()
            messages = [json.loads(event.data) for event in await read_events(response) if event.data]

        assert text_of(messages[-1]) == "waited"
        assert server.cancelled == []


async def test_a_call_that_lets_go_is_polled():
    server = build_server()
    async with serving(server) as talk:
        await talk.open()
        async with talk.call("poll", 5) as response:
            first, retry = await read_events(response)
        server.gate.set()
        async with talk.listen(first.event_id) as response:
            events = await read_events(response)

        assert (first.data, retry.retry_ms) == (b"", 250)
        assert json.loads(events[-1].data)["id"] == 5


async def test_a_listener_that_vanishes_is_noticed_and_its_session_goes_on():
    server = build_server()
    async with serving(server) as talk:
        await talk.open()
        async with talk.listen() as response:
            await read_events(response, lambda events: events)
            response.close()
        async with talk.listen("1-0") as response:
            server.tool(name="more")(lambda: 1)
            events = await read_events(response, has_message)

        assert json.loads(events[-1].data)["method"] == "notifications/tools/list_changed"


async def read_all(opened, begun):
    async with opened as response:
        events = await read_events(response, lambda events: events)
        begun.set()
        return events + await read_events(response)


async def test_the_server_ends_at_once_although_somebody_listens():
    begun = asyncio.Event()
    async with aiohttp.ClientSession() as session:
        async with asyncio.timeout(4), open_http(build_server(), finish_wait_s=60) as url:
            talk = await SocketTalk(url, session).open()
            listening = asyncio.get_running_loop().create_task(read_all(talk.listen(), begun))
            await begun.wait()
        events = await listening

        assert [event.data for event in events] == [b""]


async def test_a_call_that_does_not_end_is_cancelled_when_the_server_ends():
    server, begun = build_server(), asyncio.Event()
    async with aiohttp.ClientSession() as session:
        async with asyncio.timeout(8), open_http(server, finish_wait_s=0.2) as url:
            talk = await SocketTalk(url, session).open()
            call = asyncio.get_running_loop().create_task(read_all(talk.call("wait", 5), begun))
            await begun.wait()
        events = await call

        assert server.cancelled == [5]
        assert not any(b"result" in event.data for event in events)


async def test_a_call_whose_client_left_does_not_hold_up_the_end_of_the_server():
    server = build_server()
    async with aiohttp.ClientSession() as session:
        async with asyncio.timeout(8), open_http(server, finish_wait_s=0.2) as url:
            talk = await SocketTalk(url, session).open()
            async with talk.call("wait", 5) as response:
                await read_events(response, has_message)
                response.close()
            assert (await talk.send({"jsonrpc": "2.0", "id": 6, "method": "ping"})).status == 200
            assert server.cancelled == []

        assert server.cancelled == [5]


async def test_a_handshake_over_http_and_a_stateless_call_share_one_endpoint():
    server = build_server()
    async with serving(server) as talk:
        await talk.open()
        talk.headers["mcp-protocol-version"] = "2026-07-28"
        talk.headers |= {"mcp-method": "tools/list"}
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
        response = await talk.send(message)

        assert response.status == 200
        assert "mcp-session-id" not in response.headers


@pytest.mark.parametrize(
    "options", [{"max_sessions": 0}, {"session_idle_s": 0}, {"sse_path": "/sse"}, {"messages_path": "/m"}]
)
def test_limits_and_paths_are_checked(options):
    with pytest.raises(UsageError):
        build_server().asgi(**options)
