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


class Result(WireStruct, kw_only=True, omit_defaults=False):
    """What every result has. Defaults are written: `resultType` and the cache hints must be on the wire.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#result
    """

    # An absent field MUST be treated as "complete", and servers of this revision MUST send it:
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/index#resulttype
    result_type: ResultType = "complete"
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


EmptyResult: TypeAlias = Result
"""A result that says only that it is done."""


class CacheableResult(Result, kw_only=True):
    """A result with cache hints: how long (milliseconds; 0 is stale at once) and by whom it may be reused.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-model
    """

    ttl_ms: int = 0
    cache_scope: CacheScope = "private"


class PaginatedResult(CacheableResult, kw_only=True):
    """One page of a list; `next_cursor` is there while more may follow.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination#response-format
    """

    next_cursor: Cursor | UnsetType = UNSET
