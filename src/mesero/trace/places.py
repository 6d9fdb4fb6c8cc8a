"""Where things are in a JSON text: strings, numbers and member names, with their spans and paths. Pure.

Whoever changes one value of a text must leave every other byte alone, so it needs places, not objects. The
scan never raises and never recurses; for a text that is no JSON it gives places that mean nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

__all__ = ["Frame", "Place", "decode_string", "is_json", "json_path", "offsets_of", "scan", "splice"]

_TOKEN = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"|([{}\[\]:,])|([^\s"{}\[\]:,]+)', re.DOTALL)
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
_PLAIN_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_LABELS = frozenset({"name", "key", "header"})


@dataclass(slots=True)
class Place:
    """A string without its quotes, a number or a literal, or a member name: a span of characters."""

    start: int
    end: int
    is_key: bool = False
    is_string: bool = True


@dataclass(slots=True)
class Frame:
    """A container that is open: where in it the scan is, and its ``name``/``value`` pair if it is one."""

    is_object: bool
    step: str | int = ""
    index: int = 0
    is_before_colon: bool = True
    label: str = ""
    value: Place | None = None


@dataclass(slots=True)
class _Scan:
    text: str
    frames: list[Frame] = field(default_factory=list)

    def take_string(self, place: Place) -> Place:
        """Note a string: the name of the member to come, or a value."""
        frame = self.frames[-1] if self.frames else None
        if frame is None or not frame.is_object:
            return place
        if frame.is_before_colon:
            place.is_key = True
            frame.step = decode_string(self.text[place.start : place.end])
        elif frame.step in _LABELS:
            frame.label = decode_string(self.text[place.start : place.end])
        elif frame.step == "value":
            frame.value = place
        return place

    def take_mark(self, mark: str) -> Frame | None:
        """Open, close, move on; the frame that was closed, if one was."""
        if mark in "{[":
            self.frames.append(Frame(is_object=mark == "{", step="" if mark == "{" else 0))
        elif mark in "}]":
            return self.frames.pop() if self.frames else None
        elif self.frames:
            frame = self.frames[-1]
            if mark == ":":
                frame.is_before_colon = False
            elif frame.is_object:
                frame.is_before_colon = True
            else:
                frame.index += 1
                frame.step = frame.index
        return None


def scan(text: str) -> Iterator[tuple[Place | Frame, list[Frame]]]:
    """Every string, number and literal in order, each with the containers around it (outermost first).

    When a container closes, its frame is given too. The list of frames is the scan's own: look, do not keep.
    """
    state = _Scan(text)
    for match in _TOKEN.finditer(text):
        if match.start(1) >= 0:
            yield state.take_string(Place(match.start(1), match.end(1))), state.frames
        elif match.start(2) >= 0:
            closed = state.take_mark(match[2])
            if closed is not None:
                yield closed, state.frames
        else:
            yield Place(match.start(3), match.end(3), is_string=False), state.frames


def json_path(steps: Iterable[str | int], *, start: str = "$") -> str:
    """Member names and indexes as a JSON path below ``start``."""
    return start + "".join(map(_step_text, steps))


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_NAME.fullmatch(step) else f"[{json.dumps(step)}]"


def is_json(text: str | bytes) -> bool:
    """Whether this is one strict JSON value that a reader can take."""
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def decode_string(inner: str) -> str:
    """The text that a JSON string stands for, given what is between its quotes."""
    if "\\" not in inner:
        return inner
    try:
        value: Any = json.loads(f'"{inner}"', strict=False)
    except ValueError:
        return inner
    return str(value)


def offsets_of(inner: str) -> list[int]:
    """For each character of `decode_string`, and for its end, where it begins in the text of the string."""
    return [match.start() for match in _CHARACTER.finditer(inner)] + [len(inner)]


def splice(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """The text with each span (start, end, replacement) replaced; spans are in order and do not overlap."""
    parts: list[str] = []
    done = 0
    for start, end, replacement in changes:
        parts += (text[done:start], replacement)
        done = end
    return "".join([*parts, text[done:]])
