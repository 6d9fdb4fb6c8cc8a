"""What an examination comes to: checks, diagnoses, and the verdict. Pure data.

The first line of a report is its answer. What a server sent is quoted here as it came: whoever prints it
makes it safe.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from mesero.audit.diagnosis import Confidence
from mesero.audit.findings import Blame, Phase

__all__ = [
    "SEVERITIES",
    "STATUSES",
    "VERDICTS",
    "Check",
    "Diagnosis",
    "Report",
    "Severity",
    "Status",
    "Text",
    "Verdict",
    "verdict_for",
]

Status = Literal["ok", "warning", "failed", "not reached", "skipped"]
"""``not reached``: something before it failed; ``skipped``: it does not concern this target."""

Severity = Literal["broken", "degraded", "note"]
"""``broken``: nobody can use it like this; ``degraded``: some can, or some of it; ``note``: advice."""

Verdict = Literal["ok", "degraded", "broken", "unknown"]
"""``unknown``: the examination ended, by an interrupt or its limit, before it found anything."""

STATUSES: Final[tuple[Status, ...]] = ("ok", "warning", "failed", "not reached", "skipped")
SEVERITIES: Final[tuple[Severity, ...]] = ("broken", "degraded", "note")
"""The weightiest first."""
VERDICTS: Final[tuple[Verdict, ...]] = ("broken", "degraded", "unknown", "ok")
"""The worst first."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One layer that was looked at. ``took_s`` is in seconds, ``evidence`` what was seen there."""

    name: str
    status: Status
    took_s: float = 0.0
    evidence: tuple[str, ...] = ()


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong, whose fault it is, and what to do. ``evidence`` is what shows it, in words."""

    code: str
    severity: Severity
    phase: Phase
    title: str
    cause: str
    blame: Blame
    fix: str
    confidence: Confidence = "certain"
    evidence: tuple[str, ...] = ()


class Text(msgspec.Struct, frozen=True):
    """What stands of a diagnosis in every case; see `Diagnosis`."""

    title: str
    phase: Phase
    blame: Blame
    fix: str
    severity: Severity = "broken"
    confidence: Confidence = "certain"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of it. ``server`` is what the server says of itself; None where it never said anything."""

    target: str
    verdict: Verdict
    server: Any = None
    era: str | None = None
    revision: str | None = None
    checks: tuple[Check, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    took_s: float = 0.0


def verdict_for(diagnoses: tuple[Diagnosis, ...], *, is_connected: bool) -> Verdict:
    """The verdict that diagnoses amount to.

    Args:
        diagnoses: All of them.
        is_connected: Whether the server could be talked to.
    """
    severities = {each.severity for each in diagnoses}
    if not is_connected and {each.code for each in diagnoses if each.severity != "note"} == {"TIME-1"}:
        return "unknown"  # Our own limit says nothing about the server.
    if "broken" in severities or not is_connected:
        return "broken"
    return "degraded" if "degraded" in severities else "ok"
