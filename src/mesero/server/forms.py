"""From a flat class to the restricted JSON Schema that an elicitation form may have, and back from its
content.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

from mesero.errors import InvalidParamsError, UsageError
from mesero.server.hints import schema_for_type, value_from

__all__ = ["form_schema_for", "read_form"]

T = TypeVar("T")

# The members that each kind of field may have; a client's form knows no others.
# https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#supported-schema-types
_COMMON = ("type", "title", "description", "default")
_MEMBERS: dict[str, tuple[str, ...]] = {
    "string": (*_COMMON, "minLength", "maxLength", "format"),
    "number": (*_COMMON, "minimum", "maximum"),
    "integer": (*_COMMON, "minimum", "maximum"),
    "boolean": _COMMON,
    "array": (*_COMMON, "minItems", "maxItems"),
}
_FORMATS = ("date-time", "date", "email", "uri")


def form_schema_for(form: type[Any] | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The form's schema; a mapping is taken as it is, None asks for consent only.

    Raises:
        UsageError: the class has a field that a form cannot show (nested objects, lists of anything but
            choices).
    """
    if form is None:
        return {"type": "object", "properties": {}}
    if isinstance(form, Mapping):
        return form
    return _schema_of_class(form)  # type: ignore[arg-type]  # mypy does not see that classes are hashable


def read_form(form: type[T], content: Mapping[str, Any], key: str) -> T:
    """The filled-in form as a value of its class.

    Raises:
        InvalidParamsError: it does not fit (-32602).
    """
    try:
        return value_from(content, form)
    except ValueError as error:
        raise InvalidParamsError(f"the answer to {key!r} does not fit its form: {error}") from None


@lru_cache(maxsize=256)
def _schema_of_class(form: type[Any]) -> Mapping[str, Any]:
    schema = schema_for_type(form)
    if schema.get("type") != "object" or "properties" not in schema:
        raise UsageError(f"{form!r} cannot be a form: it is not a class with named fields")
    definitions = schema.get("$defs", {})
    properties = {
        name: _field_schema(f"{form.__name__}.{name}", field, definitions)
        for name, field in schema["properties"].items()
    }
    return {"type": "object", "properties": properties, "required": schema.get("required", [])}


def _field_schema(place: str, field: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    field = _without_null(_resolved(field, definitions), definitions)
    kind = field.get("type", "string" if _is_choice(field) else None)
    if kind == "array":
        items = _resolved(field.get("items", {}), definitions)
        if _is_choice(items):
            return {**_kept(field, "array"), "items": {"type": "string", "enum": items["enum"]}}
    elif "enum" in field:
        if _is_choice(field):
            return {**_kept(field, "string"), "type": "string", "enum": field["enum"]}
    elif kind in _MEMBERS:
        return _kept(field, kind)
    raise UsageError(f"{place} cannot be a form field: {dict(field)}")


def _is_choice(field: Mapping[str, Any]) -> bool:
    return "enum" in field and all(isinstance(value, str) for value in field["enum"])


def _kept(field: Mapping[str, Any], kind: str) -> dict[str, Any]:
    kept = {name: value for name, value in field.items() if name in _MEMBERS[kind]}
    if kept.get("format", "date") not in _FORMATS:
        del kept["format"]
    return kept


def _without_null(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """An optional field is asked for as what it is when it is given."""
    options = [_resolved(option, definitions) for option in field.get("anyOf", ())]
    given = [option for option in options if option.get("type") != "null"]
    if len(given) != 1:
        return field
    own = {name: value for name, value in field.items() if name != "anyOf"}
    if own.get("default", 0) is None:
        del own["default"]
    return {**given[0], **own}


def _resolved(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in field:
        return field
    target = definitions[field["$ref"].removeprefix("#/$defs/")]
    own = {name: value for name, value in field.items() if name != "$ref"}
    return {**{name: value for name, value in target.items() if name != "title"}, **own}
