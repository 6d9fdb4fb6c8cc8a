"""What the answers of a server tell, and which revision is spoken: every row of the table."""

import asyncio
import contextlib
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesero import Client
from mesero.client import calling, deciding
from mesero.client import client as client_module
from mesero.eras import LEGACY_REVISIONS, MODERN_REVISIONS
from mesero.errors import (
    HeaderMismatchError,
    MeseroError,
    MissingClientCapabilityError,
    NoCommonRevisionError,
    UnsupportedRevisionError,
)
from mesero.testing import scripted_server
from mesero.transports.memory import MemoryTransport
from tests.client.talking import TEXT, requests_in, talk

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = {"tools": {}}


def revisions_of(wire, method):
    return [message["params"]["_meta"][VERSION_KEY] for message in requests_in(wire, method)]


@pytest.fixture
def speaks_two(monkeypatch):
    """A client that speaks a revision that does not exist yet, and prefers it."""
    spoken = ("2027-01-01", "2026-07-28")
    monkeypatch.setattr(calling, "REVISIONS", spoken)
    for module in (client_module, deciding):
        monkeypatch.setattr(module, "MODERN_REVISIONS", spoken)


async def test_the_answer_is_kept_as_facts():
    async with talk() as (client, _, _):
        facts = client.server
        assert (facts.name, facts.version) == ("scripted", "1")
        assert (facts.era, facts.revision, facts.supported) == ("modern", "2026-07-28", ("2026-07-28",))
        assert facts.verdict.startswith("server/discover was answered in ")
        assert facts.instructions is None
        assert facts.capabilities is not None


async def test_instructions_are_kept():
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").answer(
        supportedVersions=["2026-07-28"], capabilities={}, instructions="Be kind."
    )
    async with talk(server) as (client, _, _):
        assert client.server.instructions == "Be kind."


async def test_without_discovery_nothing_is_sent_and_nothing_is_known():
    async with talk(scripted_server(answers_discover=False), discover=False) as (client, server, wire):
        assert wire.sent == []
        assert client.server.verdict == "assumed: the server was not asked"
        assert client.server.capabilities is None
        server.expect("tools/call").answer(content=TEXT)
        assert (await client.call_tool("any")).text == "done"


async def test_a_refused_revision_is_changed_once_under_another_id(speaks_two):
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").error(
        -32022, "Unsupported protocol version", {"supported": ["2026-07-28"], "requested": "2027-01-01"}
    )
    server.expect("server/discover").answer(supportedVersions=["2026-07-28"], capabilities=CAPABILITIES)
    server.expect("tools/call").answer(content=TEXT)
    async with talk(server) as (client, _, wire):
        await client.call_tool("any")
    assert revisions_of(wire, "server/discover") == ["2027-01-01", "2026-07-28"]
    first, second = requests_in(wire, "server/discover")
    assert first["id"] != second["id"]
    assert revisions_of(wire, "tools/call") == ["2026-07-28"]


async def test_a_server_that_names_the_revision_just_refused_is_asked_once_more():
    server = scripted_server(answers_discover=False)
    refusal = {"supported": ["2026-07-28"], "requested": "2026-07-28"}
    server.expect("server/discover").error(-32022, "no", refusal)
    server.expect("server/discover").answer(supportedVersions=["2026-07-28"], capabilities={})
    async with talk(server) as (client, _, _):
        assert client.server.revision == "2026-07-28"


async def test_it_is_asked_once_more_and_not_for_ever():
    server = scripted_server(answers_discover=False)
    refusal = {"supported": ["2026-07-28"], "requested": "2026-07-28"}
    for _ in range(2):
        server.expect("server/discover").error(-32022, "no", refusal)
    with server, pytest.raises(UnsupportedRevisionError):
        await Client.connect(server)


async def test_no_common_revision_names_both_lists():
    server = scripted_server(answers_discover=False)
    theirs = ("2031-01-01", "2030-01-01")
    server.expect("server/discover").error(-32022, "no", {"supported": theirs, "requested": "2026-07-28"})
    with server, pytest.raises(NoCommonRevisionError) as caught:
        await Client.connect(server)
    assert caught.value.ours == (*MODERN_REVISIONS, *LEGACY_REVISIONS)
    assert caught.value.theirs == theirs
    assert "we speak 2026-07-28, 2025-11-25" in str(caught.value)
    assert "the server speaks 2031-01-01, 2030-01-01" in str(caught.value)
    assert "a scripted server" in str(caught.value)


async def test_an_answer_without_a_common_revision_names_both_lists():
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").answer(supportedVersions=["2031-01-01"], capabilities={})
    with server, pytest.raises(NoCommonRevisionError, match=r"a scripted server: .*2026-07-28.*2031-01-01"):
        await Client.connect(server)


