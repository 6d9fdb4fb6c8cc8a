"""Recordings that a command line names: opened, closed, and what is wrong with them said on stderr."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from mesero.cli.printing import Output, json_text, safe_line
from mesero.errors import UsageError
from mesero.trace.format import Line, MessageLine
from mesero.trace.importers import open_recording
from mesero.trace.reader import Recording

__all__ = ["Counted", "check_not_empty", "plural", "reading", "short_json"]

_MAX_PROBLEMS = 10
_MAX_VALUE = 120


class Counted:
    """The lines of a recording, and how many there were: ``lines`` and ``messages``."""

    def __init__(self, recording: Recording) -> None:
        self.lines = 0
        self.messages = 0
        self._recording = recording

    def __iter__(self) -> Iterator[Line]:
        for line in self._recording:
            self.lines += 1
            self.messages += isinstance(line, MessageLine)
            yield line


def check_not_empty(lines: Counted, path: str) -> None:
    """A file in which there is nothing must not pass for one in which nothing is wrong.

    Raises:
        UsageError: nothing was found in it.
    """
    if not lines.lines:
        raise UsageError(
            f"there is nothing in {path!r} that passed between a client and a server",
            fix="Traces, HAR files, logs of hosts and texts with JSON-RPC messages in them can be read",
        )


@contextlib.contextmanager
def reading(path: str, output: Output, *, raw: bool = False) -> Iterator[Recording]:
    """A recording of any kind that can be read; at the end, what it lacks is said.

    Args:
        path: The file.
        output: Where the problems go.
        raw: Leave secrets in that other programs wrote down.

    Raises:
        UsageError: it cannot be opened.
    """
    recording = open_recording(path, raw=raw)
    try:
        yield recording
        problems = recording.problems
        for problem in problems.kept[:_MAX_PROBLEMS]:
            output.note(f"{safe_line(path)}: {safe_line(str(problem))}")
        if problems.count > _MAX_PROBLEMS:
            output.note(f"{safe_line(path)}: and {problems.count - _MAX_PROBLEMS} more problems like these")
        for lack in recording.unknown:
            output.note(f"{safe_line(path)} cannot tell {safe_line(lack)}")
    finally:
        recording.close()


def short_json(value: Any) -> str:
    """A value as JSON on one line, cut where it is long."""
    text = json_text(value, indent=0)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}… ({len(text)} characters)"


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
