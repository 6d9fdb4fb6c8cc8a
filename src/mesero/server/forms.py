"""From a flat class to the restricted JSON Schema that an elicitation form may have.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from mesero.errors import UsageError

__all__ = ["form_schema_for"]

_PRIMITIVES = frozenset({"string", "number", "integer", "boolean"})
_WRITTEN_AS_STRING = {"date-time", "date", "email", "uri"}


def form_schema_for(form: type[Any] | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The form's schema; a mapping is taken as it is, None asks for consent only.

    Raises:
        UsageError: the class has a field that a form cannot show (nested objects, lists of anything but choices).
    """
    if form is None:
        return {"type": "object", "properties": {}}
    if isinstance(form, Mapping):
        return form
    return _schema_of_class(form)


@lru_cache(maxsize=256)
def _schema_of_class(form: type[Any]) -> Mapping[str, Any]:
    try:
        (root,), definitions = msgspec.json.schema_components([form], ref_template="{name}")
    except TypeError as error:
        raise UsageError(f"{form!r} cannot be a form: {error}") from None
    schema = definitions.get(root.get("$ref", ""), root)
    if schema.get("type") != "object" or "properties" not in schema:
        raise UsageError(f"{form!r} cannot be a form: it is not a class with named fields")
    properties = {
        name: _field_schema(form, name, field, definitions) for name, field in schema["properties"].items()
    }
    return {"type": "object", "properties": properties, "required": schema.get("required", [])}


def _field_schema(form: type[Any], name: str, field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    field = _resolved(field, definitions)
    if "anyOf" in field:
        # An optional field is asked for as what it is when it is given.
        options = [_resolved(option, definitions) for option in field["anyOf"]]
        given = [option for option in options if option.get("type") != "null"]
        if len(given) == 1:
            field = {**given[0], **{key: value for key, value in field.items() if key not in ("anyOf", "default")}}
            default = field.get("default")
            return field if default is not None else {key: value for key, value in field.items() if key != "default"}
    if "enum" in field and all(isinstance(value, str) for value in field["enum"]):
        return {"type": "string", **{key: value for key, value in field.items() if key != "type"}}
    if field.get("type") == "array":
        items = _resolved(field.get("items", {}), definitions)
        if "enum" in items:
            kept = {key: value for key, value in field.items() if key != "items"}
            return {**kept, "items": {"type": "string", "enum": items["enum"]}}
    elif field.get("type") in _PRIMITIVES:
        if field.get("format", "date") not in _WRITTEN_AS_STRING:
            return {key: value for key, value in field.items() if key != "format"}
        return field
    raise UsageError(f"{form.__name__}.{name} cannot be a form field: {dict(field)}")


def _resolved(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in field:
        return field
    target = {key: value for key, value in definitions[field["$ref"]].items() if key != "title"}
    return {**target, **{key: value for key, value in field.items() if key != "$ref"}}
