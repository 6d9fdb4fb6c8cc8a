"""One call of an HTTP session: it runs in a task of its own, and connections come and go.

"Disconnection SHOULD NOT be interpreted as the client cancelling its request": so the request's task only
follows the stream of the call, and ends with the connection. The call ends with its answer, or when the
client cancels it, or with the session.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from mesero.errors import InternalError
from mesero.jsonrpc import Id, encode_error
from mesero.legacy.event_streams import EventStream
from mesero.transports.http_reply import HttpReply

__all__ = ["HttpCall"]


class HttpCall:
    """The `mesero.server.reply.Reply` of one call.

    Args:
        stream: Where its messages go.
        outlet: Takes what nobody can read on the stream any more.
        request_id: The id to answer under; None for an array of messages.
    """

    __slots__ = ("_headers", "_mark", "_outlet", "_request_id", "_status", "_stream", "_task", "is_answered")

    def __init__(
        self, stream: EventStream, outlet: Callable[[bytes], None], request_id: Id | None = None
    ) -> None:
        self._stream = stream
        self._outlet = outlet
        self._request_id = request_id
        self._status = 200
        self._task: asyncio.Task[None] | None = None
        self._headers: tuple[tuple[str, str], ...] = ()
        self._mark: object = None
        self.is_answered = False

    # -- what a server calls ---------------------------------------------------------------------------------

    async def notify(self, raw: bytes) -> None:
        """See `mesero.server.reply.Reply.notify`."""
        if self.is_answered:
            return
        if self._stream.is_lost:
            # The connection is gone, and no event id of it ever arrived. What the call has to ask can only
            # be heard elsewhere.
            self._outlet(raw)
        else:
            self._stream.append(raw)
            await self._stream.drain()

    async def answer(
        self, raw: bytes, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """See `mesero.server.reply.Reply.answer`."""
        if not self.is_answered:
            self.is_answered = True
            self._status, self._headers = status, headers
            self._stream.append(raw, is_last=True)

    async def close_stream(self, retry_ms: int) -> None:
        """See `mesero.server.context.Context.close_stream`."""
        self._stream.suspend(retry_ms)

    # -- its life --------------------------------------------------------------------------------------------

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start what answers through this reply; `follow` comes next, and `finish` when the task is done."""
        self._mark = self._stream.attach()
        self._task = asyncio.get_running_loop().create_task(work)
        return self._task

    async def follow(self, reply: HttpReply) -> None:
        """Carry what the call says on the connection that its request came on."""
        stream = self._stream
        reply.opening = stream.opening
        try:
            if not stream.is_complete:
                await stream.wait()
        except asyncio.CancelledError:
            stream.detach(self._mark)
            raise
        raw = None if reply.is_stream else stream.take_only()
        if raw is not None:
            await reply.answer(raw, status=self._status, headers=self._headers)
        elif self._request_id is None and stream.is_complete and not stream.count:
            # Nothing in that array was owed an answer.
            await reply.accept()
        else:
            if stream.is_complete and not stream.count:
                # There is nothing to come back for.
                reply.opening = None
            await stream.follow(reply, self._mark)
        stream.detach(self._mark)

    def finish(self) -> None:
        """The call has ended. Whoever follows the stream of one that was cancelled waits no longer."""
        self.is_answered = True
        self._stream.end()

    def end(self, *, is_told: bool = True) -> None:
        """The session is over: the client hears it, if it still can, and the call is cancelled.

        Args:
            is_told: Answer the request; else its connection just ends.
        """
        if not is_told:
            self.finish()
        elif not self.is_answered:
            gone = InternalError("the session ended before this was answered")
            self.is_answered = True
            self._status = 404
            self._stream.append(encode_error(self._request_id, gone), is_last=True)
        if self._task is not None:
            self._task.cancel()
