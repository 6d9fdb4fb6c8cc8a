"""Output schemas and structured content as objects, wrapped in the list and in the call alike."""

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from mesero.legacy.schemas import (
    WRAPPED,
    fit_structured_content,
    fit_tool_schemas,
    is_object,
    is_object_schema,
    object_schema_from,
    wrap_schema,
)
from mesero.legacy.shapes import Loss

POINT = {"type": "object", "properties": {"x": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "is_one"),
    [
        (POINT, True),
        ({"type": ["object"]}, True),
        ({"const": {"a": 1}}, True),
        ({"$ref": "#/$defs/P", "$defs": {"P": POINT}}, True),
        ({"$ref": "#/$defs/a~1b~0c", "$defs": {"a/b~c": POINT}}, True),
        ({"anyOf": [POINT, {"$ref": "#/$defs/P"}], "$defs": {"P": POINT}}, True),
        ({"oneOf": [POINT, POINT]}, True),
        ({"allOf": [{}, POINT]}, True),
        ({"$ref": "#/$defs/P", "$defs": {"P": {"$ref": "#/$defs/P"}}}, False),
        ({"$ref": "#/$defs/missing/deep"}, False),
        ({"$ref": "https://example.com/schema"}, False),
        ({"$ref": 7}, False),
        ({"anyOf": [POINT, {"type": "null"}]}, False),
        ({"anyOf": []}, False),
        ({"anyOf": POINT}, False),
        ({"type": ["object", "null"]}, False),
        ({"type": "array"}, False),
        ({}, False),
        (True, False),
    ],
)
def test_a_schema_of_objects_is_told_from_any_other(schema, is_one):
    assert is_object_schema(schema) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [({}, True), (Raw(b'{"a":1}'), True), ([], False), (Raw(b"[{}]"), False), (None, False)],
)
def test_an_object_is_told_from_any_other_value(value, is_one):
    assert is_object(value) is is_one


def test_the_root_of_a_schema_names_its_type_and_no_property_is_a_boolean():
    schema = {"properties": {"any": True, "none": False, "some": {"type": "null"}}, "required": ["any"]}

    assert object_schema_from(schema) == {
        "properties": {"any": {}, "none": {"not": {}}, "some": {"type": "null"}},
        "required": ["any"],
        "type": "object",
    }


def test_a_wrapped_schema_means_the_same_one_level_below():
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "array",
        "items": {"anyOf": [{"$ref": "#/$defs/P"}, {"$ref": "#"}, {"$ref": "urn:example:own"}]},
        "$defs": {
            "P": POINT,
            "own": {"$id": "urn:example:own", "$ref": "#/$defs/n", "$defs": {"n": {"const": 7}}},
        },
        "default": [{"$ref": "#/$defs/P"}],
    }

    wrapped = wrap_schema(schema)

    assert wrapped["$schema"] == schema["$schema"]
    assert "$schema" not in wrapped["properties"]["result"]
    assert wrapped["properties"]["result"]["default"] == schema["default"]
    for value in ([], [{"x": 1}], [{"x": "1"}], [[{"x": 1}]], [7], [8], {}, None):
        inner = jsonschema_rs.validator_for(schema, offline=True).is_valid(value)
        outer = jsonschema_rs.validator_for(wrapped, offline=True).is_valid({"result": value})
        assert inner is outer, value
    assert not jsonschema_rs.validator_for(wrapped, offline=True).is_valid({})


@pytest.mark.parametrize("schema", [True, False])
def test_a_schema_that_is_a_boolean_is_wrapped_as_one_that_means_the_same(schema):
    wrapped = wrap_schema(schema)

    assert isinstance(wrapped["properties"]["result"], dict)
    assert jsonschema_rs.validator_for(wrapped, offline=True).is_valid({"result": 1}) is schema


def test_the_schemas_of_a_listed_tool_are_made_to_fit_and_a_wrap_is_told():
    tool = {"name": "t", "inputSchema": {"properties": {"a": True}}, "outputSchema": {"type": "array"}}
    plain, losses = {"name": "p", "inputSchema": {"type": "object"}, "outputSchema": POINT}, []

    fit_tool_schemas(tool, "$.tools[0]", losses)
    fit_tool_schemas(plain, "$.tools[1]", losses)

    assert tool["inputSchema"] == {"type": "object", "properties": {"a": {}}}
    assert tool["outputSchema"]["properties"] == {"result": {"type": "array"}}
    assert plain["outputSchema"] == POINT
    assert losses == [Loss("$.tools[0].outputSchema", WRAPPED)]


def test_a_tool_without_an_output_schema_gets_none():
    tool = {"name": "t", "inputSchema": {"type": "object"}}

    fit_tool_schemas(tool, "$", [])

    assert tool == {"name": "t", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    ("value", "schema", "is_wrapped"),
    [
        ({"x": 1}, None, False),
        ({"x": 1}, POINT, False),
        ({"x": 1}, {"anyOf": [POINT, {"type": "null"}]}, True),
        (None, {"anyOf": [POINT, {"type": "null"}]}, True),
        ([1], None, True),
    ],
)
def test_structured_content_is_wrapped_when_the_list_said_so_or_when_it_is_no_object(
    value, schema, is_wrapped
):
    losses = []

    found = fit_structured_content(value, schema, "$.structuredContent", losses)

    assert found == ({"result": value} if is_wrapped else value)
    assert losses == ([Loss("$.structuredContent", WRAPPED)] if is_wrapped else [])


SCHEMAS = st.sampled_from(
    [
        POINT,
        {"type": "array", "items": {"type": "integer"}},
        {"type": ["object", "null"]},
        {"anyOf": [{"$ref": "#/$defs/P"}, {"type": "string"}], "$defs": {"P": POINT}},
        {"$ref": "#/$defs/P", "$defs": {"P": POINT}},
        {},
    ]
)
VALUES = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@given(schema=SCHEMAS, value=VALUES | st.dictionaries(st.just("x"), VALUES))
def test_what_fits_its_schema_fits_the_listed_one_after_both_are_made_to_fit(schema, value):
    tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}
    fit_tool_schemas(tool, "$", [])
    listed = tool["outputSchema"]

    is_valid = jsonschema_rs.validator_for(schema, offline=True).is_valid(value)
    if is_valid:
        fitted = fit_structured_content(value, schema, "$", [])
        assert isinstance(fitted, dict)
        assert jsonschema_rs.validator_for(listed, offline=True).is_valid(fitted)
