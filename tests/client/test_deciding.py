"""What the answers of a server tell, and which revision is spoken: every row of the table."""

import re
from contextlib import asynccontextmanager

import msgspec
import pytest
from msgspec import UNSET

from mesero import Client
from mesero.client import Decision, calling, deciding
from mesero.client import client as client_module
from mesero.eras import LEGACY_REVISIONS, MODERN_REVISIONS
from mesero.errors import (
    CallTimeoutError,
    DisconnectedError,
    HeaderMismatchError,
    MissingClientCapabilityError,
    NoCommonRevisionError,
    UnsupportedRevisionError,
)
from mesero.testing import scripted_server
from tests.client.older_servers import OlderServer
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


# -- commands: every row of the table --------------------------------------------------------------

QUICK_S = 0.3


@pytest.fixture
def older(tmp_path):
    return lambda body: OlderServer(tmp_path, body)


@asynccontextmanager
async def connected(server, **settings):
    async with Client(
        server.command, **{"probe_s": QUICK_S, "connect_timeout_s": 10.0, **settings}
    ) as client:
        yield client


async def works(client):
    return bool((await client.call_tool("any")).text)


REFUSES = """
for request in logged():
    if "id" in request:
        serve(request)
"""


async def test_a_server_that_refuses_the_probe_gets_the_handshake(older):
    server = older(REFUSES)
    async with connected(server) as client:
        facts = client.server
        assert (facts.era, facts.revision, facts.name) == ("legacy", "2025-06-18", "old")
        assert re.fullmatch(r"the probe was answered -32601 in \d+ ms", facts.verdict)
        assert facts.capabilities.tools is not UNSET
        assert await works(client)
    assert server.log[:4] == ["started", "server/discover", "initialize", "notifications/initialized"]


SILENT = """
for request in logged():
    if "id" in request and request["method"] != "server/discover":
        serve(request)
"""


async def test_a_server_that_ignores_the_probe_gets_the_handshake_beside_it_and_is_remembered(older):
    server = older(SILENT)
    async with connected(server) as client:
        assert client.server.era == "legacy"
        assert client.server.verdict.startswith(
            f"nothing answered the probe within {QUICK_S:g} s; initialize was"
        )
        assert await works(client)
    assert server.log[:3] == ["started", "server/discover", "initialize"]
    before = len(server.log)
    async with connected(server) as client:
        assert client.server.verdict.startswith("remembered: nothing answered the probe within")
        assert await works(client)
    assert server.log[before : before + 3] == ["started", "initialize", "notifications/initialized"]


DIES_AT_ONCE = """
for request in logged():
    if request["method"] == "server/discover":
        sys.exit(3)
    if "id" in request:
        serve(request)
"""

DIES_AT_THE_NEXT_MESSAGE = """
was_probed = False
for request in logged():
    if was_probed:
        sys.exit(1)
    was_probed = request["method"] == "server/discover"
    if "id" in request and not was_probed:
        serve(request)
"""


REFUSES_AND_DIES = """
for request in logged():
    if request["method"] == "server/discover":
        refuse(request, -32600)
        sys.exit(3)
    if "id" in request:
        serve(request)
"""


@pytest.mark.parametrize("body", [DIES_AT_ONCE, DIES_AT_THE_NEXT_MESSAGE, REFUSES_AND_DIES])
async def test_a_server_that_the_probe_kills_is_started_again_for_the_handshake_and_remembered(older, body):
    server = older(body)
    async with connected(server) as client:
        assert client.server.era == "legacy"
        assert re.search(r"the server ended \d+ ms after (the probe|initialize)", client.server.verdict)
        assert await works(client)
        assert client.transport._starts.maxlen - len(client.transport._starts) == 4
    assert server.log.count("started") == 2
    async with connected(server) as client:
        assert await works(client)
    assert server.log.count("started") == 3
    assert server.log.count("server/discover") == 1


async def test_with_remember_false_nothing_is_kept_and_nothing_looked_up(older):
    server = older(DIES_AT_ONCE)
    for _ in range(2):
        async with connected(server, remember=False) as client:
            assert await works(client)
    assert server.log.count("server/discover") == 2


async def test_a_server_that_fails_at_every_start_is_told_as_it_is(older):
    server = older("sys.stderr.write('no key\\n'); sys.exit(2)")
    with pytest.raises(DisconnectedError, match="no key") as caught:
        async with connected(server):
            pass
    assert caught.value.exit_code == 2
    assert server.log.count("started") == 2


