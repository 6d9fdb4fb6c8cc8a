"""HTTP headers that mirror the body: encoding of values, `x-mcp-header` marks, agreement with the body. Pure.

Client and server share it, so that what one sends is what the other expects.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mesero.errors import HeaderMismatchError, UsageError

__all__ = [
    "MARK",
    "METHOD_HEADER",
    "NAME_HEADER",
    "PARAM_PREFIX",
    "VERSION_HEADER",
    "HeaderMark",
    "argument_at",
    "check_param_headers",
    "decode_header_value",
    "encode_header_value",
    "marks_of",
    "param_headers",
]

VERSION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"
PARAM_PREFIX = "mcp-param-"
MARK = "x-mcp-header"

_SAFE_INTEGER = 2**53 - 1
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLAIN = re.compile(r"[\x20-\x7e]*")
_SENTINEL_START = "=?base64?"
_SENTINEL_END = "?="
# Bounded far above any safe integer, which keeps int() cheap.
_INTEGER = re.compile(r"(-?[0-9]{1,40})(?:\.0{1,40})?")


class HeaderMark(NamedTuple):
    """A mirrored parameter: the header's name part, the path of ``properties`` keys, the JSON type."""

    header: str
    path: tuple[str, ...]
    kind: str


def encode_header_value(text: str) -> str:
    """The header form of a string: itself, or Base64 of its UTF-8 between markers where that is not safe.

    Raises:
        UsageError: half a surrogate pair, which has no UTF-8.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
    """
    looks_encoded = text.startswith(_SENTINEL_START) and text.endswith(_SENTINEL_END)
    if _PLAIN.fullmatch(text) and text == text.strip(" ") and not looks_encoded:
        return text
    try:
        coded = base64.b64encode(text.encode()).decode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{text!r} has half a surrogate pair in it, which no header and no JSON can hold"
        ) from None
    return f"{_SENTINEL_START}{coded}{_SENTINEL_END}"


def decode_header_value(value: str) -> str:
    """The string behind a header value.

    Raises:
        ValueError: characters that no header value may have, or markers around what is no Base64 of UTF-8.
    """
    value = value.strip(" \t")
    if not value.startswith(_SENTINEL_START) or not value.endswith(_SENTINEL_END):
        if not _PLAIN.fullmatch(value.replace("\t", " ")):
            raise ValueError("it has characters that a header value may not have")
        return value
    coded = value[len(_SENTINEL_START) : -len(_SENTINEL_END)]
    try:
        return base64.b64decode(coded, validate=True).decode()
    except ValueError as error:
        raise ValueError(f"it is marked as Base64 but is not: {error}") from None


def marks_of(input_schema: Mapping[str, Any]) -> tuple[HeaderMark, ...]:
    """The `x-mcp-header` marks of a tool's input schema, in the order in which they are written.

    Raises:
        UsageError: a mark breaks a rule; the text says which, and where.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#schema-extension
    """
    marks: list[HeaderMark] = []
    todo: list[_Place] = [_Place(input_schema, (), is_reachable=True)]
    while todo:
        place = todo.pop()
        if isinstance(place.schema, Mapping) and MARK in place.schema:
            marks.append(_mark_from(place))
        todo.extend(reversed([*_places_in(place)]))
    _check_unique(marks)
    return tuple(marks)


class _Place(NamedTuple):
    """A schema within a schema. ``is_reachable`` when only ``properties`` keys lead there."""

    schema: Any
    path: tuple[str, ...]
    is_reachable: bool


def _places_in(place: _Place) -> Iterator[_Place]:
    schema, path, is_reachable = place
    if isinstance(schema, list):
        yield from (_Place(item, path, is_reachable=False) for item in schema)
    if not isinstance(schema, Mapping):
        return
    for keyword, value in schema.items():
        if keyword in _SUBSCHEMA_MAPS and isinstance(value, Mapping):
            may_go_on = is_reachable and keyword == "properties"
            yield from (_Place(inner, (*path, name), may_go_on) for name, inner in value.items())
        elif keyword in _SUBSCHEMAS:
            yield _Place(value, path, is_reachable=False)


