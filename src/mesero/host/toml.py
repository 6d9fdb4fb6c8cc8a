"""TOML with the place of every value, and changes of one table in it. Pure.

`tomllib` says what a text means and whether it is TOML; it gives no places. So the text is walked through
once more, statement by statement, in the knowledge that it is valid. A change adds or takes out whole lines.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mesero.host.nodes import Document, Member, Node, Place, Remark, TextError, spliced

__all__ = ["add_table", "insert_key", "parse_toml", "remove_table", "toml_text_of"]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)+")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*'")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}|\'\'\'(?:[^\']|\'(?!\'\'))*\'{3,5}|"(?:[^"\\]|\\.)*"|\'[^\']*\'',
    re.DOTALL,
)
_ATOM = re.compile(r"\d{4}-\d\d-\d\d \d\d[^\s,\]}#]*|[^\s,\]}#]+")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_UNSAFE = re.compile("[\x7f]")


@dataclass(slots=True)
class _Table:
    """A table that is still being filled; several headers and dotted keys may add to it."""

    start: int
    end: int
    members: dict[str, tuple[int, int, _Table | list[_Table] | Node]] = field(default_factory=dict)


class _Statement(NamedTuple):
    """One header or one assignment: the full path that it is about, and its lines."""

    path: tuple[str, ...]
    start: int
    end: int
    is_header: bool


def parse_toml(text: str) -> Document:
    """The document of a text.

    Raises:
        TextError: it is no TOML.
    """
    try:
        values = tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _text_error(text, error) from None
    walk = _Walk(text)
    list(walk.statements())
    remarks = (Remark("bom", 0),) if text.startswith("\ufeff") else ()
    return Document(text, _frozen(walk.root, values), remarks)


_IN_SINGLE: Final = "Write the text in single quotes, where a backslash is itself: 'C:\\…'"
_FIXES: Final = (
    ("hex value", _IN_SINGLE),
    ("unescaped '\\'", _IN_SINGLE),
    ("invalid value", 'Write text in quotes: "…"'),
    ("illegal character '\\n'", 'Write the missing " at the end of the line before'),
    ("unclosed array", "Write a comma between its items, and ] behind the last one"),
    ("expected ']'", "Write the missing ]"),
    ("expected '='", "Write = behind the name"),
)
"""What to do, by what the library says; the first that is in it."""


def _text_error(text: str, error: Exception) -> TextError:
    if isinstance(error, RecursionError):
        return TextError("too many levels of nesting", Place(1, 1), "Write it flatter")
    # The library gives the place in words, or says that it is the end of the document.
    what, _, where = str(error).rpartition(" (at ")
    lines = text.split("\n")
    line, column = re.findall(r"\d+", where) or (len(lines), len(lines[-1]) + 1)
    place = Place(int(line), int(column))
    twice = re.match(r"Cannot declare \((.*?),?\) twice", what)
    if twice is not None:
        header = ".".join(re.findall(r"['\"]([^'\"]*)['\"]", twice[1]))
        return TextError(
            f"[{header}] is declared a second time", place, "Leave one of the two out, or rename it"
        )
    if text.lstrip().startswith("{"):
        return TextError(
            "the file is JSON, not TOML", place, 'Write [mcp_servers.NAME], and below it command = "…"'
        )
    what = what[:1].lower() + what[1:]
    fix = next((fix for sign, fix in _FIXES if sign in what), "Correct it there")
    return TextError(what, place, fix)


def _frozen(table: _Table, values: Mapping[str, Any]) -> Node:
    members = []
    for key, (start, end, inner) in table.members.items():
        if isinstance(inner, _Table):
            node = _frozen(inner, values[key])
        elif isinstance(inner, list):
            items = tuple(_frozen(item, value) for item, value in zip(inner, values[key], strict=True))
            node = Node(values[key], inner[0].start, inner[-1].end, items=items)
        else:
            node = inner
        members.append(Member(key, start, end, node))
    return Node(dict(values), table.start, table.end, tuple(members))


class _Walk:
    """One walk through a valid text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.root = _Table(0, len(text))

    def statements(self) -> Iterator[_Statement]:
        current = self.root
        prefix: tuple[str, ...] = ()
        while True:
            self.skip(_BLANK)
            if self.at >= len(self.text):
                return
            start = self.at
            if self.text[start] == "[":
                path = self.header()
                current, prefix = self.open(path, start), tuple(key for key, _, _ in path.keys)
                yield _Statement(prefix, start, self.at, is_header=True)
            else:
                keys = self.assignment(current)
                yield _Statement(prefix + keys, start, self.at, is_header=False)
            current.end = self.at

    def skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()

    def keys(self) -> list[tuple[str, int, int]]:
        found = []
        while True:
            self.skip(_SPACE)
            match = _KEY.match(self.text, self.at)
            assert match is not None  # noqa: S101 - tomllib has accepted the text
            found.append((_key_of(match[0]), match.start(), match.end()))
            self.at = match.end()
            self.skip(_SPACE)
            if self.text[self.at] != ".":
                return found
            self.at += 1

    def header(self) -> _Header:
        is_list = self.text.startswith("[[", self.at)
        self.at += 2 if is_list else 1
        keys = self.keys()
        self.at += 2 if is_list else 1
        return _Header(keys, is_list)

    def open(self, header: _Header, start: int) -> _Table:
        *outer, (last, key_start, key_end) = header.keys
        table = self.descend(self.root, outer)
        if header.is_list:
            _, _, listed = table.members.setdefault(last, (key_start, key_end, []))
            assert isinstance(listed, list)  # noqa: S101 - tomllib has accepted the text
            listed.append(_Table(start, self.at))
            return listed[-1]
        return self.descend(table, header.keys[-1:], start)

    def descend(
        self, table: _Table, keys: Sequence[tuple[str, int, int]], start: int | None = None
    ) -> _Table:
        for key, key_start, key_end in keys:
            made = _Table(key_start if start is None else start, self.at)
            _, _, inner = table.members.setdefault(key, (key_start, key_end, made))
            if isinstance(inner, list):
                inner = inner[-1]
            assert isinstance(inner, _Table)  # noqa: S101 - tomllib has accepted the text
            table = inner
        return table

    def assignment(self, table: _Table) -> tuple[str, ...]:
        keys = self.keys()
        self.at += 1
        self.skip(_SPACE)
        *outer, (last, start, end) = keys
        owner = self.descend(table, outer)
        owner.members[last] = (start, end, self.value())
        owner.end = self.at
        return tuple(key for key, _, _ in keys)

    def value(self) -> Node | _Table:
        start, mark = self.at, self.text[self.at]
        if mark == "[":
            return self.array(start)
        if mark == "{":
            return self.inline(start)
        match = _STRING.match(self.text, start) or _ATOM.match(self.text, start)
        assert match is not None  # noqa: S101 - tomllib has accepted the text
        self.at = match.end()
        value = tomllib.loads(f"x = {match[0]}")["x"]
        return Node(value, start, self.at)

    def array(self, start: int) -> Node:
        items: list[Node] = []
        self.at += 1
        while True:
            self.skip(_BLANK)
            if self.text[self.at] == "]":
                self.at += 1
                return Node([item.value for item in items], start, self.at, items=tuple(items))
            inner = self.value()
            items.append(_frozen(inner, _values_of(inner)) if isinstance(inner, _Table) else inner)
            self.skip(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1

    def inline(self, start: int) -> _Table:
        table = _Table(start, start)
        self.at += 1
        while True:
            self.skip(_BLANK)
            if self.text[self.at] in ",}":
                self.at += 1
                if self.text[self.at - 1] == "}":
                    table.end = self.at
                    return table
            else:
                self.assignment(table)


class _Header(NamedTuple):
    keys: list[tuple[str, int, int]]
    is_list: bool


def _values_of(table: _Table) -> dict[str, Any]:
    """The data of an inline table, which holds no lists of tables of its own."""
    return {
        key: _values_of(inner) if isinstance(inner, _Table) else inner.value
        for key, (_, _, inner) in table.members.items()
        if not isinstance(inner, list)
    }


def _key_of(text: str) -> str:
    if text[0] == "'":
        return text[1:-1]
    if text[0] == '"':
        return str(next(iter(tomllib.loads(f"{text} = 0"))))
    return text


# -- writing -------------------------------------------------------------------------------------------------


def toml_text_of(value: Any) -> str:
    """A value on one line: text, numbers, booleans, lists, and objects as inline tables.

    Raises:
        ValueError: there is no such value in TOML.
    """
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key_text(key)} = {toml_text_of(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_text_of, value))}]"
    if value is None:
        raise ValueError("TOML has no null")
    return _UNSAFE.sub("\\\\u007f", json.dumps(value, ensure_ascii=False))


