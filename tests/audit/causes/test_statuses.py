"""The causes in statuses: each is the only one that its example supports."""

import pytest

from mesero.audit.diagnosis import diagnose
from mesero.audit.examples import asked, http_answer, http_request, posted, trace
from tests.audit.judging import causes_of, codes_of

CALL = asked("tools/call", {"name": "x"})


@pytest.mark.parametrize("cause", causes_of("S400", "S401", "S404", "S405", "S406", "S421", "PAGE"))
def test_a_cause_is_the_only_one_that_its_example_supports(cause):
    assert codes_of(cause.example) == [cause.code]


def test_a_challenge_without_an_address_blames_the_server():
    (diagnosis,) = diagnose(
        trace(posted(CALL), http_answer(401, www_authenticate="Bearer"), transport="http")
    )

    assert (diagnosis.code, diagnosis.blame) == ("S401-4", "server")
    assert "resource_metadata" in diagnosis.fix


def test_a_refused_token_may_be_one_for_another_resource():
    lines = trace(
        posted(CALL, authorization="Bearer t"),
        http_answer(401, www_authenticate="Bearer resource_metadata=x"),
        http_request("GET", url="https://example.com/.well-known/oauth-protected-resource", exchange=2),
        http_answer(
            200, exchange=2, body={"resource": "https://example.com", "authorization_servers": ["x"]}
        ),
        transport="http",
    )
    (diagnosis,) = diagnose(lines)

    assert diagnosis.code == "S401-3"
    assert "https://example.com/mcp" in diagnosis.cause


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
