import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.host.variables import EXAMPLES, expanded, references_in


@pytest.mark.parametrize(
    ("text", "form", "name", "default"),
    [
        ("a ${TOKEN} b", "braces", "TOKEN", None),
        ("${token_of_mine}", "braces", "token_of_mine", None),
        ("${token}", "braces", "token", None),
        ("${TOKEN:-none}", "braces", "TOKEN", "none"),
        ("${TOKEN:-}", "braces", "TOKEN", ""),
        ("${env:TOKEN}", "env", "TOKEN", None),
        ("${input:token}", "input", "token", None),
        ("${workspaceFolder}/x", "named", "workspaceFolder", None),
        ("${/}", "named", "/", None),
        ("${config:a.b}", "named", "config:a.b", None),
        ("$TOKEN", "bare", "TOKEN", None),
        ("%TOKEN%", "percent", "TOKEN", None),
        ("{env:TOKEN}", "curly", "TOKEN", None),
    ],
)
def test_a_reference_is_known_by_how_it_is_written(text, form, name, default):
    (found,) = references_in(text)
    assert (found.form, found.name, found.default) == (form, name, default)


@pytest.mark.parametrize("text", ["", "pa$word", "$1", "100%", "{a}", "${}", "$", "a%20b%20c"])
def test_what_only_looks_like_one_is_none(text):
    assert references_in(text) == []


def test_every_form_but_the_named_one_has_an_example_that_is_read_as_that_form():
    for form, example in EXAMPLES.items():
        if form != "named":
            assert references_in(example % "NAME")[0].form == form


def test_a_host_follows_its_own_forms_and_leaves_the_others():
    values = {"AA": "1", "B": ""}
    text = "${AA} ${env:AA} $AA {env:AA} ${B}|${C}|${C:-x}"
    assert expanded(text, frozenset({"braces"}), values.get) == "1 ${env:AA} $AA {env:AA} |${C}|x"
    assert expanded(text, frozenset({"env", "bare"}), values.get) == "${AA} 1 1 {env:AA} ${B}|${C}|${C:-x}"
    assert expanded(text, frozenset(), values.get) == text


@given(st.text(alphabet="${}:-envA %", max_size=40))
def test_a_text_without_values_stays_as_it_is(text):
    assert expanded(text, frozenset({"env", "bare", "curly", "percent"}), lambda _: None) == text
