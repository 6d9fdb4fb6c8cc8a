"""A server as an ASGI application: what the HTTP endpoint receives goes through the nine steps.

Clients that begin with a handshake are served on the same path, chosen message by message; whoever names a
stateless revision in the header is not even looked at for that.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mesero.errors import RpcError, UsageError
from mesero.jsonrpc import Notification, Request, find_id
from mesero.modern.envelope import Headers, parse_message
from mesero.server.http_sessions import OTHER_HEADERS, SessionPaths, Sessions
from mesero.server.serve import Arrival, serve
from mesero.transports.http_gate import Gate
from mesero.transports.http_reply import HttpReply
from mesero.transports.http_server import HttpEndpoint

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["HttpApp"]


class HttpApp(HttpEndpoint):
    """The ASGI application of a server, for uvicorn or to mount in Starlette or FastAPI.

    Without options only programs on this machine can use it: Host and Origin must be those of loopback.
    An ASGI server of your own needs a limit on its graceful end (uvicorn: ``--timeout-graceful-shutdown``):
    it tells the application when all connections are over, and subscriptions stay open until they are told.
    A call in a session goes on when its client leaves, in the task of its request: what is put around this
    application must not cancel that.

    Args:
        server: The server.
        path: The endpoint's exact path, below where the application is mounted (``/`` for the mount itself).
        allowed_hosts: More values of ``Host``: ``example.com`` (any port), ``example.com:8443``, or ``*``.
        allowed_origins: More values of ``Origin``, for example ``https://example.com``, or ``*``.
        cors_origins: Origins whose pages may call the server from a browser and read the answers, or ``*``.
        stream_after_s: After how many seconds without an answer the event stream begins.
        keep_alive_s: How often an open stream gets a comment, in seconds.
        max_header_bytes: The most bytes of header names and values together.
        max_headers: The most header lines.
        legacy_sessions: Whether clients of the revisions with a handshake get sessions. Without, each of
            their requests is served by itself, for replicas that share nothing: nothing can be asked of such
            a client, and it hears of no changes.
        max_sessions: How many sessions there may be; the one that was unused for longest makes room.
        session_idle_s: How long a session is kept that nobody uses, in seconds.
        sse_path, messages_path: Where the transport of 2024-11-05 is served: its stream, and its POSTs. Both
            or none.

    Raises:
        UsageError: a path without a slash, or a limit that is not positive.
    """

    def __init__(
        self,
        server: Server,
        *,
        path: str = "/mcp",
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        cors_origins: Iterable[str] = (),
        stream_after_s: float = 1.0,
        keep_alive_s: float = 15.0,
        max_header_bytes: int = 64 * 1024,
        max_headers: int = 100,
        legacy_sessions: bool = True,
        max_sessions: int = 10_000,
        session_idle_s: float = 1800.0,
        sse_path: str | None = None,
        messages_path: str | None = None,
    ) -> None:
        if not path.startswith("/"):
            raise UsageError(f"path is {path!r}; it begins with a slash")
        if stream_after_s <= 0 or keep_alive_s <= 0:
            raise UsageError("stream_after_s and keep_alive_s are more than 0")
        self.sessions = Sessions(
            server,
            SessionPaths(path, sse_path, messages_path),
            are_kept=legacy_sessions,
            max_sessions=max_sessions,
            idle_s=session_idle_s,
        )
        gate = Gate(
            allowed_hosts=allowed_hosts,
            allowed_origins=allowed_origins,
            cors_origins=cors_origins,
            max_body_bytes=server.max_message_bytes,
            max_header_bytes=max_header_bytes,
            max_headers=max_headers,
            methods=self.sessions.methods,
            cors_headers=OTHER_HEADERS,
            exposed_headers=OTHER_HEADERS[:1],
        )
        super().__init__(
            self._receive_message,
            path=path,
            gate=gate,
            stream_after_s=stream_after_s,
            keep_alive_s=keep_alive_s,
            on_shutdown=self._end,
            receive_other=self.sessions.receive_other,
            others=self.sessions.others,
        )
        self.server = server
        watch = server.watch_for("http", path)
        if watch is not None:
            from mesero.server.watched import HttpTap

            taking = {path for path, method in self.sessions.others if method == "POST"}
            self.tap = HttpTap(watch, frozenset({path, *taking}))

    async def _receive_message(self, body: bytes, headers: Headers, reply: HttpReply) -> None:
        request_id = None
        try:
            # Of a member that occurs twice, a gateway and this server could each read another value.
            message = parse_message(body, refuse_twins=True)
        except RpcError as error:
            if await self.sessions.receive_misfit(body, headers, reply):
                return
            arrival = Arrival(error, find_id(body), headers)
        else:
            if self.sessions.stateless_line not in headers and await self.sessions.receive(
                message, headers, reply
            ):
                return
            if isinstance(message, Notification):
                # "closing the SSE response stream is itself the cancellation signal and no
                # notifications/cancelled message is expected"; what else comes is dropped.
                # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
                await reply.accept()
                return
            if isinstance(message, Request):
                request_id = message.id
            arrival = Arrival(message, request_id, headers)
        await serve(self.server, arrival, reply)

    def cancel_open(self) -> None:
        """See `HttpEndpoint.cancel_open`; calls whose clients left are cancelled as well."""
        super().cancel_open()
        self._ending = asyncio.get_running_loop().create_task(self.sessions.aclose())

    def end_streams(self) -> None:
        """The end has begun: what goes on by itself is over, requests may still be answered."""
        self.server.end_subscriptions()
        self.sessions.end_streams()

    async def aclose(self) -> None:
        """The end: sessions are over, and with them what still runs for their clients."""
        await self.sessions.aclose()
        self.server.threads.close()

    def _end(self) -> None:
        self.end_streams()
        self._ending = asyncio.get_running_loop().create_task(self.aclose())
