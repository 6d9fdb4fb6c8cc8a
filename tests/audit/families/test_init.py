"""All families are loaded, and every rule says what it has to."""

import re

import pytest

from mesero.audit import families
from mesero.audit.findings import SEVERITIES
from mesero.audit.rules import ALL, FAMILIES, RULES
from tests.audit.judging import rules_of


def test_loading_twice_registers_each_rule_once():
    families.load()
    count = len(RULES)
    families.load()

    assert len(RULES) == count


def test_there_are_rules_of_every_family():
    assert {rule.family for rule in RULES.values()} == set(FAMILIES.values())
    assert len(RULES) >= 120


@pytest.mark.parametrize("rule", rules_of(*FAMILIES))
def test_every_rule_says_what_it_is_and_what_to_do(rule):
    assert re.fullmatch(r"[A-Z]+-\d{3}", rule.id)
    assert rule.title
    assert not rule.title.endswith(".")
    assert rule.fix.endswith((".", "?", ">"))
    assert rule.severity in SEVERITIES
    assert set(rule.revisions) <= set(ALL)
    assert rule.passes
    assert rule.fails
    assert (rule.check is None) != (rule.claim is None)
    assert set(rule.also) <= set(RULES)


@pytest.mark.parametrize("rule", rules_of(*FAMILIES))
def test_every_rule_links_to_the_specification_of_a_revision_that_it_holds_for(rule):
    found = re.fullmatch(
        r"https://modelcontextprotocol\.io/specification/(\d{4}-\d\d-\d\d)/[\w/#.-]+", rule.spec
    )

    assert found
    assert found[1] in ALL
