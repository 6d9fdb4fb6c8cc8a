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

    Attributes:
        file: Where it can be looked at afterwards; None where it was not asked for.
        lines: All of it.
        judged: What the audit is to judge: a server that is sent nonsense may answer as it likes.
    """

    def __init__(self, to: Path | None = None, *, secrets: Mapping[str, str] | None = None) -> None:
        self.file = to
        self.lines: list[Header | Line] = []
        self._unjudged: set[str] = set()
        hidden = [value for value in (secrets or {}).values() if value]
        self._recorder = Recorder(to if to is not None else _nowhere, secrets=hidden, watch=self._keep)

    def _keep(self, line: Header | Line) -> None:
        if len(self.lines) < _MAX_LINES:
            self.lines.append(line)

    @property
    def judged(self) -> list[Header | Line]:
        """See the class."""
        return [line for line in self.lines if getattr(line, "link", "") not in self._unjudged]

    def link(self, name: str, transport: str, target: str, *, is_judged: bool = True) -> LinkRecorder:
        """One connection from now on.

        Args:
            name: What to call it.
            transport: As in `mesero.trace.format.Link`.
            target: A command or URL.
            is_judged: Whether what passes there is ordinary use.
        """
        link = self._recorder.link(name, transport, target)
        if not is_judged:
            self._unjudged.add(link.key)
        return link

    def close(self) -> None:
        """Nothing more comes."""
        self._recorder.close()
