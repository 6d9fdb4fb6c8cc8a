"""The causes in errors: each is the only one that its example supports."""

import pytest

from mesero.audit.examples import answer, ask, eof, fail, shake, trace
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
