"""What the doctor found, for people: the first line is the answer, below it what to do and what was seen.

On a terminal the lines are coloured and broken at words; elsewhere each is one line of plain text. What a
server sent is made safe first, in both cases.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from mesero.cli.printing import Output, safe_line
from mesero.doctor import Check, Diagnosis, Overview, Patient, Report
from mesero.doctor.report import VERDICTS
from mesero.host.hosts import HOSTS

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["MARKS", "ReportLine", "Style", "overview_lines", "print_lines", "render_lines", "report_lines"]

Style = Literal["", "ok", "degraded", "broken", "unknown", "fix", "quiet", "head"]
"""What a part of a line is, whatever colour that has."""

MARKS: Final = {"ok": "+", "warning": "!", "failed": "x", "not reached": ".", "skipped": "-"}
"""What stands before a check, by its status."""
_AT_FAULT: Final = {
    "client": "the client's side: the host, its configuration or its machine",
    "server": "the server",
    "intermediary": "something between client and server",
    "unknown": "not clear",
}
_VERDICTS: Final = {"ok": "OK", "degraded": "DEGRADED", "broken": "BROKEN", "unknown": "UNKNOWN"}
_WORDS: Final = {"broken": "broken", "degraded": "degraded", "ok": "in order", "unknown": "not known"}
_LONG: Final = 30
"""Characters of a text that is not in another by chance."""
_CHECK_STYLES: Final[dict[str, Style]] = {"ok": "ok", "warning": "degraded", "failed": "broken"}
_RICH: Final = {
    "": "",
    "ok": "green",
    "degraded": "yellow",
    "broken": "bold red",
    "unknown": "bold",
    "fix": "bold",
    "quiet": "dim",
    "head": "bold",
}


class ReportLine(NamedTuple):
    """One line: the columns that it is set off by, what stands first and how it is shown, and the rest."""

    indent: int
    mark: str
    style: Style
    text: str = ""
    text_style: Style = ""


def _line(indent: int, mark: str, style: Style, text: str = "", text_style: Style = "") -> ReportLine:
    return ReportLine(indent, safe_line(mark), style, safe_line(text), text_style)


# -- one server ----------------------------------------------------------------------------------------------


def report_lines(report: Report) -> Iterator[ReportLine]:
    """Everything that is known of one server."""
    yield from _answer_lines(report)
    yield _line(0, "", "")
    yield _line(0, f"Checks of {report.target} ({report.took_s:.1f} s)", "head")
    yield from _checks_lines(report)


def _checks_lines(report: Report) -> Iterator[ReportLine]:
    unseen = [check.name for check in report.checks if check.status == "not reached"]
    for check in report.checks:
        if check.status != "not reached":
            yield from _check_lines(check, report.diagnoses)
    if unseen:
        yield _line(2, f"{MARKS['not reached']} not reached:", "quiet", ", ".join(unseen), "quiet")


def _answer_lines(report: Report, name: str = "") -> Iterator[ReportLine]:
    before = f"{name}: " if name else ""
    verdict = _VERDICTS[report.verdict]
    yield _line(0, f"{verdict}:", report.verdict, before + _answer_of(report), "head" if not name else "")
    yield from _diagnoses_lines(report.diagnoses, is_first_told=report.verdict != "ok")


def _diagnoses_lines(diagnoses: Sequence[Diagnosis], *, is_first_told: bool) -> Iterator[ReportLine]:
    for number, each in enumerate(diagnoses):
        if number or not is_first_told:
            yield _line(0, "", "")
            word = "Remark:" if each.severity == "note" else "Also:"
            yield _line(0, word, "head", f"{each.title}: {each.cause}")
        yield from _diagnosis_lines(each)


def _answer_of(report: Report) -> str:
    if report.verdict == "unknown" and not report.diagnoses:
        return "the examination was interrupted; what was seen until then:"
    if report.verdict != "ok" and report.diagnoses:
        first = report.diagnoses[0]
        return f"{first.title}: {first.cause}"
    info = report.server
    name = " ".join(part for part in (info.name, info.version) if part) if info is not None else "the server"
    rest = "it works, with a remark" if report.diagnoses else "nothing is wrong"
    return f"{name} speaks {report.revision} ({report.era}); {rest}"


def _diagnosis_lines(each: Diagnosis) -> Iterator[ReportLine]:
    yield _line(2, "fix:", "fix", each.fix)
    fault = f"{_AT_FAULT[each.blame]} ({each.confidence}, {each.phase}, {each.code})"
    yield _line(2, "at fault:", "fix", fault)
    for text in each.evidence:
        if not _is_in(text, each.cause):
            yield _line(2, "|", "quiet", text, "quiet")


def _is_in(text: str, cause: str) -> bool:
    """Whether a cause says it already; a short text may be in it by chance."""
    return len(text.strip()) >= _LONG and text.strip() in cause


def _untold(check: Check, diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    """What was seen in a check, and for what a diagnosis has told already, which one that is."""
    referred: set[str] = set()
    for text in check.evidence:
        by = next((each.code for each in diagnoses if _is_told(text, each)), None)
        if by is None:
            yield text
        elif by not in referred:
            referred.add(by)
            yield f"see {by} above"


def _is_told(text: str, by: Diagnosis) -> bool:
    return _is_in(text, by.cause) or any(text.strip() == each.strip() for each in by.evidence)


def _check_lines(check: Check, diagnoses: Sequence[Diagnosis]) -> Iterator[ReportLine]:
    first, *rest = list(_untold(check, diagnoses)) or [""]
    is_done = check.status in _CHECK_STYLES
    took = f"{check.took_s:6.2f} s" if is_done else " " * 8
    status = "" if is_done else f"{check.status}: " if first else check.status
    style = _CHECK_STYLES.get(check.status, "quiet")
    shade: Style = "" if is_done else "quiet"
    yield _line(2, f"{MARKS[check.status]} {check.name:<13} {took} ", style, f"{status}{first}", shade)
    for text in rest:
        yield _line(28, "", "", text, "quiet")


# -- many ----------------------------------------------------------------------------------------------------


def overview_lines(overview: Overview, *, is_verbose: bool = False) -> Iterator[ReportLine]:
    """Everything that is known of many servers: how many work, then each, the broken ones first.

    Args:
        overview: What was found.
        is_verbose: Show the checks of each, too.
    """
    verdict = f"{_VERDICTS[overview.verdict]}:"
    # A file that its host cannot read costs all of its servers, whatever they are like.
    first = next((each for each in overview.diagnoses if each.severity == "broken"), None)
    answer = _summary_of(overview) if first is None else f"{first.title}: {first.cause}"
    yield _line(0, verdict, overview.verdict, answer, "head")
    yield from _diagnoses_lines(overview.diagnoses, is_first_told=first is not None)
    if first is not None and overview.patients:
        yield _line(0, "", "")
        yield _line(0, _summary_of(overview), "head")
    examined = [(each.report, each) for each in overview.patients if each.report is not None]
    for report, patient in sorted(examined, key=lambda pair: VERDICTS.index(pair[0].verdict)):
        yield _line(0, "", "")
        yield from _answer_lines(report, f"{patient.name} ({_hosts_of(patient)})")
        if is_verbose:
            yield from _checks_lines(report)
    skipped = [each for each in overview.patients if each.report is None]
    if skipped:
        yield _line(0, "", "")
    for patient in skipped:
        yield _line(0, "not examined:", "quiet", f"{patient.name} ({_hosts_of(patient)}): {patient.skipped}")


def _hosts_of(patient: Patient) -> str:
    return ", ".join(dict.fromkeys(HOSTS[one.entry.host].title for one in patient.servers))


def _summary_of(overview: Overview) -> str:
    reports = [each.report for each in overview.patients if each.report is not None]
    counts = [
        (sum(report.verdict == verdict for report in reports), words) for verdict, words in _WORDS.items()
    ]
    said = [f"{count} {words}" for count, words in counts if count]
    skipped = len(overview.patients) - len(reports)
    if skipped:
        said.append(f"{skipped} not examined")
    noun = "server" if len(overview.patients) == 1 else "servers"
    return f"{len(overview.patients)} {noun}: {', '.join(said)} ({overview.took_s:.1f} s)"


# -- printing ------------------------------------------------------------------------------------------------


def _plain(line: ReportLine) -> str:
    return f"{' ' * line.indent}{line.mark}{' ' if line.mark and line.text else ''}{line.text}".rstrip()


def print_lines(lines: Sequence[ReportLine], output: Output) -> None:
    """Print a report where it belongs: on stdout."""
    if not output.shows_colours:
        output.say("\n".join(map(_plain, lines)))
        return
    from rich.console import Console

    render_lines(lines, Console(file=sys.stdout, highlight=False, markup=False))


def render_lines(lines: Sequence[ReportLine], console: Console) -> None:
    """Print a report in colours.

    Args:
        lines: Its lines.
        console: Where to.
    """
    from rich.table import Table
    from rich.text import Text

    for line in lines:
        mark = Text(line.mark, style=_RICH[line.style])
        # What is wrapped goes on below its own beginning, unless too little of the width would be left.
        hang = line.indent + (mark.cell_len + 1 if line.mark else 0)
        if not line.text or not hang or hang > console.width // 2:
            rest: Any = Text(f" {line.text}" if line.text else "", style=_RICH[line.text_style])
            console.print(Text(" " * line.indent) + mark + rest)
            continue
        grid = Table.grid()
        grid.add_column(width=hang, no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        grid.add_row(Text(" " * line.indent) + mark, Text(line.text, style=_RICH[line.text_style]))
        console.print(grid)
