"""What the audit makes of the doctor's own recording: its causes and findings, as diagnoses.

The doctor's client does what clients should, so causes that blame the client for how it speaks cannot be the
answer; those that blame its configuration can.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mesero.audit import Finding
from mesero.audit.auditor import Auditor
from mesero.audit.diagnosis import CAUSES, diagnose_link, load_causes
from mesero.audit.rules import RULES
from mesero.doctor.report import Diagnosis
from mesero.trace.format import Header, Line

__all__ = ["Judgement", "diagnosis_from", "judge"]

_NOT_OURS: Final = frozenset(
    {
        *("CLOSED-3", "CLOSED-6", "CLOSED-8", "VERSION-1", "VERSION-3", "VERSION-4", "S400-1", "S400-4"),
        *("S400-5", "S400-6", "S406-1", "S404-2", "S404-3", "S405-2", "TIMEOUT-1", "TIMEOUT-2", "TIMEOUT-3"),
        *("SILENT-6", "SILENT-7", "TOOLS-1", "TOOLS-3", "TOOLS-4", "PARAMS-1", "PARAMS-2", "DROPPED-2"),
        *("PARAMS-3", "PARAMS-4", "PARAMS-5", "PARAMS-6", "CLOSED-10", "SILENT-13", "SILENT-14", "SILENT-15"),
        *("DROPPED-4", "SIGNIN-1", "SIGNIN-2", "SIGNIN-3", "SIGNIN-4", "SIGNIN-5", "SIGNIN-6"),
    }
)
"""Causes that lie in how a client speaks, or that describe the fall back that was done on purpose."""
_WEAK: Final = frozenset({"SILENT-12", "START-4"})
"""Causes that only say what happened: they stand where nothing else explains it."""
_PROBING: Final = frozenset(
    {"HTTP-002", "HTTP-003", "HTTP-004", "ID-009", "ERA-014", "RES-007", "RES-006", "RES-004"}
)
"""Rules about how a refusal looks; a refused probe of another era is no offence."""
_ID: Final = re.compile(r" \(id [^)]*\)")


class Judgement:
    """The audit's word on one recording.

    Attributes:
        causes: Why it failed, in the audit's order; those that only say what happened come last.
        faults: What the server did against the rules, a diagnosis for each rule.
    """

    def __init__(self, causes: list[Diagnosis], faults: list[Diagnosis]) -> None:
        self.causes = causes
        self.faults = faults


def diagnosis_from(code: str, cause: str) -> Diagnosis:
    """A cause of the audit's that was seen in another way than in a recording.

    Args:
        code: One of `mesero.audit.diagnosis.CAUSES`.
        cause: What was seen.
    """
    load_causes()
    each = CAUSES[code]
    return Diagnosis(
        code=code,
        severity="broken",
        phase=each.phase,
        title=each.title,
        cause=cause,
        blame=each.blame,
        fix=each.fix,
        confidence=each.confidence,
    )


def judge(
    lines: Iterable[Header | Line],
    *,
    is_connected: bool,
    has_session: bool = False,
    file: Path | None = None,
) -> Judgement:
    """Let the audit judge what passed.

    Args:
        lines: The recording.
        is_connected: Whether the connection came about: what is wrong then does not keep it from working.
        has_session: Whether that was by the older handshake: then how the probe was refused is no matter.
        file: Where the recording is kept, if somebody can look there.
    """
    auditor = Auditor()
    findings: list[Finding] = []
    for line in lines:
        findings += auditor.receive(line)
    findings += auditor.receive_end()
    if has_session:
        findings = [each for each in findings if each.phase != "discover"]
    causes = []
    for link in auditor.links.values():
        for each in diagnose_link(link):
            if each.code in _NOT_OURS:
                continue
            causes.append(
                Diagnosis(
                    code=each.code,
                    severity="degraded" if is_connected and not each.code.startswith("CLOSED") else "broken",
                    phase=each.phase,
                    title=CAUSES[each.code].title,
                    cause=each.cause,
                    blame=each.blame,
                    fix=each.fix,
                    confidence=each.confidence,
                    evidence=_places_of(each.evidence, file),
                )
            )
    causes.sort(key=lambda each: each.code in _WEAK)
    return Judgement(causes, _faults_of(findings, is_connected=is_connected, file=file))


def _places_of(seqs: Iterable[int], file: Path | None) -> tuple[str, ...]:
    return () if file is None else tuple(f"{file}, seq {seq}" for seq in seqs)


def _faults_of(findings: list[Finding], *, is_connected: bool, file: Path | None) -> list[Diagnosis]:
    """One diagnosis for each rule that the server broke: the first case, and how many there are."""
    grouped: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.severity == "error" and finding.blame == "server" and finding.rule not in _PROBING:
            grouped.setdefault(finding.rule, []).append(finding)
    return [_fault_of(group, is_connected=is_connected, file=file) for group in grouped.values()]


def _fault_of(group: list[Finding], *, is_connected: bool, file: Path | None) -> Diagnosis:
    first = group[0]
    # A list is read more than once: what is wrong with it is said of each answer, and is no second fault.
    count = len({_ID.sub("", each.message) for each in group})
    more = f" (and {count - 1} more like it)" if count > 1 else ""
    return Diagnosis(
        code=first.rule,
        severity="degraded" if is_connected else "broken",
        phase=first.phase,
        title=RULES[first.rule].title,
        cause=f"{first.message}{more}",
        blame=first.blame,
        fix=first.fix,
        evidence=(*_places_of((each.seq for each in group[:3]), file), first.spec),
    )
