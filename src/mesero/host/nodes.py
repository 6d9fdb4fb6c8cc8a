"""A parsed text whose every value knows where it stands: what all configuration formats are read into. Pure.

Offsets count characters of the text as it was given, a byte order mark included. Lines and columns are for
people: they begin at 1, and the mark has no column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

__all__ = ["Document", "Member", "Node", "Place", "Remark", "TextError", "place_of", "spliced"]

_BOM = "\ufeff"


class Place(NamedTuple):
    """A line and a column, both from 1."""

    line: int
    column: int


class Remark(NamedTuple):
    """Something that not every reader accepts, and where it begins."""

    kind: Literal["comment", "trailing-comma", "bom"]
    offset: int


@dataclass(frozen=True, slots=True)
class Node:
    """One value: plain data, its span, and what is inside. Of equal members the last one counts."""

    value: Any
    start: int
    end: int
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()

    def find_member(self, key: str) -> Member | None:
        """The member of this name that counts."""
        return next((member for member in reversed(self.members) if member.key == key), None)

    def find(self, *path: str) -> Node | None:
        """What is at the end of a path of member names."""
        node: Node | None = self
        for key in path:
            member = None if node is None else node.find_member(key)
            node = None if member is None else member.node
        return node

    def repeated(self) -> Iterator[tuple[Member, Member]]:
        """Members that have the name of an earlier one: each with the one before it."""
        seen: dict[str, Member] = {}
        for member in self.members:
            if member.key in seen:
                yield seen[member.key], member
            seen[member.key] = member


@dataclass(frozen=True, slots=True)
class Member:
    """A name and its value; the span is that of the name as it is written, quotes included."""

    key: str
    start: int
    end: int
    node: Node


@dataclass(frozen=True, slots=True)
class Document:
    """A whole text, parsed."""

    text: str
    root: Node
    remarks: tuple[Remark, ...] = ()

    def place(self, offset: int) -> Place:
        """Where an offset is, for people."""
        return place_of(self.text, offset)


class TextError(ValueError):
    """A text that is not what it should be: what is wrong, where, and what to write instead."""

    def __init__(self, what: str, place: Place, fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.place = place
        self.fix = fix


def place_of(text: str, offset: int) -> Place:
    """The line and column of an offset."""
    start = text.rfind("\n", 0, offset) + 1
    skipped = 1 if start == 0 and text.startswith(_BOM) and offset > 0 else 0
    return Place(text.count("\n", 0, offset) + 1, offset - start - skipped + 1)


def spliced(text: str, *changes: tuple[int, int, str]) -> str:
    """The text with each span (start, end, replacement) replaced.

    Spans do not overlap; of those at one place the first one given comes first.
    """
    parts: list[str] = []
    done = 0
    for start, end, replacement in sorted(changes, key=lambda change: change[:2]):
        parts += (text[done:start], replacement)
        done = end
    return "".join([*parts, text[done:]])
