"""JSON with comments, trailing commas and a byte order mark: parsed with the place of every value. Pure.

What strict JSON refuses and this does not is remarked, so that it can be said who else will refuse it. Errors
say what to write, at the place where it is to be written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from mesero.host.nodes import Document, Member, Node, Remark, TextError, place_of

__all__ = ["MAX_DEPTH", "after_blanks", "parse_jsonc"]

MAX_DEPTH: Final = 128
"""Deeper nesting is refused."""

_BLANK = re.compile(r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_STEP = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[^\\]')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])")
_WORD = re.compile(r"[\w$.+-]+")
_LITERALS: Final = {"true": True, "false": False, "null": None}
_FOREIGN_WORDS: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null"}


def after_blanks(text: str, offset: int) -> int:
    """The offset behind white space and comments."""
    while match := _BLANK.match(text, offset):
        offset = match.end()
    return offset


def parse_jsonc(text: str, *, along: Sequence[str] | None = None) -> Document:
    """The document of a text.

    Args:
        text: The text.
        along: The member names that lead to what is wanted: the insides of all else get no places, which
            saves most of the time where a file holds much besides. None for all.

    Raises:
        TextError: it is no JSON even with comments and trailing commas allowed.
    """
    parser = _Parser(text)
    return Document(text, parser.document(along), tuple(parser.remarks))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


_read_strict = json.JSONDecoder(parse_constant=_refuse).raw_decode


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.remarks: list[Remark] = []

    def document(self, along: Sequence[str] | None) -> Node:
        if self.text.startswith("\ufeff"):
            self.remarks.append(Remark("bom", 0))
            self.at = 1
        self.skip()
        if self.at == len(self.text):
            self.fail("the file is empty", "Write an object: {}")
        root = self.value(0, () if along is None else along)
        self.skip()
        if self.at < len(self.text):
            self.no_end(root)
        return root

    def no_end(self, root: Node) -> NoReturn:
        """There is more behind the value that should be all of it: what was meant?"""
        mark = self.text[self.at]
        if mark == ":" and isinstance(root.value, str):
            self.fail(
                "the braces around the whole file are missing", "Write { at its beginning, and } at its end"
            )
        if mark == "{" and isinstance(root.value, dict):
            self.fail(
                "a second object begins here, and a file is one object",
                "Put the members of both into one { }, with a comma between them",
            )
        if self.text.startswith("```", self.at):
            self.fail("a line of Markdown", "Take the lines with ``` out")
        if mark == ",":
            self.fail(
                "the document is over here, and more follows", "Leave one closing bracket out before it"
            )
        if mark in "}]":
            self.fail("there is } or ] behind the end of the document", "Leave one closing bracket out there")
        self.fail("there is text behind the end of the document", "Take out what is there")

    def fail(self, what: str, fix: str, offset: int | None = None) -> NoReturn:
        raise TextError(what, place_of(self.text, self.at if offset is None else offset), fix)

    def skip(self) -> None:
        while match := _BLANK.match(self.text, self.at):
            if match[0][0] == "/":
                self.remarks.append(Remark("comment", self.at))
            self.at = match.end()
        if self.text.startswith("/*", self.at):
            self.fail("a comment that never ends", "End it with */")

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def value(self, depth: int, along: Sequence[str] | None = ()) -> Node:
        """The value that begins here; ``along`` is None where its insides are of no interest."""
        if depth > MAX_DEPTH:
            self.fail(f"more than {MAX_DEPTH} levels of nesting", "Write it flatter")
        mark = self.peek()
        if along is None and mark in "{[" and (found := self.skimmed()):
            return found
        if mark == "{":
            return self.object(depth, along or ())
        if mark == "[":
            return self.array(depth)
        if mark == '"':
            return self.string()
        start = self.at
        if match := _NUMBER.match(self.text, start):
            self.at = match.end()
            return Node(_number_of(match[0]), start, self.at)
        word = _WORD.match(self.text, start)
        if word is not None and word[0] in _LITERALS:
            self.at = word.end()
            return Node(_LITERALS[word[0]], start, self.at)
        return self.no_value(word[0] if word else mark)

    def skimmed(self) -> Node | None:
        """A value read in one go, if it is strict JSON."""
        start = self.at
        try:
            value, self.at = _read_strict(self.text, start)
        except (ValueError, RecursionError):
            return None
        return Node(value, start, self.at)

    def no_value(self, found: str) -> NoReturn:
        if self.text.startswith("```", self.at):
            self.fail("a line of Markdown", "Take the lines with ``` out")
        if not found:
            self.fail("the text ends where a value should be", "Write the value and what closes it")
        if found in _FOREIGN_WORDS:
            self.fail(f"{found} is no JSON", f"Write {_FOREIGN_WORDS[found]}")
        if found in "'`\u201c\u201d\u2018\u2019":
            self.fail(f"text in {found} quotes", 'Write it in double quotes: "…"')
        if found in ",}]":
            self.fail("a value is missing", f"Write it before the {found}")
        self.fail(f"{_shown(found)} is no value", 'Write text in double quotes: "…"')

    def string(self) -> Node:
        start = self.at
        match = _STRING.match(self.text, start)
        if match is None:
            self.no_string(start)
        self.at = match.end()
        return Node(json.loads(match[0]), start, self.at)

    def no_string(self, start: int) -> NoReturn:
        at = start + 1
        while at < len(self.text) and self.text[at] >= " ":
            step = _STEP.match(self.text, at)
            if step is None:
                self.fail("a backslash that means nothing in JSON", r"Write it twice: \\", at)
            at = step.end()
        if self.text[at : at + 1] == "\t":
            self.fail("a tab inside a text", r"Write it as \t", at)
        self.fail("a text that is not closed on its line", 'Write the missing "', start)

    def object(self, depth: int, along: Sequence[str]) -> Node:
        start = self.at
        members: list[Member] = []
        self.at += 1
        while self.is_next("}", "{", start, is_first=not members):
            key_start = self.at
            if self.peek() != '"':
                self.no_key()
            key = self.string()
            self.skip()
            if self.peek() != ":":
                self.fail(f"no colon behind {_shown(key.value)}", "Write : there", key.end)
            self.at += 1
            self.skip()
            inner = () if not along else along[1:] if key.value == along[0] else None
            members.append(Member(key.value, key_start, key.end, self.value(depth + 1, inner)))
        value = {member.key: member.node.value for member in members}
        return Node(value, start, self.at, tuple(members))

    def no_key(self) -> NoReturn:
        found = self.peek()
        word = _WORD.match(self.text, self.at)
        if word is not None:
            self.fail(f"{_shown(word[0])} is a name without quotes", f'Write "{word[0]}"')
        if found in "'`\u201c\u201d\u2018\u2019":
            self.fail(f"a name in {found} quotes", "Write it in double quotes")
        self.fail(f"{found!r} where a name should be", 'Write "name": value')

    def array(self, depth: int) -> Node:
        start = self.at
        items: list[Node] = []
        self.at += 1
        while self.is_next("]", "[", start, is_first=not items):
            items.append(self.value(depth + 1))
        return Node([item.value for item in items], start, self.at, items=tuple(items))

    def is_next(self, closing: str, opening: str, start: int, *, is_first: bool) -> bool:
        """Whether there is another one; steps over the comma before it, or over the end."""
        last = self.at
        self.skip()
        comma = self.at
        has_comma = not is_first and self.peek() == ","
        if has_comma:
            self.at += 1
            self.skip()
        if self.peek() == closing:
            if has_comma:
                self.remarks.append(Remark("trailing-comma", comma))
            self.at += 1
            return False
        if not self.peek():
            self.fail(f"this {opening} is never closed", f"Write the missing {closing}", start)
        if self.peek() == ",":
            self.fail("a comma too many", "Leave it out")
        if not is_first and not has_comma:
            if self.peek() in "}]:":
                self.fail(
                    f"{self.peek()} where {closing} or a comma should be", f"Write {closing} or a comma"
                )
            self.fail("a comma is missing", "Write it here", last)
        return True


def _number_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return float(text)  # an integer of more digits than the interpreter converts


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")
