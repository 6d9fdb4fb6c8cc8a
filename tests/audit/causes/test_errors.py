"""The causes in errors: each is the only one that its example supports."""

import pytest

from mesero.audit.examples import (
    answer,
    ask,
    eof,
    fail,
    hello,
    http_answer,
    posted,
    replied,
    s2c,
    shake,
    trace,
    welcome,
)
from tests.audit.judging import causes_of, codes_of


@pytest.mark.parametrize("cause", causes_of("VERSION", "PARAMS"))
def test_a_cause_is_the_only_one_that_its_example_supports(cause):
    assert codes_of(cause.example) == [cause.code]


def test_a_server_that_refuses_older_clients_in_words_is_named_too():
    lines = trace(shake()[0], fail(-32601, "This server speaks 2026-07-28 only", id=0))

    assert codes_of(lines) == ["VERSION-1"]


def test_a_refusal_of_initialize_for_other_reasons_is_no_version_mismatch():
    assert codes_of(trace(shake()[0], fail(-32602, "clientInfo is missing", id=0))) == []


def test_a_fallback_that_came_is_not_missed():
    assert codes_of(trace(ask("server/discover"), fail(-32602), *shake())) == []


def test_a_tool_is_unknown_only_when_the_whole_list_is_known():
    page = {"tools": [], "nextCursor": "2", "ttlMs": 0, "cacheScope": "private"}
    lines = trace(ask("tools/list"), answer(page), ask("tools/call", {"name": "x"}, id=2), fail(-32602, id=2))

    assert "PARAMS-3" not in codes_of(lines)


def test_a_negotiated_revision_that_the_client_takes_is_no_mismatch():
    assert codes_of(trace(*shake("2025-11-25", answers="2024-11-05"), eof("c2s"))) == ["TOOLS-3"]


HTTP_HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello("2025-03-26")}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.mark.parametrize(("chosen", "code"), [("2024-11-05", "VERSION-4"), ("2025-11-25", "VERSION-6")])
def test_over_http_whoever_sends_nothing_more_has_left(chosen, code):
    answered = replied({"jsonrpc": "2.0", "id": 0, "result": welcome(chosen)})
    ready = [posted(READY, exchange=2), http_answer(202, exchange=2)]

    assert codes_of(trace(posted(HTTP_HELLO), answered, transport="http")) == [code]
    assert codes_of(trace(posted(HTTP_HELLO), answered, *ready, transport="http")) == []


TOOL = {"name": "x", "inputSchema": {"type": "object"}}
BARE = s2c({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})


def test_a_server_that_only_forgets_resulttype_is_not_taken_for_an_older_one():
    call = ask("tools/call", {"name": "x"})
    hints = s2c({"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL], "ttlMs": 0}})

    assert codes_of(trace(call, BARE)) == ["VERSION-7"]
    assert codes_of(trace(ask("tools/list"), hints)) == []
    assert codes_of(trace(call, BARE, ask("tools/call", {"name": "x"}, id=2), answer({}, id=2))) == []
    assert codes_of(trace(ask("server/discover", id=0), fail(-32601, id=0), *shake(), call, BARE)) == []
