"""mesero: the whole MCP connection in one light package.

Every public name is here and loaded when it is first used: importing `mesero` costs a few milliseconds, and
importing `Client` never imports a server.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mesero.client import (
        Client,
        Decision,
        Listening,
        Progress,
        ServerChange,
        ServerFacts,
        form_defaults,
    )
    from mesero.errors import (
        AuthorizationNeededError,
        CallTimeoutError,
        ClosedError,
        ConnectError,
        DisconnectedError,
        HttpStatusError,
        InputNeededError,
        InvalidResultError,
        LaunchError,
        MeseroError,
        MissingCapabilityError,
        NoCommonRevisionError,
        ProtocolError,
        ResourceNotFoundError,
        RpcError,
        ToolFailedError,
        TransportError,
        UsageError,
    )
    from mesero.extensions import (
        Extension,
        MethodSpec,
    )
    from mesero.server import (
        Answer,
        Context,
        NotAuthorizedError,
        Operation,
        Server,
        ToolError,
        header,
    )

__all__ = [
    "Answer",
    "AuthorizationNeededError",
    "CallTimeoutError",
    "Client",
    "ClosedError",
    "ConnectError",
    "Context",
    "Decision",
    "DisconnectedError",
    "Extension",
    "HttpStatusError",
    "InputNeededError",
    "InvalidResultError",
    "LaunchError",
    "Listening",
    "MeseroError",
    "MethodSpec",
    "MissingCapabilityError",
    "NoCommonRevisionError",
    "NotAuthorizedError",
    "Operation",
    "Progress",
    "ProtocolError",
    "ResourceNotFoundError",
    "RpcError",
    "Server",
    "ServerChange",
    "ServerFacts",
    "ToolError",
    "ToolFailedError",
    "TransportError",
    "UsageError",
    "__version__",
    "form_defaults",
    "header",
]

__version__ = "0.1.0"

_PLACES = {
    "Client": "mesero.client",
    "Decision": "mesero.client",
    "Listening": "mesero.client",
    "Progress": "mesero.client",
    "ServerChange": "mesero.client",
    "ServerFacts": "mesero.client",
    "form_defaults": "mesero.client",
    "Answer": "mesero.server",
    "Context": "mesero.server",
    "NotAuthorizedError": "mesero.server",
    "Operation": "mesero.server",
    "Server": "mesero.server",
    "ToolError": "mesero.server",
    "header": "mesero.server",
    "AuthorizationNeededError": "mesero.errors",
    "CallTimeoutError": "mesero.errors",
    "ClosedError": "mesero.errors",
    "ConnectError": "mesero.errors",
    "DisconnectedError": "mesero.errors",
    "HttpStatusError": "mesero.errors",
    "InputNeededError": "mesero.errors",
    "InvalidResultError": "mesero.errors",
    "LaunchError": "mesero.errors",
    "MeseroError": "mesero.errors",
    "MissingCapabilityError": "mesero.errors",
    "NoCommonRevisionError": "mesero.errors",
    "ProtocolError": "mesero.errors",
    "ResourceNotFoundError": "mesero.errors",
    "RpcError": "mesero.errors",
    "ToolFailedError": "mesero.errors",
    "TransportError": "mesero.errors",
    "UsageError": "mesero.errors",
    "Extension": "mesero.extensions",
    "MethodSpec": "mesero.extensions",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'mesero' has no attribute {name!r}")
    value = getattr(importlib.import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