def _key_text(key: str) -> str:
    return key if _BARE.fullmatch(key) else toml_text_of(key)


def add_table(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The text with a table more: behind its sisters, or at the end.

    Raises:
        TextError: the text cannot be parsed.
        ValueError: there is such a table already, or its sisters are not written as tables.
    """
    root = parse_toml(text).root
    if root.find(*path) is not None:
        raise ValueError(f"{path[-1]!r} is there already")
    parent = root.find(*path[:-1])
    if parent is not None and text[parent.start : parent.start + 1] == "{":
        raise ValueError(f"{'.'.join(path[:-1])} is written in braces, on one line")
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(map(_key_text, path))}]"]
    lines += [f"{_key_text(key)} = {toml_text_of(value)}" for key, value in values.items()]
    blocks = _statements_of(text)
    sisters = [index for index, one in enumerate(blocks) if _is_below(one, path[:-1])]
    block = newline.join(lines)
    if not sisters or sisters[-1] == len(blocks) - 1 or not blocks[sisters[-1] + 1].is_header:
        kept = text.rstrip("\r\n")
        return f"{kept}{newline * 2 if kept else ''}{block}{text[len(kept) :] or newline}"
    at = _line_end(text, blocks[sisters[-1]].end)
    return spliced(text, (at, at, f"{newline * 2}{block}"))


def insert_key(text: str, path: Sequence[str], value: Any, *, after: str) -> str:
    """The text with a key more in a table, behind one that is there.

    Raises:
        TextError: the text cannot be parsed.
        KeyError: there is no such key to put it behind.
    """
    table = parse_toml(text).root.find(*path[:-1])
    before = None if table is None else table.find_member(after)
    if table is None or before is None:
        raise KeyError(after)
    written = f"{_key_text(path[-1])} = {toml_text_of(value)}"
    if text[table.start] == "{":
        return spliced(text, (before.node.end, before.node.end, f", {written}"))
    newline = "\r\n" if "\r\n" in text else "\n"
    line_start = text.rfind("\n", 0, before.start) + 1
    # What stands before the key is its indentation, and the beginning of a dotted key.
    lead = text[line_start : before.start]
    at = _line_end(text, before.node.end)
    return spliced(text, (at, at, f"{newline}{lead}{written}"))


def remove_table(text: str, path: Sequence[str]) -> str:
    """The text without a table or key and all that is below it, and without the blank line before it.

    Raises:
        TextError: the text cannot be parsed.
        KeyError: there is none.
        ValueError: it is part of what is written in braces, on one line.
    """
    root = parse_toml(text).root
    node = root.find(*path)
    if node is None:
        raise KeyError(path[-1])
    doomed = [one for one in _statements_of(text) if _is_below(one, path)]
    if not doomed:
        return _without_inline(text, root, path)
    for one in reversed(doomed):
        start = text.rfind("\n", 0, one.start) + 1
        end = _line_end(text, one.end)
        end += 2 if text.startswith("\r\n", end) else 1
        if one.is_header and re.search(r"(?:^|\n)\r?\n$", text[:start]):
            start -= 2 if text[:start].endswith("\r\n") else 1
        text = text[:start] + text[min(end, len(text)) :]
    return text


def _without_inline(text: str, root: Node, path: Sequence[str]) -> str:
    parent = root.find(*path[:-1])
    assert parent is not None  # noqa: S101 - what is in it was found
    member = parent.find_member(path[-1])
    assert member is not None  # noqa: S101 - it was found
    end = member.node.end
    before = text[: member.start].rstrip(" \t\r\n")
    if before.endswith(","):
        return spliced(text, (len(before) - 1, end, ""))
    behind = re.compile(r"[ \t]*,[ \t]*").match(text, end)
    return spliced(text, (member.start, end if behind is None else behind.end(), ""))


def _statements_of(text: str) -> list[_Statement]:
    return list(_Walk(text).statements())


def _is_below(statement: _Statement, path: Sequence[str]) -> bool:
    return statement.path[: len(path)] == tuple(path)


def _line_end(text: str, offset: int) -> int:
    """Where the line of an offset ends, before its line end."""
    end = text.find("\n", offset)
    if end < 0:
        return len(text)
    return end - 1 if text[end - 1] == "\r" else end
