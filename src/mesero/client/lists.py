"""Lists over several pages, and when to stop asking for more.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import UNSET

from mesero.errors import ProtocolError

__all__ = ["MAX_PAGES", "collect_pages"]

MAX_PAGES = 1000
"""So many pages are read before a list is taken for endless."""


async def collect_pages(
    fetch: Callable[[Mapping[str, Any]], Awaitable[Any]], method: str, field: str, *, where: str = ""
) -> list[Any]:
    """The entries of all pages.

    Args:
        fetch: From parameters to one page's result.
        method: For messages to people.
        field: The result's member that holds the entries.
        where: The server, for messages to people.

    Raises:
        ProtocolError: the list does not end: the same cursor and the same page again, or more pages than
            anybody reads.
    """
    entries: list[Any] = []
    params: dict[str, Any] = {}
    previous: tuple[Any, Any] | None = None
    for _ in range(MAX_PAGES):
        page = await fetch(params)
        found = getattr(page, field)
        entries.extend(found)
        # "an empty string is a valid cursor and thus MUST NOT be treated as the end of results"
        if page.next_cursor is UNSET:
            return entries
        if previous == (page.next_cursor, found):
            raise ProtocolError(
                f"{method} does not end: the cursor {page.next_cursor!r} gives the same page again",
                where=where,
            )
        previous = (page.next_cursor, found)
        params = {"cursor": page.next_cursor}
    raise ProtocolError(
        f"{method} does not end: {MAX_PAGES} pages with {len(entries)} entries were read", where=where
    )
