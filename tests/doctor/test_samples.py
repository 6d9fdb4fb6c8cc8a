import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.doctor.samples import find_text_place, sample_of
from mesero.schemas import SchemaCheck

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


@pytest.mark.parametrize(
    "limits",
    [
        {"maximum": 10**400},
        {"minimum": 5, "multipleOf": 5e-324},
        {"exclusiveMinimum": 1e308, "multipleOf": 3},
    ],
)
def test_numbers_beyond_everything_are_no_reason_to_fail(limits):
    sample = sample_of({"properties": {"a": {"type": "number", **limits}}, "required": ["a"]})

    assert sample.problem or "a" in sample.arguments


WORDS = st.sampled_from(
    [
        *(
            "type",
            "properties",
            "required",
            "items",
            "prefixItems",
            "minItems",
            "uniqueItems",
            "enum",
            "const",
        ),
        *("default", "examples", "$ref", "anyOf", "oneOf", "allOf", "minimum", "maximum", "exclusiveMinimum"),
        *("multipleOf", "pattern", "format", "minLength", "maxLength", "minProperties", "$defs", "x"),
    ]
)
LEAVES = (
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False)
) | st.sampled_from(["object", "array", "string", "number", "a", "#", "#/x", "#/$defs/a", "#/properties/a"])
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(WORDS | st.just("a"), inner, max_size=4)
        | st.fixed_dictionaries(
            {"properties": st.fixed_dictionaries({"a": inner}), "required": st.just(["a"])}
        )
    ),
    max_leaves=12,
)


@given(SCHEMAS)
def test_no_schema_is_too_odd(schema):
    sample = sample_of(schema)

    if sample.problem:
        assert sample.arguments == {}
    else:
        assert SchemaCheck(schema).find_errors(sample.arguments) == []
    find_text_place(schema, sample.arguments, "\u00e9")
