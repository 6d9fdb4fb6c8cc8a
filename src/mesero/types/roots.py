"""Roots: places that the client lets the server work in.

Deprecated since 2026-07-28: pass places as tool parameters, or as resources.
https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import MetaObject, WireStruct

__all__ = ["ListRootsParams", "ListRootsResult", "Root"]


class Root(WireStruct):
    """A place, as a file: URI. Deprecated: use tool parameters or resources.

    https://modelcontextprotocol.io/specification/2026-07-28/client/roots#root
    """

    uri: str
    name: str | UnsetType = UNSET
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


class ListRootsParams(WireStruct, kw_only=True):
    """The parameters of `roots/list`. Deprecated: use tool parameters or resources.

    https://modelcontextprotocol.io/specification/2026-07-28/client/roots#listing-roots
    """

    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


class ListRootsResult(WireStruct):
    """The client's answer: no `resultType`, since it travels inside a request.

    Deprecated: use tool parameters or resources.
    https://modelcontextprotocol.io/specification/2026-07-28/client/roots#listing-roots
    """

    roots: list[Root]
