"""The causes in authorization: each is the only one that its example supports; what was mended is none."""

import pytest

from mesero.audit.diagnosis import diagnose
from mesero.audit.examples import asked, http_answer, http_request, posted, replied, trace
from tests.audit.judging import causes_of, codes_of

CALL = asked("tools/call", {"name": "x"})
DONE = {"jsonrpc": "2.0", "id": 2, "result": {"resultType": "complete", "content": []}}
CHALLENGE = 'Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource"'
AS = "https://auth.example.com"


@pytest.mark.parametrize("cause", causes_of("S401", "SIGNIN"))
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


def authorize(exchange, scope="a", **answer):
    url = f"{AS}/authorize?response_type=code&client_id=c&scope={scope}"
    return [http_request("GET", url=url, exchange=exchange), http_answer(exchange=exchange, **answer)]


def token(exchange, answer, form="grant_type=authorization_code&code=c&resource=r", status=200):
    request = http_request("POST", url=f"{AS}/token", exchange=exchange, body=form)
    return [request, http_answer(status, exchange=exchange, body=answer)]


def used(exchange, value="t"):
    call = posted(
        asked("tools/call", {"name": "x"}, id=2), exchange=exchange, authorization=f"Bearer {value}"
    )
    return [call, replied(DONE, exchange=exchange)]


REFUSED = [posted(CALL), http_answer(401, www_authenticate=CHALLENGE)]
GIVEN = {"access_token": "t", "refresh_token": "r"}


@pytest.mark.parametrize("mended", [used(5), token(5, GIVEN)])
def test_who_signs_in_afterwards_has_no_problem(mended):
    assert codes_of(trace(*REFUSED, *mended, transport="http")) == []


def test_an_expired_token_that_is_refreshed_is_no_problem():
    expired = [posted(CALL, exchange=3, authorization="Bearer t"), http_answer(401, exchange=3)]
    refresh = token(4, {"access_token": "u"}, "grant_type=refresh_token&refresh_token=r")
    lines = [*token(1, GIVEN), *used(2), *expired]

    (expired_only,) = diagnose(trace(*lines, transport="http"))
    assert expired_only.code == "S401-2"
    assert expired_only.cause.endswith("a refresh token was given in line 2, and not tried since")
    assert codes_of(trace(*lines, *refresh, *used(5, "u"), transport="http")) == []


def test_the_token_endpoint_is_not_the_server_that_refuses_a_token():
    request = http_request("POST", url=f"{AS}/token", body="grant_type=x", authorization="Basic abc")
    lines = trace(request, http_answer(401, body={"error": "invalid_client"}), transport="http")

    assert codes_of(lines) == ["SIGNIN-1"]


def test_a_registration_that_was_renewed_is_no_problem():
    registration = [
        http_request("POST", url=f"{AS}/register", exchange=3, body='{"redirect_uris": []}'),
        http_answer(201, exchange=3, body={"client_id": "d"}),
    ]
    unknown = authorize(2, status=400, body="<h1>invalid_client</h1>")

    assert codes_of(trace(*unknown, transport="http")) == ["SIGNIN-1"]
    assert codes_of(trace(*unknown, *registration, transport="http")) == []


def test_a_refresh_token_that_was_used_once_is_only_dead():
    dead = token(3, {"error": "invalid_grant"}, "grant_type=refresh_token&refresh_token=other", 400)
    once = token(2, GIVEN, "grant_type=refresh_token&refresh_token=r")

    assert codes_of(trace(*once, *dead, transport="http")) == ["SIGNIN-3"]


def test_the_one_that_lost_is_not_helped_by_the_one_that_was_first():
    form = "grant_type=refresh_token&refresh_token=r"
    both = [*token(2, {"access_token": "u"}, form), *token(3, {"error": "invalid_grant"}, form, 400)]

    assert codes_of(trace(*both, *used(4, "u"), transport="http")) == ["SIGNIN-2"]
    assert codes_of(trace(*both, *token(4, GIVEN), transport="http")) == []


def test_a_403_that_names_no_scope_says_so():
    weak = [
        posted(CALL, authorization="Bearer t"),
        http_answer(403, www_authenticate='error="insufficient_scope"'),
    ]
    (found,) = diagnose(trace(*weak, transport="http"))

    assert found.cause == "the server wants a scope that it does not name, and has answered 403"


def test_who_asks_for_the_missing_scope_has_done_its_part():
    weak = [
        posted(CALL, authorization="Bearer t"),
        http_answer(403, www_authenticate='Bearer error="insufficient_scope", scope="b"'),
    ]
    again = authorize(2, "a+b", status=302, location="http://127.0.0.1/?code=1")

    assert codes_of(trace(*weak, *used(3), transport="http")) == ["SIGNIN-5"]
    assert codes_of(trace(*weak, *again, transport="http")) == []
    assert codes_of(trace(*weak, *used(3, "u"), transport="http")) == []


def test_any_other_refusal_is_told_as_it_came():
    lines = trace(*token(1, {"error": "invalid_target"}, status=400), transport="http")
    (diagnosis,) = diagnose(lines)

    assert diagnosis.code == "SIGNIN-6"
    assert "the request for a token was answered with 'invalid_target' (resource 'r')" in diagnosis.cause
