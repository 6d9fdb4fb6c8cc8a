"""YAML with the place of every value, and changes of one member in it. Pure; needs the ``yaml`` extra.

PyYAML's composer gives each node its place. A change splices lines into the text, or takes lines out;
nothing is written anew, so comments, quotes and order stay. Only mappings in block style are changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mesero.errors import UsageError
from mesero.host.nodes import Document, Member, Node, Place, Remark, TextError, spliced

__all__ = ["add_member", "insert_member", "parse_yaml", "remove_block", "yaml_text_of"]

_MAX_NODES: Final = 200_000
_MAX_DEPTH: Final = 64
# Line ends to YAML, or characters that it does not take.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_FIXES: Final = (
    ("'\\t'", "Indent with spaces"),
    ("cannot start any token", "Put the whole text in quotes: '…'"),
    ("undefined alias", "Put the whole text in quotes: '…'"),
    ("mapping values are not allowed", "Put a text with a colon in quotes, and indent members alike"),
    ("expected <block end>", "Indent it as its neighbours are"),
    ("escape", "Write the text in single quotes, where a backslash is itself"),
    ("expected ',' or ']'", "Write the missing comma or ]"),
    ("expected ',' or '}'", "Write the missing comma or }"),
    ("scanning a quoted scalar", "Write the missing quote"),
)
"""What to do, by what the library says; the first that is in it."""
_PLAIN = re.compile(r"[A-Za-z_][\w./@-]*")
_WORDS_THAT_ARE_NO_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def _library() -> Any:
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]  # its stubs are a package of their own
    except ImportError:
        raise UsageError(
            "this file is YAML, and the library for that is not installed", fix="pip install 'mesero[yaml]'"
        ) from None
    return yaml


def parse_yaml(text: str) -> Document:
    """The document of a text; an empty one is an empty object.

    Raises:
        TextError: it is no YAML, or too deep or too large once its aliases are followed.
        UsageError: PyYAML is not installed.
    """
    yaml = _library()
    remarks = (Remark("bom", 0),) if text.startswith("\ufeff") else ()
    try:
        found = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise _text_error(error) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise TextError(f"no YAML: {error}", Place(1, 1)) from None
    if found is None:
        return Document(text, Node({}, len(text), len(text)), remarks)
    return Document(text, _Reading(text, yaml).node_of(found, 0), remarks)


def _text_error(error: Any) -> TextError:
    mark = error.problem_mark or error.context_mark
    what = ", ".join(part for part in (error.problem, error.context) if part)
    fix = next((fix for sign, fix in _FIXES if sign in what), "Correct it there")
    return TextError(what, Place(mark.line + 1, mark.column + 1), fix)


class _Reading:
    """From PyYAML's nodes to ours."""

    def __init__(self, text: str, yaml: Any) -> None:
        self.text = text
        self.yaml = yaml
        self.seen = 0
        self.scalars = yaml.constructor.SafeConstructor()

    def node_of(self, found: Any, depth: int) -> Node:
        self.seen += 1
        start = found.start_mark.index
        if depth > _MAX_DEPTH or self.seen > _MAX_NODES:
            place = Place(found.start_mark.line + 1, found.start_mark.column + 1)
            raise TextError("too deep or too large, once aliases are followed", place, "Write it flatter")
        if isinstance(found, self.yaml.MappingNode):
            members = tuple(self.member_of(key, value, depth) for key, value in found.value)
            end = found.end_mark.index if found.flow_style or not members else _end_of(members[-1])
            return Node({one.key: one.node.value for one in members}, start, end, members)
        if isinstance(found, self.yaml.SequenceNode):
            items = tuple(self.node_of(item, depth + 1) for item in found.value)
            end = found.end_mark.index if found.flow_style or not items else items[-1].end
            return Node([item.value for item in items], start, end, items=items)
        end = start + len(self.text[start : found.end_mark.index].rstrip("\r\n"))
        return Node(self.scalar_of(found), start, end)

    def member_of(self, key: Any, value: Any, depth: int) -> Member:
        name = key.value if isinstance(key.value, str) else str(self.node_of(key, depth + 1).value)
        start, end = key.start_mark.index, key.end_mark.index
        return Member(name, start, end, self.node_of(value, depth + 1))

    def scalar_of(self, found: Any) -> Any:
        try:
            return self.scalars.construct_object(found)
        except (self.yaml.YAMLError, ValueError):
            return found.value


def _end_of(member: Member) -> int:
    """The end of a member: that of its name and colon where its value is not written."""
    return max(member.end + 1, member.node.end)


# -- writing -------------------------------------------------------------------------------------------------


