"""The rules of authorization: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import asked, failed, http_answer, http_request, posted, replied, trace
from tests.audit.judging import broken_by, check_examples, rules_of


@pytest.mark.parametrize("rule", rules_of("AUTH"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


CALL = asked("tools/call", {"name": "x"})
WELL_KNOWN = "https://example.com/.well-known/oauth-protected-resource"
SERVER = "https://auth.example.com/.well-known/oauth-authorization-server"


def fetched(url, body, exchange=5):
    return [http_request("GET", url=url, exchange=exchange), http_answer(200, exchange=exchange, body=body)]


def test_another_authorization_server_than_those_named_is_not_compared():
    lines = trace(
        *fetched(WELL_KNOWN, {"authorization_servers": ["https://other.example.com"], "resource": "x"}),
        *fetched(SERVER, {"issuer": "https://x", "code_challenge_methods_supported": ["S256"]}, 6),
    )

    assert "AUTH-006" not in broken_by(lines)


def test_what_is_no_metadata_document_is_not_judged():
    assert broken_by(trace(*fetched(WELL_KNOWN, "<html>"), *fetched(SERVER, [1], 6))) == set()


def test_a_refresh_needs_no_resource():
    token = http_request(
        "POST", url="https://auth.example.com/token", body="grant_type=refresh_token&refresh_token=r"
    )

    assert broken_by(trace(token)) == set()


def test_another_program_on_the_same_link_may_have_no_token():
    lines = trace(
        posted(CALL, authorization="Bearer t", user_agent="a"),
        http_answer(500),
        posted(CALL, exchange=2, user_agent="b"),
        http_answer(401, exchange=2, www_authenticate='Bearer resource_metadata="x"'),
    )

    assert broken_by(lines) == set()


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_with_its_own_status_is_right(status):
    answer = replied(
        failed(-32603, "Unauthorized"), status=status, www_authenticate='Bearer resource_metadata="x"'
    )

    assert broken_by(trace(posted(CALL), answer)) == set()
