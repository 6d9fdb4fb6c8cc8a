"""HTTP with SSE, the transport of 2024-11-05, on two paths of its own: a stream down, POSTs up.

A session lives as long as its stream. Everything that the server says, answers included, goes on the stream;
a POST is answered 202, whatever comes of it. Nothing can be taken up again.

https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from mesero.errors import RpcError
from mesero.jsonrpc import (
    Request,
    check_complexity,
    check_duplicate_members,
    decode_message,
    encode_error,
    find_id,
)
from mesero.legacy.event_streams import EventStore, EventStream
from mesero.legacy.handshake import InitializeParams, read_initialize_params
from mesero.legacy.methods import INITIALIZE
from mesero.legacy.owners import check_owner, owner_for, refusal_of, unknown_session
from mesero.legacy.serving import ServerSession
from mesero.transports.http_gate import HeaderLines, refusal_for
from mesero.transports.http_reply import HttpReply
from mesero.transports.http_server import Scope

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["MAX_RUNNING", "SseSessions"]

_CLOSE_WAIT_S: Final = 5.0
"""How long what is cancelled may take to clean up, in seconds."""
_QUERY: Final = "session_id"

MAX_RUNNING: Final = 1000
"""How many calls of one session may run at once: nothing else bounds them, since every POST ends at once."""


class SseSessions:
    """The sessions of one pair of paths.

    Args:
        server: Who answers.
        messages_path: Where clients POST to, below where the application is mounted.
        max_sessions: How many there may be at once.
    """

    def __init__(self, server: Server, *, messages_path: str, max_sessions: int = 10_000) -> None:
        self._server = server
        self._messages_path = messages_path
        self._max_sessions = max_sessions
        self._open: dict[str, _SseSession] = {}
        self._is_closing = False

    def __len__(self) -> int:
        return len(self._open)

    async def receive_get(self, scope: Scope, reply: HttpReply) -> None:
        """A client connects: it is told where to POST, and hears everything else as it comes."""
        if not reply.may_stream:
            await reply.refuse(refusal_for(406, "Accept has to include text/event-stream"))
            return
        if self._is_closing or len(self._open) >= self._max_sessions:
            await reply.refuse(refusal_for(503, "no more sessions can be opened now", (b"retry-after", b"5")))
            return
        session_id = secrets.token_hex(16)
        root = scope.get("root_path", "").rstrip("/")
        place = f"{root}{self._messages_path}?{_QUERY}={session_id}"
        self._open[session_id] = session = _SseSession(self._server)
        try:
            await reply.write(f"event: endpoint\ndata: {place}\n\n".encode())
            await session.stream.follow(reply, session.mark)
        finally:
            del self._open[session_id]
            # What runs is cancelled at once; nobody could hear of it any more.
            await asyncio.shield(asyncio.ensure_future(session.aclose()))

    async def receive_post(self, scope: Scope, body: bytes, reply: HttpReply) -> None:
        """A message of a client that is connected."""
        named = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(_QUERY)
        session = self._open.get(named[0]) if named else None
        if named is None or session is None:
            text = f"no such session: POST to the place that the event 'endpoint' names ({_QUERY}=…)"
            await reply.refuse(refusal_for(404 if named else 400, text))
            return
        try:
            await session.check_sender(body, scope["headers"])
        except RpcError as error:
            # Nothing of it goes on the stream, which may be somebody else's.
            await reply.refuse(refusal_of(error))
            return
        # A client that does not read what it is told has to, before it says more.
        await session.stream.drain()
        if self._open.get(named[0]) is not session:
            await reply.refuse(unknown_session())
            return
        if session.is_busy:
            text = f"{MAX_RUNNING} calls of this session run; wait for their answers"
            await reply.refuse(refusal_for(429, text, (b"retry-after", b"1")))
            return
        refusal = session.receive(body, scope["headers"])
        if refusal is None:
            await reply.accept()
        else:
            await reply.answer(encode_error(find_id(body), refusal), status=400)

    def end_streams(self) -> None:
        """The server will end, and with it every stream and its session."""
        self._is_closing = True
        for session in self._open.values():
            session.stream.end()


class _SseSession:
    """A session and its stream."""

    def __init__(self, server: Server) -> None:
        self.stream: EventStream = EventStore(0).open(primes=False, is_once=True)
        self.mark = self.stream.attach()
        self._session = ServerSession(server, self.stream.append, drain=self.stream.drain)
        self._server = server
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether so many calls run that no more begin."""
        return len(self._tasks) >= MAX_RUNNING

    async def check_sender(self, body: bytes, headers: HeaderLines) -> None:
        """Whether a message comes from whose session this is; who begins it makes it theirs.

        Raises:
            RpcError: it does not, or the server's hook does not let that one begin.
        """
        if self._server.authorize is None:
            return
        await self._session.check_participant(headers)
        client = _find_opening(body)
        if client is not None:
            owner = await owner_for(self._server, client, headers)
            check_owner(self._session.owner, owner)
            self._session.owner = owner

    def receive(self, body: bytes, headers: HeaderLines) -> RpcError | None:
        """Take a message; the error if it is none."""
        reply = _SseReply(self.stream)
        try:
            check_complexity(body)
        except RpcError as error:
            return error
        if self._session.has_batches and body[:64].lstrip()[:1] == b"[":
            self._start(self._session.serve_batch(body, reply, headers=headers))
            return None
        try:
            message = decode_message(body)
            check_duplicate_members(body)
        except RpcError as error:
            return error
        if isinstance(message, Request):
            self._start(self._session.serve(message, reply, headers=headers))
        else:
            self._session.receive(message)
        return None

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """The stream is over: what runs is cancelled."""
        self.stream.end()
        await self._session.aclose()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=_CLOSE_WAIT_S)


def _find_opening(body: bytes) -> InitializeParams | None:
    """The parameters of `initialize`, if that is what this is."""
    try:
        check_complexity(body)
        message = decode_message(body)
        if isinstance(message, Request) and message.method == INITIALIZE:
            return read_initialize_params(message.params)
    except RpcError:
        # What is wrong with it is told in its place.
        pass
    return None


class _SseReply:
    """The way back for one request: the one stream that there is."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream
        self.is_answered = False

    async def notify(self, raw: bytes) -> None:
        """See `mesero.server.reply.Reply.notify`."""
        if not self.is_answered:
            self._stream.append(raw)
            await self._stream.drain()

    async def answer(
        self, raw: bytes, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """See `mesero.server.reply.Reply.answer`."""
        del status, headers  # The POST was answered before.
        if not self.is_answered:
            self.is_answered = True
            self._stream.append(raw)
