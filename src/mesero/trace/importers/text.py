"""Any text in which JSON-RPC messages stand: a log, a bug report, a terminal session, Markdown.

Who sent a message is taken from the words before it on its line, else guessed from what it says; when, from a
time on its line. Messages may be printed over several lines, and may stand in the strings of a JSON log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from mesero.trace.format import Direction, Line
from mesero.trace.importers.building import ImportedRecording, time_of, value_of
from mesero.trace.importers.finding import find_messages, may_continue
from mesero.trace.reader import read_lines

__all__ = ["TextFile"]

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?")
_TO_SERVER = re.compile(
    r"-->|->|>>>|=>|→|\b(?:client says|from client|to server|sent|sending|send|request to)\b",
    re.IGNORECASE,
)
_TO_CLIENT = re.compile(
    r"<--|<-|<<<|<=|←|\b(?:server says|from server|server\s*->\s*(?:client|editor)|to client|recv|received"
    r"|receiving|response from)\b",
    re.IGNORECASE,
)
_MAX_HELD = 4 * 1024 * 1024
_MAX_HELD_LINES = 20_000
_MAX_DEPTH = 20
_PREFIX = 200


class TextFile(ImportedRecording):
    """Any text. See `mesero.trace.reader.Recording`."""

    source = "a text"

    def read(self, file: BinaryIO) -> Iterator[Line]:
        """The messages in the text."""
        count = 0
        held = ""
        held_lines = 0
        for _, raw, _ in read_lines(file, self.problems):
            text = raw.decode("utf-8", "replace")
            if held:
                held, held_lines = f"{held}\n{text}", held_lines + 1
                # Only a line that can be the end is worth a look: else this would take quadratic time.
                if (
                    text.lstrip()[:1] not in ("}", "]")
                    and held_lines < _MAX_HELD_LINES
                    and len(held) < _MAX_HELD
                ):
                    continue
                if may_continue(held) >= 0 and held_lines < _MAX_HELD_LINES and len(held) < _MAX_HELD:
                    continue
                text, held, held_lines = held, "", 0
            elif _may_be_open(text):
                held = text
                continue
            for line in self._lines_of(text):
                count += 1
                yield line
        for line in self._lines_of(held):
            count += 1
            yield line
        if not count:
            self.problems.add(0, "no JSON-RPC message was found in this file")

    def _lines_of(self, text: str) -> Iterator[Line]:
        at = 0
        for found in find_messages(text):
            yield self._line_of(text[found.start : found.end], text[at : found.start])
            at = found.end
        if not at:
            yield from self._lines_in_log_entry(text)

    def _lines_in_log_entry(self, text: str) -> Iterator[Line]:
        """A JSON log has messages in the strings of its entries; those that are members were found before."""
        start = text.find("{")
        value = value_of(text[start:]) if start >= 0 and ("jsonrpc" in text or "method" in text) else None
        for raw in _messages_inside(value, 0):
            yield self._line_of(raw, text[:_PREFIX])

    def _line_of(self, raw: str, before: str) -> Line:
        time = None
        for match in _TIME.finditer(before[-2000:]):
            time = time_of(match[0])
        self.clock.at(time)
        guessed: tuple[str, ...] = ()
        if time is None:
            self.cannot_tell("when a message passed")
            guessed = ("t",)
        return self.make_message(raw, self.link("", ""), _direction_in(before), guessed=guessed)


def _may_be_open(text: str) -> bool:
    """Whether a message begins here that goes on in the next line."""
    return text.rstrip()[-1:] in ("{", "[", ",") and may_continue(text) >= 0


def _direction_in(before: str) -> Direction | None:
    words = before.rpartition("\n")[2][-_PREFIX:] or before[-_PREFIX:]
    to_server = max((match.end() for match in _TO_SERVER.finditer(words)), default=-1)
    to_client = max((match.end() for match in _TO_CLIENT.finditer(words)), default=-1)
    if to_server == to_client:
        return None
    return "c2s" if to_server > to_client else "s2c"


def _messages_inside(value: Any, depth: int) -> Iterator[str]:
    """The messages in the strings of a value, to a depth that no log needs."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _messages_inside(item, depth + 1)
    elif isinstance(value, str) and "{" in value:
        for found in find_messages(value):
            yield value[found.start : found.end]
