"""Changes of one member in a JSON text, comments and all: every other character stays as it is. Pure.

A member that is added looks like its neighbours: their indentation, their line ends, their habit of a
trailing comma. A member that is taken out takes its line with it, and what was added leaves no trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mesero.host.jsonc import after_blanks, parse_jsonc
from mesero.host.nodes import Member, Node, spliced

__all__ = ["json_text_of", "remove_member", "set_member"]

_REST_OF_LINE = re.compile(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
_INDENTED = re.compile(r"^([ \t]+)\S", re.MULTILINE)


def json_text_of(value: Any, *, indent: str = "", unit: str = "  ", newline: str = "\n") -> str:
    """The JSON text of a value: an object has a line a member, a list without objects stays on one line.

    Args:
        value: Plain data.
        indent: What the line begins with that the value stands on.
        unit: One level of indentation.
        newline: The line end.
    """
    deeper = indent + unit
    if isinstance(value, Mapping) and value:
        lines = [
            f"{deeper}{json.dumps(key, ensure_ascii=False)}: "
            + json_text_of(item, indent=deeper, unit=unit, newline=newline)
            for key, item in value.items()
        ]
        return f"{{{newline}{f',{newline}'.join(lines)}{newline}{indent}}}"
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        lines = [deeper + json_text_of(item, indent=deeper, unit=unit, newline=newline) for item in value]
        return f"[{newline}{f',{newline}'.join(lines)}{newline}{indent}]"
    return json.dumps(value, ensure_ascii=False)


def set_member(text: str, path: Sequence[str], value: Any, *, after: str | None = None) -> str:
    """The text with the member at a path set to a value; objects on the way are made.

    Args:
        text: A document that `parse_jsonc` takes, or nothing but white space.
        path: Member names from the root.
        value: Plain data.
        after: Put it behind this member, where it has to be added, instead of behind the last one.

    Raises:
        TextError: the text cannot be parsed.
        ValueError: something on the path is no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        return f"{mark}{json_text_of(_nested(path, value))}\n"
    node, rest = parse_jsonc(text).root, list(path)
    while rest:
        if not isinstance(node.value, dict):
            raise ValueError(f"what {rest[0]!r} should be in is no object")  # noqa: TRY004 - the text is at fault
        member = node.find_member(rest[0])
        if member is None:
            return _added(text, node, rest[0], _nested(rest[1:], value), after)
        node = member.node
        rest.pop(0)
    layout = _Layout(text)
    replacement = json_text_of(
        value, indent=layout.indent_at(node.start), unit=layout.unit, newline=layout.newline
    )
    return spliced(text, (node.start, node.end, replacement))


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


class _Layout:
    """How a text is laid out: its line ends and its indentation."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = _INDENTED.search(text)
        self.unit = found[1] if found else "  "
        if " " in self.unit and len(self.unit) > 8:
            self.unit = "  "

    def line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def indent_at(self, offset: int) -> str:
        """The white space that the line of an offset begins with."""
        start = self.line_start(offset)
        line = self.text[start:offset].lstrip("\ufeff")
        return line[: len(line) - len(line.lstrip(" \t"))]

    def begins_line(self, offset: int) -> bool:
        return not self.text[self.line_start(offset) : offset].strip(" \t\ufeff")

    def rest_of_line(self, offset: int) -> int:
        """The offset behind what still belongs to a value on its line: blanks and comments."""
        match = _REST_OF_LINE.match(self.text, offset)
        end = offset if match is None else match.end()
        return end if self.text[end : end + 1] in ("", "\r", "\n") else offset

    def ends_line(self, offset: int) -> bool:
        return self.text[self.rest_of_line(offset) : self.rest_of_line(offset) + 1] in ("", "\r", "\n")

    def next_line(self, offset: int) -> int:
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end + 1

    def comma_behind(self, member: Member) -> int | None:
        """Where the comma behind a member is."""
        at = after_blanks(self.text, member.node.end)
        return at if self.text[at : at + 1] == "," else None


def _added(text: str, parent: Node, key: str, value: Any, after: str | None) -> str:
    layout = _Layout(text)
    name = json.dumps(key, ensure_ascii=False)
    if not parent.members:
        return _added_to_empty(layout, parent, name, value)
    previous = parent.members[-1]
    if after is not None:
        previous = parent.find_member(after) or previous
    comma = layout.comma_behind(previous)
    if not layout.begins_line(previous.start):
        written = f"{name}: {json.dumps(value, ensure_ascii=False)}"
        if comma is None:
            return spliced(text, (previous.node.end, previous.node.end, f", {written}"))
        return spliced(text, (comma + 1, comma + 1, f" {written},"))
    indent = layout.indent_at(previous.start)
    written = json_text_of(value, indent=indent, unit=layout.unit, newline=layout.newline)
    line = f"{layout.newline}{indent}{name}: {written}"
    if comma is None:
        at = layout.rest_of_line(previous.node.end)
        return spliced(text, (previous.node.end, previous.node.end, ","), (at, at, line))
    at = layout.rest_of_line(comma + 1)
    return spliced(text, (at, at, f"{line},"))


def _added_to_empty(layout: _Layout, parent: Node, name: str, value: Any) -> str:
    indent = layout.indent_at(parent.start)
    deeper = indent + layout.unit
    written = json_text_of(value, indent=deeper, unit=layout.unit, newline=layout.newline)
    line = f"{layout.newline}{deeper}{name}: {written}"
    inner = layout.text[parent.start + 1 : parent.end - 1]
    kept = inner.rstrip(" \t\r\n")
    end = f"{layout.newline}{indent}"
    at = parent.start + 1 + len(kept)
    return spliced(layout.text, (at, parent.end - 1, f"{line}{end}"))


def remove_member(text: str, path: Sequence[str]) -> str:
    """The text without the member at a path, all of them where the name stands there several times.

    Raises:
        TextError: the text cannot be parsed.
        KeyError: there is no such member.
    """
    node = parse_jsonc(text).root.find(*path[:-1])
    member = None if node is None else node.find_member(path[-1])
    if node is None or member is None:
        raise KeyError(path[-1])
    text = _removed(text, node, member)
    try:
        return remove_member(text, path)
    except KeyError:
        return text


def _removed(text: str, parent: Node, member: Member) -> str:
    layout = _Layout(text)
    place = parent.members.index(member)
    comma = layout.comma_behind(member)
    # The last member takes the comma before it along, unless it leaves one of its own behind.
    before = layout.comma_behind(parent.members[place - 1]) if place and comma is None else None
    end = member.node.end if comma is None else comma + 1
    if layout.begins_line(member.start) and layout.ends_line(end):
        start, end = layout.line_start(member.start), layout.next_line(end)
        changes = [(start, end, "")] if before is None else [(before, before + 1, ""), (start, end, "")]
    elif before is not None:
        changes = [(before, end, "")]
    else:
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
        changes = [(member.start, end, "")]
    shorter = spliced(text, *changes)
    return shorter if len(parent.members) > 1 else _closed_up(shorter, parent.start)


def _closed_up(text: str, start: int) -> str:
    """An object that has become empty, without the white space that is left in it."""
    end = text.find("}", start)
    inner = text[start + 1 : end]
    return text if inner.strip() else spliced(text, (start + 1, end, ""))
