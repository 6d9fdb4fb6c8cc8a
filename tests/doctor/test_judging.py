import pytest
from msgspec.structs import replace

from mesero.audit.diagnosis import CAUSES, load_causes
from mesero.doctor.judging import diagnosis_from, judge

load_causes()


def test_a_cause_comes_with_its_standing_text():
    judgement = judge(CAUSES["CLOSED-4"].example, is_connected=False)

    assert judgement.causes[0].code == "CLOSED-4"
    assert judgement.causes[0].title == CAUSES["CLOSED-4"].title
    assert judgement.causes[0].severity == "broken"


@pytest.mark.parametrize("code", ["VERSION-3", "CLOSED-8", "TIMEOUT-2"])
def test_how_the_doctor_itself_speaks_is_never_the_cause(code):
    judgement = judge(CAUSES[code].example, is_connected=True)

    assert code not in [each.code for each in judgement.causes]


def test_a_broken_rule_is_told_once_with_its_number_of_cases():
    judgement = judge(CAUSES["TOOLS-2"].example, is_connected=True)

    codes = [each.code for each in judgement.faults]
    assert len(codes) == len(set(codes)) > 0
    assert all(each.severity == "degraded" for each in judgement.faults)


def test_a_cause_can_be_seen_without_a_recording():
    found = diagnosis_from("CLOSED-4", "it was gone")

    assert (found.code, found.cause, found.fix) == ("CLOSED-4", "it was gone", CAUSES["CLOSED-4"].fix)


def test_what_only_says_that_something_happened_comes_last():
    # Two connections: the first shows that nothing came, the second why.
    silent = [replace(line, link="1") for line in CAUSES["SILENT-12"].example]
    told = [replace(line, link="2") for line in CAUSES["CLOSED-7"].example]

    judgement = judge([*silent, *told], is_connected=False)

    assert [each.code for each in judgement.causes] == ["CLOSED-7", "SILENT-12"]
