import sys

from mesero.doctor.checks.launch import check_command, check_environment
from mesero.doctor.sheet import Sheet


def test_a_program_that_is_there_is_named_with_its_place(tmp_path):
    sheet = Sheet(["command"])

    assert check_command(sheet, [sys.executable], {}, None, home=tmp_path)
    assert sys.executable in sheet.checks[0].evidence[0]
    assert sheet.diagnoses == ()


def test_values_of_variables_are_not_shown():
    sheet = Sheet(["environment"])

    check_environment(sheet, [], {"KEY": "canary"})

    assert sheet.checks[0].evidence == ("set beside what is inherited: KEY",)
