"""``mesero audit``: every message of a recording judged by its own revision, and the cause of what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from mesero import __version__
from mesero.audit import SEVERITIES, Auditor, Finding, Severity, is_at_least
from mesero.audit.diagnosis import Diagnosis, diagnose_link
from mesero.audit.exports import encode_json, encode_junit, encode_sarif
from mesero.audit.rules import RULES
from mesero.cli.exits import DONE, FAILED, reporting
from mesero.cli.printing import Output, safe_line, safe_text
from mesero.cli.recordings import Counted, check_not_empty, plural, reading
from mesero.errors import UsageError
from mesero.trace.format import Header

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "FILE"

EXAMPLES = """\
  mesero audit trace.jsonl
  mesero audit session.har --severity warning
  mesero audit trace.jsonl --sarif > audit.sarif
"""

_MAX_KEPT = 10_000
_SHOWN = 3
_NOUNS = {"error": "error", "warning": "warning", "info": "info"}
_FAULTS = {
    "client": "the client",
    "server": "the server",
    "intermediary": "something in between",
    "unknown": "unknown",
}


class _Report:
    """What was found in a recording. Findings are all counted, and kept up to a number."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.counts: Counter[Severity] = Counter()
        self.rules: Counter[str] = Counter()
        self.diagnoses: list[Diagnosis] = []
        self.messages = 0

    def take(self, found: Sequence[Finding]) -> None:
        for finding in found:
            self.counts[finding.severity] += 1
            self.rules[finding.rule] += 1
            if len(self.findings) < _MAX_KEPT:
                self.findings.append(finding)

    @property
    def left_out(self) -> int:
        return self.counts.total() - len(self.findings)


@reporting
def command(  # noqa: PLR0917 - the parser passes them by name
    file: Annotated[str, typer.Argument(metavar="FILE", help="A trace, HAR, a host's log, any text.")],
    severity: Annotated[
        Severity, typer.Option("--severity", help="End with 1 when there is a finding at least this severe.")
    ] = "error",
    sarif: Annotated[bool, typer.Option("--sarif", help="Print a SARIF 2.1.0 log.")] = False,
    junit: Annotated[bool, typer.Option("--junit", help="Print a JUnit XML report.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Show every finding of each rule.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Leave secrets in that another program wrote down.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by `reporting`
) -> None:
    """Judge every message of a recording by its own revision, and name the cause of what went wrong."""
    if json + sarif + junit > 1:
        raise UsageError("--json, --sarif and --junit exclude each other")
    output = Output(as_json=json)
    with reading(file, output, raw=raw) as recording:
        lines = Counted(recording)
        report = _audit(recording.header, lines)
    check_not_empty(lines, file)
    if report.left_out:
        output.note(f"only the first {_MAX_KEPT} findings are given; {report.left_out} more were counted")
    if json:
        notes = [*map(str, recording.problems.kept), *recording.unknown]
        output.give(_document_of(report, notes))
    elif sarif:
        log = encode_sarif(report.findings, trace=Path(file).as_posix(), version=__version__)
        output.give(msgspec.json.decode(log))
    elif junit:
        output.say(encode_junit(report.findings, name=f"mesero audit {file}").decode())
    else:
        output.say(_text_of(report, shown=None if every else _SHOWN))
    is_failed = any(is_at_least(found, severity) for found in report.counts)
    raise typer.Exit(FAILED if is_failed else DONE)


def _audit(header: Header, lines: Counted) -> _Report:
    report = _Report()
    auditor = Auditor()
    auditor.receive(header)
    for line in lines:
        report.take(auditor.receive(line))
    report.take(auditor.receive_end())
    report.messages = lines.messages
    report.diagnoses = [each for link in auditor.links.values() for each in diagnose_link(link)]
    return report


def _document_of(report: _Report, notes: Sequence[str]) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.json.decode(
        encode_json(report.findings, report.diagnoses, notes=notes)
    )
    counts = {severity: report.counts[severity] for severity in SEVERITIES}
    return {"messages": report.messages, **document, "counts": counts}


# -- text ----------------------------------------------------------------------------------------------------


def _text_of(report: _Report, *, shown: int | None) -> str:
    parts = [_summary_of(report)]
    parts += [_diagnosis_text(each) for each in report.diagnoses]
    grouped: dict[str, list[Finding]] = {}
    for finding in report.findings:
        grouped.setdefault(finding.rule, []).append(finding)
    groups = sorted(grouped.values(), key=lambda group: SEVERITIES.index(group[0].severity))
    parts += [_group_text(group, report.rules[group[0].rule], shown=shown) for group in groups]
    return "\n\n".join(parts)


def _summary_of(report: _Report) -> str:
    counts = [plural(report.counts[each], _NOUNS[each]) for each in SEVERITIES if report.counts[each]]
    text = f"{', '.join(counts) or 'no findings'} in {plural(report.messages, 'message')}"
    if not report.diagnoses:
        return text
    causes = list(dict.fromkeys(each.symptom for each in report.diagnoses))
    return f"{text}; what failed: {', '.join(causes)}"


def _diagnosis_text(each: Diagnosis) -> str:
    lines = [
        f"{each.symptom}: {safe_line(each.cause)}",
        f"  at fault: {_FAULTS[each.blame]} ({each.confidence}, {each.phase}, {each.code})",
        f"  fix: {safe_line(each.fix)}",
    ]
    if each.evidence:
        lines.append(f"  evidence: line {', '.join(map(str, each.evidence))}")
    return "\n".join(lines)


def _group_text(group: Sequence[Finding], count: int, *, shown: int | None) -> str:
    first = group[0]
    rule = RULES.get(first.rule)
    title = "" if rule is None else f" {rule.title}"
    times = f" ({count} times)" if count > 1 else ""
    lines = [f"{first.severity} {first.rule}{title}{times}"]
    for finding in group[:shown]:
        place = f"line {finding.seq}, link {safe_line(finding.link)}"
        revision = f", {safe_line(finding.revision)}" if finding.revision else ""
        path = (
            f" at {safe_line(finding.path)}" if finding.path and finding.path not in finding.message else ""
        )
        lines.append(f"  {place}{revision}: {safe_line(finding.message)}{path}")
    left = count - len(group[:shown])
    if left:
        lines.append(f"  and {left} more (--all)" if shown is not None else f"  and {left} more")
    lines.append(f"  at fault: {_FAULTS[first.blame]} ({first.phase})")
    lines.append(f"  fix: {safe_text(first.fix)}")
    lines.append(f"  {first.spec}")
    return "\n".join(lines)
