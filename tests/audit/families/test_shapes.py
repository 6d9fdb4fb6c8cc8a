"""The rules of last resort: what no other family claims."""

import pytest

from mesero.audit.rules import RULES
from tests.audit.judging import check_examples


@pytest.mark.parametrize("rule_id", ["SCH-101", "SCH-102", "SCH-103", "SCH-104"])
def test_a_violation_that_nobody_claims_is_told_by_its_kind(rule_id):
    check_examples(RULES[rule_id])
