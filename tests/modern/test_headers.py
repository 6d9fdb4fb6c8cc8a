"""Headers that mirror the body: encoding, the marks of a schema, agreement."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.errors import HeaderMismatchError, UsageError
from mesero.modern.headers import (
    HeaderMark,
    argument_at,
    check_param_headers,
    decode_header_value,
    encode_header_value,
    marks_of,
    param_headers,
)

# -- values ------------------------------------------------------------------------------------------------

# The examples of the specification's table.
ENCODED = [
    ("us-west1", "us-west1"),
    ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    (" padded ", "=?base64?IHBhZGRlZCA=?="),
    ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
    ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ("", ""),
    ("=?base64?", "=?base64?"),
    ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
    ("=?BASE64?x?=", "=?BASE64?x?="),
    ("a\tb", "=?base64?YQli?="),
    ("\x7f", "=?base64?fw==?="),
]


@pytest.mark.parametrize(("text", "value"), ENCODED)
def test_a_value_is_itself_or_base64_between_markers(text, value):
    assert encode_header_value(text) == value
    assert decode_header_value(value) == text


@given(st.text() | st.text(alphabet="=?base64 \t\x00é", max_size=20))
def test_any_text_survives_a_header_and_is_a_safe_header_value(text):
    value = encode_header_value(text)

    assert re.fullmatch(r"[\x20-\x7e]*", value)
    assert value == value.strip()
    assert decode_header_value(value) == text


def test_the_space_around_a_header_value_is_no_part_of_it():
    assert decode_header_value(" \tus-west1\t ") == "us-west1"
    assert decode_header_value("a\tb") == "a\tb"


@pytest.mark.parametrize(
    "value",
    ["caf\xe9", "a\x00b", "a\rb", "=?base64?%%%?=", "=?base64?SGVsbG8?=", "=?base64?/w==?=", "=?base64?é?="],
)
def test_a_value_that_no_client_may_send_is_refused(value):
    with pytest.raises(ValueError, match=r"header value may not have|marked as Base64 but is not"):
        decode_header_value(value)


@given(st.text(max_size=20))
def test_decoding_any_text_gives_text_or_a_value_error(value):
    try:
        text = decode_header_value(value)
    except ValueError:
        return
    assert isinstance(text, str)


def test_half_a_surrogate_pair_is_refused_before_it_is_sent():
    with pytest.raises(UsageError, match="half a surrogate pair"):
        encode_header_value("\ud800")


# -- marks -------------------------------------------------------------------------------------------------


def marked(header="Region", kind="string", **more):
    return {"type": kind, "x-mcp-header": header, **more}


def test_marks_are_found_in_the_order_in_which_they_are_written():
    schema = {
        "type": "object",
        "properties": {
            "region": marked(),
            "query": {"type": "string"},
            "limits": {"type": "object", "properties": {"rows": marked("Max-Rows", "integer")}},
            "dry": marked("Dry-Run", "boolean"),
        },
    }

    assert marks_of(schema) == (
        HeaderMark("Region", ("region",), "string"),
        HeaderMark("Max-Rows", ("limits", "rows"), "integer"),
        HeaderMark("Dry-Run", ("dry",), "boolean"),
    )


def test_a_property_may_have_the_name_of_the_mark_or_of_a_keyword():
    schema = {
        "properties": {"x-mcp-header": {"type": "string"}, "items": marked(), "properties": marked("P")}
    }

    assert [mark.path for mark in marks_of(schema)] == [("items",), ("properties",)]


@pytest.mark.parametrize("place", ["default", "const", "enum", "examples", "unknown-keyword"])
def test_what_looks_like_a_mark_in_data_is_none(place):
    assert marks_of({"properties": {"a": {"type": "string", place: [marked()]}}}) == ()


REFUSED = [
    ({"a": marked("")}, "must be a non-empty string"),
    ({"a": marked(7)}, "must be a non-empty string"),
    ({"a": marked("My Region")}, "characters that a header name may not have"),
    ({"a": marked("Region\n")}, "characters that a header name may not have"),
    ({"a": marked("Région")}, "characters that a header name may not have"),
    ({"a": marked(kind="number")}, "on type 'number'"),
    ({"a": marked(kind="object")}, "on type 'object'"),
    ({"a": marked(kind=["string", "null"])}, "only string, integer, boolean"),
    ({"a": {"x-mcp-header": "Region"}}, "on type None"),
    ({"a": marked(), "b": marked("REGION")}, "occurs twice; header names ignore case"),
    ({"a": {"items": marked()}}, "not reachable through 'properties' alone"),
    ({"a": {"prefixItems": [marked()]}}, "not reachable"),
    ({"a": {"items": {"properties": {"b": marked()}}}}, "not reachable"),
    ({"a": {"anyOf": [{"type": "null"}, marked()]}}, "not reachable"),
    ({"a": {"not": marked()}}, "not reachable"),
    ({"a": {"additionalProperties": marked()}}, "not reachable"),
    ({"a": {"patternProperties": {"^b": marked()}}}, "not reachable"),
    ({"a": {"dependencies": {"b": marked(), "c": ["d"]}}}, "not reachable"),
]


@pytest.mark.parametrize(("properties", "why"), REFUSED)
def test_a_mark_that_breaks_a_rule_is_refused_with_the_rule(properties, why):
    with pytest.raises(UsageError) as caught:
        marks_of({"type": "object", "properties": properties})

    assert why in str(caught.value)


@pytest.mark.parametrize(
    "schema", [marked(), {"$defs": {"a": marked()}}, {"allOf": [{"properties": {"a": marked()}}]}]
)
def test_a_mark_outside_of_the_properties_is_refused(schema):
    with pytest.raises(UsageError, match="not reachable through 'properties' alone"):
        marks_of(schema)


def test_the_refusal_says_where():
    with pytest.raises(UsageError, match=r"'X' at limits\.rows is on type 'number'"):
        marks_of({"properties": {"limits": {"properties": {"rows": marked("X", "number")}}}})


KEYWORDS = ["properties", "items", "anyOf", "$defs", "dependencies", "x-mcp-header", "type", "default", "a"]
SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "integer", "Region", "", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=12,
)


@given(SCHEMAS)
def test_any_schema_has_marks_or_is_refused(schema):
    try:
        marks = marks_of(schema)
    except UsageError:
        return
    assert all(mark.path and mark.kind in ("string", "integer", "boolean") for mark in marks)


def test_a_schema_of_any_depth_is_read():
    schema = marked()
    for _ in range(5_000):
        schema = {"properties": {"a": schema}}

    ((_, path, _),) = marks_of(schema)
    assert len(path) == 5_000


# -- arguments ---------------------------------------------------------------------------------------------


def test_an_argument_is_found_at_its_path_and_null_counts_as_none():
    arguments = {"a": {"b": 1, "c": None}, "d": [1]}

    assert argument_at(arguments, ("a", "b")) == 1
    assert argument_at(arguments, ("a", "c")) is None
    assert argument_at(arguments, ("a", "x")) is None
    assert argument_at(arguments, ("d", "b")) is None
    assert argument_at(None, ("a",)) is None
    assert argument_at(arguments, ()) == arguments


TEXT = HeaderMark("Text", ("text",), "string")
ROWS = HeaderMark("Rows", ("rows",), "integer")
DRY = HeaderMark("Dry", ("dry",), "boolean")
MARKS = (TEXT, ROWS, DRY)


def test_strings_integers_and_booleans_are_mirrored_and_nothing_else():
    arguments = {"text": "é", "rows": -7, "dry": True}

    assert param_headers(MARKS, arguments) == [
        ("Mcp-Param-Text", "=?base64?w6k=?="),
        ("Mcp-Param-Rows", "-7"),
        ("Mcp-Param-Dry", "true"),
    ]
    assert param_headers(MARKS, {"text": None, "dry": False}) == [("Mcp-Param-Dry", "false")]
    assert param_headers(MARKS, {"text": ["a"], "rows": 1.5, "dry": {}}) == []
    assert param_headers(MARKS, {"rows": 42.0}) == [("Mcp-Param-Rows", "42")]
    assert param_headers(MARKS, None) == []


@pytest.mark.parametrize("value", [2**53 - 1, -(2**53) + 1])
def test_the_largest_safe_integers_are_mirrored(value):
    assert param_headers([ROWS], {"rows": value}) == [("Mcp-Param-Rows", str(value))]


@pytest.mark.parametrize("value", [2**53, -(2**53), pytest.param(10**5_000, id="huge"), 1e300])
def test_an_integer_that_not_everybody_can_hold_is_refused_before_it_is_sent(value):
    with pytest.raises(UsageError, match="rows is mirrored in a header, so it must lie within"):
        param_headers([ROWS], {"rows": value})


AGREEING = [
    ({"text": "a"}, {"mcp-param-text": "a"}),
    ({"text": "é"}, {"mcp-param-text": "=?base64?w6k=?="}),
    ({"text": "a"}, {"mcp-param-text": "=?base64?YQ==?="}),
    ({"rows": 42}, {"mcp-param-rows": "42"}),
    ({"rows": 42}, {"mcp-param-rows": "42.0"}),
    ({"rows": 42.0}, {"mcp-param-rows": "42"}),
    ({"rows": -7}, {"mcp-param-rows": "-7.00"}),
    ({"dry": True}, {"mcp-param-dry": "true"}),
    ({}, {}),
    ({"text": None}, {}),
    ({"text": ["a"]}, {}),
    ({"text": "a"}, {"mcp-param-text": "a", "mcp-param-unknown": "x"}),
]


@pytest.mark.parametrize(("arguments", "headers"), AGREEING)
def test_headers_that_say_what_the_body_says_pass(arguments, headers):
    check_param_headers(MARKS, arguments, headers)


DIFFERING = [
    ({"text": "a"}, {}, "Mcp-Param-Text is missing, but the body has 'a'"),
    ({"text": "a"}, {"mcp-param-text": "b"}, "Mcp-Param-Text is 'b', but the body has 'a'"),
    ({"text": "a"}, {"mcp-param-text": "A"}, "Mcp-Param-Text is 'A'"),
    ({"text": "42"}, {"mcp-param-text": "42.0"}, "Mcp-Param-Text is '42.0'"),
    ({"text": "é"}, {"mcp-param-text": "\xc3\xa9"}, "Mcp-Param-Text cannot be read"),
    ({"text": "a"}, {"mcp-param-text": "=?base64?!?="}, "Mcp-Param-Text cannot be read"),
    ({}, {"mcp-param-text": "a"}, "but the body has no such value"),
    ({"text": None}, {"mcp-param-text": "null"}, "but the body has no such value"),
    ({"rows": 42}, {"mcp-param-rows": "43"}, "Mcp-Param-Rows is '43'"),
    ({"rows": 42}, {"mcp-param-rows": "42.5"}, "Mcp-Param-Rows is '42.5'"),
    ({"rows": "--4"}, {"mcp-param-rows": "4"}, "the body has '--4'"),
    ({"rows": "1" * 5_000}, {"mcp-param-rows": "1"}, "Mcp-Param-Rows is '1'"),
    ({"rows": 1}, {"mcp-param-rows": "1" * 5_000}, "Mcp-Param-Rows is"),
    ({"rows": "٤"}, {"mcp-param-rows": "4"}, "Mcp-Param-Rows is '4'"),
    ({"dry": True}, {"mcp-param-dry": "True"}, "Mcp-Param-Dry is 'True'"),
]


@pytest.mark.parametrize(("arguments", "headers", "why"), DIFFERING)
def test_a_header_that_says_something_else_than_the_body_is_refused(arguments, headers, why):
    with pytest.raises(HeaderMismatchError) as caught:
        check_param_headers(MARKS, arguments, headers)

    assert why in caught.value.message
    assert caught.value.code == -32020


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "text": st.none() | st.text(),
            "rows": st.none() | st.integers(-(2**53) + 1, 2**53 - 1),
            "dry": st.none() | st.booleans(),
        },
    )
)
def test_what_a_client_mirrors_is_what_a_server_expects(arguments):
    headers = {name.lower(): value for name, value in param_headers(MARKS, arguments)}

    check_param_headers(MARKS, arguments, headers)
