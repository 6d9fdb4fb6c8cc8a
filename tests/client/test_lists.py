"""Lists over several pages."""

from types import SimpleNamespace

import pytest
from msgspec import UNSET

from mesero.client.lists import MAX_PAGES, collect_pages
from mesero.errors import ProtocolError


def pages(*given):
    """A fetch function that serves pages, and the parameters that it saw."""
    seen = []
    left = list(given)

    async def fetch(params):
        seen.append(dict(params))
        entries, cursor = left.pop(0) if len(left) > 1 else left[0]
        return SimpleNamespace(entries=entries, next_cursor=cursor)

    return fetch, seen


async def test_all_pages_are_read():
    fetch, seen = pages(([1, 2], "a"), ([3], "b"), ([4], UNSET))
    assert await collect_pages(fetch, "any/list", "entries") == [1, 2, 3, 4]
    assert seen == [{}, {"cursor": "a"}, {"cursor": "b"}]


async def test_an_empty_string_is_a_cursor():
    fetch, seen = pages(([1], ""), ([2], UNSET))
    assert await collect_pages(fetch, "any/list", "entries") == [1, 2]
    assert seen == [{}, {"cursor": ""}]


async def test_the_same_cursor_and_the_same_page_again_is_an_endless_list():
    fetch, seen = pages(([1], "a"))
    with pytest.raises(
        ProtocolError, match=r"here: any/list does not end: the cursor 'a' gives the same page"
    ):
        await collect_pages(fetch, "any/list", "entries", where="here")
    assert len(seen) == 2


async def test_the_same_cursor_with_other_pages_is_a_server_that_counts_by_itself():
    fetch, _ = pages(([1], "next"), ([2], "next"), ([3], UNSET))
    assert await collect_pages(fetch, "any/list", "entries") == [1, 2, 3]


async def test_a_list_that_grows_for_ever_stops_and_says_so():
    count = 0

    async def fetch(params):
        nonlocal count
        count += 1
        return SimpleNamespace(entries=[count], next_cursor=str(count))

    with pytest.raises(
        ProtocolError, match=rf"any/list does not end: {MAX_PAGES} pages with {MAX_PAGES} entries"
    ):
        await collect_pages(fetch, "any/list", "entries")
