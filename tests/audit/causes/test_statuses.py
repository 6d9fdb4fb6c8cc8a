"""The causes in statuses: each is the only one that its example supports."""

import pytest

from mesero.audit.diagnosis import diagnose
from mesero.audit.examples import answered, asked, failed, http_answer, http_request, posted, replied, trace
from tests.audit.judging import causes_of, codes_of

CALL = asked("tools/call", {"name": "x"})


@pytest.mark.parametrize("cause", causes_of("S400", "S404", "S405", "S406", "S421", "PAGE"))
def test_a_cause_is_the_only_one_that_its_example_supports(cause):
    assert codes_of(cause.example) == [cause.code]


def test_a_session_that_was_ended_by_its_client_is_not_lost():
    lines = trace(
        http_request("DELETE", mcp_session_id="s"),
        http_answer(200),
        posted({"jsonrpc": "2.0", "id": 1, "method": "ping"}, exchange=2, mcp_session_id="s"),
        http_answer(404, exchange=2),
        transport="http",
    )

    assert "S404-1" not in codes_of(lines)


def test_a_failure_in_the_middle_is_no_fallback():
    assert codes_of(trace(posted(CALL), http_answer(500), transport="http")) == []


def test_a_capability_that_was_declared_once_is_told_so():
    able = posted(asked("tools/list", capabilities={"elicitation": {}}), exchange=1)
    lacking = failed(-32021, id=2, data={"requiredCapabilities": {"elicitation": {}}})
    call = [
        posted(asked("tools/call", {"name": "x"}, id=2), exchange=2),
        replied(lacking, exchange=2, status=400),
    ]
    listed = replied(answered({"tools": [], "ttlMs": 0, "cacheScope": "private"}), exchange=1)
    (found,) = diagnose(trace(able, listed, *call, transport="http"))
    (never,) = diagnose(trace(*call, transport="http"))

    assert (found.code, never.code) == ("S400-3", "S400-3")
    assert (
        "needs elicitation, and its own _meta does not declare it; the request in line 2 did" in found.cause
    )
    assert "did, but" not in never.cause


def test_the_message_that_accepts_too_little_is_named():
    ready = posted({"jsonrpc": "2.0", "method": "notifications/x"}, exchange=2, accept="application/json")
    (found,) = diagnose(trace(posted(CALL), ready, http_answer(406, exchange=2), transport="http"))

    assert found.cause == "the notification accepts 'application/json'; the other messages (1) accept both"
