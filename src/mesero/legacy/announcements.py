"""Changes on their way to the client of one session, which hears of them unasked.

Changes that say the same thing are sent once if they come faster than the client reads, so nothing piles up.

https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from mesero.server.bus import Change
from mesero.server.subscriptions import call_in_loop

__all__ = ["Announcements"]


class Announcements:
    """What one session hears of the server's bus.

    Args:
        encode: The notification for a change; None for one that the client is not told of. Called from any
            thread.
        outlet: Puts a message where the client finds it.
        drain: Waits while the client does not read; None where nothing can be waited for.
    """

    is_ending = False

    def __init__(
        self,
        encode: Callable[[Change], bytes | None],
        outlet: Callable[[bytes], None],
        drain: Callable[[], Awaitable[None]] | None,
    ) -> None:
        self._encode = encode
        self._outlet = outlet
        self._drain = drain
        self._loop = asyncio.get_running_loop()
        self._pending: dict[bytes, None] = {}
        self._task: asyncio.Task[None] | None = None

    def publish(self, change: Change) -> None:
        """Hear of a change, from whatever thread."""
        raw = self._encode(change)
        if raw is not None:
            call_in_loop(self._loop, self._take, raw)

    def _take(self, raw: bytes) -> None:
        self._pending[raw] = None
        if self._task is None and not self.is_ending:
            self._task = self._loop.create_task(self._send())

    async def _send(self) -> None:
        try:
            while self._pending and not self.is_ending:
                raw = next(iter(self._pending))
                del self._pending[raw]
                self._outlet(raw)
                if self._drain is not None:
                    await self._drain()
        finally:
            self._task = None

    def end(self) -> None:
        """The server ends its subscriptions; a session has none that could be ended by itself."""

    def close(self) -> None:
        """Tell nothing more."""
        self.is_ending = True
        self._pending.clear()
        if self._task is not None:
            self._task.cancel()
