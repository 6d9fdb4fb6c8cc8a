from mesero.doctor.checks.rules import check_rules
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet


def test_a_list_that_nothing_explains_is_told_for_itself():
    sheet = Sheet(["rules"])

    check_rules(sheet, Recording(), ["tools: no answer"])

    assert [each.code for each in sheet.diagnoses] == ["LIST-1"]


def test_a_list_without_an_end_has_a_diagnosis_of_its_own():
    sheet = Sheet(["rules"])

    check_rules(sheet, Recording(), ["tools: tools/list does not end"])

    assert [each.code for each in sheet.diagnoses] == ["LIST-2"]
