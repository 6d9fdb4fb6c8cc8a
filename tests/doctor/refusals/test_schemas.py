from mesero.audit import RULES, families
from mesero.doctor.refusals.schemas import SCHEMAS


def test_what_the_specification_forbids_names_a_rule_that_there_is():
    families.load()

    rules = {each.rule for each in SCHEMAS if each.rule}

    assert rules == {"SCH-001", "SCH-002"}
    assert rules <= RULES.keys()
