"""The members that results share: type, metadata, cache hints, the next page.

Invariants: `resultType`, `ttlMs` and `cacheScope` are written always, whatever their value; an absent
`resultType` is read as "complete". The server's identity is not a field: whoever sends puts it into `_meta`.
"""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import Cursor, MetaObject, WireStruct

__all__ = [
    "CacheScope",
    "CacheableResult",
    "EmptyResult",
    "PaginatedResult",
    "Result",
    "ResultType",
]

ResultType: TypeAlias = str
"""Known: "complete" and "input_required"; extensions may add others."""

CacheScope: TypeAlias = Literal["public", "private"]
"""Who may reuse a result: everybody, or the same authorization context only."""


# Defaults come from factories because msgspec leaves out a field that equals a plain default,
# and these three must be on the wire.
def _complete() -> ResultType:
    return "complete"


def _stale_at_once() -> int:
    return 0


def _private() -> CacheScope:
    return "private"


class Result(WireStruct, kw_only=True):
    """What every result has. https://modelcontextprotocol.io/specification/2026-07-28/schema#result"""

    # An absent field MUST be treated as "complete", and servers of this revision MUST send it:
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/index#resulttype
    result_type: ResultType = msgspec.field(default_factory=_complete)
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


EmptyResult: TypeAlias = Result
"""A result that says only that it is done."""


class CacheableResult(Result, kw_only=True):
    """A result with cache hints: how long (milliseconds; 0 is stale at once) and by whom it may be reused.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-model
    """

    ttl_ms: int = msgspec.field(default_factory=_stale_at_once)
    cache_scope: CacheScope = msgspec.field(default_factory=_private)


class PaginatedResult(CacheableResult, kw_only=True):
    """One page of a list; `next_cursor` is there while more may follow.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination#response-format
    """

    next_cursor: Cursor | UnsetType = UNSET
