"""The doctor's own recording: kept in memory for the audit, and in a file where one was asked for."""

from __future__ import annotations

from pathlib import Path

from mesero.trace.format import EofLine, ExitLine, Header, Line, NoteLine, SpawnLine
from mesero.trace.recorder import LinkRecorder, Recorder

__all__ = ["Recording"]

_MAX_LINES = 20_000
_MAX_CHARS = 128 * 2**20
_Landmark = SpawnLine | ExitLine | EofLine | NoteLine
"""Few and short; without them nobody knows how a process ended."""


def _nowhere(line: bytes) -> None:
    """For a recording that is kept in memory only."""


def _chars_in(line: Header | Line) -> int:
    texts = (
        getattr(line, "raw", ""),
        getattr(line, "b64", ""),
        getattr(getattr(line, "http", ""), "body", ""),
    )
    return sum(len(each) for each in texts if isinstance(each, str))


class Recording:
    """What passed while the doctor looked, without its secrets.

    Args:
        to: A file to keep it in; None for memory alone.

    Attributes:
        file: Where it can be looked at afterwards; None where it was not asked for.
        lines: All of it; where that is too much, only the landmarks after its beginning.
        judged: What the audit is to judge: a server that is sent nonsense may answer as it likes, and what
            came after the beginning of too much is not known well enough.
    """

    def __init__(self, to: Path | None = None) -> None:
        self.file = to
        self.lines: list[Header | Line] = []
        self._chars = 0
        self._end: int | None = None
        self._unjudged: set[str] = set()
        self._recorder = Recorder(to if to is not None else _nowhere, watch=self._keep)

    def _keep(self, line: Header | Line) -> None:
        self._chars += _chars_in(line)
        if self._end is None and (len(self.lines) >= _MAX_LINES or self._chars > _MAX_CHARS):
            self._end = len(self.lines)
        if self._end is None or isinstance(line, _Landmark):
            self.lines.append(line)

    @property
    def judged(self) -> list[Header | Line]:
        """See the class."""
        known = self.lines[: self._end]
        return [line for line in known if getattr(line, "link", "") not in self._unjudged]

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
