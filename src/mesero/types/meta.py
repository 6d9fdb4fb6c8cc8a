"""The reserved keys of `_meta`, and the request's metadata as a Struct.

Each request carries its own revision and capabilities; nothing in here may be remembered for the next one.
https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
"""

from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.capabilities import ClientCapabilities
from mesero.types.common import Implementation, ProgressToken
from mesero.types.notifications import LoggingLevel

__all__ = [
    "BAGGAGE_KEY",
    "CLIENT_CAPABILITIES_KEY",
    "CLIENT_INFO_KEY",
    "LOG_LEVEL_KEY",
    "PROGRESS_TOKEN_KEY",
    "PROTOCOL_VERSION_KEY",
    "SERVER_INFO_KEY",
    "SUBSCRIPTION_ID_KEY",
    "TRACEPARENT_KEY",
    "TRACESTATE_KEY",
    "RequestMeta",
]

PROTOCOL_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO_KEY: Final = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL_KEY: Final = "io.modelcontextprotocol/logLevel"
SERVER_INFO_KEY: Final = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_ID_KEY: Final = "io.modelcontextprotocol/subscriptionId"
PROGRESS_TOKEN_KEY: Final = "progressToken"  # noqa: S105 - the name of a member, no secret
TRACEPARENT_KEY: Final = "traceparent"
TRACESTATE_KEY: Final = "tracestate"
BAGGAGE_KEY: Final = "baggage"


class RequestMeta(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The `_meta` of one request. The last three are the W3C trace context.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#requestmetaobject
    """

    protocol_version: str = msgspec.field(name=PROTOCOL_VERSION_KEY)
    client_capabilities: ClientCapabilities = msgspec.field(name=CLIENT_CAPABILITIES_KEY)
    client_info: Implementation | UnsetType = msgspec.field(name=CLIENT_INFO_KEY, default=UNSET)
    log_level: LoggingLevel | UnsetType = msgspec.field(name=LOG_LEVEL_KEY, default=UNSET)
    progress_token: ProgressToken | UnsetType = msgspec.field(name=PROGRESS_TOKEN_KEY, default=UNSET)
    traceparent: str | UnsetType = UNSET
    tracestate: str | UnsetType = UNSET
    baggage: str | UnsetType = UNSET
