"""In which phase of its connection each row stands: launch, select era, discover, initialize, operation,
shutdown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mesero.audit.findings import Phase
from mesero.diagram.model import Row

__all__ = ["mark_phases"]

_HANDSHAKE: Final = ("initialize", "notifications/initialized")
_MESSAGES: Final = ("request", "notification", "result", "error", "batch", "broken")


def mark_phases(rows: Sequence[Row]) -> None:
    """Put each row into its phase, link by link."""
    by_link: dict[str, list[Row]] = {}
    for row in rows:
        by_link.setdefault(row.link, []).append(row)
    for own in by_link.values():
        _mark_link(own, rows)


def _mark_link(own: Sequence[Row], rows: Sequence[Row]) -> None:
    handshakes = [row.seq for row in own if row.method == "initialize" and row.kind == "request"]
    last_handshake = handshakes[-1] if handshakes else -1
    phase: Phase = "launch" if own[0].kind in ("spawn", "stderr", "note") else "operation"
    has_begun = False
    for row in own:
        if row.kind == "spawn":
            phase, has_begun = "launch", False
        elif _ends(row):
            phase = "shutdown"
        elif row.kind in _MESSAGES and phase != "shutdown":
            phase = _phase_of_message(row, rows, has_begun=has_begun, last_handshake=last_handshake)
            has_begun = has_begun or phase == "operation"
        row.phase = phase


def _ends(row: Row) -> bool:
    if row.http is not None:
        return row.http.method == "DELETE"
    return row.kind in ("eof", "exit")


def _phase_of_message(row: Row, rows: Sequence[Row], *, has_begun: bool, last_handshake: int) -> Phase:
    if row.method in _HANDSHAKE:
        return "initialize"
    if row.method == "server/discover" and not has_begun:
        probe = row if row.request < 0 else rows[row.request]
        is_refused = probe.answer < 0 or rows[probe.answer].kind == "error"
        # A question about the era was asked where a handshake followed, whatever the answer was.
        return "select era" if is_refused or last_handshake > probe.seq else "discover"
    return "operation"
