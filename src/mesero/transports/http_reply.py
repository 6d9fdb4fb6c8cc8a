"""The way back for one POST: a JSON answer, or an event stream once there is something to say before it.

What is sent goes out in turn: notifications from several tasks, comments, and one response, after which
nothing follows.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec

from mesero.errors import InternalError
from mesero.framing import encode_event
from mesero.jsonrpc import encode_error
from mesero.transports.http_gate import Refusal, Welcome

__all__ = ["HttpReply", "Send"]

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_JSON = (b"content-type", b"application/json")
_STREAM_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    # So that proxies pass events on at once: "servers SHOULD include" it.
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
    (b"x-accel-buffering", b"no"),
)
_COMMENT = b":\n\n"


class HttpReply:
    """The reply to one request.

    Args:
        receive: The ASGI request's next event.
        send: Sends an ASGI event.
        welcome: What the client accepts, and what goes with every answer.
        on_stream: Called when an event stream begins.
    """

    __slots__ = (
        "_comment",
        "_has_begun",
        "_on_stream",
        "_send",
        "_turn",
        "_welcome",
        "has_begun_stream",
        "is_answered",
        "is_gone",
        "on_gone",
        "opening",
        "receive",
        "seen_s",
        "task",
        "watcher",
    )

    def __init__(
        self,
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Send,
        welcome: Welcome,
        on_stream: Callable[[HttpReply], None],
    ) -> None:
        self.receive = receive
        self._send = send
        self._welcome = welcome
        self._on_stream = on_stream
        self._has_begun = False
        self._turn: asyncio.Lock | None = None
        self._comment: asyncio.Task[None] | None = None
        self.has_begun_stream = False
        self.is_answered = False
        self.is_gone = False
        """Whether the client left before it was answered."""
        self.opening: Callable[[], bytes] | None = None
        """Called when an event stream begins; what it returns is the first thing on it."""
        self.on_gone: Callable[[], None] | None = None
        """Called instead of cancelling the request's task, when the client leaves before it was answered."""
        # The endpoint's notes on a request that takes longer.
        self.seen_s = 0.0
        self.task: asyncio.Task[Any] | None = None
        self.watcher: asyncio.Task[None] | None = None

    # -- what a server calls ---------------------------------------------------------------------------------

    async def notify(self, raw: bytes) -> None:
        """Send a notification that belongs to the request; waits while the client does not read.

        Dropped once the request is answered, and for a client that accepts no event stream.
        """
        if self._welcome.may_stream:
            await self._write_event(encode_event(raw))

    async def answer(
        self, raw: bytes, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """Send the response, once; a second one is dropped.

        Args:
            raw: The response.
            status: Its HTTP status, unless a stream has begun: that one's status is 200.
            headers: Header lines that go with the status.
        """
        if self.is_answered:
            return
        self.is_answered = True
        must_stream = self._welcome.only_streams and status == 200
        if self._turn is not None or must_stream:
            async with self._turn_of_ours():
                # Whoever had the turn may have found the request answered, and begun nothing.
                if self.has_begun_stream or must_stream:
                    # "The final JSON-RPC response SHOULD terminate the stream."
                    await self._begin_stream()
                    await self._write(encode_event(raw), is_last=True)
                    return
        lines = [_JSON, (b"content-length", b"%d" % len(raw)), *self._welcome.headers]
        if headers:
            lines.extend((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers)
        await self._respond(status, lines, raw)

    async def accept(self) -> None:
        """Answer a notification: "the server MUST return HTTP status code 202 Accepted with no body".

        https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
        """
        if not self.is_answered:
            self.is_answered = True
            await self._respond(202, [(b"content-length", b"0"), *self._welcome.headers], b"")

    # -- for whoever writes the events of a stream itself ----------------------------------------------------

    @property
    def may_stream(self) -> bool:
        """Whether the client accepts an event stream."""
        return self._welcome.may_stream

    @property
    def is_stream(self) -> bool:
        """Whether the answer is an event stream: it has begun, or the client accepts nothing else."""
        return self.has_begun_stream or self._welcome.only_streams

    def add_headers(self, *headers: tuple[bytes, bytes]) -> None:
        """Header lines that go with the answer, whatever form it has."""
        self._welcome = msgspec.structs.replace(self._welcome, headers=(*self._welcome.headers, *headers))

    async def write(self, events: bytes) -> None:
        """Put encoded events on the stream, which begins if need be; waits while the client does not read."""
        await self._write_event(events)

    async def finish(self, events: bytes = b"") -> None:
        """End the stream with the last encoded events, if any; nothing may follow."""
        if self.is_answered:
            return
        self.is_answered = True
        async with self._turn_of_ours():
            await self._begin_stream()
            await self._write(events, is_last=True)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with a refusal, unless a stream has begun: that one ends."""
        if self.has_begun_stream:
            await self.finish()
        elif not self.is_answered:
            self.is_answered = True
            await self._respond(refusal.status, [*refusal.headers, *self._welcome.headers], refusal.body)

    # -- how it is sent --------------------------------------------------------------------------------------

    def _turn_of_ours(self) -> asyncio.Lock:
        if self._turn is None:
            self._turn = asyncio.Lock()
        return self._turn

    async def _write_event(self, data: bytes) -> None:
        if self.is_answered:
            return
        async with self._turn_of_ours():
            # Others may have taken their turn first.
            if not self.is_answered:
                await self._begin_stream()
                await self._write(data)

    async def _begin_stream(self) -> None:
        if not self.has_begun_stream:
            self._has_begun = self.has_begun_stream = True
            self._on_stream(self)
            lines = [*_STREAM_HEADERS, *self._welcome.headers]
            await self._emit({"type": "http.response.start", "status": 200, "headers": lines})
            if self.opening is not None and (first := self.opening()):
                await self._write(first)

    async def _write(self, data: bytes, *, is_last: bool = False) -> None:
        await self._emit({"type": "http.response.body", "body": data, "more_body": not is_last})

    async def _respond(self, status: int, lines: list[tuple[bytes, bytes]], body: bytes) -> None:
        self._has_begun = True
        try:
            await self._send({"type": "http.response.start", "status": status, "headers": lines})
            await self._send({"type": "http.response.body", "body": body})
        except OSError:
            # Some ASGI servers say so when the client is gone; then nobody waits for this.
            self.give_up()

    async def _emit(self, event: dict[str, Any]) -> None:
        try:
            await self._send(event)
        except OSError:
            self.give_up()

    # -- what the endpoint calls -----------------------------------------------------------------------------

    def keep_alive(self) -> None:
        """Send a comment, beginning the stream if need be, unless the one before is still on its way."""
        if self._welcome.may_stream and not self.is_answered and self._comment is None:
            self._comment = asyncio.get_running_loop().create_task(self._write_event(_COMMENT))
            self._comment.add_done_callback(self._forget_comment)

    def _forget_comment(self, comment: asyncio.Task[None]) -> None:
        self._comment = None

    def give_up(self) -> None:
        """The client is gone: the request is cancelled, and nothing more is sent for it.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#cancellation
        """
        if not self.is_answered:
            self.is_answered = self.is_gone = True
            if self.on_gone is not None:
                self.on_gone()
            elif self.task is not None:
                self.task.cancel()

    async def abort(self) -> None:
        """End the response as it is: 503 when nothing was sent yet, else the end of the stream."""
        self.is_answered = True
        if self.has_begun_stream:
            await self._write(b"", is_last=True)
        elif not self._has_begun:
            body = encode_error(None, InternalError("the server is shutting down"))
            await self._respond(
                503, [_JSON, (b"content-length", b"%d" % len(body)), *self._welcome.headers], body
            )
