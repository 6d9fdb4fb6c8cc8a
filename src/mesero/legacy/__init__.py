"""The adapter for the revisions that begin with a handshake: 2024-11-05 to 2025-11-25.

What lives here: the handshake as a state table (`handshake`), which methods each revision has (`methods`),
and the translation between the public vocabulary of `mesero.types` and each revision's own shapes
(`translate`, with `shapes`, `contents`, `schemas`, `forms`, `sampling` and `upwards` below it). Those are
pure: no clock, no socket, nothing async.
Invariants: only `mesero.eras` imports this package; deleting the folder leaves a package that speaks the
stateless revisions.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mesero.legacy.http import HttpSessions
    from mesero.legacy.serving import ServerSession
    from mesero.legacy.sse import SseSessions

__all__ = ["HttpSessions", "ServerSession", "SseSessions"]

# Each side loads its own half: a client has no server in it.
_HOMES: Final = {
    "HttpSessions": "mesero.legacy.http",
    "ServerSession": "mesero.legacy.serving",
    "SseSessions": "mesero.legacy.sse",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
