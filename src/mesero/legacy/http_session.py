"""One session over HTTP: its calls, its streams, and who is connected to which.

A message that belongs to no call goes on one stream only: that of the connection which was opened last.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#multiple-connections
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mesero.jsonrpc import ErrorResponse, Notification, Request, ResultResponse
from mesero.legacy.event_streams import EventStore, EventStream
from mesero.legacy.http_calls import HttpCall
from mesero.legacy.methods import CANCELLED
from mesero.legacy.serving import ServerSession
from mesero.legacy.shapes import NOVEMBER_2025
from mesero.transports.http_gate import HeaderLines, Refusal, refusal_for
from mesero.transports.http_reply import HttpReply
from mesero.types import CancelledParams

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["MAX_LEFT", "MAX_STANDING", "HttpSession"]

MAX_STANDING: Final = 8
"""How many streams without a request one client may have."""

MAX_LEFT: Final = 1000
"""How many calls of one client may go on whose connections it has left: no other limit holds for those."""

_COMMENT: Final = b":\n\n"
_CLOSE_WAIT_S: Final = 5.0
"""How long what is cancelled may take to clean up, in seconds."""


class HttpSession:
    """A session and its connections.

    Args:
        server: Who answers.
        max_stored_bytes: How much is kept for a client that comes back, in bytes.
    """

    def __init__(self, server: Server, *, max_stored_bytes: int) -> None:
        self.session = ServerSession(server, self._announce, drain=self._drain)
        self.used_s = asyncio.get_running_loop().time()
        """When the client last said something, by the loop's clock."""
        self._store = EventStore(max_stored_bytes)
        self._standing: list[EventStream] = []
        """The streams without a request, in the order in which somebody came for them."""
        self._calls: set[HttpCall] = set()
        """What runs."""
        self._connections = 0
        self._is_closed = False

    @property
    def is_in_use(self) -> bool:
        """Whether somebody is connected. What runs for nobody does not count: it could do so for ever."""
        return self._connections > 0 or any(call.is_connected for call in self._calls)

    @property
    def _primes(self) -> bool:
        # Earlier clients do not expect an event without data.
        # https://modelcontextprotocol.io/specification/2025-11-25/changelog
        return self.session.revision == NOVEMBER_2025

    # -- calls -----------------------------------------------------------------------------------------------

    async def serve(self, request: Request, headers: HeaderLines, reply: HttpReply) -> None:
        """Serve a request on the connection that it came on."""
        if self._is_full:
            await reply.refuse(_refusal_of_more())
            return
        call = HttpCall(self._store, self._announce, reply, request.id, primes=self._primes)
        await self._run(call, self.session.serve(request, call, headers=headers))

    async def serve_batch(self, raw: bytes, headers: HeaderLines, reply: HttpReply) -> None:
        """Serve an array of messages, in a revision that has them."""
        if self._is_full:
            await reply.refuse(_refusal_of_more())
            return
        call = HttpCall(self._store, self._announce, reply, primes=self._primes)
        await self._run(call, self.session.serve_batch(raw, call, headers=headers))

    @property
    def _is_full(self) -> bool:
        if len(self._calls) < MAX_LEFT:
            return False
        return sum(not call.is_connected for call in self._calls) >= MAX_LEFT

    async def _run(self, call: HttpCall, work: Coroutine[Any, Any, None]) -> None:
        self._calls.add(call)
        try:
            await call.run(work)
        finally:
            self._calls.discard(call)

    def receive(self, message: Notification | ResultResponse | ErrorResponse) -> None:
        """Take what is never answered."""
        if isinstance(message, Notification) and message.method == CANCELLED:
            # So that the task of the request knows whose cancellation it is.
            with contextlib.suppress(msgspec.MsgspecError, RecursionError):
                params = msgspec.json.decode(message.params or b"{}", type=CancelledParams)
                for call in self._calls:
                    call.is_cancelled = call.is_cancelled or call.request_id == params.request_id
        self.session.receive(message)

    # -- streams ---------------------------------------------------------------------------------------------

    async def listen(self, reply: HttpReply) -> None:
        """Carry what belongs to no call, for as long as the client is connected."""
        stream = self._stream_for_listener()
        if stream is None:
            text = f"{MAX_STANDING} streams without a request are open in this session; one is enough"
            await reply.refuse(refusal_for(409, text))
            return
        await self._follow(stream, stream.written, reply)

    async def resume(self, event_id: str, reply: HttpReply) -> None:
        """Go on with a stream from behind an event on."""
        found = self._store.find(event_id)
        if found is None:
            text = f"Last-Event-ID {event_id!r} is not, or no longer, that of an event of this session"
            await reply.refuse(refusal_for(400, text))
            return
        stream, after = found
        if stream in self._standing:
            # What was opened last hears what is to come.
            self._standing.remove(stream)
            self._standing.append(stream)
        await self._follow(stream, after, reply)

    async def _follow(self, stream: EventStream, after: int, reply: HttpReply) -> None:
        mark = stream.attach(after=after)
        reply.opening = stream.opening
        self._connections += 1
        try:
            # At once, so that the client sees the stream begin.
            await reply.write(_COMMENT)
            await stream.follow(reply, mark)
        finally:
            stream.detach(mark)
            self._connections -= 1

    # -- what belongs to no call -----------------------------------------------------------------------------

    def _stream_for_listener(self) -> EventStream | None:
        """A stream for one more connection; None if there are too many."""
        if self._standing and not self._standing[-1].has_reader and not self._standing[-1].written:
            # Nobody ever heard anything on it, so nobody will come back to it by an event id.
            return self._standing[-1]
        if len(self._standing) >= MAX_STANDING:
            left = next((stream for stream in self._standing if not stream.has_reader), None)
            if left is None:
                return None
            self._standing.remove(left)
            self._store.forget(left)
        return self._open_standing()

    def _open_standing(self) -> EventStream:
        stream = self._store.open(primes=self._primes)
        self._store.keep(stream)
        self._standing.append(stream)
        return stream

    def _standing_stream(self) -> EventStream:
        """Where the next message goes: to the latest who listens, else to the latest who did."""
        for stream in reversed(self._standing):
            if stream.has_reader:
                return stream
        return self._standing[-1] if self._standing else self._open_standing()

    def _announce(self, raw: bytes) -> None:
        if not self._is_closed:
            self._standing_stream().append(raw)

    async def _drain(self) -> None:
        await self._standing_stream().drain()

    # -- the end ---------------------------------------------------------------------------------------------

    def forget_spare(self) -> None:
        """Forget what was delivered; whoever lost the last of it has had time to come back."""
        self._store.forget_spare()

    def end_standing(self) -> None:
        """End the streams without a request; calls go on."""
        for stream in self._standing:
            stream.end()
            self._store.forget(stream)
        self._standing.clear()

    async def aclose(self, *, is_told: bool = True) -> None:
        """The session is over: what runs is cancelled.

        Args:
            is_told: Answer what runs with an error, for a client that did not end the session itself.
        """
        self._is_closed = True
        self.end_standing()
        calls = tuple(self._calls)
        for call in calls:
            call.end(is_told=is_told)
        self._store.end_all()
        await self.session.aclose()
        tasks = [call.task for call in calls if call.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSE_WAIT_S)


def _refusal_of_more() -> Refusal:
    text = f"{MAX_LEFT} calls of this session go on without their connections; let them end first"
    return refusal_for(429, text, (b"retry-after", b"5"))
