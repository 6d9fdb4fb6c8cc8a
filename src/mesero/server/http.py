"""A server as an ASGI application: what the HTTP endpoint receives goes through the nine steps.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mesero.errors import RpcError, UsageError
from mesero.jsonrpc import Notification, Request, find_id
from mesero.modern.envelope import Headers, parse_message
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
    ) -> None:
        if not path.startswith("/"):
            raise UsageError(f"path is {path!r}; it begins with a slash")
        if stream_after_s <= 0 or keep_alive_s <= 0:
            raise UsageError("stream_after_s and keep_alive_s are more than 0")
        gate = Gate(
            allowed_hosts=allowed_hosts,
            allowed_origins=allowed_origins,
            cors_origins=cors_origins,
            max_body_bytes=server.max_message_bytes,
            max_header_bytes=max_header_bytes,
            max_headers=max_headers,
        )
        super().__init__(
            self._receive_message,
            path=path,
            gate=gate,
            stream_after_s=stream_after_s,
            keep_alive_s=keep_alive_s,
            on_shutdown=self._end,
        )
        self.server = server

    async def _receive_message(self, body: bytes, headers: Headers, reply: HttpReply) -> None:
        request_id = None
        try:
            # Of a member that occurs twice, a gateway and this server could each read another value.
            message = parse_message(body, refuse_twins=True)
        except RpcError as error:
            arrival = Arrival(error, find_id(body), headers)
        else:
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

    def _end(self) -> None:
        self.server.end_subscriptions()
        self.server.threads.close()
