"""The `data` of the errors that this revision gives a shape to. Codes and exceptions are not in here.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes
"""

from mesero.types.capabilities import ClientCapabilities
from mesero.types.common import WireStruct

__all__ = ["MissingRequiredClientCapabilityData", "UnsupportedProtocolVersionData"]


class UnsupportedProtocolVersionData(WireStruct):
    """With -32022: the revisions that the server speaks, and the one that was asked for.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#unsupportedprotocolversionerror
    """

    supported: list[str]
    requested: str


class MissingRequiredClientCapabilityData(WireStruct):
    """With -32021: the capabilities that the client would have had to declare.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#missingrequiredclientcapabilityerror
    """

    required_capabilities: ClientCapabilities
