"""A drawing as text: two lifelines, an arrow for each message, phases, groups, silences and findings.

It is made for a terminal of a hundred columns and needs nothing but a fixed-width font. Links are drawn one
after the other.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mesero.diagram.labels import duration_text, plain
from mesero.diagram.model import Drawing, LinkPart, Row

__all__ = ["drawing_text"]

_LANE: Final = 64
_GUTTER: Final = 3
_HEAD: Final = 6 + 2 + 9 + 1 + _GUTTER + 1
_ARROWS: Final = frozenset({"request", "notification", "result", "error", "batch", "broken"})


def drawing_text(drawing: Drawing) -> str:
    """The whole drawing, with a summary in front and latencies behind."""
    lines = [_summary_of(drawing)]
    for each in drawing.diagnoses:
        lines += ["", *_paragraph(f"{each.symptom}: {plain(each.cause, max_chars=2000)}")]
        lines += _paragraph(
            f"at fault: {each.blame}, {each.confidence}. Fix: {plain(each.fix, max_chars=2000)}"
        )
    for link in drawing.links:
        rows = [(index, row) for index, row in enumerate(drawing.rows) if row.link == link.key]
        if rows:
            lines += ["", *_link_lines(drawing, link, rows)]
    loose = _loose_findings(drawing)
    if loose:
        lines += ["", "Findings about the whole", *(f"  {line}" for line in loose)]
    lines += _latency_lines(drawing)
    if drawing.left_out:
        lines += ["", f"{drawing.left_out} more lines are not drawn: there are too many."]
    lines += [f"in the file: {problem}" for problem in drawing.problems]
    return "\n".join(lines)


def _summary_of(drawing: Drawing) -> str:
    errors = sum(row.bad == "error" for row in drawing.rows)
    counts = [(drawing.messages, "message"), (errors, "error"), (len(drawing.findings), "finding")]
    said = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
    since = f", since {drawing.started}" if drawing.started else ""
    name = f"{drawing.name}: " if drawing.name else ""
    return f"{name}{said} in {duration_text(drawing.duration_s)}{since}"


def _link_lines(drawing: Drawing, link: LinkPart, rows: Sequence[tuple[int, Row]]) -> Iterator[str]:
    head = " · ".join(part for part in (link.name or link.key, link.transport, link.target) if part)
    yield f"{head}   [{', '.join(_ERAS[era] for era in link.eras) or 'era unknown'}]"
    margins = _margins_of(drawing, link.key)
    yield f"{'seq':>6}  {'time':>9} {'':{_GUTTER}} {'client':<{_LANE - 8}}  server"
    for index, row in rows:
        yield from _row_lines(drawing, row, margins.get(index, " " * _GUTTER), index)


_ERAS: Final = {"modern": "stateless", "legacy": "handshake"}


def _row_lines(drawing: Drawing, row: Row, margin: str, index: int) -> Iterator[str]:
    before = f"{'':{_HEAD - _GUTTER - 1}}{_before(margin)} "
    after = f"{'':{_HEAD - _GUTTER - 1}}{_after(margin)} "
    if row.kind == "phase":
        yield f"── {row.label} " + "─" * (_HEAD + _LANE - len(row.label) - 4)
        return
    if row.kind == "gap":
        words = f"⋮  {row.label}, {row.note}" if row.note else f"⋮  {row.label}"
        yield f"{after}┊{_fit(words, _LANE - 2):^{_LANE - 2}}┊"
        return
    group = drawing.groups[row.group] if row.group >= 0 else None
    if group is not None and group.first == index:
        rounds = f" ({group.rounds} rounds)" if group.rounds > 1 else ""
        yield f"{before}┊  {_fit(f'{group.label}{rounds}', _LANE - 5):<{_LANE - 4}}┊"
    took = f"  {duration_text(row.took_s)}" if row.took_s is not None else ""
    lane, is_told = _lane_of(row)
    yield f"{row.seq:>6}  {row.t:>9.3f} {margin} {lane}{took}".rstrip()
    if not is_told:
        yield f"{after}│  {_fit(row.note, _LANE - 5):<{_LANE - 4}}│"
    for number in row.findings:
        finding = drawing.findings[number]
        yield f"{after}! {finding.severity} {finding.rule}: {plain(finding.message)}"


def _before(margin: str) -> str:
    return margin.replace("╭", " ").replace("╰", "│")


def _after(margin: str) -> str:
    return margin.replace("╭", "│").replace("╰", " ")


def _lane_of(row: Row) -> tuple[str, bool]:
    """The row between the lifelines, and whether its note found room in it."""
    mark = {"error": "✗ ", "warning": "? ", "": ""}[row.bad]
    if row.kind not in _ARROWS:
        words = f"{mark}{row.label} · {row.note}" if row.note else f"{mark}{row.label}"
        return f"│ {_fit(words, _LANE - 4):{'>' if _is_servers(row) else '<'}{_LANE - 4}} │", True
    number = f" #{row.id}" if row.id else ""
    status = f" HTTP {row.http.status}" if row.http is not None and row.http.status not in (0, 200) else ""
    label = f"{mark}{row.label}{number}{status}"
    is_told = not row.note or len(label) + len(row.note) + 3 <= _LANE - 12
    if row.note and is_told:
        label = f"{label} · {row.note}"
    label = f" {_fit(label, _LANE - 12)} "
    line = "╌" if row.kind == "notification" else "─"
    if row.dir == "c2s":
        return f"├{line * 4}{label.ljust(_LANE - 8, line)}▶│"[: _LANE + 1], is_told
    return f"│◀{label.rjust(_LANE - 8, line)}{line * 4}┤", is_told


def _is_servers(row: Row) -> bool:
    return row.kind in ("stderr", "exit") or (row.kind in ("http", "text", "eof") and row.dir == "s2c")


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, _HEAD + _LANE + 12, subsequent_indent="  ", break_long_words=False)


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


# -- groups in the margin ------------------------------------------------------------------------------------


def _margins_of(drawing: Drawing, link: str) -> Mapping[int, str]:
    """From the index of a row to its margin, for rows within a group.

    A group has a column of its own for as long as it lasts; one that finds no room has none.
    """
    ends = [-1] * _GUTTER
    marks: dict[int, list[str]] = {}
    for group in sorted(drawing.groups, key=lambda each: each.first):
        free = next((column for column, end in enumerate(ends) if end < group.first), None)
        if group.link != link or group.first == group.last or free is None:
            continue
        ends[free] = group.last
        for index in range(group.first, group.last + 1):
            mark = "╭" if index == group.first else "╰" if index == group.last else "│"
            marks.setdefault(index, [" "] * _GUTTER)[free] = mark
    return {index: "".join(columns) for index, columns in marks.items()}


# -- behind the rows -----------------------------------------------------------------------------------------


def _loose_findings(drawing: Drawing) -> list[str]:
    placed = {number for row in drawing.rows for number in row.findings}
    return [
        f"! {finding.severity} {finding.rule}: {plain(finding.message)}"
        for number, finding in enumerate(drawing.findings)
        if number not in placed
    ]


def _latency_lines(drawing: Drawing) -> list[str]:
    if not drawing.latencies:
        return []
    width = max(len(each.method) for each in drawing.latencies)
    lines = ["", f"{'Latency':<{width + 2}}  calls  errors     median        95 %         max"]
    for each in drawing.latencies:
        times = "".join(f"{duration_text(value):>12}" for value in (each.median_s, each.p95_s, each.max_s))
        lines.append(f"  {each.method:<{width}} {each.count:>6}  {each.errors:>6} {times}")
    return lines
