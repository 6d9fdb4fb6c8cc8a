import msgspec
import pytest

from mesero import types
from mesero.types import EnumOption, primitive_schema_from

RED = {"const": "r", "title": "Red"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "string", "format": "email", "minLength": 3, "default": "a@b"},
            types.StringSchema(format="email", min_length=3, default="a@b"),
        ),
        ({"type": "number", "minimum": 0.5}, types.NumberSchema(type="number", minimum=0.5)),
        ({"type": "integer", "title": "Age"}, types.NumberSchema(type="integer", title="Age")),
        ({"type": "boolean", "default": False}, types.BooleanSchema(default=False)),
        ({"type": "string", "enum": ["r"]}, types.UntitledSingleSelectEnumSchema(enum=["r"])),
        (
            {"type": "string", "oneOf": [RED]},
            types.TitledSingleSelectEnumSchema(one_of=[EnumOption("r", "Red")]),
        ),
        (
            {"type": "string", "enum": ["r"], "enumNames": ["Red"]},
            types.EnumNamesSchema(enum=["r"], enum_names=["Red"]),
        ),
        (
            {"type": "array", "items": {"type": "string", "enum": ["r"]}, "maxItems": 2},
            types.UntitledMultiSelectEnumSchema(items=types.EnumItems(["r"]), max_items=2),
        ),
        (
            {"type": "array", "items": {"anyOf": [RED]}, "default": ["r"]},
            types.TitledMultiSelectEnumSchema(
                items=types.TitledEnumItems([EnumOption("r", "Red")]), default=["r"]
            ),
        ),
    ],
)
def test_a_field_is_read_by_its_keywords_and_written_back(schema, expected):
    assert primitive_schema_from(schema) == expected
    assert msgspec.json.decode(msgspec.json.encode(expected)) == schema


def test_unknown_keywords_and_formats_do_not_spoil_a_field():
    read = primitive_schema_from({"type": "string", "format": "uuid", "pattern": "^a", "x-order": 3})
    assert read == types.StringSchema(format="uuid")


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"type": "object"}, "not 'object'"),
        ({}, "not None"),
        ({"type": ["string", "null"]}, "not \\['string', 'null'\\]"),
        ({"type": "array"}, "items"),
        ({"type": "array", "items": [RED]}, "items"),
        ({"type": "string", "minLength": "3"}, "minLength"),
    ],
)
def test_what_a_form_may_not_hold_is_refused(schema, complaint):
    with pytest.raises(msgspec.ValidationError, match=complaint):
        primitive_schema_from(schema)
