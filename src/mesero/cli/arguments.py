"""Arguments as people type them: one JSON object, or ``key=value`` words read by a schema. Pure.

``key=value`` is coerced by the schema, ``key:=json`` is JSON as it stands, ``key=@file`` the text of a file.
A key that is repeated collects a list where the schema wants one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from mesero.errors import UsageError

__all__ = [
    "Word",
    "build_arguments",
    "coerce",
    "missing_names",
    "parse_json",
    "parse_object",
    "parse_words",
    "resolve",
]

_TRUE = frozenset({"true", "yes", "y", "on", "1"})
_FALSE = frozenset({"false", "no", "n", "off", "0"})
_MAX_REFS = 32


class Word(NamedTuple):
    """One ``key=value``: ``is_json`` when it was written ``key:=json``."""

    key: str
    text: str
    is_json: bool


def parse_json(text: str, what: str) -> Any:
    """A JSON value.

    Raises:
        UsageError: it is none.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise UsageError(f"{what} is not JSON: {error}") from None


def parse_object(text: str, what: str) -> dict[str, Any]:
    """A JSON object.

    Raises:
        UsageError: it is none.
    """
    value = parse_json(text, what)
    if not isinstance(value, dict):
        raise UsageError(f"{what} is JSON, but no object")
    return value


def parse_words(words: Iterable[str], read_file: Callable[[str], str]) -> list[Word]:
    """The ``key=value`` words.

    Args:
        words: As they were typed.
        read_file: Gives the text of the file behind ``key=@file``.

    Raises:
        UsageError: a word without ``=``.
    """
    parsed = []
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key.removesuffix(":"):
            raise UsageError(
                f"{word!r} is no argument", fix="Write key=value, key:=json, key=@file, or one JSON object"
            )
        if key.endswith(":"):
            parsed.append(Word(key[:-1], text, is_json=True))
        else:
            parsed.append(Word(key, read_file(text[1:]) if text.startswith("@") else text, is_json=False))
    return parsed


def build_arguments(words: Iterable[Word], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, each of the type that the schema gives its property.

    Raises:
        UsageError: a value that its property's type does not allow.
    """
    properties = schema.get("properties")
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    texts: dict[str, list[Word]] = {}
    for word in words:
        texts.setdefault(word.key, []).append(word)
    arguments = {}
    for key, given in texts.items():
        values = [_value_of(word, known.get(key), schema) for word in given]
        if len(values) == 1:
            arguments[key] = values[0]
            continue
        if known.get(key) is not None and "array" not in _types_of(resolve(known[key], schema)):
            raise UsageError(f"{key!r} is given {len(values)} times, and takes one value")
        arguments[key] = [
            item for value in values for item in (value if isinstance(value, list) else [value])
        ]
    return arguments


def _value_of(word: Word, schema: Any, root: Mapping[str, Any]) -> Any:
    if word.is_json:
        return parse_json(word.text, f"the value of {word.key!r}")
    try:
        return coerce(word.text, schema, root)
    except ValueError as error:
        raise UsageError(f"{word.key!r}: {error}") from None


def missing_names(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The required properties that have no value yet."""
    required = schema.get("required")
    if not isinstance(required, list):
        return []
    return [name for name in required if isinstance(name, str) and name not in arguments]


def resolve(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A subschema with its local ``$ref`` followed; what cannot be followed allows anything."""
    for _ in range(_MAX_REFS):
        if not isinstance(schema, Mapping):
            return {}
        ref = schema.get("$ref")
        if not isinstance(ref, str):
            return schema
        schema = _find_at(root, ref)
    return {}


def _find_at(root: Any, ref: str) -> Any:
    if not ref.startswith("#/"):
        return None
    for step in ref[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        root = root.get(name) if isinstance(root, Mapping) else None
    return root


def _types_of(schema: Mapping[str, Any]) -> Sequence[str]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return (kind,)
    if isinstance(kind, list):
        return tuple(name for name in kind if isinstance(name, str))
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if choices and all(isinstance(choice, str) for choice in choices):
        return ("string",)
    return ()


def coerce(text: str, schema: Any, root: Mapping[str, Any]) -> Any:
    """The value that a typed text stands for.

    Args:
        text: What was typed.
        schema: The property's schema; anything else is guessed: JSON if it is JSON, else the text.
        root: The whole schema, for local references.

    Raises:
        ValueError: the schema's type cannot be written like that; the text says how.
    """
    found = resolve(schema, root)
    options = found.get("anyOf") or found.get("oneOf")
    kinds = _types_of(found)
    if isinstance(options, list) and not kinds:
        return _first_fitting(
            text, [partial(coerce, text, option, root) for option in _ordered(options, root)]
        )
    if not kinds:
        return _guess(text)
    ordered = sorted(kinds, key=lambda kind: kind == "string")
    return _first_fitting(text, [partial(_coerce_to, kind, text, found, root) for kind in ordered])


def _ordered(options: Sequence[Any], root: Mapping[str, Any]) -> list[Any]:
    """Text last, since everything is a text."""
    return sorted(options, key=lambda option: "string" in _types_of(resolve(option, root)))


def _first_fitting(text: str, readings: Sequence[Callable[[], Any]]) -> Any:
    problem = ValueError(f"{text!r} does not fit")
    for reading in readings:
        try:
            return reading()
        except ValueError as error:
            problem = error
    raise problem


def _guess(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text


def _coerce_to(kind: str, text: str, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    if kind == "string":
        return text
    if kind == "integer":
        return _integer_from(text)
    if kind == "number":
        return _number_from(text)
    if kind == "boolean":
        return _boolean_from(text)
    if kind == "array":
        return _list_from(text, schema, root)
    if kind == "object":
        return _object_from(text)
    if kind == "null" and text in ("null", ""):
        return None
    raise ValueError(f"{text!r} is not {kind}")


def _integer_from(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        number = _number_from(text, "a whole number")
        if isinstance(number, float) and not number.is_integer():
            raise ValueError(f"{text!r} is not a whole number") from None
        return int(number)


def _number_from(text: str, kind: str = "a number") -> int | float:
    try:
        number = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        number = None
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float)
        or number in (float("inf"), -float("inf"))
    ):
        raise ValueError(f"{text!r} is not {kind}")
    return number


def _boolean_from(text: str) -> bool:
    lowered = text.lower()
    if lowered in _TRUE:
        return True
    if lowered in _FALSE:
        return False
    raise ValueError(f"{text!r} is neither true nor false")


def _list_from(text: str, schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Any]:
    if text.lstrip().startswith("["):
        value = _guess(text)
        if isinstance(value, list):
            return value
        raise ValueError(f"{text!r} is no JSON array")
    return [coerce(text, schema.get("items"), root)]


def _object_from(text: str) -> dict[str, Any]:
    value = _guess(text)
    if isinstance(value, dict):
        return value
    raise ValueError(f"{text!r} is no JSON object")
