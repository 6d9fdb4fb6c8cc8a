"""The rules of authorization: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import asked, failed, hello, http_answer, http_request, posted, replied, trace
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


def asking_for(scope, *, challenge='scope="a b"', revision="2025-11-25"):
    hail = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello(revision)}
    url = f"https://auth.example.com/authorize?response_type=code&client_id=c{scope}"
    return trace(
        posted(hail),
        http_answer(401, www_authenticate=f'Bearer resource_metadata="x", {challenge}'),
        http_request("GET", url=url, exchange=2),
    )


def test_more_scopes_than_the_challenge_names_are_no_fault_and_fewer_are():
    assert broken_by(asking_for("&scope=a+b+offline_access")) == set()
    assert broken_by(asking_for("&scope=c", challenge='error="x"')) == set()
    assert broken_by(asking_for("&scope=a")) == {"AUTH-014"}
    assert broken_by(asking_for("")) == {"AUTH-014"}


def test_scopes_are_judged_by_the_revision_and_only_where_they_can_be_read():
    assert broken_by(asking_for("&scope=c", revision="2025-06-18")) == set()
    assert broken_by(asking_for("&scope=<redacted length=1 sha256=0011223344556677>")) == set()


def test_a_token_endpoint_may_refuse_without_a_challenge():
    token = http_request("POST", url="https://auth.example.com/token", body="grant_type=x&resource=y")

    assert broken_by(trace(token, http_answer(401, body={"error": "invalid_client"}))) == set()
