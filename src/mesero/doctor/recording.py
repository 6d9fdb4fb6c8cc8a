"""The doctor's own recording: kept in memory for the audit, and in a file where one was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mesero.trace.format import Header, Line
from mesero.trace.recorder import LinkRecorder, Recorder

__all__ = ["Recording"]

_MAX_LINES = 20_000


def _nowhere(line: bytes) -> None:
    """For a recording that is kept in memory only."""


class Recording:
    """What passed while the doctor looked, without its secrets.

    Args:
        to: A file to keep it in; None for memory alone.
        secrets: Values that must not be in it, by their names.
    """

    def __init__(self, to: Path | None = None, *, secrets: Mapping[str, str] | None = None) -> None:
        self.lines: list[Header | Line] = []
        hidden = [value for value in (secrets or {}).values() if value]
        self._recorder = Recorder(to if to is not None else _nowhere, secrets=hidden, watch=self._keep)

    def _keep(self, line: Header | Line) -> None:
        if len(self.lines) < _MAX_LINES:
            self.lines.append(line)

    def link(self, name: str, transport: str, target: str) -> LinkRecorder:
        """One connection from now on."""
        return self._recorder.link(name, transport, target)

    def close(self) -> None:
        """Nothing more comes."""
        self._recorder.close()
