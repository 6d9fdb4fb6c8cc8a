"""The rules of envelope: their examples, and what they must let pass."""

import pytest

from tests.audit.judging import check_examples, rules_of


@pytest.mark.parametrize("rule", rules_of("ENV"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)
