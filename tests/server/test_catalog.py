import pytest

from mesero.errors import InvalidParamsError, UsageError
from mesero.server.catalog import SortedList


def filled(keys):
    changes = []
    catalog = SortedList("tool", lambda: changes.append(1))
    for key in keys:
        catalog.add(key, key.upper())
    return catalog, changes


def test_entries_are_sorted_whatever_the_order_in_which_they_came():
    assert list(filled("cab")[0]) == list(filled("abc")[0]) == ["A", "B", "C"]
    assert filled("cab")[0].entries == ["A", "B", "C"]


def test_every_change_is_told():
    catalog, changes = filled("ab")
    catalog.remove("a")
    assert len(changes) == 3
    assert (len(catalog), catalog.find("a"), catalog.find("b")) == (1, None, "B")


def test_a_key_is_taken_once_and_removed_once():
    catalog, _ = filled("a")
    with pytest.raises(UsageError, match="there is a tool 'a' already"):
        catalog.add("a", "again")
    catalog.remove("a")
    with pytest.raises(UsageError, match="there is no tool 'a'"):
        catalog.remove("a")


def test_it_remembers_that_it_once_had_something():
    catalog, _ = filled("")
    assert not catalog.was_used
    catalog.add("a", "A")
    catalog.remove("a")
    assert catalog.was_used


def test_pages_follow_each_other_even_when_the_list_changes_in_between():
    catalog, _ = filled("abcdef")
    first, cursor = catalog.page(None, 2)
    assert first == ["A", "B"]
    catalog.remove("b")
    catalog.add("bb", "BB")
    second, cursor = catalog.page(cursor, 2)
    assert second == ["BB", "C"]
    third, cursor = catalog.page(cursor, 9)
    assert third == ["D", "E", "F"]
    with pytest.raises(InvalidParamsError):
        catalog.page("nonsense", 2)
