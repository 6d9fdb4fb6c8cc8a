"""The memory transport: client and server in one process, joined by real bytes.

Every message is encoded, framed and decoded as on a pipe, so that what works here works there. Chunks, and
the end of them, are handed over in the next turn of the loop, in order.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/index#custom-transports
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
        connect: Makes the server's end, given a function that sends bytes to the client and one that hangs
        up.
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
        self._link: _Link | None = None

    async def open(self) -> None:
        """Make the server's end, a new one after it hung up."""
        if self._is_closed:
            raise self._gone_error()
        if self._is_up:
            return
        link = _Link(self)
        self._link = link
        self._send = self._send_to_peer
        self._peer = self._connect(link.send, link.hang_up)
        self.begin()

    def _send_to_peer(self, data: bytes) -> None:
        if self._peer is not None:
            asyncio.get_running_loop().call_soon(self._peer.receive_bytes, data)

    def receive_from(self, link: _Link, data: bytes) -> None:
        """Take what one of the server's ends wrote; what an earlier one wrote late is lost with it."""
        if link is self._link:
            self.receive_bytes(data)

    def hang_up_from(self, link: _Link) -> None:
        """One of the server's ends hung up."""
        if link is self._link and self._is_up:
            if self._watch is not None:
                self._watch.eof("s2c")
            self.end(
                DisconnectedError("the server hung up", where=self.target, last_message=self._last_message)
            )

    async def aclose(self) -> None:
        """See `mesero.transports.Transport.aclose`."""
        self.mark_closed()
        is_news, self._is_up = self._is_up, False
        if self._watch is not None and is_news:
            self._watch.eof("c2s")
        if self._peer is not None:
            peer, self._peer = self._peer, None
            await peer.aclose()
        if self._watch is not None and is_news:
            self._watch.eof("s2c")


class _Link:
    """The way back from one of the server's ends."""

    __slots__ = ("_transport",)

    def __init__(self, transport: MemoryTransport) -> None:
        self._transport = transport

    def send(self, data: bytes) -> None:
        asyncio.get_running_loop().call_soon(self._transport.receive_from, self, data)

    def hang_up(self) -> None:
        asyncio.get_running_loop().call_soon(self._transport.hang_up_from, self)
