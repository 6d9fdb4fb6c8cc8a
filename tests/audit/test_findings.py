"""Findings, and the order of severities."""

import msgspec
import pytest

from mesero.audit.findings import PHASES, SEVERITIES, Finding, is_at_least


@pytest.mark.parametrize(
    ("severity", "than", "expected"),
    [("error", "warning", True), ("warning", "warning", True), ("info", "warning", False)],
)
def test_severities_have_an_order(severity, than, expected):
    assert is_at_least(severity, than) is expected


def test_a_finding_goes_through_json_unchanged():
    finding = Finding(
        rule="META-001",
        severity=SEVERITIES[0],
        phase=PHASES[0],
        blame="client",
        link="1",
        seq=7,
        revision="2026-07-28",
        message="it lacks metadata",
        fix="Add it.",
        spec="https://example.com",
        path="$.params",
    )

    assert msgspec.json.decode(msgspec.json.encode(finding), type=Finding) == finding
