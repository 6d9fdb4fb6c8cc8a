"""One message out of a trace, with what the trace knows of it: headers, era, what it answers."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET

from mesero.audit.link import LinkState
from mesero.audit.reading import read_line
from mesero.audit.tracking import remember
from mesero.trace.format import Line, MessageLine

__all__ = ["RecordedMessage", "find_message"]


class RecordedMessage(msgspec.Struct, frozen=True):
    """``headers`` is None where HTTP did not carry it; ``revision`` and ``answers`` are empty if unknown."""

    raw: bytes
    headers: list[tuple[str, str]] | None
    revision: str
    answers: str


def find_message(lines: Iterable[Line], seq: int) -> RecordedMessage | None:
    """The message of a line, or None where that line has none. Reads no further than it has to."""
    links: dict[str, LinkState] = {}
    for line in lines:
        link = links.setdefault(line.link, LinkState(line.link))
        for evidence in read_line(link, line):
            if line.seq == seq and isinstance(line, MessageLine) and evidence.raw and evidence.line is line:
                asked = evidence.asked
                return RecordedMessage(
                    line.raw.encode("utf-8", "surrogatepass"),
                    _headers_of(line),
                    evidence.revision,
                    asked.method if asked is not None else "",
                )
            remember(evidence)
        if line.seq == seq:
            return None
    return None


def _headers_of(line: MessageLine) -> list[tuple[str, str]] | None:
    if line.http is UNSET or line.dir != "c2s":
        return None if line.http is UNSET else []
    found: list[tuple[str, str]] = []
    for name, value in line.http.headers.items():
        found += [(name, each) for each in (value if isinstance(value, list) else [value])]
    return found