PINS = """
pinned = False
for request in logged():
    if request["method"] == "server/discover":
        time.sleep(0.6)
        discover(request)
    elif request["method"] == "initialize":
        pinned = True
        initialize(request)
    elif "id" in request and request["method"] == "tools/call":
        result(request, "pinned" if pinned else "free")
"""


async def test_a_slow_server_that_answers_both_is_used_as_it_was_pinned_and_waited_for_next_time(older):
    server = older(PINS)
    async with connected(server) as client:
        assert (client.server.era, client.server.revision) == ("legacy", "2025-06-18")
        assert (await client.call_tool("any")).text == "pinned"
        assert client.server.decision.first_step == "patience"
    async with connected(server) as client:
        assert (client.server.era, client.server.revision) == ("modern", "2026-07-28")
        assert (await client.call_tool("any")).text == "free"
    assert server.log.count("initialize") == 1


SLOW = """
for request in logged():
    if request["method"] == "server/discover":
        time.sleep(0.6)
        discover(request)
    elif request["method"] == "tools/call":
        result(request, "done")
    elif "id" in request:
        refuse(request)
"""


async def test_a_slow_server_that_refuses_the_handshake_is_modern(older):
    server = older(SLOW)
    for _ in range(2):
        async with connected(server) as client:
            assert client.server.era == "modern"
            assert await works(client)
    assert server.log.count("initialize") == 1


async def test_a_handshake_refused_before_a_slow_probe_is_answered_waits_for_the_probe(older):
    server = older(
        """
        probe = None
        for request in logged():
            if request["method"] == "server/discover":
                probe = request
            elif request["method"] == "initialize":
                refuse(request)
                time.sleep(0.1)
                discover(probe)
            elif "id" in request:
                result(request, "done")
        """
    )
    async with connected(server) as client:
        assert client.server.era == "modern"
        assert await works(client)


async def test_a_handshake_that_is_never_answered_does_not_hide_a_discovery(older):
    server = older(
        """
        for request in logged():
            if request["method"] == "server/discover":
                time.sleep(0.6)
                discover(request)
            elif request["method"] == "tools/call":
                result(request, "done")
        """
    )
    async with connected(server, connect_timeout_s=1.5) as client:
        assert client.server.era == "modern"
        assert await works(client)


async def test_a_server_that_never_says_a_word_is_a_timeout(older):
    server = older("for request in logged(): pass")
    with pytest.raises(CallTimeoutError, match=r"no answer to server/discover within 1 s"):
        async with connected(server, connect_timeout_s=1.0):
            pass
    assert server.log[:3] == ["started", "server/discover", "initialize"]


async def test_a_server_that_refuses_both_is_quoted_with_both(older):
    server = older("for request in logged():\n    refuse(request)")
    with pytest.raises(NoCommonRevisionError) as caught:
        async with connected(server):
            pass
    assert "it answered server/discover with: cannot do that (-32601)" in str(caught.value)
    assert "it answered initialize with: cannot do that (-32601)" in str(caught.value)
    assert caught.value.ours == (*MODERN_REVISIONS, *LEGACY_REVISIONS)


async def test_older_revisions_in_the_refusal_are_offered_the_newest_first(older):
    server = older(
        """
        for request in logged():
            if request["method"] == "server/discover":
                refuse(request, -32022, supported=["2024-11-05", "2025-03-26"], requested="2026-07-28")
            elif request["method"] == "initialize":
                initialize(request, request["params"]["protocolVersion"])
        """
    )
    async with connected(server) as client:
        assert client.server.revision == "2025-03-26"


async def test_a_handshake_refused_for_its_revision_has_the_probe_sent_once_more(older):
    server = older(
        """
        probes = 0
        for request in logged():
            if request["method"] == "initialize":
                refuse(request, -32022, supported=["2026-07-28"], requested="2025-11-25")
            elif request["method"] == "server/discover":
                probes += 1
                refuse(request) if probes == 1 else discover(request)
        """
    )
    async with connected(server) as client:
        assert client.server.era == "modern"
    assert server.log == ["started", "server/discover", "initialize", "server/discover"]


async def test_another_revision_than_the_one_offered_is_no_error_if_we_speak_it(older):
    server = older("for request in logged():\n    'id' in request and initialize(request, '2024-11-05')")
    async with connected(server, era="2025-03-26") as client:
        assert client.server.revision == "2024-11-05"


async def test_another_revision_than_the_one_offered_is_a_clear_error_if_we_do_not(older):
    server = older("for request in logged():\n    'id' in request and initialize(request, '2020-01-01')")
    with pytest.raises(NoCommonRevisionError, match=r"we speak .*2025-03-26.*the server speaks 2020-01-01"):
        async with connected(server, era="2025-03-26"):
            pass


