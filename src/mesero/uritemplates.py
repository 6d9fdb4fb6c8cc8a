"""RFC 6570 URI templates: which values does this URI carry, and which URI do these values make.

Matching (levels 1 to 3) is ours; expansion (all levels) is the library ``uritemplate``, imported late. Pure.

A template becomes a row of parts (`_Literal`, `_Variable`, `_Parameter`, `_Query`). Walking the row backwards
marks, for each part, the positions from which the rest matches; walking it forwards then takes the longest
value that leaves the rest matching. Both walks touch each character once for each part: nothing backtracks,
so no URI is slow to match.

https://www.rfc-editor.org/rfc/rfc6570
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

from mesero.errors import UsageError

__all__ = ["MAX_URI_CHARS", "UriTemplate", "expand_template", "is_template"]

MAX_URI_CHARS = 65_536
"""A longer URI matches no template: comparing takes time in proportion to the length."""

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_VARIABLE_NAME = re.compile(r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*")
_MODIFIER = re.compile(r"\*|:[1-9][0-9]{0,3}")
_TRIPLET = re.compile(r"%[0-9A-Fa-f]{2}")
_PATH_STOPS = "/?#"
_FIRST_AND_SEPARATOR = {"": ("", ","), "+": ("", ","), "#": ("#", ","), ".": (".", "."), "/": ("/", "/")}


@dataclass(frozen=True, slots=True)
class _Literal:
    text: str

    def mark(self, uri: str, rest: bytearray) -> bytearray:
        marks = bytearray(len(rest))
        at = uri.find(self.text)
        while at >= 0:
            marks[at] = rest[at + len(self.text)]
            at = uri.find(self.text, at + 1)
        return marks

    def take(self, uri: str, at: int, rest: bytearray) -> tuple[int, dict[str, str]]:
        return at + len(self.text), {}


@dataclass(frozen=True, slots=True)
class _Variable:
    """At least one character, none of them in ``stops``."""

    name: str
    stops: str

    def mark(self, uri: str, rest: bytearray) -> bytearray:
        marks = bytearray(len(rest))
        for at in range(len(uri) - 1, -1, -1):
            marks[at] = uri[at] not in self.stops and (rest[at + 1] or marks[at + 1])
        return marks

    def take(self, uri: str, at: int, rest: bytearray) -> tuple[int, dict[str, str]]:
        end = rest.rfind(1, at + 1, _run_end(uri, at, self.stops) + 1)
        return end, {self.name: uri[at:end]}


@dataclass(frozen=True, slots=True)
class _Parameter:
    """What follows ``;name``: nothing, or ``=`` and a value, which may be empty."""

    name: str
    stops: str

    def mark(self, uri: str, rest: bytearray) -> bytearray:
        marks = bytearray(len(rest))
        runs = bytearray(len(rest))
        for at in range(len(uri), -1, -1):
            may_go_on = at < len(uri) and uri[at] not in self.stops
            runs[at] = rest[at] or (may_go_on and runs[at + 1])
            marks[at] = rest[at] or (at < len(uri) and uri[at] == "=" and runs[at + 1])
        return marks

    def take(self, uri: str, at: int, rest: bytearray) -> tuple[int, dict[str, str]]:
        if not uri.startswith("=", at):
            return at, {self.name: ""}
        end = rest.rfind(1, at, _run_end(uri, at, self.stops) + 1)
        return end, {self.name: uri[at + 1 : end]}


@dataclass(frozen=True, slots=True)
class _Query:
    """``?x=1&y=2`` or ``&x=1&y=2`` up to the fragment: in any order, each at most once, or nothing at all."""

    names: tuple[str, ...]
    first: str

    def mark(self, uri: str, rest: bytearray) -> bytearray:
        marks = bytearray(rest)
        end = _run_end(uri, 0, "#")
        if rest[end]:
            at = uri.find(self.first, 0, end)
            while at >= 0:
                marks[at] = 1
                at = uri.find(self.first, at + 1, end)
        return marks

    def take(self, uri: str, at: int, rest: bytearray) -> tuple[int, dict[str, str]] | None:
        if not uri.startswith(self.first, at):
            return at, {}
        end = _run_end(uri, at, "#")
        values: dict[str, str] = {}
        for pair in uri[at + 1 : end].split("&"):
            name, _, value = pair.partition("=")
            if name not in self.names or name in values:
                return None
            values[name] = value
        return end, values


_Part = _Literal | _Variable | _Parameter | _Query


def _run_end(uri: str, at: int, stops: str) -> int:
    """Where the run of characters that are not in ``stops`` ends."""
    ends = [found for stop in stops if (found := uri.find(stop, at)) >= 0]
    return min(ends, default=len(uri))


class UriTemplate:
    """One URI template of level 1 to 3, as MCP's resource templates use it.

    Args:
        text: The template, for example ``notes://{id}`` or ``search://{+path}{?q,limit}``.

    Raises:
        UsageError: The text is no template, or one whose matching would be a guess: a modifier of level 4
            (``*``, ``:3``), two variables with nothing between them, a query before more than a fragment.

    What matches: ``{x}`` anything but ``/``, ``?`` and ``#``; ``{+x}`` and ``{#x}`` those too; never nothing.
    Query variables (``{?x}``, ``{&x}``) may be absent and come in any order; a query variable that the
    template does not name makes it another URI. Where several readings are possible, the earlier
    variable gets the longer value.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
    """

    __slots__ = ("_parts", "names", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = _parse_template(text)
        names: list[str] = []
        for part in self._parts:
            if isinstance(part, _Query):
                names.extend(part.names)
            elif not isinstance(part, _Literal):
                names.append(part.name)
        self.names: tuple[str, ...] = tuple(dict.fromkeys(names))
        """The names of the variables, in the order of the template, each once."""

    def __repr__(self) -> str:
        return f"UriTemplate({self.text!r})"

    def match(self, uri: str) -> dict[str, str] | None:
        """The value of each variable, percent-decoded; None when the URI is not one of this template.

        A variable of the query that the URI does not have is absent from the answer.
        """
        if len(uri) > MAX_URI_CHARS:
            return None
        found = self._find_values(uri)
        if found is None:
            return None
        try:
            return {name: unquote(value, errors="strict") for name, value in found.items()}
        except UnicodeDecodeError:  # %FF and the like: no text, so no value that a template can have
            return None

    def _find_values(self, uri: str) -> dict[str, str] | None:
        splits = {at + step for hit in _TRIPLET.finditer(uri) for at in (hit.start(),) for step in (1, 2)}
        rests = [bytearray(len(uri)) + b"\x01"]
        for part in reversed(self._parts):
            marks = part.mark(uri, rests[-1])
            if not isinstance(part, _Variable):
                for split in splits:  # a value never ends inside %2F
                    marks[split] = 0
            rests.append(marks)
        if not rests.pop()[0]:
            return None
        at = 0
        values: dict[str, str] = {}
        for part in self._parts:
            taken = part.take(uri, at, rests.pop())
            if taken is None:
                return None
            at, more = taken
            if any(values.get(name, value) != value for name, value in more.items()):
                return None  # the same variable twice, with two values
            values.update(more)
        return values

    def expand(self, /, **values: Any) -> str:
        """The URI that these values make. What has no value, or None, is left out (section 3.2.1).

        Raises:
            UsageError: A name that the template does not have.
        """
        unknown = [name for name in values if name not in self.names]
        if unknown:
            raise UsageError(
                f"the template {self.text!r} has no variable {', '.join(map(repr, unknown))}",
                fix=f"It has: {', '.join(self.names) or 'none'}.",
            )
        return expand_template(self.text, values)


def is_template(text: str) -> bool:
    """Whether the text has an expression in braces, so that it stands for many URIs and not for one."""
    return "{" in text or "}" in text


def expand_template(text: str, values: dict[str, Any]) -> str:
    """Expand any RFC 6570 template, level 4 included: what a client needs for the templates of others."""
    import uritemplate

    return uritemplate.expand(text, values)


def _parse_template(text: str) -> tuple[_Part, ...]:
    tokens = _split_template(text)
    literals = "".join(names[0] for operator, names in tokens if operator == "literal")
    has_fragment = "#" in literals or any(operator == "#" for operator, _ in tokens)
    query_first = next((operator for operator, _ in tokens if operator in {"?", "&"}), "")
    later_stops = query_first + ("#" if has_fragment else "")
    parts: list[_Part] = []
    for operator, names in tokens:
        if operator == "literal":
            parts.append(_Literal(names[0]))
        elif operator in {"?", "&"}:
            _add_query(parts, operator, names, text)
        elif operator == ";":
            for name in names:
                parts += [_Literal(f";{name}"), _Parameter(name, _PATH_STOPS + ";" + later_stops)]
        else:
            parts += _variables(operator, names, later_stops)
    _check_parts(parts, text)
    return tuple(parts)


def _split_template(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Pairs of an operator and its names; a literal is a pair of ``literal`` and its text."""
    tokens: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    for hit in _EXPRESSION.finditer(text):
        tokens.append(("literal", (text[at : hit.start()],)))
        tokens.append(_parse_expression(hit[1], text))
        at = hit.end()
    tokens.append(("literal", (text[at:],)))
    for operator, names in tokens:
        if operator == "literal" and is_template(names[0]):
            raise UsageError(f"{text!r} is no URI template: a brace has no partner")
    return [token for token in tokens if token != ("literal", ("",))]


