"""What the server says unasked, in one session after the other: questions, changes, log messages.

Reading never waits for a function of the client's: a question gets a task of its own, and what is merely told
is told in order by a second task. So a function may call the server, and be asked on the way, without end.

https://modelcontextprotocol.io/specification/2025-11-25/basic/index#messages
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mesero.calls import find_owner_id
from mesero.jsonrpc import Notification, Request
from mesero.legacy.answering import Answering, Session
from mesero.legacy.listening import LISTENED_TO, Subscriptions
from mesero.legacy.methods import CANCELLED, ELICITATION_COMPLETE
from mesero.legacy.visiting import Visits
from mesero.transports import Received, Transport

__all__ = ["Hearing"]

_MAX_UNTOLD: Final = 10_000
"""Log messages and the like that may wait for the client's functions; later ones are lost."""


class Hearing:
    """Reads a transport from `start` to `stop`.

    Args:
        transport: Whose unsolicited messages are read.
        answering, visits, subscriptions: Take what concerns them.
        on_notification: Hears of every change that the server announces; must not block.
        tell: Takes whatever else is said; may take its time, and must not raise.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        answering: Answering,
        visits: Visits,
        subscriptions: Subscriptions,
        on_notification: Callable[[Notification], None] | None,
        tell: Callable[[Notification], Awaitable[None]],
    ) -> None:
        self._transport = transport
        self._answering = answering
        self._visits = visits
        self._subscriptions = subscriptions
        self._on_notification = on_notification
        self._tell = tell
        self._untold: asyncio.Queue[Notification] = asyncio.Queue(_MAX_UNTOLD)
        self._is_stopped = False
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, session_of: Callable[[], Session | None]) -> None:
        """Begin to read; ``session_of`` gives the session that a message belongs to."""
        if not self._tasks:
            loop = asyncio.get_running_loop()
            self._is_stopped = False
            self._tasks = [loop.create_task(self._read(session_of)), loop.create_task(self._tell_all())]

    def stop(self) -> list[asyncio.Task[Any]]:
        """Read no more; the tasks that end now. A function that ends the connection goes on."""
        self._is_stopped = True
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        return list(tasks)

    async def _read(self, session_of: Callable[[], Session | None]) -> None:
        async for received in self._transport.unsolicited():
            message, session = received.message, session_of()
            if session is None:
                continue
            if isinstance(message, Request):
                if session.is_lost:
                    continue  # Whoever asked is gone.
                self._answering.take(session, message)
            elif isinstance(message, Notification):
                self._hear(session, message, received)

    def _hear(self, session: Session, message: Notification, received: Received) -> None:
        if message.method == CANCELLED:
            request_id = find_owner_id(message)
            if request_id is not None:
                self._answering.cancel(request_id)
            return
        if not session.handshake.receive_notification(message.method):
            return
        if message.method in LISTENED_TO:
            if self._on_notification is not None:
                self._on_notification(message)
            self._subscriptions.take(received)
        elif message.method == ELICITATION_COMPLETE:
            self._visits.note(message)
        else:
            with contextlib.suppress(asyncio.QueueFull):
                self._untold.put_nowait(message)

    async def _tell_all(self) -> None:
        while not self._is_stopped:
            await self._tell(await self._untold.get())
