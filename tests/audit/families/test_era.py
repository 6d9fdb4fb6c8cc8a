"""The rules of era: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import answer, ask, fail, shake, trace
from tests.audit.judging import broken_by, check_examples, rules_of


@pytest.mark.parametrize("rule", rules_of("ERA"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


def test_falling_back_is_right_where_the_server_names_older_revisions_alone():
    refused = fail(-32022, data={"supported": ["2025-11-25"], "requested": "2026-07-28"})

    assert broken_by(trace(ask("server/discover"), refused, *shake())) == set()


def test_a_server_of_the_older_era_may_refuse_initialize_for_other_reasons():
    assert broken_by(trace(shake()[0], fail(-32602, "clientInfo is missing", id=0))) == set()


def test_revisions_that_are_known_are_no_drafts():
    lines = trace(ask("tools/list"), answer({"tools": [], "ttlMs": 0, "cacheScope": "private"}))

    assert broken_by(lines) == set()
