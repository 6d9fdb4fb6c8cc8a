"""The rules of lists: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import answer, ask, trace
from tests.audit.judging import broken_by, check_examples, rules_of


@pytest.mark.parametrize("rule", rules_of("LIST"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


HINTS = {"ttlMs": 0, "cacheScope": "private"}


def page(*names, **more):
    return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names], **HINTS, **more}


def test_a_name_on_two_pages_is_told():
    lines = trace(
        ask("tools/list"),
        answer(page("a", nextCursor="2")),
        ask("tools/list", {"cursor": "2"}, id=2),
        answer(page("a"), id=2),
    )

    assert broken_by(lines) == {"LIST-002"}


def test_a_page_that_is_read_twice_is_no_second_page():
    lines = trace(
        ask("tools/list"),
        answer(page("a", nextCursor="2")),
        ask("tools/list", {"cursor": "2"}, id=2),
        answer(page("b"), id=2),
        ask("tools/list", {"cursor": "2"}, id=3),
        answer(page("b"), id=3),
    )

    assert broken_by(lines) == set()


def test_another_order_of_other_tools_is_no_fault():
    lines = trace(
        ask("tools/list"), answer(page("a", "b")), ask("tools/list", id=2), answer(page("c", "a"), id=2)
    )

    assert broken_by(lines) == set()


def test_a_cursor_from_before_the_trace_is_no_fault():
    assert broken_by(trace(ask("tools/list", {"cursor": "9"}))) == set()


def test_the_empty_string_is_a_cursor():
    lines = trace(
        ask("tools/list"),
        answer(page("a", nextCursor="")),
        ask("tools/list", {"cursor": ""}, id=2),
        answer(page("b"), id=2),
    )

    assert broken_by(lines) == set()
