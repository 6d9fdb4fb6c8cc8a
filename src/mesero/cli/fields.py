"""One field of a form: how it is shown, and how what was typed becomes a value. Pure.

Both the forms of servers and missing tool arguments are asked for field by field.
https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from mesero.cli.arguments import coerce, resolve
from mesero.errors import UsageError
from mesero.schemas import SchemaCheck
from mesero.types import (
    BooleanSchema,
    EnumNamesSchema,
    NumberSchema,
    StringSchema,
    TitledMultiSelectEnumSchema,
    TitledSingleSelectEnumSchema,
    UntitledMultiSelectEnumSchema,
    UntitledSingleSelectEnumSchema,
    primitive_schema_from,
)

__all__ = ["NO_VALUE", "Choice", "Field", "field_problems", "fields_of", "read_field", "show_field"]

NO_VALUE: Final = object()
"""A field that is left empty."""


class Choice(NamedTuple):
    """A value, and what people read in its place."""

    value: str
    title: str


class Field(NamedTuple):
    """A property of a form's schema.

    ``schema`` is the property's own, ``root`` the form's. ``choices`` are empty for anything but a choice.
    """

    name: str
    schema: Mapping[str, Any]
    root: Mapping[str, Any]
    is_required: bool
    choices: tuple[Choice, ...]
    is_multiple: bool

    @property
    def default(self) -> Any:
        """The value of an empty answer; `NO_VALUE` when the schema has none."""
        return self.schema.get("default", NO_VALUE)


def fields_of(schema: Mapping[str, Any]) -> list[Field]:
    """The fields of a form, in the order in which the schema has them."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return [_field_from(name, one, schema, is_required=name in names) for name, one in properties.items()]


def _field_from(name: str, schema: Any, root: Mapping[str, Any], *, is_required: bool) -> Field:
    found = resolve(schema, root)
    choices, is_multiple = _choices_of(found)
    return Field(name, found, root, is_required, choices, is_multiple)


def _choices_of(schema: Mapping[str, Any]) -> tuple[tuple[Choice, ...], bool]:
    try:
        kind = primitive_schema_from(dict(schema))
    except msgspec.ValidationError:
        return (), False  # A property of a tool may be anything; then it is typed as JSON.
    if isinstance(kind, TitledSingleSelectEnumSchema):
        return tuple(Choice(option.const, option.title) for option in kind.one_of), False
    if isinstance(kind, EnumNamesSchema):
        titles = [] if kind.enum_names is UNSET else kind.enum_names
        padded = [*titles, *kind.enum[len(titles) :]]
        return tuple(Choice(value, title) for value, title in zip(kind.enum, padded, strict=False)), False
    if isinstance(kind, UntitledSingleSelectEnumSchema):
        return tuple(Choice(value, value) for value in kind.enum), False
    if isinstance(kind, TitledMultiSelectEnumSchema):
        return tuple(Choice(option.const, option.title) for option in kind.items.any_of), True
    if isinstance(kind, UntitledMultiSelectEnumSchema):
        return tuple(Choice(value, value) for value in kind.items.enum), True
    return (), False


def show_field(field: Field) -> tuple[list[str], str]:
    """What is printed above the prompt, and the prompt."""
    title = _text_in(field.schema, "title")
    description = _text_in(field.schema, "description")
    lines = (
        [f"  {title or field.name}: {description}" if description else f"  {title}"]
        if title or description
        else []
    )
    lines += [
        f"    {number}. {choice.title}" + (f" ({choice.value})" if choice.title != choice.value else "")
        for number, choice in enumerate(field.choices, start=1)
    ]
    hints = [_kind_of(field)] + ([] if field.is_required else ["optional"])
    if field.default is not NO_VALUE:
        hints.append(f"default {_shown(field.default)}")
    return lines, f"  {field.name} [{', '.join(hint for hint in hints if hint)}]: "


def _text_in(schema: Mapping[str, Any], name: str) -> str:
    text = schema.get(name)
    return text if isinstance(text, str) else ""


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _kind_of(field: Field) -> str:
    if field.choices:
        return "numbers or names, with commas" if field.is_multiple else "a number or a name"
    try:
        kind = primitive_schema_from(dict(field.schema))
    except msgspec.ValidationError:
        return "JSON"
    if isinstance(kind, BooleanSchema):
        return "yes/no"
    if isinstance(kind, NumberSchema):
        return _range_text("whole number" if kind.type == "integer" else "number", kind.minimum, kind.maximum)
    if isinstance(kind, StringSchema):
        name = "text" if kind.format is UNSET else kind.format
        return _range_text(name, kind.min_length, kind.max_length, " characters")
    return ""  # pragma: no cover - every other kind has choices


def _range_text(name: str, low: Any, high: Any, unit: str = "") -> str:
    if low is not UNSET and high is not UNSET:
        return f"{name}, {low} to {high}{unit}"
    if low is not UNSET:
        return f"{name}, at least {low}{unit}"
    return name if high is UNSET else f"{name}, at most {high}{unit}"


def read_field(field: Field, text: str) -> Any:
    """The value that was typed; the default, or `NO_VALUE`, for an empty text.

    Raises:
        ValueError: it does not fit; the text says why.
    """
    text = text.strip()
    if not text:
        if field.default is NO_VALUE and field.is_required:
            raise ValueError("a value is required")
        return field.default
    if field.is_multiple:
        value: Any = [_chosen(field, part.strip()) for part in text.split(",") if part.strip()]
    elif field.choices:
        value = _chosen(field, text)
    else:
        value = coerce(text, field.schema, field.root)
    problems = field_problems(field, value)
    if problems:
        raise ValueError("; ".join(problems))
    return value


def _chosen(field: Field, text: str) -> str:
    for choice in field.choices:
        if text == choice.value:
            return choice.value
    for choice in field.choices:
        if text.lower() == choice.title.lower():
            return choice.value
    if text.isdecimal() and 1 <= int(text) <= len(field.choices):
        return field.choices[int(text) - 1].value
    raise ValueError(f"{text!r} is none of the choices")


def field_problems(field: Field, value: Any) -> list[str]:
    """What the field's schema finds wrong with a value; nothing when the schema itself is of no use."""
    definitions = {name: field.root[name] for name in ("$defs", "definitions") if name in field.root}
    try:
        check = SchemaCheck({**definitions, "properties": {field.name: dict(field.schema)}})
    except UsageError:
        return []  # The server judges by its own schema in any case.
    problems = check.find_errors({field.name: value})
    return problems or _format_problems(field.schema.get("format"), value)


_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


def _format_problems(name: Any, value: Any) -> list[str]:
    """Formats are annotations to a schema, but a form names them so that they are kept.

    https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
    """
    if not isinstance(value, str):
        return []
    if name == "email" and not _EMAIL.fullmatch(value):
        return ["that is no e-mail address"]
    if name == "uri" and not _URI.fullmatch(value):
        return ["that is no URI"]
    try:
        if name == "date":
            dt.date.fromisoformat(value)
        elif name == "date-time":
            dt.datetime.fromisoformat(value)
    except ValueError as error:
        return [f"that is no {name}: {error}"]
    return []