# -- pins and hints --------------------------------------------------------------------------------


async def test_a_pin_to_the_older_era_sends_no_probe(older):
    server = older(REFUSES)
    async with connected(server, era="legacy") as client:
        assert client.server.verdict.startswith("era= says so; initialize was answered in ")
        assert await works(client)
    assert server.log[:3] == ["started", "initialize", "notifications/initialized"]


async def test_a_pin_to_the_older_era_does_not_try_the_other_one(older):
    server = older("for request in logged():\n    refuse(request, -32022, supported=['2026-07-28'])")
    with pytest.raises(UnsupportedRevisionError):
        async with connected(server, era="legacy"):
            pass
    assert server.log == ["started", "initialize"]


@pytest.mark.parametrize("era", ["modern", "2026-07-28"])
async def test_a_pin_to_the_newer_era_sends_nothing(older, era):
    server = older(REFUSES)
    async with connected(server, era=era) as client:
        assert client.server.verdict == "assumed: the server was not asked"
        assert (client.server.era, client.server.revision) == ("modern", "2026-07-28")
        assert await works(client)
    assert server.log[:2] == ["started", "tools/call"]


async def test_a_pin_to_the_newer_era_with_discovery_says_what_it_forbids(older):
    server = older(REFUSES)
    with pytest.raises(
        NoCommonRevisionError, match="Without era= older revisions are tried as well"
    ) as caught:
        async with connected(server, era="modern", discover=True):
            pass
    assert caught.value.ours == MODERN_REVISIONS
    assert server.log == ["started", "server/discover"]


async def test_a_decision_can_be_stored_and_passed_in(older):
    server = older(DIES_AT_ONCE)
    async with connected(server, remember=False) as client:
        stored = msgspec.json.encode(client.server.decision)
    decision = msgspec.json.decode(stored, type=Decision)
    async with connected(server, remember=False, era=decision) as client:
        assert client.server.decision == decision
        assert await works(client)
    assert server.log.count("server/discover") == 1


@pytest.mark.parametrize("first_step", ["initialize", "patience"])
async def test_a_hint_that_does_not_fit_any_more_costs_one_question(older, first_step):
    server = older(
        """
        for request in logged():
            if request["method"] == "server/discover":
                discover(request)
            elif request["method"] == "tools/call":
                result(request, "done")
            elif "id" in request:
                refuse(request)
        """
    )
    hint = Decision(era="legacy", revision="2025-06-18", first_step=first_step)
    async with connected(server, era=hint) as client:
        assert client.server.era == "modern"
        assert re.fullmatch(r"server/discover was answered in \d+ ms", client.server.verdict)
        assert await works(client)


async def test_a_hint_that_kills_the_server_costs_one_question(older):
    server = older(
        """
        for request in logged():
            if request["method"] == "initialize":
                sys.exit(1)
            if request["method"] == "server/discover":
                discover(request)
        """
    )
    hint = Decision(era="legacy", revision="2025-06-18", first_step="initialize")
    async with connected(server, era=hint) as client:
        assert client.server.era == "modern"
    assert server.log == ["started", "initialize", "started", "server/discover"]


# -- without the package for the older era ---------------------------------------------------------


@pytest.fixture
def no_sessions(monkeypatch):
    monkeypatch.setattr(client_module, "has_sessions", lambda: False)


async def test_without_the_package_the_error_says_so(older, no_sessions):
    server = older(REFUSES)
    with pytest.raises(NoCommonRevisionError, match="the part of mesero that speaks the older") as caught:
        async with connected(server):
            pass
    assert caught.value.ours == MODERN_REVISIONS


async def test_without_the_package_the_error_names_what_the_server_speaks(older, no_sessions):
    server = older("for request in logged():\n    refuse(request, -32022, supported=['2025-06-18'])")
    with pytest.raises(NoCommonRevisionError, match="the server speaks 2025-06-18"):
        async with connected(server):
            pass


async def test_without_the_package_a_slow_server_is_waited_for(older, no_sessions):
    server = older(SLOW)
    async with connected(server) as client:
        assert client.server.era == "modern"
    assert "initialize" not in server.log


async def test_without_the_package_the_older_era_cannot_be_pinned(older, no_sessions):
    with pytest.raises(NoCommonRevisionError, match="is not there"):
        async with connected(older(REFUSES), era="legacy"):
            pass
