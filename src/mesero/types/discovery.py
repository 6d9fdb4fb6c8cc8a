"""`server/discover`: what the server speaks and offers, asked without a handshake.

https://modelcontextprotocol.io/specification/2026-07-28/server/discover
"""

from msgspec import UNSET, UnsetType

from mesero.types.capabilities import ServerCapabilities
from mesero.types.common import WireStruct
from mesero.types.results import CacheableResult

__all__ = ["DiscoverParams", "DiscoverResult"]


class DiscoverParams(WireStruct):
    """`server/discover` takes no parameters of its own."""


class DiscoverResult(CacheableResult):
    """The revisions that the server speaks, its capabilities, and hints for the model that uses it.

    https://modelcontextprotocol.io/specification/2026-07-28/server/discover#discoverresult
    """

    supported_versions: list[str]
    capabilities: ServerCapabilities
    instructions: str | UnsetType = UNSET
