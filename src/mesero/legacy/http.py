"""Sessions over Streamable HTTP, as 2025-03-26 to 2025-11-25 have them, on the endpoint of their successor.

A session is made by `initialize`, named by a header, and lives until it is deleted, unused for too long, or
pushed out by newer ones; then its id is unknown, and the client starts again. What it holds is bounded.
Without sessions (``are_kept=False``), each request is served by itself, for replicas that share nothing: ids
are ignored, and nothing can be asked of the client.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any, Final

from mesero.errors import RpcError
from mesero.jsonrpc import ErrorResponse, Message, Notification, Request, ResultResponse
from mesero.legacy.handshake import read_initialize_params
from mesero.legacy.http_session import HttpSession
from mesero.legacy.methods import INITIALIZE, PING
from mesero.legacy.owners import owner_for, refusal_of, unknown_session
from mesero.legacy.serving import ServerSession
from mesero.legacy.shapes import MARCH_2025
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.server.admission import encode_refusal
from mesero.server.authorization import NotAuthorizedError
from mesero.transports.http_gate import HeaderLines, Refusal, refusal_for
from mesero.transports.http_reply import HttpReply

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["SESSION_ID", "HttpSessions"]

SESSION_ID: Final = b"mcp-session-id"
_LAST_EVENT_ID: Final = b"last-event-id"
_VERSION: Final = b"mcp-protocol-version"
_SWEEPS: Final = 4
_UNWELCOME: Final = object()


class HttpSessions:
    """The sessions of one endpoint.

    Args:
        server: Who answers.
        are_kept: Whether there are sessions at all.
        max_sessions: How many; the one that was unused for longest makes room.
        idle_timeout_s: How long a session is kept that nobody uses, in seconds. An open connection is use.
        max_stored_bytes: How much each session keeps for clients that come back, in bytes.
    """

    def __init__(
        self,
        server: Server,
        *,
        are_kept: bool = True,
        max_sessions: int = 10_000,
        idle_timeout_s: float = 1800.0,
        max_stored_bytes: int = 1024 * 1024,
    ) -> None:
        self._server = server
        self.are_kept = are_kept
        self._max_sessions = max_sessions
        self._idle_timeout_s = idle_timeout_s
        self._max_stored_bytes = max_stored_bytes
        self._open: dict[str, HttpSession] = {}
        """By id, in the order of their last use."""
        self._stateless: dict[str, ServerSession] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sweep: asyncio.TimerHandle | None = None
        self._endings: set[asyncio.Task[None]] = set()
        self._is_closing = False

    def __len__(self) -> int:
        return len(self._open)

    # -- POST ------------------------------------------------------------------------------------------------

    async def receive(
        self, message: Message, headers: HeaderLines, found: dict[bytes, bytes], reply: HttpReply
    ) -> None:
        """Take a message that is not of the stateless revisions; ``found`` is its headers by name."""
        if isinstance(message, Request) and not reply.may_stream:
            # "The client MUST include an Accept header, listing both application/json and text/event-stream":
            # without the second one it would never hear what a call asks.
            # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
            await reply.refuse(
                refusal_for(406, "Accept excludes text/event-stream; clients must accept both")
            )
        elif not self.are_kept:
            await self._receive_alone(message, found, headers, reply)
        elif isinstance(message, Request) and message.method == INITIALIZE and SESSION_ID not in found:
            await self._open_session(message, headers, reply)
        elif isinstance(message, Request) and message.method != PING:
            session = self._find(found)
            if isinstance(session, Refusal):
                await reply.refuse(session)
            else:
                # It finds out who asks when it is authorized.
                await session.serve(message, headers, reply)
        else:
            session = await self._find_own(found, headers)
            if isinstance(session, Refusal):
                await reply.refuse(session)
            elif isinstance(message, Request):
                await session.serve(message, headers, reply)
            else:
                await _take(session, message, reply)

    async def receive_batch(self, raw: bytes, headers: HeaderLines, reply: HttpReply) -> bool:
        """Take an array of messages; whether it is of a session whose revision has them."""
        found = dict(headers)
        if not self.are_kept:
            if found.get(_VERSION, MARCH_2025.encode()).decode("latin-1") not in HANDSHAKE_REVISIONS:
                return False
            alone = self._stateless_for(found)
            if alone.has_batches:
                await alone.serve_batch(raw, reply, headers=headers)
                await reply.accept()
            return alone.has_batches
        session = None if SESSION_ID not in found else self._find(found)
        if not isinstance(session, HttpSession) or not session.session.has_batches:
            return False
        session = await self._find_own(found, headers)
        if isinstance(session, Refusal):
            await reply.refuse(session)
        else:
            await session.serve_batch(raw, headers, reply)
        return True

    async def _receive_alone(
        self, message: Message, found: dict[bytes, bytes], headers: HeaderLines, reply: HttpReply
    ) -> None:
        alone = self._stateless_for(found)
        if isinstance(message, Request) and message.method == INITIALIZE:
            if await self._welcome(message, headers, reply) is _UNWELCOME:
                return
            # What is agreed on here holds for nobody else.
            alone = ServerSession(self._server, None, is_stateless=True)
        if isinstance(message, Request):
            await alone.serve(message, reply, headers=headers)
        else:
            await _take(alone, message, reply)

    def _stateless_for(self, found: dict[bytes, bytes]) -> ServerSession:
        # "if the server does not receive an MCP-Protocol-Version header …, the server SHOULD assume protocol
        # version 2025-03-26"; what is no revision of this era never comes here.
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
        revision = found.get(_VERSION, MARCH_2025.encode()).decode("latin-1")
        if revision not in self._stateless:
            self._stateless[revision] = ServerSession(
                self._server, None, is_stateless=True, revision=revision
            )
        return self._stateless[revision]

    async def _open_session(self, request: Request, headers: HeaderLines, reply: HttpReply) -> None:
        owner = await self._welcome(request, headers, reply)
        if owner is _UNWELCOME:
            return
        if self._is_closing or not self._make_room():
            await reply.refuse(refusal_for(503, "no more sessions can be opened now", (b"retry-after", b"5")))
            return
        # "The session ID SHOULD be globally unique and cryptographically secure"
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
        self._start_sweeping()
        session = HttpSession(self._server, max_stored_bytes=self._max_stored_bytes)
        session.session.owner = owner
        session_id = secrets.token_hex(16)
        work = session.session.serve(request, reply, headers=headers)
        if session.session.revision is None:
            await work
            return
        # Known before the answer is out: the next request may be faster than whatever follows here.
        self._open[session_id] = session
        reply.add_headers((SESSION_ID, session_id.encode()))
        await work

    async def _welcome(self, request: Request, headers: HeaderLines, reply: HttpReply) -> Any:
        """Whose session this would be, None for anybody's; `_UNWELCOME` if it was refused, and told so."""
        if self._server.authorize is None:
            return None
        try:
            return await owner_for(self._server, read_initialize_params(request.params), headers)
        except RpcError as error:
            raw = encode_refusal(self._server, request.id, error)
            if isinstance(error, NotAuthorizedError):
                await reply.answer(raw, status=error.status, headers=error.headers)
            else:
                await reply.answer(raw)
            return _UNWELCOME

    # -- GET and DELETE --------------------------------------------------------------------------------------

    async def receive_get(self, headers: HeaderLines, reply: HttpReply) -> None:
        """Open a stream for what the server says unasked, or go on with one that broke off.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
        """
        found = dict(headers)
        session = await self._find_own(found, headers)
        if isinstance(session, Refusal):
            await reply.refuse(session)
        elif not reply.may_stream:
            await reply.refuse(
                refusal_for(406, "Accept excludes text/event-stream, which is all that GET has")
            )
        elif _LAST_EVENT_ID in found:
            await session.resume(found[_LAST_EVENT_ID].decode("latin-1"), reply)
        else:
            await session.listen(reply)

    async def receive_delete(self, headers: HeaderLines, reply: HttpReply) -> None:
        """End a session.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
        """
        found = dict(headers)
        session = await self._find_own(found, headers)
        if isinstance(session, Refusal):
            await reply.refuse(session)
            return
        del self._open[found[SESSION_ID].decode("latin-1")]
        # Who deletes a session waits for nothing more; the official Python client (1.x) fails when an answer
        # comes all the same.
        await session.aclose(is_told=False)
        await reply.refuse(Refusal(204, ()))

    # -- which session ---------------------------------------------------------------------------------------

    def _find(self, found: dict[bytes, bytes]) -> HttpSession | Refusal:
        """The session that a request names, which is used by that."""
        named = found.get(SESSION_ID)
        if named is None:
            # "Servers that require a session ID SHOULD respond to requests without an Mcp-Session-Id header
            # (other than initialization) with HTTP 400 Bad Request."
            # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
            text = "the header Mcp-Session-Id is missing: the answer to 'initialize' has it"
            return refusal_for(400, text)
        session_id = named.decode("latin-1")
        session = self._open.pop(session_id, None)
        if session is None:
            return unknown_session()
        self._open[session_id] = session
        session.used_s = asyncio.get_running_loop().time()
        return session

    async def _find_own(self, found: dict[bytes, bytes], headers: HeaderLines) -> HttpSession | Refusal:
        """The session that a request names, if it comes from whose that is."""
        session = self._find(found)
        if isinstance(session, Refusal):
            return session
        try:
            await session.session.check_participant(headers)
        except RpcError as error:
            return refusal_of(error)
        # It may have ended meanwhile.
        is_open = self._open.get(found[SESSION_ID].decode("latin-1")) is session
        return session if is_open else unknown_session()

    def _make_room(self) -> bool:
        """Whether one more session is possible; the one that was unused for longest goes for it."""
        if len(self._open) < self._max_sessions:
            return True
        for session_id, session in self._open.items():
            if not session.is_in_use:
                del self._open[session_id]
                self._end(session)
                return True
        return False

    # -- the end ---------------------------------------------------------------------------------------------

    def _start_sweeping(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # The application outlived an event loop, and all that ran in it.
            self._open.clear()
            self._loop, self._sweep = loop, None
        if self._sweep is None:
            self._sweep = loop.call_later(self._idle_timeout_s / _SWEEPS, self._sweep_idle)

    def _sweep_idle(self) -> None:
        """End what nobody uses, and forget what was delivered long ago."""
        self._sweep = None
        now_s = asyncio.get_running_loop().time()
        for session_id, session in tuple(self._open.items()):
            if session.is_in_use:
                session.used_s = now_s
            elif now_s - session.used_s >= self._idle_timeout_s:
                del self._open[session_id]
                self._end(session)
            session.forget_spare()
        if self._open:
            self._start_sweeping()

    def _end(self, session: HttpSession) -> None:
        task = asyncio.get_running_loop().create_task(session.aclose())
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    def end_streams(self) -> None:
        """The server will end: no session begins any more, and the streams without a request end."""
        self._is_closing = True
        for session in self._open.values():
            session.end_standing()

    async def aclose(self) -> None:
        """End all sessions; returns when what ran for them has ended."""
        self._is_closing = True
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        for session in self._open.values():
            self._end(session)
        self._open.clear()
        for alone in self._stateless.values():
            await alone.aclose()
        self._stateless.clear()
        if self._endings:
            await asyncio.wait(tuple(self._endings))


async def _take(
    session: ServerSession | HttpSession,
    message: Notification | ResultResponse | ErrorResponse,
    reply: HttpReply,
) -> None:
    # What is accepted gets "HTTP status code 202 Accepted with no body". So does what nobody waits for: the
    # answer to a question that was withdrawn may be on its way, and some clients end with their first error.
    # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
    session.receive(message)
    await reply.accept()