def _parse_expression(inside: str, text: str) -> tuple[str, tuple[str, ...]]:
    operator = inside[0] if inside and inside[0] in "+#./;?&" else ""
    names = tuple(inside[len(operator) :].split(","))
    for name in names:
        hit = _VARIABLE_NAME.match(name)
        plain = hit[0] if hit else ""
        modifier = name[len(plain) :]
        if plain and _MODIFIER.fullmatch(modifier):
            raise UsageError(
                f"{{{inside}}} in {text!r} uses the modifier {modifier!r} of RFC 6570 level 4, "
                "which is not supported for matching",
                fix=f"Use {{{operator}{plain}}}, or {{+{plain}}} for a value with slashes.",
            )
        if modifier or not plain:
            raise UsageError(
                f"{{{inside}}} in {text!r} is no expression of RFC 6570: {name!r} is no name of a variable"
            )
    return operator, names


def _variables(operator: str, names: tuple[str, ...], later_stops: str) -> list[_Part]:
    first, separator = _FIRST_AND_SEPARATOR[operator]
    if operator == "+":
        stops = later_stops
    elif operator == "#":
        stops = ""
    else:
        # Commas tell the values of one expression apart; inside a value they are encoded (section 3.2.2).
        stops = _PATH_STOPS + later_stops + ("," if operator == "" and len(names) > 1 else "")
    parts: list[_Part] = []
    for index, name in enumerate(names):
        mark = separator if index else first
        parts += [_Literal(mark)] if mark else []
        parts.append(_Variable(name, stops))
    return parts


def _add_query(parts: list[_Part], operator: str, names: tuple[str, ...], text: str) -> None:
    """``{?x}{&y}`` is one query: its variables come in any order, so they are one part."""
    last = parts[-1] if parts else None
    if not isinstance(last, _Query):
        parts.append(_Query(names, operator))
    elif operator == "&":
        parts[-1] = _Query(last.names + names, last.first)
    else:
        raise UsageError(f"{text!r} has two queries", fix="Continue the first one with {&…}.")


def _check_parts(parts: list[_Part], text: str) -> None:
    for part, following in pairwise(parts):
        if isinstance(part, _Variable | _Parameter) and isinstance(following, _Variable):
            raise UsageError(
                f"nothing stands between {{{part.name}}} and {{{following.name}}} in {text!r}, "
                "so a URI does not say where one value ends",
                fix="Put a literal between them, or use one variable.",
            )
        is_fragment = isinstance(following, _Literal) and following.text.startswith("#")
        if isinstance(part, _Query) and not is_fragment:
            raise UsageError(
                f"something other than a fragment follows the query of {text!r}, which cannot be matched"
            )
