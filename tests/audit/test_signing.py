"""The steps of signing in are found among the exchanges of a link."""

import pytest

from mesero.audit.examples import asked, http_answer, http_request, posted, replied, trace
from mesero.audit.signing import is_signing_in, last_token_seq, steps_of
from tests.audit.judging import link_of

AS = "https://auth.example.com"
QUERY = "response_type=code&client_id=c&scope=a+b&state=<redacted length=3 sha256=0011223344556677>"


def steps(*lines):
    return steps_of(link_of(trace(*lines, transport="http")))


def authorize(**answer):
    return [http_request("GET", url=f"{AS}/authorize?{QUERY}"), http_answer(**answer)]


def form(sent, **answer):
    return [http_request("POST", url=f"{AS}/token", body=sent), http_answer(**answer)]


def test_an_authorization_has_its_fields_and_its_code():
    (step,) = steps(*authorize(status=302, location="http://127.0.0.1/back?code=x&state=y"))

    assert (step.kind, step.is_done, step.error) == ("authorize", True, "")
    assert (step.fields["client_id"], step.fields["scope"]) == ("c", "a b")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"status": 302, "location": "http://127.0.0.1/back?error=invalid_scope"}, "invalid_scope"),
        ({"status": 400, "body": {"error": "invalid_client"}}, "invalid_client"),
        ({"status": 400, "body": "<p>Error: invalid_request</p>"}, "invalid_request"),
        ({"status": 500, "body": "<p>Sorry</p>"}, ""),
        ({"status": 200, "body": "<p>How invalid_client is mended</p>"}, ""),
        ({"status": 302, "location": "//[x"}, ""),
    ],
)
def test_the_reason_of_a_refused_authorization_is_found_where_servers_put_it(answer, error):
    (step,) = steps(*authorize(**answer))

    assert (step.is_done, step.error) == (False, error)


def test_a_token_is_given_or_refused():
    body = "grant_type=refresh_token&refresh_token=<redacted length=3 sha256=0011223344556677>"
    (given,) = steps(*form(body, status=200, body={"access_token": "t", "refresh_token": "r"}))
    (refused,) = steps(*form(body, status=400, body={"error": "invalid_grant"}))
    (odd,) = steps(*form(body, status=200, body="[1]"))

    assert (given.kind, given.is_done, given.has_refresh_token) == ("token", True, True)
    assert given.fields["refresh_token"] == "<redacted length=3 sha256=0011223344556677>"
    assert (refused.is_done, refused.error) == (False, "invalid_grant")
    assert (odd.is_done, odd.error) == (False, "")


def test_a_registration_gives_a_client_id():
    body = '{"redirect_uris": ["http://127.0.0.1/back"]}'
    given, refused, none = (
        steps(*form(body, **answer))[0]
        for answer in (
            {"status": 201, "body": {"client_id": "c"}},
            {"status": 400, "body": {"error": "invalid_redirect_uri"}},
            {"status": 201, "body": {"client_id": 1}},
        )
    )

    assert (given.kind, given.is_done, given.fields) == ("register", True, {"client_id": "c"})
    assert (refused.is_done, refused.error) == (False, "invalid_redirect_uri")
    assert not none.is_done


def test_what_passes_between_client_and_server_is_no_step():
    metadata = [http_request("GET", url=f"{AS}/.well-known/oauth-authorization-server"), http_answer(200)]
    call = [
        posted(asked("ping"), url="https://example.com/mcp?client_id=c&response_type=x"),
        http_answer(401),
    ]
    link = link_of(trace(*metadata, *call, transport="http"))

    assert steps_of(link) == []
    assert not any(is_signing_in(each) for each in link.exchanges.values())


def test_the_last_token_is_the_one_that_was_given_or_accepted_last():
    given = form("grant_type=x", status=200, body={"access_token": "t"})
    call = [
        posted(asked("ping"), exchange=2, authorization="Bearer t"),
        replied({"jsonrpc": "2.0", "id": 1, "result": {}}, exchange=2),
    ]

    assert last_token_seq(link_of(trace(*authorize(status=400), transport="http"))) == 0
    assert last_token_seq(link_of(trace(*given, transport="http"))) == 2
    assert last_token_seq(link_of(trace(*given, *call, transport="http"))) == 5
