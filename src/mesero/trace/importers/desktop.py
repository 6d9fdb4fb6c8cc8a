"""The MCP logs of Claude Desktop: ``mcp.log`` and ``mcp-server-NAME.log``.

Each line of the host has a time, a level and, in most versions, the name of the server; lines without a time
are what the server wrote to stderr. Messages are written as the host parsed them, so what a server sent that
is no message, white space and duplicate members cannot be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from mesero.trace.format import Direction, EofLine, Line, NoteLine, StderrLine
from mesero.trace.importers.building import ImportedRecording, time_of
from mesero.trace.importers.finding import find_messages
from mesero.trace.reader import read_lines

__all__ = ["ClaudeLog"]

_HOST_LINE = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) "
    r"(?:\[(?P<level>info|error|warn|warning|debug)\] ?(?:\[(?P<name>[^\]]{1,200})\] )?"
    r"|\[(?P<name_first>[^\]]{1,200})\] \[(?P<level_last>\w{1,20})\] ?)(?P<text>.*)",
    re.DOTALL,
)
_MESSAGE = re.compile(r"Message from (?P<who>client|server): ")
_METADATA = re.compile(r"\s*\{ metadata: undefined \}\s*$")
_MAX_NOTE = 4000


class ClaudeLog(ImportedRecording):
    """A log of Claude Desktop. See `mesero.trace.reader.Recording`."""

    source = "a log of Claude Desktop"

    @staticmethod
    def recognises(text: str) -> bool:
        """Whether a file that begins so is one."""
        return any(_HOST_LINE.match(line) is not None for line in text.splitlines()[:50])

    def read(self, file: BinaryIO) -> Iterator[Line]:
        """The lines of the log."""
        self.cannot_tell("the exact text on the wire: the host wrote each message anew after parsing it")
        name = ""
        open_braces = 0
        for number, raw, _ in read_lines(file, self.problems):
            text = raw.decode("utf-8", "replace")
            match = _HOST_LINE.match(text)
            if match is None:
                if open_braces > 0:
                    # What the host prints over several lines, such as the command that it starts.
                    open_braces += text.count("{") - text.count("}")
                    yield self.make(
                        NoteLine, self.link(name, "stdio"), text=f"client log: {text[:_MAX_NOTE]}"
                    )
                else:
                    self.cannot_tell(
                        "when a line of stderr was written, and whether it is not the host's own"
                    )
                    yield self.make(StderrLine, self.link(name, "stdio"), raw=text, guessed=("t",))
                continue
            self.clock.at(time_of(match["time"].replace("Z", "+00:00")))
            name = match["name"] or match["name_first"] or name
            host_text = match["text"]
            open_braces = 0
            if _MESSAGE.match(host_text) is None:
                open_braces = host_text.count("{") - host_text.count("}")
            yield from self._lines_of(number, host_text, match["level"] or match["level_last"], name)

    def _lines_of(self, number: int, text: str, level: str, name: str) -> Iterator[Line]:
        link = self.link(name, "stdio")
        message = _MESSAGE.match(text)
        if message is not None:
            yield self._message(number, text[message.end() :], message["who"], link)
            return
        text = _METADATA.sub("", text)
        if text.startswith(("Server transport closed", "Client transport closed")):
            direction: Direction = "s2c" if text.startswith("Server") else "c2s"
            yield self.make(EofLine, link, dir=direction)
        said = "client reported" if level == "error" else "client log"
        yield self.make(NoteLine, link, text=f"{said}: {text[:_MAX_NOTE]}")

    def _message(self, number: int, text: str, who: str, link: str) -> Line:
        direction: Direction = "c2s" if who == "client" else "s2c"
        found = next(find_messages(text), None)
        if found is not None and found.start == 0:
            return self.make_message(text[: found.end], link, direction)
        rest = _METADATA.sub("", text)
        self.problems.add(number, "a message that the host did not write down whole; kept as text")
        return self.make_message(rest, link, direction)
