import builtins

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mesero.errors import UsageError
from mesero.host.nodes import Place, TextError
from mesero.host.yaml import add_member, insert_member, parse_yaml, remove_block, yaml_text_of

WHOLE = """\
# top
MODEL: x
extensions:
  developer:      # comes along
    enabled: true
    type: builtin
  fetch:
    cmd: uvx
    args:
    - mcp-server-fetch
    # inner
    - "--x"
    envs: {}
    keys: [A, b, 5, 1.5, null]
    description:

# tail
other: |
  text
  more

last: 2001-01-01
"""


@pytest.mark.parametrize(
    "text", [WHOLE, WHOLE.replace("\n", "\r\n"), "- 1\n- {a: b}\n", "just text", "5: a\n"]
)
def test_every_value_means_what_the_library_says(text):
    found = parse_yaml(text).root.value
    expected = yaml.safe_load(text)
    assert found == (expected if expected != {5: "a"} else {"5": "a"})


def test_an_empty_text_is_an_empty_object():
    assert parse_yaml("# nothing\n").root.value == {}
    assert parse_yaml("").remarks == ()
    assert parse_yaml("\ufeffa: 1").remarks[0].kind == "bom"


def test_places_are_those_of_the_text():
    document = parse_yaml(WHOLE)
    server = document.root.find("extensions", "fetch")
    assert document.place(document.root.find("extensions").find_member("fetch").start) == Place(7, 3)
    assert WHOLE[server.start : server.end].startswith("cmd: uvx")
    assert WHOLE[server.start : server.end].endswith("description:")
    command = server.find("cmd")
    assert WHOLE[command.start : command.end] == "uvx"
    assert [WHOLE[one.start : one.end] for one in server.find("args").items] == ["mcp-server-fetch", '"--x"']


@pytest.mark.parametrize(
    ("text", "place", "fix"),
    [
        ("a: [1", (1, 6), "comma or ]"),
        ("a: {b: 1", (1, 9), "comma or }"),
        ("a: `x`", (1, 4), "in quotes"),
        ("a: *x", (1, 4), "in quotes"),
        (r'a: "C:\Users"', (1, 9), "single quotes"),
        ('a: "x', (1, 6), "missing quote"),
        ("a:\n  - x\n b: 1", (3, 2), "Indent it as"),
        ("a:\n\t- b", (2, 1), "spaces"),
        ("a: b: c", (1, 5), "a colon in quotes"),
        ("a: &x [*x]", (1, 4), "flatter"),
        ("a: \x00", (1, 1), ""),
        ("[" * 500, (1, 1), ""),
    ],
)
def test_what_is_no_yaml_is_refused_at_its_place(text, place, fix):
    with pytest.raises(TextError) as caught:
        parse_yaml(text)
    if "\x00" not in text and "[[" not in text:
        assert caught.value.place == Place(*place)
    assert fix in caught.value.fix


def test_aliases_that_multiply_are_refused():
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 8)]
    with pytest.raises(TextError, match="too large"):
        parse_yaml("\n".join(lines))


def test_a_value_of_an_unknown_kind_is_its_text():
    assert parse_yaml("a: !mine x\nb: 2001-99-99\n? [1]\n: 2\n").root.value == {
        "a": "x",
        "b": "2001-99-99",
        "[1]": 2,
    }


def test_without_the_library_the_reader_is_told_what_to_install(monkeypatch):
    known = builtins.__import__

    def find(name, *rest):
        if name == "yaml":
            raise ImportError(name)
        return known(name, *rest)

    monkeypatch.setattr(builtins, "__import__", find)
    with pytest.raises(UsageError, match=r"pip install 'mesero\[yaml\]'"):
        parse_yaml("a: 1")


ENTRY = {"type": "stdio", "args": ["-y"], "envs": {"A": "b"}}
LINES = '  "n":\n    type: stdio\n    args: ["-y"]\n    envs: {"A": "b"}'

ADDITIONS = [
    ("", None),
    ("a: 1\n", f"a: 1\nextensions:\n{LINES}\n"),
    ("extensions:\na: 1\n", None),
    ("extensions: {} # c\na: 1\n", None),
    ("extensions:\n  b: {cmd: x}", None),
    ("extensions:\n    b:\n        cmd: x # c\n\n# tail\na: 1\n", None),
]


