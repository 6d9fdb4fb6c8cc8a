"""The memory transport: client and server in one process, joined by real bytes.

Every message is encoded, framed and decoded as on a pipe, so that what works here works there. Chunks are handed over
in the next turn of the loop, in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from mesero.errors import DisconnectedError
from mesero.jsonrpc import MAX_MESSAGE_BYTES
from mesero.transports import Observer
from mesero.transports.stream import StreamTransport

__all__ = ["MemoryTransport", "StreamPeer"]


class StreamPeer(Protocol):
    """The server's end: takes bytes, and is told when no more will come."""

    def receive_bytes(self, data: bytes) -> None:
        """Take what the client wrote."""

    async def aclose(self) -> None:
        """The client is gone: end everything that still runs for it."""


class MemoryTransport(StreamTransport):
    """A connection to a server in this process.

    Args:
        connect: Makes the server's end, given a function that sends bytes to the client and one that hangs up.
        target: What to call the server in messages to people.
    """

    kind = "memory"

    def __init__(
        self,
        connect: Callable[[Callable[[bytes], None], Callable[[], None]], StreamPeer],
        *,
        target: str = "in this process",
        max_bytes: int = MAX_MESSAGE_BYTES,
        observer: Observer | None = None,
    ) -> None:
        super().__init__(target, max_bytes=max_bytes, observer=observer)
        self._connect = connect
        self._peer: StreamPeer | None = None

    async def open(self) -> None:
        """Make the server's end, a new one after it hung up."""
        if self._is_closed:
            raise self._gone_error()
        if not self._is_up:
            self._peer = self._connect(self._receive_soon, self._hang_up)
            self.begin()

    def _send(self, data: bytes) -> None:
        if self._peer is not None:
            asyncio.get_running_loop().call_soon(self._peer.receive_bytes, data)

    def _receive_soon(self, data: bytes) -> None:
        asyncio.get_running_loop().call_soon(self.receive_bytes, data)

    def _hang_up(self) -> None:
        self.end(DisconnectedError("the server hung up", where=self.target, last_message=self._last_message))

    async def aclose(self) -> None:
        """See `mesero.transports.Transport.aclose`."""
        self.mark_closed()
        self._is_up = False
        if self._peer is not None:
            peer, self._peer = self._peer, None
            await peer.aclose()
