import pytest

from mesero.doctor.samples import find_text_place, sample_of

NOTE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/note"}}, "required": ["next"]}
FITTING = [
    ({}, {}),
    ({"type": "object", "properties": {"a": {"type": "string"}}}, {}),
    ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": "a"}),
    ({"properties": {"a": {"type": "string", "minLength": 3}}, "required": ["a"]}, {"a": "aaa"}),
    ({"properties": {"a": {"type": "string", "format": "date"}}, "required": ["a"]}, {"a": "2026-01-01"}),
    ({"properties": {"a": {"type": "string", "pattern": "^[0-9]{5}$"}}, "required": ["a"]}, {"a": "12345"}),
    ({"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"a": 1}),
    ({"properties": {"a": {"type": "integer", "minimum": 5}}, "required": ["a"]}, {"a": 5}),
    ({"properties": {"a": {"type": "integer", "maximum": -5}}, "required": ["a"]}, {"a": -5}),
    ({"properties": {"a": {"type": "integer", "exclusiveMinimum": 5}}, "required": ["a"]}, {"a": 6}),
    ({"properties": {"a": {"exclusiveMinimum": 0, "exclusiveMaximum": 1}}, "required": ["a"]}, {"a": 0.5}),
    ({"properties": {"a": {"minimum": 7, "multipleOf": 5}}, "required": ["a"]}, {"a": 10}),
    ({"properties": {"a": {"type": "boolean"}}, "required": ["a"]}, {"a": False}),
    ({"properties": {"a": {"type": ["null", "string"]}}, "required": ["a"]}, {"a": None}),
    ({"properties": {"a": {"const": 3}}, "required": ["a"]}, {"a": 3}),
    ({"properties": {"a": {"enum": ["x", "y"]}}, "required": ["a"]}, {"a": "x"}),
    ({"properties": {"a": {"type": "string", "default": "d"}}, "required": ["a"]}, {"a": "d"}),
    ({"properties": {"a": {"type": "string", "default": None}}, "required": ["a"]}, {"a": "a"}),
    ({"properties": {"a": {"type": "string", "examples": ["e"]}}, "required": ["a"]}, {"a": "e"}),
    ({"properties": {"a": {"type": "array"}}, "required": ["a"]}, {"a": []}),
    (
        {"properties": {"a": {"items": {"type": "integer"}, "minItems": 2}}, "required": ["a"]},
        {"a": [1, 1]},
    ),
    ({"properties": {"a": {"minItems": 2, "uniqueItems": True}}, "required": ["a"]}, {"a": ["a", "aa"]}),
    ({"properties": {"a": {"anyOf": [False, {"type": "integer"}]}}, "required": ["a"]}, {"a": 1}),
    ({"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["a"], "$defs": {"n": {"const": 7}}}, {"a": 7}),
    ({"allOf": [{"required": ["a"]}, {"properties": {"a": {"type": "null"}}}]}, {"a": None}),
    ({"oneOf": [{"required": ["b"], "properties": {"b": {"const": 1}}}]}, {"b": 1}),
    ({"minProperties": 1, "properties": {"a": {"type": "string"}}}, {"a": "a"}),
    ({"required": ["a"], "additionalProperties": {"type": "integer"}}, {"a": 1}),
]


@pytest.mark.parametrize(("schema", "expected"), FITTING)
def test_the_simplest_arguments_are_found(schema, expected):
    found = sample_of(schema)

    assert found.problem == ""
    assert found.arguments == expected


UNFIT = [
    (None, "no object"),
    ({"type": "string"}, "no object"),
    ({"type": "object", "properties": {"a": False}, "required": ["a"]}, "accepts nothing"),
    ({"$defs": {"note": NOTE}, "$ref": "#/$defs/note"}, "again and again"),
    ({"properties": {"a": {"pattern": "^[q-s]{40}x$"}}, "required": ["a"]}, "pattern"),
    ({"properties": {"a": {"minItems": 10**9}}, "required": ["a"]}, "too long"),
    ({"properties": {"a": {"type": "string", "minLength": 10**9}}, "required": ["a"]}, "too long"),
    ({"type": "object", "not": {}}, "not"),
    ({"$ref": "https://example.com/schema"}, "cannot be used"),
]


@pytest.mark.parametrize(("schema", "reason"), UNFIT)
def test_why_there_are_none_is_said(schema, reason):
    found = sample_of(schema)

    assert reason in found.problem


def test_a_text_that_was_sent_comes_before_one_that_may_be():
    schema = {"properties": {"a": {"type": "string"}, "b": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}

    assert find_text_place(schema, {}, "x") == "a"
    assert find_text_place(schema, {"b": "y"}, "x") == "b"


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": {"a": {"type": "integer"}}},
        {"properties": {"a": {"type": "string", "enum": ["x"]}}},
        {"properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}}},
        {"properties": {"a": {"type": "string", "maxLength": 3}}},
        {"properties": {"a": {"$ref": "#/$defs/none"}}},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
    ],
)
def test_what_takes_no_text_of_any_kind_is_no_place_for_it(schema):
    assert find_text_place(schema, {}, "é→✓😀") is None


def test_a_text_behind_a_reference_is_found():
    schema = {"properties": {"a": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "string"}}}

    assert find_text_place(schema, {}, "é") == "a"