@pytest.mark.parametrize(("text", "expected"), ADDITIONS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_mapping_is_added_behind_the_last_one_and_the_rest_stays(text, expected, end):
    text = text.replace("\n", end)
    changed = add_member(text, ["extensions", "n"], ENTRY)
    data = yaml.safe_load(changed)
    assert data.pop("extensions")["n"] == ENTRY
    assert data == {key: value for key, value in (yaml.safe_load(text) or {}).items() if key != "extensions"}
    assert changed.count("#") == text.count("#")
    if expected is not None:
        assert changed == expected.replace("\n", end)


@pytest.mark.parametrize(
    "text", [WHOLE, "extensions:\n  b: {cmd: x}", "extensions:\r\n  b:\r\n    cmd: x # c\r\n"]
)
def test_what_was_added_comes_out_without_a_trace(text):
    assert remove_block(add_member(text, ["extensions", "n"], ENTRY), ["extensions", "n"]) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("extensions:\n  n: {}\n", "there already"),
        ("extensions: {b: {}}\n", "in braces"),
        ("extensions: 5\n", "no mapping"),
        ("- 1\n", "no mapping"),
    ],
)
def test_what_cannot_be_added_to_is_refused(text, why):
    with pytest.raises(ValueError, match=why):
        add_member(text, ["extensions", "n"], ENTRY)


INSERTIONS = [
    ("e:\n  f:\n    cmd: x # c\n    z: 1\n", 'e:\n  f:\n    cmd: x # c\n    args: ["y"]\n    z: 1\n'),
    ("e:\n  f:\n    cmd: x", 'e:\n  f:\n    cmd: x\n    args: ["y"]'),
    ("e:\n  f: {cmd: x, z: 1}\n", 'e:\n  f: {cmd: x, args: ["y"], z: 1}\n'),
    ("e:\n  f: {cmd: x}\n", 'e:\n  f: {cmd: x, args: ["y"]}\n'),
]


@pytest.mark.parametrize(("text", "expected"), INSERTIONS)
def test_a_member_is_put_behind_another_and_comes_out_again(text, expected):
    assert insert_member(text, ["e", "f", "args"], ["y"], after="cmd") == expected
    assert remove_block(expected, ["e", "f", "args"]) == text


def test_there_must_be_a_member_to_put_it_behind():
    with pytest.raises(KeyError):
        insert_member("e: {f: {}}", ["e", "f", "args"], [], after="cmd")
    with pytest.raises(KeyError):
        insert_member("", ["e", "f", "args"], [], after="cmd")


def test_a_mapping_goes_with_its_lines():
    assert remove_block(WHOLE, ["extensions", "fetch"]) == (
        WHOLE[: WHOLE.index("  fetch")] + WHOLE[WHOLE.index("\n# tail") :]
    )
    assert remove_block("e:\n  n:\n    a: 1\n", ["e", "n"]) == "e:\n  {}\n"
    assert remove_block("e: {n: 1, b: 2}\n", ["e", "n"]) == "e: {b: 2}\n"
    assert remove_block("e: {n: 1}\n", ["e", "n"]) == "e: {}\n"
    assert remove_block("e:\n  n: 1\n  b: 2\n  n: 3\n", ["e", "n"]) == "e:\n  b: 2\n"


def test_what_is_not_there_or_shares_its_line_cannot_be_taken_out():
    with pytest.raises(KeyError):
        remove_block(WHOLE, ["extensions", "z"])
    with pytest.raises(ValueError, match="shares its line"):
        remove_block("? n\n: 1\n? a\n: 2\n", ["n"])


@given(st.recursive(st.text() | st.integers() | st.booleans() | st.none(), st.lists))
def test_any_value_can_be_written(value):
    assert yaml.safe_load(f"x: {yaml_text_of(value)}")["x"] == value


@pytest.mark.parametrize("word", ["yes", "No", "null", "5", "a: b", "", "# x", "-", "~", "N"])
def test_words_that_mean_something_else_are_quoted(word):
    assert yaml_text_of(word).startswith('"')
    assert yaml_text_of("npx") == "npx"
