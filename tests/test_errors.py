"""The error tree: who is to blame, and what the reader is told."""

import pytest

from mesero import errors
from mesero.errors import (
    AuthorizationNeededError,
    CallTimeoutError,
    DisconnectedError,
    HttpStatusError,
    MeseroError,
    MissingCapabilityError,
    NoCommonRevisionError,
    ProtocolError,
    ResourceNotFoundError,
    RpcError,
    ToolFailedError,
    rpc_error_for,
)

CODES = {
    "ParseError": -32700,
    "InvalidRequestError": -32600,
    "MethodNotFoundError": -32601,
    "InvalidParamsError": -32602,
    "InternalError": -32603,
    "HeaderMismatchError": -32020,
    "MissingClientCapabilityError": -32021,
    "UnsupportedRevisionError": -32022,
}

BLAME = {
    "client": """
        LocalError UsageError ClosedError MissingCapabilityError ParseError InvalidRequestError
        InvalidParamsError MethodNotFoundError MissingClientCapabilityError UnsupportedRevisionError
        LaunchError InputNeededError ResourceNotFoundError
        AuthorizationNeededError
    """,
    "server": """
        ProtocolError InvalidResultError RpcError InternalError DisconnectedError ToolFailedError
    """,
    "unknown": """
        MeseroError NoCommonRevisionError HeaderMismatchError TransportError ConnectError HttpStatusError
        CallTimeoutError
    """,
}


def error_classes():
    return {
        name: kind for name, kind in vars(errors).items() if name.endswith("Error") and isinstance(kind, type)
    }


def test_the_type_of_every_error_says_who_is_to_blame():
    expected = {name: blame for blame, names in BLAME.items() for name in names.split()}

    assert {name: error_classes()[name].blame for name in expected} == expected


def test_every_error_is_drawn_in_the_tree_of_the_docstring():
    missing = [name for name in error_classes() if f" {name} " not in f"{errors.__doc__} ".replace("\n", " ")]

    assert missing == []


def test_every_error_is_a_mesero_error():
    assert all(issubclass(kind, MeseroError) for kind in error_classes().values())


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (MeseroError("it broke"), "it broke"),
        (MeseroError("it broke", where="notes"), "notes: it broke"),
        (MeseroError("it broke", fix="Mend it."), "it broke. Mend it."),
        (MeseroError("it broke.", where="notes", fix="Mend it."), "notes: it broke. Mend it."),
        (MeseroError("POST https://x/mcp → no", where="https://x/mcp"), "POST https://x/mcp → no"),
    ],
)
def test_an_error_says_where_what_and_what_to_do(error, text):
    assert str(error) == text


def test_a_missing_capability_names_it_and_says_that_nothing_was_sent():
    error = MissingCapabilityError("tools", "tools/call", where="notes")

    assert (error.capability, error.method) == ("tools", "tools/call")
    assert (
        str(error) == "notes: the server does not declare 'tools', which tools/call needs; nothing was sent"
    )


def test_a_protocol_error_quotes_what_the_server_sent():
    assert str(ProtocolError("no JSON")) == "no JSON"
    assert str(ProtocolError("no JSON", excerpt=b"\xff!")) == r"no JSON. It sent: '\\xff!'"


def test_excerpts_are_short():
    assert len(ProtocolError("long", excerpt=b"x" * 1000).excerpt) == 400
    assert len(DisconnectedError("gone", last_message=b"x" * 1000).last_message) == 400
    assert len(HttpStatusError(method="POST", url="u", status=500, body=b"x" * 1000).body) == 400


def test_no_common_revision_names_both_lists():
    error = NoCommonRevisionError(("2026-07-28",), ("2027-01-01", "2027-06-01"), where="notes")

    assert (error.ours, error.theirs) == (("2026-07-28",), ("2027-01-01", "2027-06-01"))
    assert "we speak 2026-07-28; the server speaks 2027-01-01, 2027-06-01" in str(error)
    assert "speaks none that it names" in str(NoCommonRevisionError(("2026-07-28",), ()))


def test_an_rpc_error_shows_message_code_and_place():
    assert str(RpcError("no", code=7)) == "no (7)"
    assert str(RpcError("no", code=7, where="notes")) == "notes: no (7)"
    assert RpcError("no").code == errors.INTERNAL_ERROR


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_a_received_code_gives_the_class_that_has_it(name, code):
    error = rpc_error_for(code, "no", {"a": 1}, where="notes")

    assert type(error).__name__ == name
    assert (error.code, error.message, error.data, error.where) == (code, "no", {"a": 1}, "notes")
    assert error_classes()[name]("no").code == code


def test_a_code_of_its_own_stays_a_plain_rpc_error():
    error = rpc_error_for(-1, "no")

    assert type(error) is RpcError
    assert (error.code, error.data) == (-1, None)


def test_a_death_tells_all_that_is_known_of_it():
    error = DisconnectedError(
        "the process ended with exit code 3",
        where="notes",
        exit_code=3,
        stderr_tail=("Traceback", "KeyError: 'x'"),
        last_message=b'{"id":1}',
        noise=("debug: hello",),
    )

    assert error.exit_code == 3
    assert str(error).splitlines() == [
        "notes: the process ended with exit code 3",
        "its last words on stderr:",
        "  Traceback",
        "  KeyError: 'x'",
        "what it wrote to stdout that is no message:",
        "  debug: hello",
        'last message received: {"id":1}',
    ]
    assert str(DisconnectedError("gone")) == "gone"


def test_an_http_answer_shows_request_status_and_the_beginning_of_its_body():
    error = HttpStatusError(
        method="POST",
        url="https://example.com/mcp",
        status=502,
        reason="Bad Gateway",
        content_type="text/html",
        body=b"<html>",
        what="no MCP answer",
        fix="Look at the proxy.",
    )

    assert str(error) == (
        "POST https://example.com/mcp → 502 Bad Gateway: no MCP answer. Look at the proxy. "
        "The body (text/html) begins: '<html>'"
    )
    assert error.headers == ()


def test_an_http_answer_without_a_body_is_one_line():
    error = AuthorizationNeededError(method="GET", url="u", status=401)

    assert str(error) == "GET u → 401"
    assert "The body begins: 'x'" in str(HttpStatusError(method="GET", url="u", status=500, body=b"x"))


def test_a_timeout_says_what_was_sent_what_came_and_whose_limit_it_was():
    error = CallTimeoutError("tools/call add (id 3)", timeout_s=2.5, since="2 progress notifications")

    assert isinstance(error, TimeoutError)
    assert (error.sent, error.since, error.timeout_s) == (
        "tools/call add (id 3)",
        "2 progress notifications",
        2.5,
    )
    assert str(error) == (
        "no answer to tools/call add (id 3) within 2.5 s; the limit was ours (timeout_s=); "
        "since it was sent came 2 progress notifications"
    )


def test_a_failed_tool_is_quoted():
    error = ToolFailedError("add", "no such note", where="notes")

    assert (error.tool, error.text) == ("add", "no such note")
    assert str(error) == "notes: the tool 'add' failed: no such note"


def test_a_missing_resource_is_an_invalid_parameter_that_names_its_uri():
    error = ResourceNotFoundError("notes://7")

    assert (error.code, error.uri, error.data) == (-32602, "notes://7", {"uri": "notes://7"})
    assert type(rpc_error_for(-32602, "no")).__name__ == "InvalidParamsError"
