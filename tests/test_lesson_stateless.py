"""The exercises of the lesson on stateless requests, done on a real server process, raw bytes in and out.

They read like the exercises: change one thing, see what the server makes of it.
"""

import json
import os
import random
import signal
import subprocess
import sys

import pytest

import mesero
from mesero.modern.cache import ResponseCache
from tests.http_serving import serving

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"
META = {VERSION: "2026-07-28", CAPABILITIES: {}, CLIENT: {"name": "course-client", "version": "1.0.0"}}
WAIT_S = 20


class Process:
    """A server on stdio that is asked by hand."""

    def __init__(self):
        command = [sys.executable, "-m", "mesero.demo"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, message_id, method, meta, **params):
        body = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": {**params, "_meta": meta}}
        self._process.stdin.write(json.dumps(body).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == message_id
        return answer

    def kill(self):
        self._process.kill()
        self.close()

    def close(self):
        self._process.stdin.close()
        self._process.wait(WAIT_S)
        self._process.stdout.close()


@pytest.fixture
def process():
    running = Process()
    yield running
    running.close()


def without(meta, key):
    return {name: value for name, value in meta.items() if name != key}


# --- 1: change the revision of one request ---


def test_a_request_for_another_revision_is_refused_with_what_is_spoken_instead(process):
    error = process.ask(1, "tools/list", {**META, VERSION: "2027-01-01"})["error"]
    assert error["code"] == -32022
    assert error["data"]["requested"] == "2027-01-01"
    assert "2026-07-28" in error["data"]["supported"]
    assert "result" in process.ask(2, "tools/list", META)


# --- 2: leave the capabilities out of the second request ---


def test_capabilities_of_the_first_request_are_not_reused_for_the_second(process):
    first = process.ask(1, "tools/list", {**META, CAPABILITIES: {"elicitation": {}}})
    second = process.ask(2, "tools/list", without(META, CAPABILITIES))
    assert "result" in first
    assert second["error"]["code"] == -32602
    assert CAPABILITIES in second["error"]["message"]


# --- 3: shuffle the registry ---


async def test_the_order_of_registration_does_not_show_in_the_list():
    names = [f"tool_{number:02}" for number in range(20)]
    orders = []
    for _ in range(3):
        server = mesero.Server("shuffled")
        for name in random.sample(names, len(names)):
            server.tool(_nothing, name=name)
        async with mesero.Client(server) as client:
            orders.append([tool.name for tool in await client.list_tools()])
    assert orders == [names] * 3


async def _nothing() -> str:
    return ""


# --- 4: switch the cache scope ---


@pytest.mark.parametrize(("scope", "asked_twice"), [("public", False), ("private", True)])
async def test_who_may_reuse_a_list_depends_on_its_scope(scope, asked_twice):
    server = mesero.Server("cached", list_ttl_ms=60_000, list_cache_scope=scope)
    server.tool(_nothing, name="tool")
    shared, passed = ResponseCache(), []

    def watch(direction, raw, _http):
        if direction == "c2s" and b"tools/list" in raw:
            passed.append(raw)

    async with serving(server.asgi()) as url:
        for token in ("alice", "bob"):
            headers = {"Authorization": f"Bearer {token}"}
            async with mesero.Client(url, cache=shared, headers=headers, trace=watch) as client:
                await client.list_tools()
                await client.list_tools()  # The same authorization context reuses it in either case.
    assert len(passed) == (2 if asked_twice else 1)


# --- 5: leave the identity out ---


def test_a_client_need_not_say_who_it_is(process):
    assert "result" in process.ask(1, "tools/list", without(META, CLIENT))


# --- headers and body, over HTTP ---


@pytest.mark.parametrize("revision", ["2026-07-28", "2027-01-01"])
async def test_a_header_that_names_another_tool_than_the_body_is_a_mismatch(revision):
    server = mesero.Server("guarded")
    server.tool(_nothing, name="read")
    server.tool(_nothing, name="delete")
    params = {"name": "delete", "arguments": {}, "_meta": {**META, VERSION: revision}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"MCP-Protocol-Version": revision, "Mcp-Method": "tools/call", "Mcp-Name": "read"}
    status, answer = await _post(server, body, headers)
    assert (status, answer["error"]["code"], answer["id"]) == (400, -32020, 1)


async def _post(server, body, headers):
    import aiohttp

    accept = {"Accept": "application/json, text/event-stream"}
    async with (
        serving(server.asgi()) as url,
        aiohttp.ClientSession() as session,
        session.post(url, json=body, headers={**accept, **headers}) as response,
    ):
        return response.status, await response.json()


# --- nothing is remembered ---


def test_two_clients_on_one_process_are_each_judged_by_their_own_request(process):
    able, unable = {**META, CAPABILITIES: {"elicitation": {}}}, META
    added = process.ask(0, "tools/call", unable, name="notes_add", arguments={"title": "a", "body": "b"})
    call = {"name": "notes_delete", "arguments": {"id": added["result"]["structuredContent"]["id"]}}
    for number in range(1, 7, 2):
        asked = process.ask(number, "tools/call", able, **call)
        refused = process.ask(number + 1, "tools/call", unable, **call)
        assert asked["result"]["resultType"] == "input_required"
        assert refused["error"]["code"] == -32021
        assert refused["error"]["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


def test_a_server_that_was_killed_and_started_again_serves_the_next_request():
    first = Process()
    assert "result" in first.ask(1, "tools/list", META)
    first.kill()
    second = Process()
    assert "result" in second.ask(2, "tools/list", META)
    second.close()


async def test_so_does_one_that_dies_in_the_middle_of_a_client():
    async with mesero.Client([sys.executable, "-m", "mesero.demo"]) as client:
        before = await client.request("tools/list")
        os.kill(client.transport.pid, signal.SIGKILL)
        with pytest.raises(mesero.DisconnectedError):
            await client.request("tools/list")
        assert (await client.request("tools/list")).tools == before.tools
