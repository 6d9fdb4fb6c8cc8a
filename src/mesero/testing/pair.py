"""A client and a server in one process, and what passed between them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mesero.client import Client
from mesero.jsonrpc import decode_value
from mesero.transports import Direction, HttpFacts

if TYPE_CHECKING:
    from mesero.server import Server

__all__ = ["Wire", "memory_pair"]


class Wire:
    """Every message that passed, in order, as decoded JSON."""

    def __init__(self) -> None:
        self._messages: list[tuple[Direction, dict[str, Any]]] = []

    def see(self, direction: Direction, raw: bytes, http: HttpFacts | None = None) -> None:
        """Take a message; an `mesero.transports.Observer`."""
        del http  # There is none in memory.
        self._messages.append((direction, decode_value(raw)))

    @property
    def sent(self) -> list[dict[str, Any]]:
        """What the client sent."""
        return [message for direction, message in self._messages if direction == "c2s"]

    @property
    def received(self) -> list[dict[str, Any]]:
        """What the server sent."""
        return [message for direction, message in self._messages if direction == "s2c"]


@asynccontextmanager
async def memory_pair(server: Server, **settings: Any) -> AsyncIterator[tuple[Client, Wire]]:
    """A client connected to a server over the memory transport, and the wire between them::

        async with memory_pair(server) as (client, wire):
            await client.list_tools()
        assert wire.sent[-1]["method"] == "tools/list"

    Args:
        server: The server.
        settings: Those of `mesero.Client`.
    """
    wire = Wire()
    async with Client(server, trace=wire.see, **settings) as client:
        yield client, wire
