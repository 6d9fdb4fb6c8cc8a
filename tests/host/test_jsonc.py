import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.host.jsonc import MAX_DEPTH, after_blanks, parse_jsonc
from mesero.host.nodes import Place, TextError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def spans_of(node):
    yield node
    for member in node.members:
        yield from spans_of(member.node)
    for item in node.items:
        yield from spans_of(item)


@given(VALUES, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_strict_json_means_what_the_standard_library_says_and_every_span_is_its_value(
    value, indent, is_ascii
):
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    document = parse_jsonc(text)
    assert document.root.value == json.loads(text)
    assert document.remarks == ()
    for node in spans_of(document.root):
        assert json.loads(text[node.start : node.end]) == node.value
        for member in node.members:
            assert json.loads(text[member.start : member.end]) == member.key


def parse_or_place(text):
    try:
        return parse_jsonc(text), None
    except TextError as error:
        return None, error.place


@given(st.text(alphabet='{}[]",:/*\\ \n\t0123456789eE+-.truefalsnu', max_size=30))
def test_a_text_is_parsed_as_the_standard_library_does_or_refused_or_remarked(text):
    document, place = parse_or_place(text)
    if document is None:
        lines = text.split("\n")
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1
        with pytest.raises((ValueError, RecursionError)):
            json.loads(text, parse_constant=float)
    elif not document.remarks:
        assert document.root.value == json.loads(text)


def test_comments_trailing_commas_and_a_mark_are_read_and_remarked():
    text = '\ufeff{ // one\n "a": [1, /* two */ 2,],\n}\n'
    document = parse_jsonc(text)
    assert document.root.value == {"a": [1, 2]}
    assert [(one.kind, document.place(one.offset)) for one in document.remarks] == [
        ("bom", (1, 1)),
        ("comment", (1, 3)),
        ("comment", (2, 11)),
        ("trailing-comma", (2, 22)),
        ("trailing-comma", (2, 24)),
    ]


@pytest.mark.parametrize(
    ("text", "place", "what", "fix"),
    [
        ("", (1, 1), "empty", "{}"),
        (" // only\n", (2, 1), "empty", "{}"),
        ("/* x", (1, 1), "never ends", "*/"),
        ("{", (1, 1), "never closed", "}"),
        ('{"a": [1,\n2', (1, 7), "never closed", "]"),
        ('{"a": 1}}', (1, 9), "behind the end", "closing"),
        ('{"a": 1} b', (1, 10), "text behind the end", ""),
        ('{"a": 1\n "b": 2}', (1, 8), "comma is missing", "here"),
        ('{"a": 1,,}', (1, 9), "comma too many", "Leave it out"),
        ("[,]", (1, 2), "comma too many", ""),
        ('{"a": [1}', (1, 9), "} where ]", "]"),
        ("{a: 1}", (1, 2), "'a' is a name without quotes", '"a"'),
        ("{'a': 1}", (1, 2), "a name in ' quotes", "double quotes"),
        ("{{}}", (1, 2), "where a name should be", '"name"'),
        ('{"a" 1}', (1, 5), "no colon behind 'a'", ":"),
        ('{"a": }', (1, 7), "a value is missing", "before the }"),
        ('{"a":', (1, 6), "ends where a value", ""),
        ("['a']", (1, 2), "text in ' quotes", "double quotes"),
        ("[\u201ca\u201d]", (1, 2), "quotes", "double quotes"),
        ("[True]", (1, 2), "True is no JSON", "true"),
        ("[None]", (1, 2), "None is no JSON", "null"),
        ("[NaN]", (1, 2), "'NaN' is no value", "double quotes"),
        ("[01]", (1, 2), "'01' is no value", ""),
        ("[1.]", (1, 2), "'1.' is no value", ""),
        ("[+1]", (1, 2), "'+1' is no value", ""),
        (f"[{'x' * 50}]", (1, 2), "…", ""),
        ('["C:\\Users"]', (1, 5), "backslash", r"\\"),
        ('["\\u12"]', (1, 3), "backslash", r"\\"),
        ('["a\tb"]', (1, 4), "a tab", r"\t"),
        ('["a\nb"]', (1, 2), "not closed on its line", '"'),
        ('["a', (1, 2), "not closed on its line", '"'),
    ],
)
def test_what_is_wrong_is_said_at_its_place_with_what_to_write(text, place, what, fix):
    with pytest.raises(TextError) as caught:
        parse_jsonc(text)
    assert caught.value.place == Place(*place)
    assert what in caught.value.what
    assert fix in caught.value.fix


def test_nesting_has_a_limit():
    assert parse_jsonc("[" * MAX_DEPTH + "]" * MAX_DEPTH).root.end == 2 * MAX_DEPTH
    with pytest.raises(TextError, match="levels of nesting"):
        parse_jsonc("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2))


def test_a_number_of_many_digits_is_a_number():
    assert parse_jsonc("9" * 5000).root.value == float("inf")
    assert parse_jsonc("-1.5e3").root.value == -1500.0


def test_along_a_path_only_what_is_on_it_has_places_inside():
    text = '{"x": {"y": [1]}, "a": {"b": {"c": {"d": 1}}, "z": [2]}}'
    root = parse_jsonc(text, along=["a", "b"]).root
    assert root.value == json.loads(text)
    assert root.find("x").value == {"y": [1]}
    assert root.find("x").members == ()
    assert root.find("a", "z").items == ()
    assert text[(found := root.find("a", "b", "c", "d")).start : found.end] == "1"


def test_what_is_beside_the_path_may_have_comments_and_its_errors_are_found():
    assert parse_jsonc('{"x": [1, // c\n], "a": {}}', along=["a"]).root.value == {"x": [1], "a": {}}
    with pytest.raises(TextError, match="'NaN' is no value"):
        parse_jsonc('{"x": {"y": NaN}, "a": {}}', along=["a"])
    deep = '{"x": ' + "[" * 50_000 + "]" * 50_000 + "}"
    with pytest.raises(TextError, match="levels of nesting"):
        parse_jsonc(deep, along=["a"])


def test_blanks_are_white_space_and_comments():
    assert after_blanks(" /* a */ // b\n x", 0) == 15
    assert after_blanks("x", 0) == 0
