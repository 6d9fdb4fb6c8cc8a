"""What a server offers: tools, resources, templates, prompts, completions, in sorted lists.

Lists are sorted by name (or URI), so that equal sets give equal pages whatever the order of registration.
https://modelcontextprotocol.io/specification/2026-07-28/server/tools#capabilities
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from mesero.errors import UsageError
from mesero.modern.server import page_of

__all__ = ["SortedList"]

Entry = TypeVar("Entry")


class SortedList(Generic[Entry]):
    """Entries by key, listed in the order of their keys.

    Args:
        what: What an entry is called in messages to people.
        on_change: Called after an entry was added or removed.
    """

    def __init__(self, what: str, on_change: Callable[[], None]) -> None:
        self._what = what
        self._on_change = on_change
        self._entries: dict[str, Entry] = {}
        self.find: Callable[[str], Entry | None] = self._entries.get
        """The entry under a key, or None."""
        self._sorted: tuple[list[Entry], list[str]] | None = None
        self.was_used = False
        """Whether it ever had an entry."""

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @property
    def entries(self) -> list[Entry]:
        """All entries, sorted."""
        return self._in_order()[0]

    def _in_order(self) -> tuple[list[Entry], list[str]]:
        if self._sorted is None:
            keys = sorted(self._entries)
            self._sorted = ([self._entries[key] for key in keys], keys)
        return self._sorted

    def add(self, key: str, entry: Entry) -> None:
        """Add an entry.

        Raises:
            UsageError: the key is taken.
        """
        if key in self._entries:
            raise UsageError(f"there is a {self._what} {key!r} already")
        self._entries[key] = entry
        self.was_used = True
        self._sorted = None
        self._on_change()

    def remove(self, key: str) -> None:
        """Remove an entry.

        Raises:
            UsageError: there is none.
        """
        if self._entries.pop(key, None) is None:
            raise UsageError(f"there is no {self._what} {key!r}")
        self._sorted = None
        self._on_change()

    def page(self, cursor: str | None, page_size: int) -> tuple[list[Entry], Any]:
        """One page and the next cursor (UNSET on the last one).

        Raises:
            InvalidParamsError: a bad cursor (-32602).
        """
        entries, keys = self._in_order()
        return page_of(entries, keys, cursor, page_size)
