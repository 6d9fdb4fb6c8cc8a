"""The server's end of a newline-delimited byte stream: one connection, many requests, no memory of any.

It knows what is in flight, so that a cancellation finds it and an id is not used twice; it knows nothing of
finished requests. Whoever begins with a handshake gets a session for the rest of the connection; requests
that declare their revision themselves are served beside it as if it were not there.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import UNSET

from mesero.eras import INITIALIZE, choose_on_server, find_adapter
from mesero.errors import INVALID_REQUEST, InvalidRequestError, ParseError, RpcError
from mesero.framing import LineFramer, TooLong
from mesero.jsonrpc import Id, Notification, Request, encode_error, find_id
from mesero.modern.envelope import parse_message
from mesero.modern.methods import CANCELLED
from mesero.server.admission import refusal_of_opening, refusal_of_stateless
from mesero.server.serve import Arrival, serve
from mesero.types import PROTOCOL_VERSION_KEY, CancelledParams

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["StreamConnection", "StreamReply"]

_CLOSE_WAIT_S = 5.0
"""How long what is cancelled may take to clean up, in seconds."""
_REVISION_MEMBER = f'"{PROTOCOL_VERSION_KEY}"'.encode()


class StreamReply(msgspec.Struct, eq=False):
    """The way back for one request on the shared channel; its id, None when that could not be read."""

    _connection: StreamConnection
    _request_id: Id | None
    is_answered: bool = False
    task: asyncio.Task[None] | None = None

    async def notify(self, raw: bytes) -> None:
        """See `mesero.server.reply.Reply.notify`."""
        if not self.is_answered:
            self._connection.write(raw)
            await self._connection.drain()

    async def answer(
        self, raw: bytes, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """See `mesero.server.reply.Reply.answer`."""
        del status, headers  # A stream has neither.
        if not self.is_answered:
            self.is_answered = True
            # Its id may be used again.
            self._connection.in_flight.pop(self._request_id, None)
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
        self.in_flight: dict[Id | None, StreamReply] = {}
        """The requests that were not answered yet, by id."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._pending: list[bytes] = []
        self._has_written = False
        self._is_closed = False
        self._may_write: asyncio.Future[None] | None = None
        self._session: Any = None
        """The session, once somebody began one."""
        self._is_stateless = bool(server.revisions)
        """Whether only requests that need no session are to be expected."""

    # -- out -------------------------------------------------------------------------------------------------

    def write(self, raw: bytes) -> None:
        """The first line of a turn of the loop goes out at once, the others of that turn together at its end.

        "Messages … MUST NOT contain embedded newlines": what was encoded elsewhere may have some.
        https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
        """
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

    # -- in --------------------------------------------------------------------------------------------------

    def receive_bytes(self, data: bytes) -> None:
        """Take what the client wrote."""
        if self._is_closed:
            return
        for frame in self._framer.receive(data):
            if isinstance(frame, TooLong):
                limit = f"a message longer than the limit of {frame.max_bytes} bytes"
                self.write(encode_error(None, ParseError(limit)))
            else:
                self._receive_line(frame)

    def receive_eof(self) -> None:
        """The client wrote its last byte: a line without its end is still a line."""
        rest = self._framer.receive_eof()
        if rest.strip():
            self._receive_line(rest)
        if self._session is not None:
            self._session.receive_eof()

    def _receive_line(self, raw: bytes) -> None:
        try:
            message = parse_message(raw, refuse_twins=False)
        except RpcError as error:
            self._receive_misfit(raw, error)
            return
        if isinstance(message, Request):
            if message.id in self.in_flight:
                self._refuse_twin(message)
            # Without a session, a look at the bytes is enough: what has the member, but somewhere else, is
            # refused either way.
            elif self._is_stateless and _REVISION_MEMBER in raw and message.method != INITIALIZE:
                self._start(Arrival(message, message.id, is_shared_channel=True), message.id)
            else:
                self._receive_request(message)
        elif isinstance(message, Notification):
            self._receive_notification(message)
        elif self._session is not None:
            self._session.receive(message)
        # "clients do not send JSON-RPC responses"; nobody here asked for one, and answering an answer could
        # go on for ever. https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/index

    def _receive_misfit(self, raw: bytes, error: RpcError) -> None:
        """What is no message; an array of them is one to a session of the revision that has batches."""
        is_json = error.code == INVALID_REQUEST
        if is_json and raw.lstrip()[:1] == b"[" and self._session is not None and self._session.has_batches:
            reply = StreamReply(self, None)
            self._run(reply, self._session.serve_batch(raw, reply))
        elif not is_json or not _is_notification(raw):
            self._start(Arrival(error, find_id(raw), is_shared_channel=True), None)

    def _receive_request(self, request: Request) -> None:
        """A request that may be of either era.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#compatibility-matrix
        """
        has_session = self._session is not None and self._session.revision is not None
        selected = choose_on_server(request, version_header=None, has_session=has_session)
        message: Request | RpcError = request
        if selected == "modern" and not self._server.revisions:
            message = refusal_of_stateless(self._server, request)
        elif selected in ("legacy", "opens") and self._server.handshake_revisions:
            self._serve_in_session(request)
            return
        elif selected == "refused" and self._server.handshake_revisions:
            message = refusal_of_opening(self._server, request)
        # Whatever else comes to a server without sessions is refused for its missing metadata.
        self._start(Arrival(message, request.id, is_shared_channel=True), request.id)

    def _serve_in_session(self, request: Request) -> None:
        if self._session is None:
            # It is there: the server speaks revisions that only it knows.
            adapter = cast("ModuleType", find_adapter())
            self._session = adapter.ServerSession(self._server, self.write, drain=self.drain)
            self._is_stateless = False
        reply = StreamReply(self, request.id)
        # "The initialize request MUST NOT be cancelled by clients": so it is not found for that.
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
        if request.method != INITIALIZE:
            self.in_flight[request.id] = reply
        self._run(reply, self._session.serve(request, reply))

    def _refuse_twin(self, request: Request) -> None:
        # "The request ID MUST NOT match the ID of any other request the sender has issued and not yet
        # received a response for."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests
        error = InvalidRequestError(f"a request with the id {request.id!r} is in flight already")
        self.write(encode_error(request.id, error))

    def _start(self, arrival: Arrival, request_id: Id | None) -> None:
        reply = StreamReply(self, request_id)
        reply.task = task = asyncio.get_running_loop().create_task(serve(self._server, arrival, reply))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if request_id is not None:
            self.in_flight[request_id] = reply

    def _run(self, reply: StreamReply, work: Coroutine[Any, Any, None]) -> None:
        reply.task = task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _receive_notification(self, notification: Notification) -> None:
        """Never answered. A cancellation goes to the request that it names, all others to the session."""
        if notification.method != CANCELLED or notification.params is UNSET:
            if self._session is not None:
                self._session.receive(notification)
            return
        try:
            request_id = msgspec.json.decode(notification.params, type=CancelledParams).request_id
        except (msgspec.MsgspecError, RecursionError):
            # "Invalid cancellation notifications SHOULD be ignored."
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#error-handling
            return
        reply = self.in_flight.pop(request_id, None)
        if reply is not None:
            # "Servers … MUST NOT send any further messages for it."
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#cancellation
            reply.is_answered = True
            if reply.task is not None:
                reply.task.cancel()
        elif self._session is not None:
            self._session.receive(notification)

    # -- the end ---------------------------------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs."""
        return not self._tasks

    async def finish(self, wait_s: float) -> None:
        """Let what is in flight end, for at most ``wait_s`` seconds."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=wait_s)

    async def aclose(self) -> None:
        """Cancel everything that still runs for this client."""
        self.flush()
        self._is_closed = True
        # Nobody waits for a client that is not served any more.
        self.resume_writing()
        if self._session is not None:
            await self._session.aclose()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSE_WAIT_S)


class _Loose(msgspec.Struct, gc=False):
    jsonrpc: Any = UNSET
    id: Any = UNSET
    method: Any = UNSET


def _is_notification(raw: bytes) -> bool:
    """Whether a message that was refused is a notification all the same: those are never answered.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/index#notifications
    """
    try:
        loose = msgspec.json.decode(raw, type=_Loose)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return loose.jsonrpc == "2.0" and isinstance(loose.method, str) and loose.id is UNSET
