"""Memory that does not grow with the length of a trace: a dict and a set that forget their oldest entries.

What is forgotten is counted, so that a rule can tell "never seen" from "seen too long ago to remember".
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["MAX_REMEMBERED", "BoundedDict"]

MAX_REMEMBERED = 10_000
"""So many entries of each kind are kept for a link."""

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class BoundedDict(dict[_K, _V], Generic[_K, _V]):
    """A dict that drops its oldest entry when a new key would make it longer than ``max_entries``.

    ``dropped`` counts what was dropped that way.
    """

    def __init__(self, max_entries: int = MAX_REMEMBERED) -> None:
        super().__init__()
        self.max_entries = max_entries
        self.dropped = 0

    def __setitem__(self, key: _K, value: _V) -> None:
        if key not in self and len(self) >= self.max_entries:
            del self[next(iter(self))]
            self.dropped += 1
        super().__setitem__(key, value)
