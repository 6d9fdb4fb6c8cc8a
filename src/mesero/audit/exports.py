"""Findings in the formats that other programs read: JSON, SARIF 2.1.0, JUnit XML. Pure.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

import msgspec

from mesero.audit.diagnosis import Diagnosis
from mesero.audit.findings import SEVERITIES, Finding, Severity
from mesero.audit.rules import RULES

__all__ = ["count_severities", "encode_json", "encode_junit", "encode_sarif"]

_LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def count_severities(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many findings there are of each severity, most severe first."""
    counts: dict[Severity, int] = dict.fromkeys(SEVERITIES, 0)
    for finding in findings:
        counts[finding.severity] += 1
    return counts


def encode_json(
    findings: Sequence[Finding], diagnoses: Sequence[Diagnosis] = (), *, notes: Sequence[str] = ()
) -> bytes:
    """One JSON object with ``findings``, ``diagnoses``, ``notes`` and ``counts`` by severity."""
    return msgspec.json.encode(
        {
            "counts": count_severities(findings),
            "diagnoses": diagnoses,
            "findings": findings,
            "notes": notes,
        }
    )


def encode_sarif(findings: Sequence[Finding], *, trace: str, version: str) -> bytes:
    """A SARIF 2.1.0 log.

    Args:
        findings: The findings.
        trace: The address of the trace, relative to where the log is read.
        version: That of mesero.
    """
    ids = list(dict.fromkeys(finding.rule for finding in findings))
    driver = {
        "name": "mesero",
        "version": version,
        "informationUri": "https://modelcontextprotocol.io/specification",
        "rules": [_sarif_rule(rule_id) for rule_id in ids],
    }
    run = {
        "tool": {"driver": driver},
        "results": [_sarif_result(finding, ids.index(finding.rule), trace) for finding in findings],
    }
    return msgspec.json.encode({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _sarif_rule(rule_id: str) -> dict[str, Any]:
    rule = RULES.get(rule_id)
    if rule is None:
        return {"id": rule_id}
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "help": {"text": rule.fix},
        "helpUri": rule.spec,
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"family": rule.family, "revisions": rule.revisions},
    }


def _sarif_result(finding: Finding, index: int, trace: str) -> dict[str, Any]:
    place = f"link {finding.link}, message {finding.seq}{finding.path and f', {finding.path}'}"
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}. {finding.fix}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": trace},
                    # The header is the first line of the file.
                    "region": {"startLine": max(1, finding.seq + 1)},
                },
                "logicalLocations": [{"fullyQualifiedName": place}],
            }
        ],
        "properties": {"blame": finding.blame, "phase": finding.phase, "revision": finding.revision},
    }


def encode_junit(findings: Sequence[Finding], *, name: str) -> bytes:
    """A JUnit XML report: one test case for each rule that was broken, or a passing one if none was.

    Infos do not fail; they stand in the output of their case.
    """
    grouped: dict[str, list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(finding.rule, []).append(finding)
    failures = sum(group[0].severity != "info" for group in grouped.values())
    cases = [_junit_case(group) for group in grouped.values()]
    if not cases:
        cases = ['    <testcase classname="mesero.audit" name="no findings"/>']
    head = f"<testsuite name={quoteattr(name)} tests={quoteattr(str(len(cases)))}"
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        f"  {head} failures={quoteattr(str(failures))}>",
        *cases,
        "  </testsuite>",
        "</testsuites>",
        "",
    ]
    return _UNSPEAKABLE.sub("\ufffd", "\n".join(lines)).encode()


# What XML 1.0 cannot hold, however it is escaped.
_UNSPEAKABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _junit_case(group: list[Finding]) -> str:
    first = group[0]
    rule = RULES.get(first.rule)
    family, title = ("", "") if rule is None else (rule.family, rule.title)
    text = "\n".join(
        f"{each.severity}: link {each.link}, message {each.seq}: {each.message} ({each.blame})\n  {each.fix}"
        for each in group
    )
    body = f"{escape(text)}\n{escape(first.spec)}"
    if first.severity == "info":
        inner = f"<system-out>{body}</system-out>"
    else:
        inner = (
            f"<failure type={quoteattr(first.severity)} message={quoteattr(first.message)}>{body}</failure>"
        )
    case = (
        f"classname={quoteattr(f'mesero.audit.{family}')} name={quoteattr(f'{first.rule} {title}'.strip())}"
    )
    return f"    <testcase {case}>{inner}</testcase>"