async def test_the_newest_common_revision_is_spoken_from_then_on(speaks_two):
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").answer(supportedVersions=["2026-07-28"], capabilities=CAPABILITIES)
    server.expect("tools/call").answer(content=TEXT)
    async with talk(server) as (client, _, wire):
        await client.call_tool("any")
        assert client.server.revision == "2026-07-28"
    assert revisions_of(wire, "tools/call") == ["2026-07-28"]


async def test_any_call_changes_a_refused_revision_without_discovery(speaks_two):
    server = scripted_server(answers_discover=False)
    refusal = {"supported": ["2026-07-28"], "requested": "2027-01-01"}
    server.expect("tools/call", name="first").error(-32022, "no", refusal)
    server.expect("tools/call", name="first").answer(content=TEXT)
    server.expect("tools/call", name="second").answer(content=TEXT)
    async with talk(server, discover=False) as (client, _, wire):
        await client.call_tool("first")
        await client.call_tool("second")
    assert revisions_of(wire, "tools/call") == ["2027-01-01", "2026-07-28", "2026-07-28"]


OLDER = {"protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}}
SESSION = b'{"jsonrpc":"2.0","id":%d,"result":%b}\n'


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32000, -32022, 7])
async def test_any_other_error_leads_to_the_handshake(code):
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").error(code, "what is this?")
    server.expect("initialize").raw(lambda request_id: SESSION % (request_id, msgspec.json.encode(OLDER)))
    server.expect("notifications/initialized")
    async with talk(server, era=None) as (client, _, _):
        assert client.server.revision == "2025-03-26"


async def test_a_result_that_is_no_discovery_leads_to_the_handshake():
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").answer(OLDER)
    server.expect("initialize").raw(lambda request_id: SESSION % (request_id, msgspec.json.encode(OLDER)))
    server.expect("notifications/initialized")
    async with talk(server) as (client, _, _):
        assert client.server.revision == "2025-03-26"
        assert client.server.verdict.startswith("the probe was answered with something else in ")


@pytest.mark.parametrize(
    ("code", "kind"), [(-32020, HeaderMismatchError), (-32021, MissingClientCapabilityError)]
)
async def test_errors_of_this_era_are_reported_as_they_are(code, kind):
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").error(code, "no", {})
    with server, pytest.raises(kind):
        await Client.connect(server)


# -- any server at all --------------------------------------------------------------------------------


def discovery(*revisions):
    return {
        "result": {"supportedVersions": revisions, "capabilities": {}, "ttlMs": 0, "cacheScope": "private"}
    }


ACTS = {
    "discover": discovery("2026-07-28"),
    "discover older": discovery("2025-06-18"),
    "discover none": discovery("1999"),
    "initialize": {"result": OLDER},
    "other": {"result": {}},
    "refuse": {"error": {"code": -32601, "message": "no"}},
    "refuse revision": {"error": {"code": -32022, "message": "no", "data": {"supported": ["2026-07-28"]}}},
    "refuse for older": {"error": {"code": -32022, "message": "no", "data": {"supported": ["2025-06-18"]}}},
    "mismatch": {"error": {"code": -32020, "message": "no"}},
    "silent": None,
    "hang up": None,
    "garbage": None,
}


class AnyPeer:
    """A server that does one thing after the other, whatever it is asked, and at last only hangs up."""

    def __init__(self, acts, seen, send, hang_up):
        self.acts, self.seen, self.send, self.hang_up = acts, seen, send, hang_up

    def receive_bytes(self, data):
        for line in data.splitlines():
            message = json.loads(line)
            self.seen.append(message["method"])
            if "id" in message:
                self._act(self.acts.pop(0) if self.acts else "hang up", message["id"])

    def _act(self, act, request_id):
        if ACTS[act] is not None:
            answer = {"jsonrpc": "2.0", "id": request_id, **ACTS[act]}
            self.send(json.dumps(answer).encode() + b"\n")
        elif act == "garbage":
            self.send(b'{"id":"%d","result":[]}\n' % request_id)
        elif act == "hang up":
            self.hang_up()

    async def aclose(self):
        pass


@given(st.lists(st.sampled_from(sorted(ACTS)), max_size=8))
@settings(max_examples=150)
def test_with_any_server_there_is_soon_a_connection_or_one_of_our_errors(acts):
    seen = []

    async def connect():
        transport = MemoryTransport(lambda send, hang_up: AnyPeer(list(acts), seen, send, hang_up))
        client = Client(transport, probe_s=0.01, connect_timeout_s=0.04)
        with contextlib.suppress(MeseroError):
            async with client:
                assert client.server.revision in (*MODERN_REVISIONS, *LEGACY_REVISIONS)
                assert client.server.verdict
        return len(asyncio.all_tasks())

    assert asyncio.run(connect()) == 1
    # The probe and its repetition; the handshake after each, and after a new start.
    assert seen.count("server/discover") <= 2, seen
    assert seen.count("initialize") <= 3, seen
