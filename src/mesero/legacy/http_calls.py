"""One call of an HTTP session: it runs in the task of its request, and outlives the connection.

"Disconnection SHOULD NOT be interpreted as the client cancelling its request": the call ends with its answer,
or when the client cancels it, or with the session. What it says before its answer goes on an event stream,
which a task of its own writes to the connection for as long as there is one; a call that says nothing needs
neither.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from mesero.errors import InternalError
from mesero.jsonrpc import Id, encode_error
from mesero.legacy.event_streams import EventStore, EventStream
from mesero.transports.http_reply import HttpReply

__all__ = ["HttpCall"]


class HttpCall:
    """The `mesero.server.reply.Reply` of one call.

    Args:
        store: The streams of the session.
        outlet: Takes what can be read nowhere else.
        reply: The way back on the connection that the request came on.
        request_id: The id to answer under; None for an array of messages.
        primes: See `EventStream`.
    """

    __slots__ = (
        "_mark",
        "_outlet",
        "_parting",
        "_primes",
        "_reply",
        "_store",
        "_stream",
        "_writer",
        "is_answered",
        "is_cancelled",
        "request_id",
        "task",
    )

    def __init__(
        self,
        store: EventStore,
        outlet: Callable[[bytes], None],
        reply: HttpReply,
        request_id: Id | None = None,
        *,
        primes: bool,
    ) -> None:
        self.request_id = request_id
        self.task = asyncio.current_task()
        self.is_answered = False
        self.is_cancelled = False
        """Whether the client, or the end of the session, cancels it; any other cancellation is not ours."""
        self._store = store
        self._outlet = outlet
        self._reply = reply
        self._primes = primes
        self._stream: EventStream | None = None
        self._mark: object = None
        self._writer: asyncio.Task[None] | None = None
        self._parting: bytes | None = None
        reply.opening = self._open
        reply.on_gone = self._leave

    @property
    def is_connected(self) -> bool:
        """Whether the connection of its request is still there, and waits."""
        return not self._reply.is_answered

    # -- what a server calls ---------------------------------------------------------------------------------

    async def notify(self, raw: bytes) -> None:
        """See `mesero.server.reply.Reply.notify`."""
        if self.is_answered:
            return
        stream = self._begun()
        if stream.is_lost:
            # The connection is gone, and no event id of it ever arrived. What the call has to ask can only
            # be heard elsewhere.
            self._outlet(raw)
        else:
            stream.append(raw)
            await stream.drain()

    async def answer(
        self, raw: bytes, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """See `mesero.server.reply.Reply.answer`."""
        if self.is_answered:
            return
        self.is_answered = True
        if self._stream is None and not self._reply.is_stream:
            await self._reply.answer(raw, status=status, headers=headers)
        else:
            self._begun().append(raw, is_last=True)

    async def close_stream(self, retry_ms: int) -> None:
        """See `mesero.server.context.Context.close_stream`."""
        if self._primes and not self.is_answered:
            self._begun().suspend(retry_ms)

    # -- its stream ------------------------------------------------------------------------------------------

    def _begun(self) -> EventStream:
        """The stream, followed by the connection if that is still there."""
        if self._stream is None:
            self._stream = self._store.open(primes=self._primes)
            if not self._reply.is_answered:
                self._mark = self._stream.attach()
                following = self._stream.follow(self._reply, self._mark)
                self._writer = asyncio.get_running_loop().create_task(following)
        return self._stream

    def _open(self) -> bytes:
        return self._begun().opening()

    def _leave(self) -> None:
        if self._stream is not None and self._writer is not None:
            self._writer.cancel()
            # It may not even have started.
            self._stream.detach(self._mark)

    # -- its life --------------------------------------------------------------------------------------------

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work that answers through this reply, in the task of the request."""
        try:
            try:
                await work
            except asyncio.CancelledError:
                if not self.is_cancelled or self.task is None:
                    raise
                while self.task.uncancel():
                    pass
            await self._finish()
        finally:
            self.is_answered = True
            if self._stream is not None:
                self._stream.end()
                self._leave()
            # The reply knew us: without this, only the collector of cycles would find the two.
            self._reply.opening = self._reply.on_gone = None

    async def _finish(self) -> None:
        """The call is over; its connection ends when everything is written."""
        self.is_answered = True
        if self._stream is not None:
            self._stream.end()
            if self._writer is not None:
                await asyncio.wait((self._writer,))
        elif self._parting is not None:
            await self._reply.answer(self._parting, status=404)
        elif self._reply.is_answered:
            return
        elif self.request_id is None:
            # Nothing in that array was owed an answer.
            await self._reply.accept()
        else:
            # There is nothing to come back for.
            self._reply.opening = None
            await self._reply.finish()

    def end(self, *, is_told: bool = True) -> None:
        """The session is over, and with it the call.

        Args:
            is_told: Answer the request, if anybody can still hear it; else its connection just ends.
        """
        if is_told and not self.is_answered:
            gone = InternalError("the session ended before this was answered")
            self._parting = encode_error(self.request_id, gone)
            if self._stream is not None:
                self._stream.append(self._parting, is_last=True)
        self.is_answered = True
        self.is_cancelled = True
        if self._stream is not None:
            self._stream.end()
        if self.task is not None:
            self.task.cancel()
