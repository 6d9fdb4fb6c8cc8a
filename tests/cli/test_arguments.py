import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.cli.arguments import (
    Word,
    build_arguments,
    coerce,
    missing_names,
    parse_json,
    parse_object,
    parse_words,
    resolve,
)
from mesero.errors import UsageError


def files(path):
    return {"a.txt": "text of a\n"}[path]


def test_words_are_split_at_the_first_equals_sign():
    assert parse_words(["a=1", "b=x=y", "c="], files) == [
        Word("a", "1", is_json=False),
        Word("b", "x=y", is_json=False),
        Word("c", "", is_json=False),
    ]


def test_a_colon_before_the_equals_sign_means_json():
    assert parse_words(["a:=[1]"], files) == [Word("a", "[1]", is_json=True)]


def test_an_at_sign_reads_a_file():
    assert parse_words(["a=@a.txt"], files) == [Word("a", "text of a\n", is_json=False)]


@pytest.mark.parametrize("word", ["a", "=1", ":=1", ""])
def test_a_word_without_a_key_or_an_equals_sign_is_refused(word):
    with pytest.raises(UsageError, match="key=value"):
        parse_words([word], files)


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("5", {"type": "string"}, "5"),
        ("5", {"type": "integer"}, 5),
        ("5.0", {"type": "integer"}, 5),
        ("1e3", {"type": "integer"}, 1000),
        ("5.5", {"type": "number"}, 5.5),
        ("-3", {"type": "number"}, -3),
        ("Yes", {"type": "boolean"}, True),
        ("0", {"type": "boolean"}, False),
        ("[1, 2]", {"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ("7", {"type": "array", "items": {"type": "integer"}}, [7]),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("null", {"type": "null"}, None),
        ("5", {"type": ["string", "integer"]}, 5),
        ("x", {"type": ["string", "integer"]}, "x"),
        ("null", {"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
        ("x", {"anyOf": [{"type": "string"}, {"type": "null"}]}, "x"),
        ("4", {"oneOf": [{"type": "string"}, {"type": "integer"}]}, 4),
        ("4", {"enum": ["4", "5"]}, "4"),
        ("4", {"const": "4"}, "4"),
        ("4", {"enum": [4, 5]}, 4),
        ("true", {}, True),
        ("plain", {}, "plain"),
        ("plain", None, "plain"),
        ("9", {"$ref": "#/$defs/Age"}, 9),
        ("9", {"$ref": "https://example.com/x"}, 9),
    ],
)
def test_a_text_becomes_what_the_schema_says(text, schema, value):
    found = coerce(text, schema, {"$defs": {"Age": {"type": "integer"}}})
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "schema", "reason"),
    [
        ("x", {"type": "integer"}, "not a whole number"),
        ("1.5", {"type": "integer"}, "not a whole number"),
        ("true", {"type": "number"}, "not a number"),
        ("NaN", {"type": "number"}, "not a number"),
        ("1e999", {"type": "number"}, "not a number"),
        ("maybe", {"type": "boolean"}, "neither true nor false"),
        ("[1", {"type": "array"}, "no JSON array"),
        ("[1", {"type": "object"}, "no JSON object"),
        ("x", {"type": "null"}, "not null"),
        ("x", {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "neither"),
    ],
)
def test_a_text_that_does_not_fit_is_refused_with_the_reason(text, schema, reason):
    with pytest.raises(ValueError, match=reason):
        coerce(text, schema, {})


def test_a_key_that_is_repeated_collects_a_list():
    words = parse_words(["w=a", "w=b", 'w=["c", "d"]'], files)
    schema = {"properties": {"w": {"type": "array", "items": {"type": "string"}}}}
    assert build_arguments(words, schema) == {"w": ["a", "b", "c", "d"]}


def test_a_key_for_one_value_is_not_repeated():
    with pytest.raises(UsageError, match="given 2 times"):
        build_arguments(parse_words(["a=1", "a=2"], files), {"properties": {"a": {"type": "integer"}}})


def test_a_key_that_the_schema_does_not_know_is_guessed():
    assert build_arguments(parse_words(["a=1", "b=x"], files), {}) == {"a": 1, "b": "x"}
    assert build_arguments(parse_words(["a=1"], files), {"properties": None}) == {"a": 1}


def test_json_is_taken_as_it_stands_whatever_the_schema_says():
    words = parse_words(["a:=5"], files)
    assert build_arguments(words, {"properties": {"a": {"type": "string"}}}) == {"a": 5}


def test_a_refused_value_names_its_key():
    with pytest.raises(UsageError, match="'a': 'x' is not a whole number"):
        build_arguments(parse_words(["a=x"], files), {"properties": {"a": {"type": "integer"}}})


def test_bad_json_names_what_it_was_for():
    with pytest.raises(UsageError, match="the value of 'a' is not JSON"):
        build_arguments(parse_words(["a:={"], files), {})
    with pytest.raises(UsageError, match="stdin is not JSON"):
        parse_json("{", "stdin")


def test_an_object_must_be_one():
    assert parse_object('{"a": 1}', "stdin") == {"a": 1}
    with pytest.raises(UsageError, match="stdin is JSON, but no object"):
        parse_object("[1]", "stdin")


def test_missing_required_names_are_found_in_order():
    assert missing_names({"b": 1}, {"required": ["c", "b", "a"]}) == ["c", "a"]
    assert missing_names({}, {}) == []


def test_references_that_turn_in_circles_allow_anything():
    assert resolve({"$ref": "#/a"}, {"a": {"$ref": "#/a"}}) == {}
    assert resolve({"$ref": "#/a~1b/0"}, {"a/b": {"0": {"type": "string"}}}) == {"type": "string"}
    assert resolve({"$ref": "#/none/there"}, {}) == {}


SCHEMAS = st.recursive(
    st.sampled_from([{}, {"type": "integer"}, {"type": "boolean"}, {"type": "null"}, {"type": 5}, None]),
    lambda inner: st.fixed_dictionaries({"anyOf": st.lists(inner)}) | st.fixed_dictionaries({"items": inner}),
    max_leaves=4,
)


@given(st.text(), SCHEMAS)
def test_whatever_is_typed_gives_a_value_or_a_reason(text, schema):
    reason = "none"
    try:
        coerce(text, schema, {})
    except ValueError as error:
        reason = str(error)
    assert reason
