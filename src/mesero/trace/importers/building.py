"""What importers have in common: numbering lines, links, and guessing who sent a message.

A log tells less than a trace. What it does not say is filled in as best as can be, marked in ``guessed``, and
counted, so that the reader is told.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from types import TracebackType
from typing import Any, BinaryIO, Self

import msgspec

from mesero.trace.format import Direction, Header, Line, Link, LinkLine, MessageLine, TextLine
from mesero.trace.importers.finding import is_message
from mesero.trace.reader import Problems

__all__ = ["Clock", "DirectionGuess", "ImportedRecording", "time_of", "value_of"]

_CLIENT_METHODS = frozenset(
    {
        "notifications/initialized",
        "notifications/roots/list_changed",
        "notifications/elicitation/complete",
    }
)
_SERVER_METHODS = frozenset({"sampling/createMessage", "elicitation/create", "roots/list"})
_MAX_OPEN = 10_000


class Clock:
    """Seconds since the first time that a file tells, growing, whatever the file says."""

    def __init__(self) -> None:
        self.started: datetime | None = None
        self.t = 0.0

    def at(self, time: datetime | None) -> float:
        """The seconds of this time of day; those of the line before when it is not known, or goes back."""
        if time is not None:
            if self.started is None:
                self.started = time
            self.t = max(self.t, round((time - self.started).total_seconds(), 6))
        return self.t


class DirectionGuess:
    """Who sent a message, by what it is: its method, or the request that it answers."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, Direction] = OrderedDict()

    def note(self, value: Any, direction: Direction) -> None:
        """Remember who asked, for the answer that will come."""
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict) and "method" in item and "id" in item:
                self._asked[_id_of(item)] = direction
        while len(self._asked) > _MAX_OPEN:
            self._asked.popitem(last=False)

    def direction_of(self, value: Any) -> Direction:
        """The likely direction of a message."""
        if isinstance(value, list):
            value = next((item for item in value if isinstance(item, dict)), {})
        method = value.get("method")
        if isinstance(method, str):
            if method in _SERVER_METHODS or (
                method.startswith("notifications/") and "id" not in value and method not in _CLIENT_METHODS
            ):
                # Both sides may cancel; most of the time it is the client.
                return "c2s" if method == "notifications/cancelled" else "s2c"
            return "c2s"
        asked_by = self._asked.pop(_id_of(value), "c2s")
        return "s2c" if asked_by == "c2s" else "c2s"


class ImportedRecording(ABC):
    """The frame of an importer: a subclass yields lines in `read`, made by `make`."""

    source = "a file"
    """What it is made of, for the header."""

    def __init__(self, file: BinaryIO) -> None:
        self.problems = Problems()
        self.clock = Clock()
        self.guess = DirectionGuess()
        self._file = file
        self._seq = 0
        self._links: dict[str, Link] = {}
        self._counts: dict[str, int] = {}
        self._links_at_first: dict[str, Link] = {}
        self._links_to_tell: list[Line] = []
        self._header: Header | None = None
        self._first: list[Line] = []
        self._lines: Iterator[Line] = iter(())

    # -- the face --------------------------------------------------------------------------------------------

    @property
    def header(self) -> Header:
        """The header, as far as the beginning of the file tells it."""
        if self._header is None:
            self._lines = self.read(self._file)
            self._first = list(islice(self._lines, 1))
            started = self.clock.started
            self._header = Header(
                started="" if started is None else started.astimezone(UTC).isoformat().replace("+00:00", "Z"),
                by=f"mesero, from {self.source}",
                links=dict(self._links_at_first),
            )
        return self._header

    @property
    def unknown(self) -> tuple[str, ...]:
        """What the file cannot tell, and of how many lines; complete when all were read."""
        return tuple(text if count < 2 else f"{text} ({count} times)" for text, count in self._counts.items())

    def __iter__(self) -> Iterator[Line]:
        self.header  # noqa: B018  (it reads the first line)
        first, self._first = self._first, []
        for line in chain(first, self._lines):
            yield from self._links_to_tell
            self._links_to_tell.clear()
            yield line

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self.close()

    # -- for subclasses --------------------------------------------------------------------------------------

    @abstractmethod
    def read(self, file: BinaryIO) -> Iterator[Line]:
        """The lines of a file."""

    def link(self, name: str, transport: str, target: str = "") -> str:
        """The key of the link of that name, which is made when it is new."""
        for key, link in self._links.items():
            if link.name == name and link.target == target:
                return key
        key = str(len(self._links) + 1)
        self._links[key] = Link(name=name, transport=transport, target=target)
        if self._seq:
            line = self.make(LinkLine, key, name=name, transport=transport, target=target)
            self._links_to_tell.append(line)
        else:
            self._links_at_first[key] = self._links[key]
        return key

    def make(self, type_: Callable[..., Line], link: str, **fields: Any) -> Line:
        """A line, with the next number and the time of now."""
        self._seq += 1
        return type_(seq=self._seq, t=fields.pop("t", self.clock.t), link=link, **fields)

    def make_message(
        self,
        raw: str,
        link: str,
        direction: Direction | None,
        *,
        guessed: tuple[str, ...] = (),
        **fields: Any,
    ) -> Line:
        """A message, or the text that it would be if it were JSON; without a direction that is guessed."""
        value = value_of(raw)
        if direction is None:
            direction = self.guess.direction_of(value) if is_message(value) else "s2c"
            guessed = ("dir", *guessed)
            self.cannot_tell("who sent a message: it was guessed from what it says")
        self.guess.note(value, direction)
        type_ = MessageLine if isinstance(value, dict | list) else TextLine
        return self.make(type_, link, dir=direction, raw=raw, guessed=guessed, **fields)

    def cannot_tell(self, text: str) -> None:
        """Count something that the file does not tell."""
        self._counts[text] = self._counts.get(text, 0) + 1


def _id_of(message: dict[str, Any]) -> str:
    found = message.get("id")
    return repr(found) if isinstance(found, str | int | float) else "no id"


def time_of(text: str) -> datetime | None:
    """The time of day that a log wrote down; without a zone it counts as UTC. None when it is no time."""
    try:
        time = datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def value_of(raw: str) -> Any:
    """The JSON value of a text; None when it is none."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
