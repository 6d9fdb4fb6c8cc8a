"""The MCP logs of VS Code, from the output channel of a server.

Messages are there when the log level is debug or trace, as the editor parsed or wrote them. Times have no
zone; a line without a time belongs to the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from mesero.trace.format import Direction, ExitLine, Line, NoteLine, StderrLine
from mesero.trace.importers.building import ImportedRecording, time_of
from mesero.trace.importers.finding import find_messages
from mesero.trace.reader import read_lines

__all__ = ["EditorLog"]

_EDITOR_LINE = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) \[(?P<level>\w{1,20})\] (?P<text>.*)", re.DOTALL
)
_DIRECTIONS: dict[str, Direction] = {
    "[editor -> server] ": "c2s",
    "[server -> editor] ": "s2c",
    "[Client Says] ": "c2s",
    "[Server Says] ": "s2c",
}
_SERVER_STDERR = "[server stderr] "
_STARTING = re.compile(r"Starting server (?P<name>\S.{0,200})")
_EXIT = re.compile(r"[Pp]rocess exited with code (?P<code>-?\d{1,10})")
_MAX_NOTE = 4000


class EditorLog(ImportedRecording):
    """A log of VS Code. See `mesero.trace.reader.Recording`."""

    source = "a log of VS Code"

    @staticmethod
    def recognises(text: str) -> bool:
        """Whether a file that begins so is one."""
        return any(_EDITOR_LINE.match(line) is not None for line in text.splitlines()[:50])

    def read(self, file: BinaryIO) -> Iterator[Line]:
        """The lines of the log."""
        self.cannot_tell("the exact text on the wire: the editor wrote each message anew after parsing it")
        self.cannot_tell("the time zone: times count as UTC")
        has_messages = False
        name, is_stderr = "", False
        for number, raw, _ in read_lines(file, self.problems):
            text = raw.decode("utf-8", "replace")
            match = _EDITOR_LINE.match(text)
            if match is None:
                yield self._continued(text, name, is_stderr=is_stderr)
                continue
            self.clock.at(time_of(match["time"]))
            text = match["text"]
            starting = _STARTING.match(text)
            if starting is not None and not starting["name"].startswith("from "):
                name = starting["name"].strip()
            is_stderr = text.startswith(_SERVER_STDERR)
            has_messages = has_messages or text.startswith(tuple(_DIRECTIONS))
            yield from self._lines_of(number, text, match["level"], name)
        if not has_messages:
            self.cannot_tell('any message: the log level of the server was not "debug" or "trace"')

    def _continued(self, text: str, name: str, *, is_stderr: bool) -> Line:
        link = self.link(name, "")
        if is_stderr:
            return self.make(StderrLine, link, raw=text, guessed=("t",))
        return self.make(NoteLine, link, text=f"client log: {text[:_MAX_NOTE]}", guessed=("t",))

    def _lines_of(self, number: int, text: str, level: str, name: str) -> Iterator[Line]:
        link = self.link(name, "")
        for mark, direction in _DIRECTIONS.items():
            if text.startswith(mark):
                yield self._message(number, text[len(mark) :], direction, link)
                return
        if text.startswith(_SERVER_STDERR):
            yield self.make(StderrLine, link, raw=text[len(_SERVER_STDERR) :])
            return
        exited = _EXIT.search(text)
        if exited is not None:
            yield self.make(ExitLine, link, code=int(exited["code"]))
        said = "client reported" if level == "error" or "state: Error" in text else "client log"
        yield self.make(NoteLine, link, text=f"{said}: {text[:_MAX_NOTE]}")

    def _message(self, number: int, text: str, direction: Direction, link: str) -> Line:
        found = next(find_messages(text), None)
        if found is not None and found.start == 0 and not text[found.end :].strip():
            return self.make_message(text[: found.end], link, direction)
        if found is None:
            self.problems.add(number, "a message that the editor did not write down whole, or that is none")
        return self.make_message(text, link, direction)
