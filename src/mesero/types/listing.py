"""The parameters that all list requests share.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination#request-format
"""

from msgspec import UNSET, UnsetType

from mesero.types.common import Cursor, WireStruct

__all__ = ["ListParams"]


class ListParams(WireStruct):
    """Where a list goes on; without `cursor`, from its start. A cursor is opaque to the client.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#paginatedrequestparams
    """

    cursor: Cursor | UnsetType = UNSET
