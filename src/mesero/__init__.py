"""mesero: the whole MCP connection in one light package.

Every public name is here and loaded when it is first used: importing `mesero` costs a few milliseconds, and importing
`Client` never imports a server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mesero.client import Client as Client
    from mesero.server import Context as Context
    from mesero.server import Server as Server

_PLACES = {
    "Client": "mesero.client",
    "Context": "mesero.server",
    "Server": "mesero.server",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'mesero' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(place), name)
    globals()[name] = value
    return value
