import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.host.nodes import Place, TextError
from mesero.host.toml import add_table, insert_key, parse_toml, remove_table, toml_text_of

WHOLE = '''\
# top
model = "x"

[mcp_servers.a]   # note
command = 'npx'
args = ["-y", # first
  "b", { c = 1, "d e".f = [] }]
env = { K = "v", z.y = 1 }

[mcp_servers.a.more]
when = 1979-05-27 07:32:00
day = 1979-05-27

# about other
[other]
text = """a
"quoted" b"""
raw = \'\'\'c\'d\'\'\'
"" = 1e3
's q' = 1
l.x.y = 0x1F

[[list]]
a = 1
[[list]]
b.c = true
[list.inner]
d = -inf
'''


def check_spans(text, node):
    for member in node.members:
        assert node.value[member.key] == member.node.value
        check_spans(text, member.node)
    for item, value in zip(node.items, node.value if node.items else [], strict=True):
        assert item.value == value
        check_spans(text, item)


@pytest.mark.parametrize("text", [WHOLE, WHOLE.replace("\n", "\r\n"), "\ufeff" + WHOLE, "", "a=1", "\n# c\n"])
def test_every_value_has_its_place_and_means_what_the_standard_library_says(text):
    document = parse_toml(text)
    assert document.root.value == tomllib.loads(text.removeprefix("\ufeff"))
    check_spans(text, document.root)
    assert bool(document.remarks) == text.startswith("\ufeff")


def test_places_are_those_of_the_text():
    document = parse_toml(WHOLE)
    server = document.root.find("mcp_servers", "a")
    assert document.place(document.root.find("mcp_servers").find_member("a").start) == Place(4, 14)
    command = server.find("command")
    assert WHOLE[command.start : command.end] == "'npx'"
    assert [WHOLE[one.start : one.end] for one in server.find("args").items[:2]] == ['"-y"', '"b"']
    assert WHOLE[server.start :].startswith("[mcp_servers.a]")
    assert WHOLE[: server.end].endswith('env = { K = "v", z.y = 1 }')


@pytest.mark.parametrize(
    ("text", "place", "fix"),
    [
        ("a = npx\n", (1, 5), "quotes"),
        ("a = 1\na = 2\n", (2, 6), "Correct"),
        ('\n[a\nb = "', (2, 3), "missing ]"),
        ('a = ["x" "y"]', (1, 10), "comma between"),
        ('a = "x\n', (1, 7), 'missing "'),
        ("a: b", (1, 2), "Write ="),
        (r'a = "\dir"', (1, 8), "single quotes"),
        ("a = [1,\n", (2, 1), ""),
        ("a = " + "[" * 3000 + "]" * 3000, (1, 1), "flatter"),
    ],
)
def test_what_is_no_toml_is_refused_at_its_place(text, place, fix):
    with pytest.raises(TextError) as caught:
        parse_toml(text)
    assert caught.value.place == Place(*place)
    assert fix in caught.value.fix


ENTRY = {"command": "npx", "args": ["-y"], "env": {"A": "b", "c d": "e"}}
TABLE = '[mcp_servers.n]\ncommand = "npx"\nargs = ["-y"]\nenv = { A = "b", "c d" = "e" }'

ADDITIONS = [
    ("", f"{TABLE}\n"),
    ("a = 1\n", f"a = 1\n\n{TABLE}\n"),
    ("a = 1", f"a = 1\n\n{TABLE}\n"),
    ("[x]\na = 1\n", f"[x]\na = 1\n\n{TABLE}\n"),
    ('[mcp_servers.m]\ncommand = "x" # c\n\n# about x\n[x]\n', None),
    ("[mcp_servers]\nm.command = 'x'\n", f"[mcp_servers]\nm.command = 'x'\n\n{TABLE}\n"),
]


@pytest.mark.parametrize(("text", "expected"), ADDITIONS)
def test_a_table_is_added_behind_its_sisters_or_at_the_end_and_comes_out_again(text, expected):
    if expected is None:
        expected = f'[mcp_servers.m]\ncommand = "x" # c\n\n{TABLE}\n\n# about x\n[x]\n'
    for lines in (str, lambda part: part.replace("\n", "\r\n")):
        changed = add_table(lines(text), ["mcp_servers", "n"], ENTRY)
        if "\n" in text or not text or lines is str:
            assert changed == lines(expected) or not text
        assert remove_table(changed, ["mcp_servers", "n"]).rstrip() == lines(text).rstrip()


def test_what_is_there_already_or_written_on_one_line_is_not_added_to():
    with pytest.raises(ValueError, match="'a' is there already"):
        add_table(WHOLE, ["mcp_servers", "a"], ENTRY)
    with pytest.raises(ValueError, match="in braces"):
        add_table("mcp_servers = { m = {} }\n", ["mcp_servers", "n"], ENTRY)


INSERTIONS = [
    ("[s.a]\ncommand = 'x' # c\nz = 1\n", "[s.a]\ncommand = 'x' # c\nargs = [\"y\"]\nz = 1\n"),
    ("[s.a]\r\n  command = 'x'\r\n", "[s.a]\r\n  command = 'x'\r\n  args = [\"y\"]\r\n"),
    ("[s.a]\ncommand = 'x'", "[s.a]\ncommand = 'x'\nargs = [\"y\"]"),
    ("[s]\na = { command = 'x', z = 1 }\n", "[s]\na = { command = 'x', args = [\"y\"], z = 1 }\n"),
    ("[s]\na = { z = 1, command = 'x' }\n", "[s]\na = { z = 1, command = 'x', args = [\"y\"] }\n"),
    ("[s]\na.command = 'x'\n", "[s]\na.command = 'x'\na.args = [\"y\"]\n"),
]


@pytest.mark.parametrize(("text", "expected"), INSERTIONS)
def test_a_key_is_put_behind_another_and_comes_out_again(text, expected):
    assert insert_key(text, ["s", "a", "args"], ["y"], after="command") == expected
    assert remove_table(expected, ["s", "a", "args"]) in (text, f"{text}\n")


def test_there_must_be_a_key_to_put_it_behind():
    with pytest.raises(KeyError):
        insert_key("[s.a]\nx = 1\n", ["s", "a", "args"], [], after="command")
    with pytest.raises(KeyError):
        insert_key("", ["s", "a", "args"], [], after="command")


def test_a_table_goes_with_all_that_is_below_it_and_comments_around_it_stay():
    gone = remove_table(WHOLE, ["mcp_servers", "a"])
    assert gone.startswith('# top\nmodel = "x"\n\n# about other\n[other]\n')
    assert remove_table("[s]\na = { x = 1, y = 2 }\n", ["s", "a", "x"]) == "[s]\na = { y = 2 }\n"
    assert remove_table("[s]\na = { x = 1 }\n", ["s", "a", "x"]) == "[s]\na = {  }\n"
    assert remove_table("[s.a]\nx = 1", ["s", "a"]) == ""
    with pytest.raises(KeyError):
        remove_table(WHOLE, ["mcp_servers", "z"])


@given(
    st.recursive(
        st.text() | st.integers(-(2**60), 2**60) | st.booleans(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    )
)
def test_any_value_can_be_written(value):
    assert tomllib.loads(f"x = {toml_text_of(value)}")["x"] == value


def test_there_is_no_null():
    with pytest.raises(ValueError, match="no null"):
        toml_text_of([None])
