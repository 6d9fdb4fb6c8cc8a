"""The small types that the generated revision modules are written in, and what every such module exports.

Nothing here knows a particular revision: the tables live in ``vYYYY_MM_DD.py``, which
``scripts/generate_revisions.py`` writes from the official JSON Schemas. No JSON Schema library is imported.
Invariant: all revision modules export the names of `RevisionModule`, and no other.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from mesero.errors import UsageError

__all__ = [
    "Direction",
    "ErrorShape",
    "MethodShape",
    "RevisionModule",
    "UnknownRevisionError",
]

Direction = Literal["c2s", "s2c"]
"""Client to server, or server to client; the words that traces use."""


class MethodShape(msgspec.Struct, frozen=True):
    """What one method means in one revision.

    ``kind`` is "request", "notification", or "input": a question that travels inside an input-required result
    and is never a message of its own
    (https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#supported-requests).
    ``definition`` names the schema definition of the message. ``results`` names those of the results that may
    answer it, the ordinary one first; it is empty for notifications.
    """

    kind: Literal["request", "notification", "input"]
    directions: tuple[Direction, ...]
    definition: str
    results: tuple[str, ...] = ()


class ErrorShape(msgspec.Struct, frozen=True):
    """The definition of one error code: of the whole response ("message"), or of its ``error`` member."""

    definition: str
    covers: Literal["message", "error"]


class RevisionModule(Protocol):
    """The names that each ``vYYYY_MM_DD`` module exports.

    ``ENVELOPES`` maps "request", "notification", "result" and "error" to the definition of that JSON-RPC
    envelope; ``METHODS`` is keyed by method and ``ERRORS`` by error code. ``SCHEMA`` is the JSON text of the
    official schema without its prose; `mesero.revisions.schema_for` parses it.
    """

    REVISION: str
    ENVELOPES: dict[str, str]
    METHODS: dict[str, MethodShape]
    ERRORS: dict[int, ErrorShape]
    SCHEMA: str


class UnknownRevisionError(UsageError, KeyError):
    """A revision that mesero does not know: ``revision`` as given, ``known`` oldest first."""

    def __init__(self, revision: object, known: tuple[str, ...]) -> None:
        super().__init__(
            f"{revision!r} is no revision of MCP that mesero knows",
            fix=f"Known are {', '.join(known)}",
        )
        self.revision = revision
        self.known = known
