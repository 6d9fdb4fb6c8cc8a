"""What the answer to `server/discover` tells, and which revision is spoken."""

import pytest

from mesero import Client
from mesero.client import calling, client, deciding
from mesero.errors import (
    HeaderMismatchError,
    MissingClientCapabilityError,
    NoCommonRevisionError,
    UnsupportedRevisionError,
)
from mesero.testing import scripted_server
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
    for module in (client, deciding):
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


@pytest.mark.parametrize(
    ("data", "theirs"),
    [
        ({"supported": ["2031-01-01", "2030-01-01"], "requested": "x"}, ("2031-01-01", "2030-01-01")),
        ({"supported": "2026-07-28"}, ()),
        (None, ()),
    ],
)
async def test_no_common_revision_names_both_lists(data, theirs):
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").error(-32022, "Unsupported protocol version", data)
    with server, pytest.raises(NoCommonRevisionError) as caught:
        await Client.connect(server)
    assert caught.value.ours == ("2026-07-28",)
    assert caught.value.theirs == theirs
    text = str(caught.value)
    assert "we speak 2026-07-28" in text
    assert (", ".join(theirs) or "none that it names") in text
    assert "a scripted server" in text


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


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32000])
async def test_another_error_is_a_server_of_an_older_revision(code):
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").error(code, "what is this?")
    with (
        server,
        pytest.raises(NoCommonRevisionError, match=r"it answered server/discover with: .*what is this"),
    ):
        await Client.connect(server)


async def test_a_result_that_is_no_discovery_is_a_server_of_an_older_revision():
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").answer(protocolVersion="2024-11-05")
    with server, pytest.raises(NoCommonRevisionError, match="it answered server/discover with"):
        await Client.connect(server)


@pytest.mark.parametrize(
    ("code", "kind"), [(-32020, HeaderMismatchError), (-32021, MissingClientCapabilityError)]
)
async def test_errors_of_this_era_are_reported_as_they_are(code, kind):
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").error(code, "no", {})
    with server, pytest.raises(kind):
        await Client.connect(server)
