import json

import pytest

from mesero.errors import AuthorizationNeededError, HttpStatusError, ProtocolError
from mesero.jsonrpc import ErrorResponse, ResultResponse
from mesero.transports.http_answers import HttpAnswer, is_redirect, media_type_of, read_answer

OURS = {"jsonrpc": "2.0", "id": 7, "result": {}}
FAILED = {"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "Method not found: x"}}
FAILED_WITHOUT_ID = {"jsonrpc": "2.0", "error": {"code": -32700, "message": "not JSON"}}


def answer(body, status=200, *, kind="application/json", reason="", **headers):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if kind:
        named["Content-Type"] = kind
    return HttpAnswer(url="https://x.example/mcp", status=status, reason=reason, headers=named, body=body)


def read(body, status=200, **options):
    return read_answer(answer(body, status, **options), 7, "tools/call")


def test_the_response_to_our_request_is_the_message():
    assert isinstance(read(OURS), ResultResponse)


@pytest.mark.parametrize("status", [200, 400, 404, 500, 429, 302])
@pytest.mark.parametrize("body", [FAILED, FAILED_WITHOUT_ID])
def test_a_json_rpc_error_is_the_message_whatever_the_status(status, body):
    message = read(body, status)
    assert isinstance(message, ErrorResponse)
    assert message.code == body["error"]["code"]


def test_a_response_counts_also_when_its_type_is_declared_wrongly():
    assert isinstance(read(OURS, kind="text/plain"), ResultResponse)


@pytest.mark.parametrize("status", [401, 403])
def test_a_missing_authorization_comes_before_any_body(status):
    with pytest.raises(AuthorizationNeededError) as caught:
        read(FAILED, status, WWW_Authenticate='Bearer resource_metadata="https://x.example/.well-known/y"')
    assert caught.value.status == status
    assert dict(caught.value.headers)["www-authenticate"].startswith("Bearer")
    assert "the server says 'Method not found: x'" in str(caught.value)


def test_a_missing_authorization_needs_no_body():
    with pytest.raises(AuthorizationNeededError, match=r"^POST https://x\.example/mcp → 401 Unauthorized$"):
        read(b"", 401, kind="")


@pytest.mark.parametrize(
    ("status", "line"),
    [(502, "502 Bad Gateway"), (429, "429 Too Many Requests"), (799, "799"), (404, "404 Not Found")],
)
def test_another_status_is_named_with_its_reason(status, line):
    with pytest.raises(HttpStatusError) as caught:
        read(b"<h1>oops</h1>", status, kind="text/html; charset=utf-8")
    text = f"POST https://x.example/mcp → {line}. The body (text/html; charset=utf-8) begins: '<h1>oops</h1>'"
    assert str(caught.value) == text


def test_the_reason_of_the_server_comes_first():
    with pytest.raises(HttpStatusError, match="502 Upstream is gone"):
        read(b"", 502, reason="Upstream is gone")


def test_a_body_for_another_request_is_no_answer_to_an_error_status():
    with pytest.raises(HttpStatusError, match="400 Bad Request"):
        read(FAILED | {"id": "server-error"}, 400)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_that_is_not_followed_names_its_goal_without_secrets(status):
    assert is_redirect(status)
    with pytest.raises(HttpStatusError, match=r"it points to https://y\.example/mcp") as caught:
        read(b"", status, Location="https://y.example/mcp?token=geheim")
    assert "use it as the URL" in str(caught.value)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "text"),
    [({}, "names no other address"), ({"Location": "http://[x"}, "it points to what is no URL")],
)
def test_a_redirect_to_nowhere_says_so(headers, text):
    with pytest.raises(HttpStatusError, match=text):
        read(b"", 302, **headers)


@pytest.mark.parametrize(("status", "body"), [(202, b""), (204, b""), (200, b""), (202, b"ok")])
def test_an_accepted_request_without_an_answer_breaks_the_protocol(status, body):
    with pytest.raises(ProtocolError, match=r"tools/call \(id 7\) was accepted but not answered"):
        read(body, status)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (OURS | {"id": 8}, r"tools/call \(id 7\) was answered with a response with the id 8"),
        (OURS | {"id": "7"}, "under the id '7' instead of 7: same value, other type"),
        ({"jsonrpc": "2.0", "id": 7, "method": "ping"}, "answered with the request 'ping'"),
        ({"jsonrpc": "2.0", "method": "hello"}, "answered with the notification 'hello'"),
        ([OURS], "inside an array"),
        (OURS | {"jsonrpc": "1.0"}, "marked \"jsonrpc\": '1.0' instead of"),
        ({"id": 7, "result": {}}, "instead of"),
        (b"{", "is no message: not JSON"),
        (b"null", "is no message: a message is a JSON object"),
    ],
)
def test_a_success_that_is_no_answer_to_us_breaks_the_protocol_by_name(body, text):
    with pytest.raises(ProtocolError, match=text) as caught:
        read(body)
    assert caught.value.excerpt


@pytest.mark.parametrize(("kind", "named"), [("text/html", "text/html"), ("", "a body of no declared type")])
def test_a_success_with_a_page_says_what_came(kind, named):
    with pytest.raises(
        HttpStatusError, match=f"200 OK: {named} instead of application/json or text/event-stream"
    ):
        read(b"<html>Log in</html>", kind=kind)


def test_the_media_type_is_read_without_parameters_and_case():
    assert media_type_of({"Content-Type": "Application/JSON; charset=utf-8"}) == "application/json"
    assert media_type_of({}) == ""
