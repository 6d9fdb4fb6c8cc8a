import pytest

from mesero.errors import HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_REVISION
from mesero.explain.glossary import ENTRIES, METHODS, find_entries, find_entry, near_names
from mesero.revisions import REVISIONS, revision_module_for


def test_no_name_stands_twice_in_one_kind():
    names = [(entry.kind, entry.name) for entry in ENTRIES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind} {entry.name}")
def test_every_entry_says_something_in_whole_words(entry):
    assert entry.title
    assert entry.meaning or entry.kind == "field"
    assert not entry.meaning.endswith((" ", ","))
    assert all(cause == cause.strip() for cause in entry.causes)
    assert entry.era


@pytest.mark.parametrize("term", ["-32602", "tools/call", "Mcp-Name", "404", "progressToken"])
def test_a_name_is_found_as_it_is_written(term):
    assert find_entries(term)[0].name == term


@pytest.mark.parametrize(
    ("term", "name"),
    [
        ("mcp-name", "Mcp-Name"),
        ("Mcp-Name:", "Mcp-Name"),
        ("HTTP 404", "404"),
        ("status 406", "406"),
        ("mcp-param-region", "Mcp-Param-*"),
        ("clientCapabilities", "io.modelcontextprotocol/clientCapabilities"),
        ("ttlms", "result.ttlMs"),
        ("cancelled", "notifications/cancelled"),
        ("tools/list_changed", "notifications/tools/list_changed"),
        ("discover", "server/discover"),
    ],
)
def test_case_and_beginnings_may_be_left_out(term, name):
    assert find_entries(term)[0].name == name


def test_one_word_may_mean_two_things():
    kinds = {entry.kind for entry in find_entries("clientInfo")}
    assert kinds == {"_meta key", "field"}


def test_an_unknown_word_has_neighbours():
    assert find_entries("tool/call") == ()
    assert near_names("tool/call")[0] == "tools/call"
    assert near_names("xyzzy") == ()


def test_an_entry_is_found_by_kind_and_name():
    assert find_entry("header", "Mcp-Name") is not None
    assert find_entry("header", "tools/call") is None


def test_methods_are_those_of_all_revisions():
    known = {method for revision in REVISIONS for method in revision_module_for(revision).METHODS}
    assert set(METHODS) == known


def test_the_codes_of_this_revision_are_explained_for_it():
    for code in (HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_REVISION):
        entry = find_entry("error code", str(code))
        assert entry is not None
        assert entry.revisions == ("2026-07-28",)
