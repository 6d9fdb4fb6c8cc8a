import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.host.jsonc import parse_jsonc
from mesero.host.jsonc_edits import json_text_of, remove_member, set_member
from mesero.host.nodes import TextError

ENTRY = {"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}}
WRITTEN = """{
    "command": "npx",
    "args": ["-y", "x"],
    "env": {
      "A": "b"
    }
  }"""


def test_a_value_is_laid_out_with_a_line_a_member_and_lists_on_one_line():
    assert json_text_of(ENTRY, indent="  ") == WRITTEN
    assert json_text_of({}) == "{}"
    assert json_text_of([{"a": 1}], unit="\t", newline="\r\n") == '[\r\n\t{\r\n\t\t"a": 1\r\n\t}\r\n]'
    assert json_text_of("ü") == '"ü"'


EDITS = [
    # An empty file, an empty object, one with comments only.
    ("", ["m", "n"], 1, '{\n  "m": {\n    "n": 1\n  }\n}\n'),
    ("\ufeff\n", ["n"], 1, '\ufeff{\n  "n": 1\n}\n'),
    ("{}", ["n"], 1, '{\n  "n": 1\n}'),
    ('{"m": {}}\n', ["m", "n"], 1, '{"m": {\n  "n": 1\n}}\n'),
    ("{ // c\n}", ["n"], 1, '{ // c\n  "n": 1\n}'),
    ("{\n  /* c */ }", ["n"], 1, '{\n  /* c */\n  "n": 1\n}'),
    # Behind the last one: with its indentation, its line ends, its comma, its comment.
    ('{\n    "a": 1\n}\n', ["n"], 2, '{\n    "a": 1,\n    "n": 2\n}\n'),
    ('{\r\n\t"a": 1\r\n}', ["n"], {"x": 1}, '{\r\n\t"a": 1,\r\n\t"n": {\r\n\t\t"x": 1\r\n\t}\r\n}'),
    ('{\n  "a": 1, // c\n}', ["n"], 2, '{\n  "a": 1, // c\n  "n": 2,\n}'),
    ('{\n  "a": 1 // c\n}', ["n"], 2, '{\n  "a": 1, // c\n  "n": 2\n}'),
    ('{\n  "a": 1 /* c */ }', ["n"], 2, '{\n  "a": 1,\n  "n": 2 /* c */ }'),
    # On one line.
    ('{"a": 1}', ["n"], {"x": 1}, '{"a": 1, "n": {"x": 1}}'),
    ('{ "a": 1, }', ["n"], 2, '{ "a": 1, "n": 2, }'),
]


@pytest.mark.parametrize(("text", "path", "value", "expected"), EDITS)
def test_a_member_is_added_in_the_manner_of_the_text(text, path, value, expected):
    assert set_member(text, path, value) == expected


@pytest.mark.parametrize(("text", "path", "value", "expected"), EDITS[6:])
def test_what_was_added_comes_out_without_a_trace(text, path, value, expected):
    assert remove_member(expected, path) == text


def test_a_very_deep_indentation_is_not_taken_for_one_level():
    text = '{\n            "a": 1\n}'
    assert set_member(text, ["n"], {"x": 1}).endswith('"n": {\n              "x": 1\n            }\n}')


def test_a_member_that_is_there_is_replaced_and_only_it():
    text = '{\n  "a": { "b" : [1] }, // c\n  "d": 1\n}'
    assert set_member(text, ["a", "b"], "x") == '{\n  "a": { "b" : "x" }, // c\n  "d": 1\n}'


def test_a_member_can_be_put_behind_another_one():
    text = '{\n  "a": 1,\n  "b": 2\n}'
    assert set_member(text, ["n"], 3, after="a") == '{\n  "a": 1,\n  "n": 3,\n  "b": 2\n}'
    assert set_member(text, ["n"], 3, after="z") == '{\n  "a": 1,\n  "b": 2,\n  "n": 3\n}'
    assert set_member('{"a": 1, "b": 2}', ["n"], 3, after="a") == '{"a": 1, "n": 3, "b": 2}'
    assert set_member('{\n  "a": 1, "b": 2\n}', ["n"], 3, after="a") == '{\n  "a": 1,\n  "n": 3, "b": 2\n}'


REMOVALS = [
    ('{\n  "n": 1,\n  "a": 2\n}', '{\n  "a": 2\n}'),
    ('{\n  "a": 2,\n  // about n\n  "n": 1 // of n\n}', '{\n  "a": 2\n  // about n\n}'),
    ('{\n  "a": 2,\n  "n": 1,\n}', '{\n  "a": 2,\n}'),
    ('{"n": 1, "a": 2}', '{"a": 2}'),
    ('{"a": 2, "n": 1}', '{"a": 2}'),
    ('{"a": 2, "n": 1, }', '{"a": 2, }'),
    ('{"a": 2, "n": 1, "b": 3}', '{"a": 2, "b": 3}'),
    ('{\n  "n": 1\n}', "{}"),
    ('{\n  // kept\n  "n": 1\n}', "{\n  // kept\n}"),
    ('{"n": 1}', "{}"),
    ('{\n  "n": 1,\n  "a": 2,\n  "n": 3\n}', '{\n  "a": 2\n}'),
    ('{ "n": 1,\n  "a": 2 }', '{ \n  "a": 2 }'),
]


@pytest.mark.parametrize(("text", "expected"), REMOVALS)
def test_a_member_is_taken_out_with_its_line_and_comma(text, expected):
    assert remove_member(text, ["n"]) == expected


def test_what_is_not_there_cannot_be_taken_out():
    with pytest.raises(KeyError):
        remove_member('{"a": 1}', ["n"])
    with pytest.raises(KeyError):
        remove_member('{"a": 1}', ["m", "n"])


def test_what_cannot_be_changed_is_refused():
    with pytest.raises(ValueError, match="'n' should be in is no object"):
        set_member('{"m": 1}', ["m", "n"], 1)
    with pytest.raises(TextError):
        set_member("{", ["n"], 1)


# -- any document, any edit ----------------------------------------------------------------------------------

BLANKS = st.lists(
    st.sampled_from([" ", "\n", "\n    ", "\t", "/* , */", "// } ,\n", "\r\n"]), max_size=3
).map("".join)
SCALARS = st.sampled_from(["1", "-2.5", "true", "null", '"a"', '"}//"', '"\\u00e4\\""'])
NAMES = st.sampled_from("abcd")


@st.composite
def values(draw, depth, kind=None, first=()):
    kind = kind or draw(st.sampled_from(["scalar", "object", "array"] if depth else ["scalar"]))
    if kind == "scalar":
        return draw(SCALARS)
    parts = []
    names = [*first, *draw(st.lists(NAMES, max_size=3, unique=True))]
    for name in draw(st.permutations(list(dict.fromkeys(names)))):
        before = f'"{name}"{draw(BLANKS)}:{draw(BLANKS)}' if kind == "object" else ""
        parts.append(f"{draw(BLANKS)}{before}{draw(values(depth - 1))}{draw(BLANKS)}")
    end = f",{draw(BLANKS)}" if parts and draw(st.booleans()) else ""
    opening, closing = "{}" if kind == "object" else "[]"
    return f"{opening}{','.join(parts)}{end if parts else draw(BLANKS)}{closing}"


@st.composite
def documents(draw, *first):
    text = draw(values(3, "object", first))
    return f"{draw(BLANKS)}{text}{draw(BLANKS)}"


def raw_members(text, path):
    """The members of the object at a path, each as it is written, and those of the objects around it."""
    node = parse_jsonc(text).root
    return {member.key: text[member.node.start : member.node.end] for member in node.find(*path).members}


def comments_of(text):
    return [text[one.offset : one.offset + 6] for one in parse_jsonc(text).remarks if one.kind == "comment"]


@given(documents(), st.sampled_from(["n", "a"]), st.sampled_from([1, "x", {"k": [1, "}"]}, []]))
def test_any_document_keeps_everything_but_the_member_that_is_set(text, name, value):
    before, old = raw_members(text, []), json_free(text)
    changed = set_member(text, [name], value)
    after = raw_members(changed, [])
    assert json_free(changed) == {**old, name: value}
    assert {key: raw for key, raw in after.items() if key != name} == {
        key: raw for key, raw in before.items() if key != name
    }
    if name not in before:
        assert comments_of(changed) == comments_of(text)


@given(documents("a"))
def test_any_document_keeps_everything_but_the_member_that_is_taken_out(text):
    before, old = raw_members(text, []), json_free(text)
    changed = remove_member(text, ["a"])
    old.pop("a")
    assert json_free(changed) == old
    assert raw_members(changed, []) == {key: raw for key, raw in before.items() if key != "a"}


@given(documents())
def test_in_any_document_what_is_added_can_be_taken_out_again(text):
    assert json_free(remove_member(set_member(text, ["n"], {"k": 1}), ["n"])) == json_free(text)


def json_free(text):
    value = parse_jsonc(text).root.value
    return json.loads(json.dumps(value))
