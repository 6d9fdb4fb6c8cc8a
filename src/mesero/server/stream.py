"""The server's end of a newline-delimited byte stream: one connection, many requests at once, no memory of any.

Knows what is in flight, so that a cancellation finds it and an id is not used twice; knows nothing of finished requests.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from mesero.errors import InvalidRequestError, ParseError, RpcError
from mesero.framing import LineFramer, TooLong
from mesero.jsonrpc import Id, Notification, Request, encode_error, find_id
from mesero.modern.envelope import parse_message
from mesero.modern.methods import CANCELLED
from mesero.server.serve import Arrival, serve
from mesero.types import CancelledParams

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["StreamConnection", "StreamReply"]


class StreamReply:
    """The way back for one request on the shared channel."""

    __slots__ = ("_connection", "is_answered")

    def __init__(self, connection: StreamConnection) -> None:
        self._connection = connection
        self.is_answered = False

    async def notify(self, raw: bytes) -> None:
        """See `mesero.server.reply.Reply.notify`."""
        if not self.is_answered:
            self._connection.write(raw)
            await self._connection.drain()

    async def answer(self, raw: bytes, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> None:
        """See `mesero.server.reply.Reply.answer`."""
        del status, headers  # A stream has neither.
        if not self.is_answered:
            self.is_answered = True
            self._connection.write(raw)


class StreamConnection:
    """One client on a byte stream.

    Args:
        server: Who answers.
        send: Puts bytes on the stream without blocking.
    """

    def __init__(self, server: Server, send: Callable[[bytes], None]) -> None:
        self._server = server
        self._send = send
        self._framer = LineFramer(max_bytes=server.max_message_bytes)
        self._running: dict[Id, tuple[asyncio.Task[None], StreamReply]] = {}
        self._pending: list[bytes] = []
        self._has_written = False
        self._is_closed = False
        self._may_write: asyncio.Future[None] | None = None

    # -- out -----------------------------------------------------------------------------------------------------------

    def write(self, raw: bytes) -> None:
        """The first line of a turn of the loop goes out at once, the others of that turn together at its end."""
        if self._is_closed:
            return
        if b"\n" in raw:
            raw = raw.replace(b"\r", b" ").replace(b"\n", b" ")
        if self._has_written:
            self._pending.append(raw)
            return
        self._has_written = True
        asyncio.get_running_loop().call_soon(self.flush)
        self._send(raw + b"\n")

    def flush(self) -> None:
        """Put everything written so far on the stream."""
        self._has_written = False
        if self._pending:
            data = b"\n".join(self._pending) + b"\n"
            self._pending.clear()
            self._send(data)

    def pause_writing(self) -> None:
        """The stream is full: notifications wait."""
        if self._may_write is None:
            self._may_write = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """The stream has room again."""
        if self._may_write is not None:
            self._may_write.set_result(None)
            self._may_write = None

    async def drain(self) -> None:
        """Wait while the client does not read."""
        if self._may_write is not None:
            await asyncio.shield(self._may_write)

    # -- in ------------------------------------------------------------------------------------------------------------

    def receive_bytes(self, data: bytes) -> None:
        """Take what the client wrote."""
        for frame in self._framer.receive(data):
            if isinstance(frame, TooLong):
                self.write(encode_error(None, ParseError(f"a message longer than the limit of {frame.max_bytes} bytes")))
            else:
                self._receive_line(frame)

    def receive_eof(self) -> None:
        """The client wrote its last byte: a line without its end is still a line."""
        rest = self._framer.receive_eof()
        if rest.strip():
            self._receive_line(rest)

    def _receive_line(self, raw: bytes) -> None:
        try:
            message = parse_message(raw, refuse_twins=False)
        except RpcError as error:
            self._start(Arrival(error, find_id(raw), is_shared_channel=True))
            return
        if isinstance(message, Request):
            self._receive_request(message)
        elif isinstance(message, Notification):
            self._receive_notification(message)
        # "clients do not send JSON-RPC responses"; nobody here asked for one, and answering an answer could go on for ever.
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/index

    def _receive_request(self, request: Request) -> None:
        if request.id in self._running:
            # "The request ID MUST NOT match the ID of any other request the sender has issued and not yet received a
            # response for." https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests
            error = InvalidRequestError(f"a request with the id {request.id!r} is in flight already")
            error.step = "envelope"
            self.write(encode_error(request.id, error))
            return
        self._start(Arrival(request, request.id, is_shared_channel=True))

    def _start(self, arrival: Arrival) -> None:
        reply = StreamReply(self)
        task = asyncio.get_running_loop().create_task(self._serve(arrival, reply))
        if isinstance(arrival.message, Request):
            self._running[arrival.message.id] = (task, reply)

    async def _serve(self, arrival: Arrival, reply: StreamReply) -> None:
        try:
            await serve(self._server, arrival, reply)
        finally:
            if isinstance(arrival.message, Request):
                self._running.pop(arrival.message.id, None)

    def _receive_notification(self, notification: Notification) -> None:
        """Never answered. A cancellation goes to the request that it names, all others are dropped."""
        if notification.method != CANCELLED or notification.params is msgspec.UNSET:
            return
        try:
            request_id = msgspec.json.decode(notification.params, type=CancelledParams).request_id
        except msgspec.MsgspecError:
            return  # "Invalid cancellation notifications SHOULD be ignored."
        running = self._running.get(request_id)
        if running is not None:
            task, reply = running
            # "Servers … MUST NOT send any further messages for it."
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#cancellation
            reply.is_answered = True
            task.cancel()

    # -- the end -------------------------------------------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in flight."""
        return not self._running

    async def finish(self, wait_s: float) -> None:
        """Let what is in flight end, for at most ``wait_s`` seconds, then cancel it."""
        tasks = [task for task, _ in self._running.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=wait_s)
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel everything that still runs for this client."""
        self.flush()
        self._is_closed = True
        tasks = [task for task, _ in self._running.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5.0)
