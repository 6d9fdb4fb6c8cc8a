import pytest

from mesero.doctor.refusals import kinds
from mesero.doctor.refusals.kinds import Listed


def tool(name="add", **schema):
    return Listed(name, {"type": "object", **schema})


def fix_of(kind, *tools, server=None):
    return [each.fix for each in kind.find(tools, server)]


LENGTH = kinds.NameLength(20, "mcp__{server}__{tool}")


@pytest.mark.parametrize(
    ("name", "server", "what", "fix"),
    [
        (
            "a" * 12,
            "s",
            [],
            [],
        ),
        (
            "a" * 12,
            "notes",
            ["as 'mcp__notes__aaaaaaaaaaaa' its name has 24 characters, more than 20"],
            ["Shorten it to at most 8 characters, or the server's name in the configuration to at most 1."],
        ),
        (
            "add",
            "a-long-server-name",
            ["as 'mcp__a-long-server-name__add' its name has 28 characters, more than 20"],
            ["Shorten the server's name in the configuration to at most 10."],
        ),
        (
            "a" * 13,
            None,
            ["its name has 13 characters, and more than 20 as mcp__{server}__{tool}"],
            ["Shorten it to at most 12 characters, less if the server has a long name."],
        ),
        (
            "a" * 21,
            "notes",
            ["its name has 21 characters, more than 20"],
            ["Shorten it to less than 20: many hosts put the server's name before it."],
        ),
        (
            "a" * 19,
            "a-long-name",
            ["as 'mcp__a-long-name__aaaaaaaaaaaaaaaaaaa' its name has 37 characters, more than 20"],
            ["Shorten it to at most 2 characters."],
        ),
        (
            "a" * 19,
            "a-very-long-name",
            ["as 'mcp__a-very-long-name__aaaaaaaaaaaaaaaaaaa' its name has 42 characters, more than 20"],
            ["Shorten both names."],
        ),
    ],
)
def test_a_length_is_judged_in_the_form_that_a_host_gives_it(name, server, what, fix):
    found = list(LENGTH.find([tool(name)], server))

    assert [each.what for each in found] == what
    assert [each.fix for each in found] == fix


@pytest.mark.parametrize(
    ("name", "what", "fix"),
    [
        ("Create CIFS Share", "its name has the character ' '", "Call it 'Create_CIFS_Share', for example."),
        ("", "its name is empty", "Give it a name."),
        ("工具", "its name has the character '工'", "Call it 'tool', for example."),
        ("9a", "its name begins with '9'", "Call it '_9a', for example."),
    ],
)
def test_an_odd_name_gets_a_better_one(name, what, fix):
    kind = kinds.NameCharacters("A-Za-z0-9_-", first="A-Za-z_")

    assert [(each.what, each.fix) for each in kind.find([tool(name)], None)] == [(what, fix)]


def test_a_parameter_with_an_odd_name_gets_a_better_one():
    found = list(kinds.PropertyNames("[a-z]+").find([tool(properties={"StartTime<": {}, "ok": {}})], None))

    assert [(each.where, each.fix) for each in found] == [
        ('$.inputSchema.properties["StartTime<"]', "Call it 'StartTime', for example.")
    ]


def test_names_that_become_the_same_are_told_with_both():
    found = list(kinds.SameNames("A-Za-z0-9_").find([tool("a.b"), tool("c"), tool("a_b")], None))

    assert [(each.number, each.what) for each in found] == [(2, "'a.b' and 'a_b' both become 'a_b'")]


def test_a_name_that_comes_three_times_is_told_twice():
    assert len(list(kinds.SameNames().find([tool("a")] * 3, None))) == 2


def test_what_is_cut_to_the_same_name_is_told_with_the_length_that_helps():
    kind = kinds.CutNames(12, "{server}_{tool}", 4, 4)

    assert fix_of(kind, tool("create_a_page"), tool("crease_a_page"), server="s") == [
        "Shorten both to at most 10 characters."
    ]
    assert fix_of(kind, tool("create"), tool("delete"), server="s") == []


def test_a_schema_that_is_no_object_is_passed_over():
    odd = [Listed("a", True, output=7), Listed("b", {"properties": ["a"]})]
    every = [
        kinds.SchemaWords(("anyOf",), is_top=True),
        kinds.ArrayWithoutItems(),
        kinds.TupleItems(),
        kinds.TypeList(),
        kinds.Enumeration(),
        kinds.Untyped(),
        kinds.PropertyNames("a"),
        kinds.NotObject("outputSchema"),
        kinds.Dialect(("draft-07",), "outputSchema"),
        kinds.RemoteReference("outputSchema"),
    ]

    assert [found for kind in every for found in kind.find(odd, None)] == []


def test_a_keyword_is_looked_for_at_the_top_or_everywhere():
    nested = tool(properties={"a": {"anyOf": [{"anyOf": []}]}})

    assert list(kinds.SchemaWords(("anyOf",), is_top=True).find([nested], None)) == []
    assert [each.where for each in kinds.SchemaWords(("anyOf",)).find([nested], None)] == [
        "$.inputSchema.properties.a",
        "$.inputSchema.properties.a.anyOf[0]",
    ]


def test_a_type_is_shown_as_it_is_written():
    found = list(kinds.NotObject("outputSchema").find([Listed("a", {}, {"type": ["null", "array"]})], None))

    assert [each.what for each in found] == ['its type is ["null","array"], not object']
    found = list(kinds.NotObject("outputSchema").find([Listed("a", {}, {"anyOf": []})], None))
    assert [each.what for each in found] == ["its type is missing, not object"]


def test_a_kind_says_how_it_looks():
    class Incomplete(kinds.EachTool, frozen=True):
        pass

    for kind in (kinds.Kind, Incomplete):
        with pytest.raises(TypeError, match="abstract"):
            kind()
