"""How a command is decided on: every row of the table, on real processes."""

import re

import pytest
from msgspec import UNSET

from mesero.eras import LEGACY_REVISIONS, MODERN_REVISIONS
from mesero.errors import CallTimeoutError, DisconnectedError, NoCommonRevisionError
from tests.client.older_servers import DIES_AT_ONCE, QUICK_S, REFUSES, SLOW, connected, works


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
    async with connected(server, probe_s=QUICK_S) as client:
        assert client.server.era == "legacy"
        assert client.server.verdict.startswith(
            f"nothing answered the probe within {QUICK_S:g} s; initialize was"
        )
        assert await works(client)
    assert server.log[:3] == ["started", "server/discover", "initialize"]
    before = len(server.log)
    async with connected(server, probe_s=QUICK_S) as client:
        assert client.server.verdict.startswith("remembered: nothing answered the probe within")
        assert await works(client)
    assert server.log[before : before + 3] == ["started", "initialize", "notifications/initialized"]


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
    async with connected(server, probe_s=QUICK_S) as client:
        assert client.server.era == "legacy"
        assert "the server ended" in client.server.verdict
        assert await works(client)
        assert client.transport._starts.maxlen - len(client.transport._starts) == 4
    assert server.log.count("started") == 2
    async with connected(server, probe_s=QUICK_S) as client:
        assert await works(client)
    assert server.log.count("started") == 3
    assert server.log.count("server/discover") == 1


LATE = """
for request in logged():
    if request["method"] == "server/discover":
        time.sleep(0.6)
        refuse(request)
    elif "id" in request:
        serve(request)
"""


async def test_a_slow_server_that_refuses_the_probe_is_waited_for_next_time(older):
    server = older(LATE)
    async with connected(server, probe_s=QUICK_S) as client:
        assert client.server.decision.first_step == "patience"
        assert await works(client)
    async with connected(server, probe_s=QUICK_S) as client:
        assert re.fullmatch(r"the probe was answered -32601 in \d+ ms", client.server.verdict)


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
    async with connected(server, probe_s=QUICK_S) as client:
        assert (client.server.era, client.server.revision) == ("legacy", "2025-06-18")
        assert (await client.call_tool("any")).text == "pinned"
        assert client.server.decision.first_step == "patience"
    async with connected(server, probe_s=QUICK_S) as client:
        assert (client.server.era, client.server.revision) == ("modern", "2026-07-28")
        assert (await client.call_tool("any")).text == "free"
    assert server.log.count("initialize") == 1


async def test_a_slow_server_that_refuses_the_handshake_is_modern(older):
    server = older(SLOW)
    for _ in range(2):
        async with connected(server, probe_s=QUICK_S) as client:
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
    async with connected(server, probe_s=QUICK_S) as client:
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
    async with connected(server, probe_s=QUICK_S, connect_timeout_s=2.5) as client:
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
