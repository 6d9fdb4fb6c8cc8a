"""The rules of envelope: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import ask, c2s, old_ask, shake, trace
from tests.audit.judging import broken_by, check_examples, rules_of


@pytest.mark.parametrize("rule", rules_of("ENV"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


def test_a_batch_is_legal_in_the_one_revision_that_has_it():
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/x"}]

    assert broken_by(trace(*shake("2025-03-26"), c2s(batch))) == set()


def test_each_fault_in_a_batch_is_told_of_its_own_member():
    batch = [{"jsonrpc": "1.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": None, "method": "ping"}]

    assert broken_by(trace(*shake("2025-03-26"), c2s(batch))) == {"ENV-002", "ID-001"}


def test_an_empty_batch_is_no_message():
    assert broken_by(trace(*shake("2025-03-26"), c2s([]))) == {"ENV-011"}


def test_a_message_of_unknown_revision_is_judged_by_its_envelope():
    assert broken_by(trace(old_ask("tools/list", ["x"]))) == {"ERA-001", "ENV-007"}
    assert broken_by(trace(ask("tools/list"))) == set()
