"""Who may come in, and in which form."""

import json

import pytest

from mesero.transports.http_gate import Gate, Refusal, Welcome, refusal_for
from tests.transports.asgi_driver import GOOD_HEADERS, lines_of


def outcome_of(gate=None, **changes):
    changed = {name.replace("_", "-"): value for name, value in changes.items()}
    return (gate or Gate()).check_post(lines_of({**GOOD_HEADERS, **changed}))


def refused(outcome, status):
    assert isinstance(outcome, Refusal)
    assert outcome.status == status
    return json.loads(outcome.body)["error"]["message"]


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:80"])
def test_loopback_hosts_come_in_with_any_port(host):
    assert isinstance(outcome_of(host=host), Welcome)


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example.com", "127.0.0.1.evil.example", "localhost:1:2", "user@localhost", "localhost:"],
)
def test_other_hosts_are_told_which_header_it_was_and_how_to_allow_it(host):
    message = refused(outcome_of(host=host), 421)

    assert "Host" in message
    assert "allowed_hosts=" in message


@pytest.mark.parametrize(
    ("allowed", "host", "status"),
    [
        ("notes.example", "notes.example", None),
        ("Notes.Example", "notes.example:8443", None),
        ("notes.example:8443", "notes.example:8443", None),
        ("notes.example:8443", "notes.example:9443", 421),
        ("notes.example", "sub.notes.example", 421),
        ("*", "anything.example", None),
    ],
)
def test_hosts_are_allowed_by_name_or_by_name_and_port(allowed, host, status):
    outcome = outcome_of(Gate(allowed_hosts=[allowed]), host=host)

    assert getattr(outcome, "status", None) == status


@pytest.mark.parametrize(
    "origin", [None, "http://localhost", "https://localhost:3000", "http://[::1]:1", "http://127.0.0.1:9"]
)
def test_no_origin_and_loopback_origins_come_in(origin):
    assert isinstance(outcome_of(origin=origin), Welcome)


@pytest.mark.parametrize(
    "origin", ["null", "", "http://evil.example", "http://localhost.evil.example", "file://localhost"]
)
def test_other_origins_are_forbidden(origin):
    message = refused(outcome_of(origin=origin), 403)

    assert "Origin" in message
    assert "allowed_origins=" in message


@pytest.mark.parametrize("option", ["allowed_origins", "cors_origins"])
def test_a_listed_origin_comes_in(option):
    gate = Gate(**{option: ["https://app.example/"]})

    assert isinstance(outcome_of(gate, origin="https://app.example"), Welcome)
    assert refused(outcome_of(gate, origin="https://app.example:444"), 403)


def test_every_origin_may_be_allowed():
    assert isinstance(outcome_of(Gate(allowed_origins=["*"]), origin="null"), Welcome)


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_messages_are_json(kind):
    assert isinstance(outcome_of(content_type=kind), Welcome)


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/jsonl", "text/plain; application/json"]
)
def test_another_content_type_is_not_supported(kind):
    assert "application/json" in refused(outcome_of(content_type=kind), 415)


@pytest.mark.parametrize(
    ("accept", "may_stream", "only_streams"),
    [
        (None, True, False),
        ("", True, False),
        ("*/*", True, False),
        ("application/json, text/event-stream", True, False),
        ("text/html, Application/*;q=0.5, text/*", True, False),
        ("application/json", False, False),
        ("application/json, text/event-stream;q=0", False, False),
        ("text/event-stream", True, True),
        ("application/json; q=0.000, text/event-stream", True, True),
    ],
)
def test_accept_says_which_forms_an_answer_may_have(accept, may_stream, only_streams):
    assert outcome_of(accept=accept) == Welcome(may_stream=may_stream, only_streams=only_streams)


@pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "nonsense"])
def test_a_client_that_accepts_neither_form_is_refused(accept):
    assert "Accept" in refused(outcome_of(accept=accept), 406)


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "Origin",
        "Content-Type",
        "Content-Length",
        "Authorization",
        "Mcp-Session-Id",
        "Last-Event-Id",
    ],
)
def test_a_header_that_decides_may_not_be_repeated(name):
    lines = [*GOOD_HEADERS.items(), (name.lower(), "1"), (name.lower(), "1")]

    assert f"{name} is repeated" in refused(Gate().check_post(lines_of(lines)), 400)


def test_other_headers_may_be_repeated():
    lines = [*GOOD_HEADERS.items(), ("accept", "*/*"), ("x", "1"), ("x", "2")]

    assert isinstance(Gate().check_post(lines_of(lines)), Welcome)


def test_a_body_may_not_be_announced_longer_than_the_limit():
    gate = Gate(max_body_bytes=10)

    assert isinstance(outcome_of(gate, content_length="10"), Welcome)
    assert "10 bytes" in refused(outcome_of(gate, content_length="11"), 413)
    assert isinstance(outcome_of(gate, content_length="nonsense"), Welcome)


def test_headers_have_limits():
    many = {f"x-{number}": "1" for number in range(100)}

    assert "max_headers=" in refused(outcome_of(**many), 431)
    assert "max_header_bytes=" in refused(outcome_of(x="a" * 70_000), 431)
    assert isinstance(outcome_of(Gate(max_headers=200, max_header_bytes=100_000), **many), Welcome)


def test_what_is_remembered_of_clients_is_bounded():
    gate = Gate()

    for number in range(1000):
        assert isinstance(outcome_of(gate, host=f"localhost:{number}"), Welcome)
    assert isinstance(outcome_of(gate, accept="*/*, " + "x" * 5000), Welcome)

    assert len(gate._known) <= 256


