"""From validation errors to violations: paths, words, and the choice of a branch."""

from __future__ import annotations

import jsonschema_rs
import pytest

from mesero.revisions.violations import MASK, Violation, json_path, violations_from_errors


def judge(value, **definitions):
    """Judge by the definition called Whole."""
    schema = {"$ref": "#/$defs/Whole", "$defs": definitions}
    validator = jsonschema_rs.validator_for(schema, offline=True, mask=MASK)
    return violations_from_errors(validator.iter_errors(value))


def messages(value, **whole):
    return [each.message for each in judge(value, Whole=whole)]


def thing(kind, *required, **properties):
    return {
        "type": "object",
        "properties": {"type": {"const": kind}, **properties},
        "required": ["type", *required],
    }


def test_a_path_writes_plain_names_bare_and_others_quoted():
    assert json_path([]) == "$"
    assert json_path(["params", "a_1", 0, "x/y", 'q"', ""]) == '$.params.a_1[0]["x/y"]["q\\""][""]'
    assert json_path(["a"], start="$.result") == "$.result.a"


@pytest.mark.parametrize(
    ("value", "schema", "message"),
    [
        ({}, {"required": ["a"]}, 'lacks "a"'),
        (None, {"type": "string"}, "must be a string, not null"),
        (True, {"type": "integer"}, "must be an integer, not the boolean true"),
        ("5", {"type": "integer"}, 'must be an integer, not the string "5"'),
        (1.5, {"type": ["integer", "null"]}, "must be null or an integer, not the number 1.5"),
        ([], {"type": "object"}, "must be an object, not an array"),
        ({}, {"type": "array"}, "must be an array, not an object"),
        ("2", {"const": "2.0"}, 'must be "2.0", not "2"'),
        (None, {"const": "2.0"}, 'must be "2.0", not null'),
        ({}, {"const": [1]}, "must be an array, not an object"),
        (False, {"enum": ["a", 1, None]}, 'must be "a", 1 or null, not false'),
        ("ü" * 45, {"const": 1}, f'must be 1, not "{"ü" * 40}" and 5 more characters'),
        (10**400, {"type": "string"}, "must be a string, not the number of 1329 bits"),
        ([1, 2], {"maxItems": 1}, "has more than 1 item"),
        (2, {"maximum": 1}, "is greater than the maximum of 1"),
    ],
)
def test_a_violation_says_what_is_wrong_without_quoting_the_message(value, schema, message):
    assert messages(value, **schema) == [message]


def test_a_violation_names_the_innermost_definition():
    definitions = {
        "Whole": {"properties": {"a": {"items": {"$ref": "#/$defs/Part"}}}},
        "Part": {"properties": {"b": {"type": "string"}}},
    }
    assert judge({"a": [{}, {"b": 1}]}, **definitions) == [
        Violation("$.a[1].b", "must be a string, not the number 1", "Part")
    ]


UNION = {
    "Whole": {"anyOf": [{"$ref": "#/$defs/Text"}, {"$ref": "#/$defs/Image"}, {"$ref": "#/$defs/More"}]},
    "More": {"anyOf": [{"$ref": "#/$defs/Audio"}, {"$ref": "#/$defs/Link"}]},
    "Text": thing("text", "text", text={"type": "string"}),
    "Image": thing("image", "data", "mimeType"),
    "Audio": thing("audio", "data", "mimeType"),
    "Link": thing("link", "uri"),
}


def test_a_union_is_narrowed_to_the_shape_that_the_value_claims():
    assert judge({"type": "text", "text": 1}, **UNION) == [
        Violation("$.text", "must be a string, not the number 1", "Text")
    ]


def test_a_union_inside_a_union_is_narrowed_too():
    assert judge({"type": "audio", "data": ""}, **UNION) == [Violation("$", 'lacks "mimeType"', "Audio")]


def test_a_claim_that_no_shape_makes_is_told_with_all_of_them():
    message = 'must be "text", "image", "audio" or "link", not "nope"'
    assert judge({"type": "nope"}, **UNION) == [Violation("$.type", message, "Whole")]


def test_a_value_of_the_wrong_kind_is_told_once():
    assert judge(5, **UNION) == [Violation("$", "must be an object, not the number 5", "Whole")]


def test_without_a_claim_the_nearest_shape_is_taken():
    assert judge({"text": "x"}, **UNION) == [Violation("$", 'lacks "type"', "Text")]


def test_shapes_equally_near_are_all_told_with_paths_below_the_value():
    definitions = {
        "Whole": {"properties": {"at": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}}},
        "A": {"required": ["a"], "properties": {"n": {"type": "string"}}},
        "B": {"required": ["b"], "properties": {"n": {"anyOf": [{"const": 1}, {"const": 2}]}}},
    }
    assert judge({"at": {"n": 0}}, **definitions) == [
        Violation(
            "$.at",
            'fits none of the shapes allowed here (A: lacks "a", .n must be a string, not the number 0; '
            'or B: lacks "b", .n fits none of the shapes allowed there)',
            "Whole",
        )
    ]


def test_a_shape_that_needs_a_claim_is_second_to_one_that_does_not():
    definitions = {
        "Whole": {"anyOf": [{"$ref": "#/$defs/Url"}, {"$ref": "#/$defs/Form"}]},
        "Url": {"required": ["mode", "url"], "properties": {"mode": {"const": "url"}}},
        "Form": {"required": ["a", "b", "c"], "properties": {"mode": {"const": "form"}}},
    }
    assert {each.definition for each in judge({}, **definitions)} == {"Form"}
    assert judge({"mode": "url"}, **definitions) == [Violation("$", 'lacks "url"', "Url")]


def test_an_enumerated_claim_counts_as_a_claim():
    definitions = {
        "Whole": {"anyOf": [{"$ref": "#/$defs/Number"}, {"$ref": "#/$defs/Text"}]},
        "Number": {"properties": {"type": {"enum": ["integer", "number"]}}},
        "Text": thing("string"),
    }
    assert judge({"type": "x"}, **definitions) == [
        Violation("$.type", 'must be "integer", "number" or "string", not "x"', "Whole")
    ]


def test_paths_begin_where_the_caller_says():
    validator = jsonschema_rs.validator_for(
        {"$ref": "#/$defs/A", "$defs": {"A": UNION["Link"]}}, offline=True
    )
    found = violations_from_errors(validator.iter_errors({"type": "link"}), start="$[3].result")
    assert found == [Violation("$[3].result", 'lacks "uri"', "A")]
