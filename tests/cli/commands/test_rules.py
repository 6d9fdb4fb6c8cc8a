import json

import pytest

from mesero.audit.rules import FAMILIES, RULES
from tests.cli.programs import invoke


def test_all_rules_are_listed_by_family():
    result = invoke(["rules"])
    first, *_ = result.stdout.splitlines()
    assert first == f"{len(RULES)} rules in {len(FAMILIES)} families"
    assert all(f"  {name} " in result.stdout for name in RULES)


def test_a_family_is_listed_alone():
    result = invoke(["rules", "meta"])
    assert "META-001" in result.stdout
    assert "FRAME-001" not in result.stdout
    assert "in 1 family" in result.stdout


def test_of_one_rule_everything_is_told():
    text = invoke(["rules", "META-003"]).stdout
    assert text.startswith("META-003 ")
    for part in (
        "severity: error",
        "holds for: 2026-07-28",
        "fix: ",
        "This passes:",
        "This fails:",
        "https://",
    ):
        assert part in text
    assert "holds for: every revision" in invoke(["rules", "FRAME-001"]).stdout


def test_a_cause_is_told_too():
    text = invoke(["rules", "closed-1"]).stdout
    assert text.startswith("CLOSED-1 ")
    assert "symptom: connection closed" in text
    assert json.loads(invoke(["rules", "CLOSED-1", "--json"]).stdout)["phase"] == "launch"


def test_json_has_the_registry_with_its_examples():
    document = json.loads(invoke(["rules", "--json"]).stdout)
    assert len(document) == len(RULES)
    assert json.loads(document[0]["fails"][0])["kind"]


@pytest.mark.parametrize(("word", "near"), [("META-03", "META-003"), ("qqqqqq", "mesero rules")])
def test_what_is_no_rule_is_a_usage_error_with_a_hint(word, near):
    result = invoke(["rules", word])
    assert result.exit_code == 2
    assert near in result.stderr


def test_what_only_the_doctor_finds_is_explained_by_its_code():
    result = invoke(["rules", "launch-1"])

    assert result.exit_code == 0
    assert result.stdout.startswith("LAUNCH-1 The program is installed, but not on this PATH")
    assert "fix: Put its absolute path into `command`" in result.stdout


def test_all_diagnoses_of_a_kind_are_listed():
    documents = json.loads(invoke(["rules", "NET", "--json"]).stdout)

    assert {"NET-1", "NET-2"} <= {each["code"] for each in documents}
    assert all(each["fix"] for each in documents)


def test_a_family_and_what_the_doctor_finds_by_the_same_name_are_both_listed():
    shown = invoke(["rules", "HTTP"]).stdout

    assert "HTTP-001" in shown
    assert "HTTP-1 The server redirects" in shown
