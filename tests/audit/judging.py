"""Judge example traces by every rule."""

import pytest

from mesero.audit import families
from mesero.audit.auditor import Auditor, audit
from mesero.audit.diagnosis import CAUSES, diagnose, load_causes
from mesero.audit.rules import RULES

families.load()
load_causes()


def rules_of(*prefixes):
    """The rules of some families, as parameters of a test."""
    found = [rule for rule in RULES.values() if rule.id.partition("-")[0] in prefixes]
    assert found
    return [pytest.param(rule, id=rule.id) for rule in found]


def causes_of(*prefixes):
    found = [each for each in CAUSES.values() if each.code.partition("-")[0] in prefixes]
    assert found
    return [pytest.param(each, id=each.code) for each in found]


def found_in(lines):
    return list(audit(lines))


def broken_by(lines):
    """The ids of the rules that a trace breaks."""
    return {finding.rule for finding in audit(lines)}


def check_examples(rule):
    """The good example breaks the rule nowhere, the bad one breaks it and no other but those it names."""
    assert rule.id not in broken_by(rule.passes)
    assert broken_by(rule.fails) == {rule.id, *rule.also}


def codes_of(lines):
    return [diagnosis.code for diagnosis in diagnose(lines)]


def link_of(lines):
    """The memory of the only link after a whole trace."""
    auditor = Auditor()
    for line in lines:
        auditor.receive(line)
    auditor.receive_end()
    return auditor.links["1"]