# Where JSON Schema holds schemas. What else looks like a mark (in a default, an example) is data.
_SUBSCHEMA_MAPS = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
_SUBSCHEMAS = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "oneOf",
        "prefixItems",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)


def _mark_from(place_in_schema: _Place) -> HeaderMark:
    schema, path, is_reachable = place_in_schema
    header = schema[MARK]
    place = ".".join(path) or "the schema itself"
    if not isinstance(header, str) or not header:
        raise UsageError(f"{MARK} at {place} must be a non-empty string")
    if not _TOKEN.fullmatch(header):
        raise UsageError(f"{MARK} {header!r} at {place} has characters that a header name may not have")
    if not is_reachable or not path:
        raise UsageError(f"{MARK} {header!r} at {place} is not reachable through 'properties' alone")
    kind = schema.get("type")
    if kind not in ("string", "integer", "boolean"):
        raise UsageError(
            f"{MARK} {header!r} at {place} is on type {kind!r}; only string, integer, boolean may have it"
        )
    return HeaderMark(header, path, kind)


def _check_unique(marks: Iterable[HeaderMark]) -> None:
    seen: set[str] = set()
    for mark in marks:
        if mark.header.lower() in seen:
            raise UsageError(f"{MARK} {mark.header!r} occurs twice; header names ignore case")
        seen.add(mark.header.lower())


def argument_at(arguments: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of members, or None when there is none (null counts as none)."""
    for name in path:
        if not isinstance(arguments, Mapping):
            return None
        arguments = arguments.get(name)
    return arguments


def _text_of(value: Any) -> str | None:
    """The string form of a mirrored value; None for what cannot be mirrored."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 42.0 is an integer in JSON Schema.
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else None


def param_headers(marks: Iterable[HeaderMark], arguments: Any) -> list[tuple[str, str]]:
    """The `Mcp-Param-*` headers for a call. Absent and null values have none.

    Raises:
        UsageError: an integer outside of what JavaScript can hold exactly.
    """
    headers: list[tuple[str, str]] = []
    for mark in marks:
        value = argument_at(arguments, mark.path)
        if value is None:
            continue
        if isinstance(value, (int, float)) and abs(value) > _SAFE_INTEGER:
            raise UsageError(
                f"{'.'.join(mark.path)} is mirrored in a header, so it must lie within ±(2**53 - 1)"
            )
        text = _text_of(value)
        if text is not None:
            headers.append((f"Mcp-Param-{mark.header}", encode_header_value(text)))
    return headers


def check_param_headers(marks: Iterable[HeaderMark], arguments: Any, headers: Mapping[str, str]) -> None:
    """Compare the `Mcp-Param-*` headers that a tool declares with the body.

    Args:
        marks: The tool's marks.
        arguments: The call's arguments, decoded.
        headers: Header values by lower-case name.

    Raises:
        HeaderMismatchError: missing, unexpected, malformed or different (-32020).

    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-behavior-for-custom-headers
    """
    for mark in marks:
        name = f"Mcp-Param-{mark.header}"
        sent = headers.get(name.lower())
        expected = _text_of(argument_at(arguments, mark.path))
        if sent is None:
            if expected is not None:
                raise HeaderMismatchError(
                    f"Header mismatch: {name} is missing, but the body has {expected!r}"
                )
            continue
        try:
            text = decode_header_value(sent)
        except ValueError as error:
            raise HeaderMismatchError(f"Header mismatch: {name} cannot be read: {error}") from None
        if expected is None:
            raise HeaderMismatchError(f"Header mismatch: {name} is {text!r}, but the body has no such value")
        if text != expected and not (mark.kind == "integer" and _is_same_integer(text, expected)):
            raise HeaderMismatchError(f"Header mismatch: {name} is {text!r}, but the body has {expected!r}")


def _is_same_integer(text: str, expected: str) -> bool:
    """Compared numerically: "42.0" is 42.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
    """
    header, body = _INTEGER.fullmatch(text), _INTEGER.fullmatch(expected)
    return header is not None and body is not None and int(header[1]) == int(body[1])
