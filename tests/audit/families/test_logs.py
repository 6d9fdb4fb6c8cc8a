"""The rules of logs: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import ask, tell, trace
from tests.audit.judging import broken_by, check_examples, rules_of


@pytest.mark.parametrize("rule", rules_of("LOG"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


def logged(level):
    return tell("notifications/message", {"level": level, "data": 1})


def test_over_stdio_a_log_may_belong_to_any_open_request_that_asked():
    assert broken_by(trace(ask("tools/call", {"name": "x"}, log_level="info"), logged("error"))) == {
        "DEP-003"
    }
    assert broken_by(trace(ask("tools/call", {"name": "x"}), logged("error"))) == {"DEP-003", "LOG-001"}


def test_the_lowest_level_that_was_asked_for_counts():
    lines = trace(
        ask("tools/call", {"name": "x"}, log_level="error"),
        ask("tools/call", {"name": "y"}, id=2, log_level="debug"),
        logged("info"),
    )

    assert broken_by(lines) == {"DEP-003"}