def yaml_text_of(value: Any) -> str:
    """A value on one line: JSON is YAML, and plain words need no quotes."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS_THAT_ARE_NO_TEXT:
        return value
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def add_member(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The text with a mapping more, in block style, behind the last one of its parent.

    Raises:
        TextError: the text cannot be parsed.
        ValueError: it is there already, or its parent is no mapping in block style.
    """
    root = parse_yaml(text).root
    newline = "\r\n" if "\r\n" in text else "\n"
    parent_path, name = path[:-1], path[-1]
    parent = root.find(*parent_path)
    if parent is None or not parent.members:
        return _added_with_parents(text, root, parent, path, values)
    if parent.find_member(name) is not None:
        raise ValueError(f"{name!r} is there already")
    if text[parent.start] == "{":
        raise ValueError(f"{'.'.join(parent_path)} is written in braces")
    indent = _indent_at(text, parent.members[0].start)
    at = _line_end(text, _end_of(parent.members[-1]))
    return spliced(text, (at, at, newline + newline.join(_lines_of(name, values, indent))))


def _added_with_parents(
    text: str, root: Node, parent: Node | None, path: Sequence[str], values: Mapping[str, Any]
) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    *outer, name = path
    if len(outer) != 1 or not isinstance(root.value, dict):
        raise ValueError("the document is no mapping")
    lines = newline.join(_lines_of(name, values, "  "))
    if parent is None:
        kept = text.rstrip("\r\n")
        return f"{kept}{newline if kept else ''}{outer[0]}:{newline}{lines}{newline}"
    if parent.value is not None and parent.value != {}:
        raise ValueError(f"{outer[0]!r} is no mapping")
    member = root.find_member(outer[0])
    assert member is not None  # noqa: S101 - its value was found
    colon = text.index(":", member.end) + 1
    at = _line_end(text, max(colon, parent.end))
    if parent.value is None and parent.end <= colon:
        return spliced(text, (at, at, f"{newline}{lines}"))
    return spliced(text, (colon, parent.end, ""), (at, at, f"{newline}{lines}"))


def _lines_of(name: str, values: Mapping[str, Any], indent: str) -> list[str]:
    return [f"{indent}{yaml_text_of(name)}:"] + [
        f"{indent}  {yaml_text_of(key)}: {yaml_text_of(value)}" for key, value in values.items()
    ]


def insert_member(text: str, path: Sequence[str], value: Any, *, after: str) -> str:
    """The text with a member more in a mapping, behind one that is there.

    Raises:
        TextError: the text cannot be parsed.
        KeyError: there is no such member to put it behind.
    """
    mapping = parse_yaml(text).root.find(*path[:-1])
    before = None if mapping is None else mapping.find_member(after)
    if mapping is None or before is None:
        raise KeyError(after)
    written = f"{yaml_text_of(path[-1])}: {yaml_text_of(value)}"
    if text[mapping.start] == "{":
        return spliced(text, (before.node.end, before.node.end, f", {written}"))
    newline = "\r\n" if "\r\n" in text else "\n"
    at = _line_end(text, _end_of(before))
    return spliced(text, (at, at, f"{newline}{_indent_at(text, before.start)}{written}"))


def remove_block(text: str, path: Sequence[str]) -> str:
    """The text without the member at a path, all of them where the name stands there several times.

    Raises:
        TextError: the text cannot be parsed.
        KeyError: there is no such member.
        ValueError: it shares its line with others.
    """
    parent = parse_yaml(text).root.find(*path[:-1])
    member = None if parent is None else parent.find_member(path[-1])
    if parent is None or member is None:
        raise KeyError(path[-1])
    text = _removed(text, parent, member)
    try:
        return remove_block(text, path)
    except KeyError:
        return text


def _removed(text: str, parent: Node, member: Member) -> str:
    if text[parent.start] == "{":
        place = parent.members.index(member)
        if place:
            return spliced(text, (parent.members[place - 1].node.end, member.node.end, ""))
        behind = re.compile(r"\s*,\s*").match(text, member.node.end)
        return spliced(text, (member.start, member.node.end if behind is None else behind.end(), ""))
    start = text.rfind("\n", 0, member.start) + 1
    if text[start : member.start].strip(" \ufeff"):
        raise ValueError(f"{member.key!r} shares its line with others")
    if len(parent.members) == 1:
        # A key without a value is null; an empty mapping has to be written.
        return spliced(text, (member.start, _end_of(member), "{}"))
    end = text.find("\n", _end_of(member)) + 1
    if not end:  # the text ends without a line end: the one before goes instead
        start, end = len(text[:start].rstrip("\r\n")), len(text)
    return spliced(text, (start, end, ""))


def _indent_at(text: str, offset: int) -> str:
    """Spaces up to the column of an offset."""
    return " " * (offset - text.rfind("\n", 0, offset) - 1)


def _line_end(text: str, offset: int) -> int:
    """Where the line of an offset ends, before its line end."""
    end = text.find("\n", offset)
    if end < 0:
        return len(text.rstrip("\r\n"))
    return end - 1 if text[end - 1] == "\r" else end
