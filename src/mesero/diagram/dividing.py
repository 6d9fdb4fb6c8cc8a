"""What stands between the lines of a trace: the beginning of a phase, and the silence before a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mesero.audit.findings import Phase
from mesero.diagram.labels import duration_text
from mesero.diagram.model import Group, Row

__all__ = ["divide"]

_MAX_NAMED = 2
_LISTEN = "subscriptions/listen"


def divide(
    rows: Sequence[Row], groups: Iterable[Group], *, gap_s: float
) -> tuple[tuple[Row, ...], tuple[Group, ...]]:
    """Put dividers between the rows, and mend the indexes that point to rows.

    Args:
        rows: The rows, in order; they are changed.
        groups: Their groups; they are changed.
        gap_s: How long nothing has to pass on a link to count as a silence, in seconds.
    """
    drawn: list[Row] = []
    places: list[int] = []
    before: dict[str, Row] = {}
    phases: dict[str, Phase] = {}
    waiting: dict[str, dict[int, Row]] = {}
    for index, row in enumerate(rows):
        earlier = before.get(row.link)
        open_rows = waiting.setdefault(row.link, {})
        if earlier is not None and row.t - earlier.t >= gap_s > 0:
            drawn.append(_gap(earlier, row, open_rows.values()))
        if phases.get(row.link) != row.phase:
            phases[row.link] = row.phase
            drawn.append(_divider(row, "phase", row.phase))
        if row.kind == "request" and row.method != _LISTEN:
            open_rows[index] = row
        elif row.kind in ("result", "error"):
            open_rows.pop(row.request, None)
        before[row.link] = row
        places.append(len(drawn))
        drawn.append(row)
    for row in rows:
        row.request = places[row.request] if row.request >= 0 else -1
        row.answer = places[row.answer] if row.answer >= 0 else -1
    moved = tuple(groups)
    for group in moved:
        group.first, group.last = places[group.first], places[group.last]
    return tuple(drawn), moved


def _divider(row: Row, kind: str, label: str, note: str = "") -> Row:
    return Row(
        seq=row.seq,
        t=row.t,
        link=row.link,
        kind="gap" if kind == "gap" else "phase",
        label=label,
        note=note,
        phase=row.phase,
    )


def _gap(earlier: Row, row: Row, waiting: Iterable[Row]) -> Row:
    named = [f"{each.label}{f' (id {each.id})' if each.id else ''}" for each in waiting]
    note = ""
    if named:
        more = f" and {len(named) - _MAX_NAMED} more" if len(named) > _MAX_NAMED else ""
        note = f"waiting for {', '.join(named[:_MAX_NAMED])}{more}"
    gap = _divider(row, "gap", f"{duration_text(row.t - earlier.t)} of silence", note)
    gap.phase, gap.is_busy = earlier.phase, bool(named)
    gap.took_s = row.t - earlier.t
    return gap
