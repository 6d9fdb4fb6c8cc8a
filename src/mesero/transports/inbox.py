"""What came from a server and answers nothing, kept until somebody reads it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/index
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from mesero.transports import Received

__all__ = ["Inbox"]

_MAX_UNREAD = 10_000
_MAX_UNREAD_BYTES = 64 * 1024 * 1024


class Inbox:
    """Messages in the order they came; the last 10,000 unread ones are kept, of 64 MiB together at most.

    The last one is kept, whatever its size.
    """

    def __init__(self) -> None:
        self._unread: deque[Received] = deque()
        self._size = 0
        self._is_closed = False
        self._reader: asyncio.Future[None] | None = None

    def put(self, received: Received) -> None:
        """Keep a message, and wake who waits for one."""
        self._unread.append(received)
        self._size += len(received.raw)
        while len(self._unread) > _MAX_UNREAD or (self._size > _MAX_UNREAD_BYTES and len(self._unread) > 1):
            self._take()
        self._wake()

    def close(self) -> None:
        """Nothing more will come: readers end once they have read the rest."""
        self._is_closed = True
        self._wake()

    def _take(self) -> Received:
        received = self._unread.popleft()
        self._size -= len(received.raw)
        return received

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def read(self) -> AsyncIterator[Received]:
        """The messages, one by one, until the end. One reader is enough: the last one that waits is woken."""
        while True:
            while self._unread:
                yield self._take()
            if self._is_closed:
                return
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
