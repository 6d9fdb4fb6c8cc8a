"""Eras that are given, decisions that are passed in, and the package for the older era missing."""

import re

import msgspec
import pytest

from mesero.client import Decision
from mesero.client import client as client_module
from mesero.eras import MODERN_REVISIONS
from mesero.errors import NoCommonRevisionError, UnsupportedRevisionError
from tests.client.older_servers import DIES_AT_ONCE, QUICK_S, REFUSES, SLOW, connected, works

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
    async with connected(server, probe_s=QUICK_S) as client:
        assert client.server.era == "modern"
    assert "initialize" not in server.log


async def test_without_the_package_the_older_era_cannot_be_pinned(older, no_sessions):
    with pytest.raises(NoCommonRevisionError, match="is not there"):
        async with connected(older(REFUSES), era="legacy"):
            pass
