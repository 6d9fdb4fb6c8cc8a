"""A drawing as a Mermaid sequence diagram, for places that show Mermaid: issues, wikis, READMEs.

Mermaid has no limit of its own on messages but on text; so only the first rows are drawn and the rest is
counted. What Mermaid would obey in a text (``;``, ``#``, tags) is written as a character code.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mesero.diagram.labels import duration_text, plain
from mesero.diagram.model import Drawing, Row

__all__ = ["MAX_ROWS", "drawing_mermaid"]

MAX_ROWS: Final = 300
"""How many rows are drawn at most: beyond, nobody can read it and Mermaid refuses it."""

_MAX_CHARS: Final = 90
_MAX_NOTE_CHARS: Final = 240
_NOTE_WIDTH: Final = 44
_MIN_ROWS: Final = 2
_PLAIN: Final = frozenset(" !'()*+,-./=?@[]_{|}~$^·…→")
_ARROWS: Final = {"request": "->>", "notification": "-)", "result": "-->>", "error": "--x"}


def drawing_mermaid(drawing: Drawing, *, max_rows: int = MAX_ROWS) -> str:
    """The diagram, without a fence around it."""
    lines = ["sequenceDiagram", "    autonumber", *_participants_of(drawing)]
    servers = {link.key: f"S{number}" for number, link in enumerate(drawing.links, start=1)}
    solid = _solid_groups_of(drawing, max_rows)
    open_group = -1
    for index, row in enumerate(drawing.rows[:max_rows]):
        inside = solid.get(index, -1)
        if open_group >= 0 and inside != open_group:
            lines.append("    end")
        if inside >= 0 and inside != open_group:
            lines.append("    rect rgba(120, 140, 220, 0.15)")
            lines.append(f"    note over C,{servers[row.link]}: {_safe(drawing.groups[inside].label)}")
        open_group = inside
        lines += (f"    {line}" for line in _row_lines(drawing, row, servers))
    if open_group >= 0:
        lines.append("    end")
    left = len(drawing.rows) - max_rows + drawing.left_out
    if left > 0:
        lines.append(f"    note over C: {left} more are not drawn")
    return "\n".join(lines)


def _participants_of(drawing: Drawing) -> Iterator[str]:
    yield "    participant C as client"
    for number, link in enumerate(drawing.links, start=1):
        yield f"    participant S{number} as {_safe(link.name or link.target or f'server {link.key}')}"
    if not drawing.links:
        yield "    note over C: nothing was recorded"


def _solid_groups_of(drawing: Drawing, max_rows: int) -> Mapping[int, int]:
    """From the index of a row to its group, where nothing foreign stands between: a box has no holes."""
    places: dict[int, int] = {}
    for number, group in enumerate(drawing.groups):
        span = range(group.first, group.last + 1)
        if len(span) < _MIN_ROWS or group.last >= max_rows:
            continue
        own = (drawing.rows[index] for index in span)
        if all(row.group == number or row.kind in ("gap", "phase") for row in own):
            places.update(dict.fromkeys(span, number))
    return places


def _row_lines(drawing: Drawing, row: Row, servers: Mapping[str, str]) -> Sequence[str]:
    server = servers.get(row.link, "C")
    both = f"C,{server}" if server != "C" else "C"
    if row.kind in ("phase", "gap"):
        words = f"{row.label}, {row.note}" if row.note else row.label
        return [f"note over {both}: {'— ' if row.kind == 'phase' else '⋮ '}{_note(words)}"]
    lines = [_arrow(row, server) if row.kind in _ARROWS else _remark(row, server)]
    for number in row.findings:
        finding = drawing.findings[number]
        told = f"{finding.severity} {finding.rule}: {finding.message}"
        lines.append(f"note over {both}: {_note(told)}")
    return lines


def _arrow(row: Row, server: str) -> str:
    number = f" ({row.id})" if row.id else ""
    took = f" after {duration_text(row.took_s)}" if row.took_s is not None else ""
    note = f" · {row.note}" if row.note else ""
    mark = "✗ " if row.bad == "error" else ""
    sender, receiver = ("C", server) if row.dir == "c2s" else (server, "C")
    return f"{sender}{_ARROWS[row.kind]}{receiver}: {mark}{_safe(f'{row.label}{number}{took}{note}')}"


def _remark(row: Row, server: str) -> str:
    side = f"left of C: {'✗ ' if row.bad == 'error' else ''}"
    if row.dir == "s2c" or row.kind in ("stderr", "exit", "spawn"):
        side = f"right of {server}: {'✗ ' if row.bad == 'error' else ''}"
    return f"note {side}{_note(f'{row.label} · {row.note}' if row.note else row.label)}"


def _note(text: str) -> str:
    """A text in lines short enough for a note between two lifelines."""
    lines = textwrap.wrap(plain(text, max_chars=_MAX_NOTE_CHARS), _NOTE_WIDTH)
    return "<br/>".join(map(_safe, lines)) or "-"


def _safe(text: str) -> str:
    """A text that Mermaid shows and does not obey."""
    short = plain(text, max_chars=_MAX_CHARS)
    return "".join(char if char.isalnum() or char in _PLAIN else f"#{ord(char)};" for char in short) or "-"