# -- CORS --------------------------------------------------------------------------------------------------

APP = "https://app.example"


def test_a_page_of_a_listed_origin_may_read_the_answers():
    outcome = outcome_of(Gate(cors_origins=[APP]), origin=APP)

    assert (b"access-control-allow-origin", APP.encode()) in outcome.headers
    assert (b"vary", b"Origin") in outcome.headers


def test_it_may_read_refusals_of_what_it_sends_too():
    outcome = outcome_of(Gate(cors_origins=["*"]), origin=APP, content_type="text/plain")

    assert refused(outcome, 415)
    assert (b"access-control-allow-origin", APP.encode()) in outcome.headers


def test_an_answer_without_an_origin_is_not_the_one_for_every_origin():
    assert outcome_of(Gate(cors_origins=[APP])).headers == ((b"vary", b"Origin"),)


def test_an_allowed_origin_is_no_cors_origin():
    outcome = outcome_of(Gate(allowed_origins=["https://other.example"], cors_origins=[APP]), origin=APP)
    other = outcome_of(
        Gate(allowed_origins=["https://other.example"], cors_origins=[APP]), origin="https://other.example"
    )

    assert len(outcome.headers) == 3
    assert other.headers == ((b"vary", b"Origin"),)


def preflight(gate, **headers):
    lines = {"host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return gate.check_options(lines_of(lines))


def test_a_preflight_allows_the_headers_that_mcp_needs():
    asked = "content-type, mcp-method, Mcp-Param-Region, mcp-param-x\x00, x-other"
    outcome = preflight(Gate(cors_origins=[APP]), origin=APP, access_control_request_headers=asked)
    headers = dict(outcome.headers)

    assert (outcome.status, outcome.body) == (204, b"")
    assert headers[b"access-control-allow-origin"] == APP.encode()
    assert headers[b"access-control-allow-methods"] == b"POST"
    assert headers[b"access-control-allow-headers"].decode().split(", ") == [
        "Content-Type",
        "Accept",
        "Authorization",
        "MCP-Protocol-Version",
        "Mcp-Method",
        "Mcp-Name",
        "mcp-param-region",
    ]


@pytest.mark.parametrize(
    ("options", "headers", "status"),
    [
        ({}, {"origin": "http://localhost"}, 405),
        ({"cors_origins": [APP]}, {}, 405),
        ({"cors_origins": [APP]}, {"origin": "http://localhost"}, 405),
        ({"cors_origins": [APP]}, {"origin": "https://evil.example"}, 403),
        ({"cors_origins": [APP]}, {"origin": APP, "host": "evil.example"}, 421),
    ],
)
def test_other_preflights_are_refused(options, headers, status):
    assert preflight(Gate(**options), **headers).status == status


# -- other methods -----------------------------------------------------------------------------------------


def test_other_methods_are_not_allowed_and_told_so():
    outcome = Gate().check_other("GET", lines_of({"host": "localhost"}))

    assert "GET" in refused(outcome, 405)
    assert (b"allow", b"POST") in outcome.headers


def test_other_methods_from_elsewhere_learn_nothing():
    assert Gate().check_other("GET", lines_of({"host": "evil.example"})).status == 421
    assert Gate().check_other("GET", lines_of({"host": "localhost", "origin": "null"})).status == 403


def test_a_refusal_is_an_error_response_without_an_id():
    outcome = refusal_for(418, "no coffee", (b"x", b"y"))

    assert json.loads(outcome.body) == {"jsonrpc": "2.0", "error": {"code": -32600, "message": "no coffee"}}
    assert dict(outcome.headers) == {
        b"content-type": b"application/json",
        b"content-length": b"%d" % len(outcome.body),
        b"x": b"y",
    }


# -- requests without a body -------------------------------------------------------------------------------


def test_a_request_without_a_body_needs_no_content_type_and_all_else_holds():
    gate = Gate(max_headers=5)
    good = {"host": "localhost", "accept": "text/event-stream"}

    assert gate.check_bodiless(lines_of(good)).only_streams
    assert gate.check_bodiless(lines_of({**good, "content-type": "text/plain"})).may_stream
    assert gate.check_bodiless(lines_of({**good, "accept": "image/png"})).status == 406
    assert gate.check_bodiless(lines_of({**good, "host": "evil.example"})).status == 421
    assert gate.check_bodiless(lines_of({**good, "a": "", "b": "", "c": "", "d": ""})).status == 431


def test_what_is_served_besides_is_said_to_pages_and_in_refusals():
    gate = Gate(
        cors_origins=[APP], methods=("GET", "POST"), cors_headers=["X-Sent"], exposed_headers=["X-Read"]
    )
    said = dict(preflight(gate, origin=APP).headers)
    welcome = gate.check_bodiless(lines_of({"host": "localhost", "origin": APP}))

    assert said[b"access-control-allow-methods"] == b"GET, POST"
    assert said[b"access-control-allow-headers"].endswith(b", X-Sent")
    assert dict(welcome.headers)[b"access-control-expose-headers"] == b"WWW-Authenticate, X-Read"
    assert (b"allow", b"GET, POST") in gate.check_other("PUT", lines_of({"host": "localhost"})).headers


@pytest.mark.parametrize("digits", ["9" * 5000, "9" * 19, "0" * 30 + "9" * 19])
def test_a_length_of_any_number_of_digits_is_read(digits):
    refused(outcome_of(content_length=digits), 413)


def test_leading_zeros_make_no_body_long():
    assert isinstance(outcome_of(content_length="0" * 5000 + "12"), Welcome)
