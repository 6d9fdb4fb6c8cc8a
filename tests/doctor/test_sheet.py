import json
import shlex

import pytest

from mesero.doctor.sheet import Sheet
from mesero.jsonrpc import decode_value, encode_value


def test_what_nobody_came_to_is_not_reached():
    sheet = Sheet(["a", "b"])

    with sheet.check("a") as check:
        check.say("seen")

    assert [(each.name, each.status, each.evidence) for each in sheet.checks] == [
        ("a", "ok", ("seen",)),
        ("b", "not reached", ()),
    ]


def test_the_worst_that_was_said_is_the_status():
    sheet = Sheet(["a"])

    with sheet.check("a") as check:
        check.fail("broken")
        check.warn("odd")

    assert sheet.checks[0].status == "failed"


def test_a_check_that_was_interrupted_has_failed_and_keeps_its_evidence():
    sheet = Sheet(["a"])

    def interrupted():
        with sheet.check("a") as check:
            check.say("seen")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert sheet.checks[0].status == "failed"
    assert sheet.checks[0].evidence[0] == "seen"


def test_what_keeps_the_server_from_being_used_comes_first():
    sheet = Sheet([])
    sheet.diagnose("SHUTDOWN-1", "first")
    sheet.diagnose("NET-1", "second")
    sheet.diagnose("NET-1", "again")

    assert [(each.code, each.cause) for each in sheet.diagnoses] == [
        ("NET-1", "second"),
        ("SHUTDOWN-1", "first"),
    ]
    assert sheet.is_broken


def test_a_diagnosis_can_turn_out_to_be_the_cause():
    sheet = Sheet([])
    sheet.diagnose("SHUTDOWN-1", "first")
    assert not sheet.is_broken

    sheet.escalate("SHUTDOWN-1")

    assert sheet.is_broken


class Told:
    def __init__(self):
        self.words = []

    def begin(self, name):
        self.words.append(f"{name} begins")

    def end(self, check):
        self.words.append(f"{check.name} is {check.status}")


def test_each_check_is_told_when_it_begins_and_when_it_is_over():
    told = Told()
    sheet = Sheet(["a"], watch=told)

    with sheet.check("a"):
        assert told.words == ["a begins"]

    assert told.words == ["a begins", "a is ok"]


def test_what_follows_from_another_diagnosis_can_be_dropped():
    sheet = Sheet([])
    sheet.diagnose("NET-1", "first")
    sheet.diagnose("NET-2", "second")

    sheet.drop(["NET-1"])

    assert [each.code for each in sheet.diagnoses] == ["NET-2"]


def test_secrets_are_hidden_wherever_they_turn_up():
    sheet = Sheet(["a"], secrets=["canary", "canary-and-more", ""])

    with sheet.check("a") as check:
        check.say("canary-and-more, canary")
    sheet.diagnose("NET-1", "canary", fix="canary", evidence=["canary"])

    assert "canary" not in repr((sheet.checks, sheet.diagnoses))
    assert sheet.checks[0].evidence[0].startswith("<hidden, 15 characters>, ")


SECRET = "ca'na\"ry\\-\u00fc"


@pytest.mark.parametrize("written", [str, repr, json.dumps, shlex.quote])
def test_a_secret_is_hidden_however_it_is_quoted(written):
    sheet = Sheet([], secrets=[SECRET])

    assert "ry" not in sheet.hide(f"it said {written(SECRET)}").replace("characters", "")


def test_what_a_server_sends_does_not_fill_a_report():
    sheet = Sheet(["a"])

    with sheet.check("a") as check:
        for _ in range(5_000):
            check.say("x" * 100_000)
    sheet.diagnose("NET-1", "x" * 100_000, evidence=["x"] * 5_000)

    assert len(repr(sheet.checks)) + len(repr(sheet.diagnoses)) < 500_000
    assert sheet.checks[0].evidence[-1] == "and 4,800 more"
    assert sheet.diagnoses[0].cause.endswith("x… (100,000 characters)")


def test_half_a_character_does_not_keep_a_report_from_being_written_down():
    sheet = Sheet([])
    sheet.diagnose("NET-1", "a\udcff", fix="b\udcff", evidence=["c\udcff"])

    assert decode_value(encode_value(sheet.diagnoses))[0]["cause"] == "a?"
