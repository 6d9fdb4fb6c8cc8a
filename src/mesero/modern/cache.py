"""The response cache: results that may be reused, for as long and by whom the server said. Pure; time is
passed in.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from mesero.modern import methods

__all__ = ["CacheKey", "ResponseCache", "cache_key_for"]


class CacheKey(NamedTuple):
    """What identifies a response: the server, the method, and the parameters that affect the result."""

    target: str
    method: str
    params: bytes


class _Entry(NamedTuple):
    result: Any
    fresh_until: float


_MAX_TTL_MS = 2**53
"""285,000 years; a number that a server made up must not be too large to count with."""
_IGNORED = ("_meta",)
_NEVER = ("inputResponses", "requestState")


def cache_key_for(target: str, method: str, params: Mapping[str, Any]) -> CacheKey | None:
    """The key of a request; None for one whose result depends on more than its key.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cache-key
    """
    # "Results produced by retrying a request through the multi round-trip requests mechanism … MUST NOT be
    # cached."
    if any(name in params for name in _NEVER):
        return None
    kept = {name: value for name, value in params.items() if name not in _IGNORED}
    return CacheKey(target, method, msgspec.json.encode(kept, order="deterministic"))


def _key_of_reading(target: str, uri: str) -> CacheKey | None:
    return cache_key_for(target, methods.READ_RESOURCE, {"uri": uri})


class ResponseCache:
    """Results by request. Public ones are shared by everybody who uses this cache, private ones stay with
    their authorization context.

    Args:
        max_entries: The most results kept; the least recently used go first.
    """

    def __init__(self, *, max_entries: int = 1000) -> None:
        self._max_entries = max_entries
        self._entries: OrderedDict[tuple[CacheKey, str | None], _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: CacheKey, context: str, now: float) -> Any:
        """A fresh result, or None.

        Args:
            key: The request.
            context: The authorization context of whoever asks.
            now: Seconds on the clock that `store` was given.
        """
        for owner in (context, None):
            entry = self._entries.get((key, owner))
            if entry is None:
                continue
            # Fresh "while: now < t_received + ttlMs"; stale ones go.
            if now < entry.fresh_until:
                self._entries.move_to_end((key, owner))
                return entry.result
            del self._entries[key, owner]
        return None

    def store(self, key: CacheKey, context: str, now: float, result: Any) -> None:
        """Keep a complete result, if its hints allow it. What was kept for the same request gives way either
        way.

        https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cache-scope-field
        """
        for owner in (context, None):
            self._entries.pop((key, owner), None)
        # "If ttlMs is negative, clients SHOULD ignore it and treat it as 0."
        if result.ttl_ms <= 0:
            return
        fresh_until = now + min(result.ttl_ms, _MAX_TTL_MS) / 1000
        self._entries[key, None if result.cache_scope == "public" else context] = _Entry(result, fresh_until)
        if len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)

    def invalidate(self, target: str, notification: str, uri: str | None = None) -> None:
        """Drop what a notification says has changed.

        https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#interaction-with-notifications
        """
        stale = _STALE.get(notification, ())
        for key, owner in list(self._entries):
            if key.target != target or key.method not in stale:
                continue
            if key.method != methods.READ_RESOURCE or uri is None or key == _key_of_reading(target, uri):
                del self._entries[key, owner]

    def drop(self, target: str, method: str) -> None:
        """Drop every page of a list, for example when one of its cursors was refused.

        https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#interaction-with-pagination
        """
        for key, owner in list(self._entries):
            if key.target == target and key.method == method:
                del self._entries[key, owner]


_STALE: dict[str, tuple[str, ...]] = {
    methods.TOOLS_CHANGED: (methods.LIST_TOOLS,),
    methods.PROMPTS_CHANGED: (methods.LIST_PROMPTS,),
    methods.RESOURCES_CHANGED: (methods.LIST_RESOURCES, methods.LIST_TEMPLATES),
    methods.RESOURCE_UPDATED: (methods.READ_RESOURCE,),
}
