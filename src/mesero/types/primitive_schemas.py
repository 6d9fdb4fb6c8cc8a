"""The schemas of one form field: text, number, boolean, and the five ways to write a choice.

They are read one property at a time from a form's schema, by its keywords, since `type` alone does not tell
them apart. Keywords that we do not know are passed over: the form can still be shown.
https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
"""

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import JSONObject, Number, WireStruct

__all__ = [
    "BooleanSchema",
    "EnumItems",
    "EnumNamesSchema",
    "EnumOption",
    "EnumSchema",
    "MultiSelectEnumSchema",
    "NumberSchema",
    "PrimitiveSchema",
    "SingleSelectEnumSchema",
    "StringSchema",
    "TitledEnumItems",
    "TitledMultiSelectEnumSchema",
    "TitledSingleSelectEnumSchema",
    "UntitledMultiSelectEnumSchema",
    "UntitledSingleSelectEnumSchema",
    "primitive_schema_from",
]


class _Labelled(WireStruct, kw_only=True):
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET


class StringSchema(_Labelled, kw_only=True, tag_field="type", tag="string"):
    """Text. Known formats are "email", "uri", "date" and "date-time"; lengths are in characters.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#stringschema
    """

    min_length: int | UnsetType = UNSET
    max_length: int | UnsetType = UNSET
    format: str | UnsetType = UNSET
    default: str | UnsetType = UNSET


class NumberSchema(_Labelled, kw_only=True):
    """A number, or a whole one. https://modelcontextprotocol.io/specification/2026-07-28/schema#numberschema"""

    type: Literal["number", "integer"]
    minimum: Number | UnsetType = UNSET
    maximum: Number | UnsetType = UNSET
    default: Number | UnsetType = UNSET


class BooleanSchema(_Labelled, kw_only=True, tag_field="type", tag="boolean"):
    """Yes or no. https://modelcontextprotocol.io/specification/2026-07-28/schema#booleanschema"""

    default: bool | UnsetType = UNSET


class EnumOption(WireStruct):
    """A value, and what the person reads in its place."""

    const: str
    title: str


class UntitledSingleSelectEnumSchema(_Labelled, kw_only=True, tag_field="type", tag="string"):
    """One of some values.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#untitledsingleselectenumschema
    """

    enum: list[str]
    default: str | UnsetType = UNSET


class TitledSingleSelectEnumSchema(_Labelled, kw_only=True, tag_field="type", tag="string"):
    """One of some values that have titles.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#titledsingleselectenumschema
    """

    one_of: list[EnumOption]
    default: str | UnsetType = UNSET


class EnumNamesSchema(_Labelled, kw_only=True, tag_field="type", tag="string"):
    """One of some values, with titles in a second list: the oldest form, bound to be removed.

    Write `TitledSingleSelectEnumSchema`.
    https://modelcontextprotocol.io/specification/2026-07-28/schema#legacytitledenumschema
    """

    enum: list[str]
    enum_names: list[str] | UnsetType = UNSET
    default: str | UnsetType = UNSET


class EnumItems(WireStruct, tag_field="type", tag="string"):
    """What each chosen value is one of."""

    enum: list[str]


class TitledEnumItems(WireStruct):
    """What each chosen value is one of, with titles."""

    any_of: list[EnumOption]


class _MultiSelect(_Labelled, kw_only=True):
    min_items: int | UnsetType = UNSET
    max_items: int | UnsetType = UNSET
    default: list[str] | UnsetType = UNSET


class UntitledMultiSelectEnumSchema(_MultiSelect, kw_only=True, tag_field="type", tag="array"):
    """Several of some values.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#untitledmultiselectenumschema
    """

    items: EnumItems


class TitledMultiSelectEnumSchema(_MultiSelect, kw_only=True, tag_field="type", tag="array"):
    """Several of some values that have titles.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#titledmultiselectenumschema
    """

    items: TitledEnumItems


SingleSelectEnumSchema: TypeAlias = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema
"""A choice of one."""

MultiSelectEnumSchema: TypeAlias = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema
"""A choice of several."""

EnumSchema: TypeAlias = SingleSelectEnumSchema | MultiSelectEnumSchema | EnumNamesSchema
"""Any choice."""

PrimitiveSchema: TypeAlias = StringSchema | NumberSchema | BooleanSchema | EnumSchema
"""What one property of a form may be. For type checkers: read one with `primitive_schema_from`."""


def _text_type_for(schema: JSONObject) -> Any:
    if "oneOf" in schema:
        return TitledSingleSelectEnumSchema
    if "enumNames" in schema:
        return EnumNamesSchema
    return UntitledSingleSelectEnumSchema if "enum" in schema else StringSchema


def _array_type_for(schema: JSONObject) -> Any:
    items = schema.get("items")
    is_titled = isinstance(items, dict) and "anyOf" in items
    return TitledMultiSelectEnumSchema if is_titled else UntitledMultiSelectEnumSchema


def primitive_schema_from(schema: JSONObject) -> PrimitiveSchema:
    """Read the schema of one form property.

    Raises msgspec.ValidationError when it is none of the kinds that a form may hold, or a keyword has a value
    of the wrong type.
    """
    kind = schema.get("type")
    if kind == "string":
        type_ = _text_type_for(schema)
    elif kind == "array":
        type_ = _array_type_for(schema)
    elif kind == "boolean":
        type_ = BooleanSchema
    elif kind in ("number", "integer"):
        type_ = NumberSchema
    else:
        raise msgspec.ValidationError(
            f"a form field must be a string, number, integer, boolean or array of choices, not {kind!r}"
        )
    result: PrimitiveSchema = msgspec.convert(schema, type_)
    return result
