"""Findings for other programs."""

import json
from xml.etree import ElementTree as ET

import pytest

from mesero.audit.diagnosis import diagnose
from mesero.audit.examples import ask, eof, exited, fail, spawned, trace
from mesero.audit.exports import count_severities, encode_json, encode_junit, encode_sarif
from mesero.audit.findings import Finding
from mesero.audit.rules import RULES
from tests.audit.judging import found_in

BAD = trace(ask("ping"), fail(-32601))


def made_up(rule, **more):
    fields = {"severity": "error", "phase": "operation", "blame": "server", "link": "1", "seq": 3}
    texts = {"revision": "", "message": "m", "fix": "f", "spec": "https://example.com"}
    return Finding(rule=rule, **(fields | texts | more))


def test_severities_are_counted_most_severe_first():
    counts = count_severities([made_up("ENV-001", severity="info"), made_up("ENV-001")])

    assert list(counts.items()) == [("error", 1), ("warning", 0), ("info", 1)]


def test_json_holds_findings_diagnoses_notes_and_counts():
    died = trace(spawned("server"), ask("server/discover"), eof(), exited(1))
    text = json.loads(encode_json(found_in(died), diagnose(died), notes=["a line was cut short"]))

    assert text["counts"]["warning"] == 1
    assert [each["code"] for each in text["diagnoses"]] == ["CLOSED-4"]
    assert text["findings"][0]["rule"] == "RES-011"
    assert text["notes"] == ["a line was cut short"]


def test_sarif_names_the_tool_the_rules_and_where_they_were_broken():
    log = json.loads(encode_sarif(found_in(BAD), trace="notes.jsonl", version="1.2"))
    (run,) = log["runs"]
    (result,) = run["results"]

    assert (log["version"], run["tool"]["driver"]["version"]) == ("2.1.0", "1.2")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "ERA-006"
    assert result["level"] == "error"
    place = result["locations"][0]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "notes.jsonl"},
        "region": {"startLine": 3},
    }
    assert place["logicalLocations"] == [{"fullyQualifiedName": "link 1, message 2"}]


def test_sarif_has_a_place_for_a_path_and_for_a_rule_of_a_later_release():
    log = json.loads(encode_sarif([made_up("NEW-001", path="$.x", severity="info")], trace="a", version="1"))
    (run,) = log["runs"]

    assert run["tool"]["driver"]["rules"] == [{"id": "NEW-001"}]
    assert run["results"][0]["level"] == "note"
    assert run["results"][0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].endswith("$.x")


def test_junit_has_a_failing_case_for_each_broken_rule():
    suite = ET.fromstring(encode_junit(found_in(BAD), name="notes.jsonl")).find("testsuite")

    assert suite.attrib == {"name": "notes.jsonl", "tests": "1", "failures": "1"}
    assert suite.find("testcase").get("name") == f"ERA-006 {RULES['ERA-006'].title}"
    assert "message 2" in suite.find("testcase/failure").text


def test_junit_passes_when_nothing_was_found():
    suite = ET.fromstring(encode_junit([], name="x")).find("testsuite")

    assert suite.attrib == {"name": "x", "tests": "1", "failures": "0"}
    assert list(suite.find("testcase")) == []


def test_junit_does_not_fail_for_an_info():
    suite = ET.fromstring(encode_junit([made_up("NEW-001", severity="info")], name="x")).find("testsuite")

    assert suite.get("failures") == "0"
    assert suite.find("testcase/system-out") is not None


@pytest.mark.parametrize("text", ["<&>\"'", "]]>", "é\ud83d", "\x1b[2J\0"])
def test_junit_is_well_formed_whatever_a_message_holds(text):
    report = encode_junit([made_up("ENV-001", message=text), made_up("ENV-001", message=text)], name=text)

    assert ET.fromstring(report).find("testsuite/testcase/failure") is not None
