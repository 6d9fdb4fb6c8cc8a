"""Streamable HTTP, the client's side: `HttpTransport`, what a caller sees of it.

One POST per exchange (`http_exchange`), over connections that come and go as needed (`http_link`). aiohttp is
imported by those two and by `http_failures`, and nothing of it is visible above the seam.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping

from mesero.errors import MeseroError
from mesero.jsonrpc import MAX_MESSAGE_BYTES
from mesero.transports import Observer, Outgoing, Received
from mesero.transports.http_exchange import HttpExchange
from mesero.transports.http_link import Authorize, HttpLink
from mesero.transports.http_stream import HttpListener

__all__ = ["HttpTransport"]


class HttpTransport:
    """The connection to the MCP endpoint of a server.

    Args:
        url: The endpoint. HTTPS, or plain HTTP to this machine. Without credentials in it.
        headers: Sent with every request, for example an authorization.
        connect_timeout_s: How long name resolution, connection and TLS may take together, in seconds.
        max_bytes: The longest message accepted, in bytes.
        observer: Sees every message.
        allow_plain_http: Allow plain HTTP to other machines.
        authorize: Adds headers to each request, and may have a refused one sent again; see `Authorize`.
        tls: Settings for HTTPS other than the defaults, for example a client certificate.

    Raises:
        UsageError: a URL or a header that cannot be used.
    """

    kind = "http"
    mirrors_headers = True

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        connect_timeout_s: float = 30.0,
        max_bytes: int = MAX_MESSAGE_BYTES,
        observer: Observer | None = None,
        allow_plain_http: bool = False,
        authorize: Authorize | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._link = HttpLink(
            url,
            headers=headers or {},
            connect_timeout_s=connect_timeout_s,
            max_bytes=max_bytes,
            observer=observer,
            allow_plain_http=allow_plain_http,
            authorize=authorize,
            tls=tls,
        )
        self.target = self._link.target
        self.conduct = self._link.conduct
        self._listening: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """See `mesero.transports.Transport.is_open`: no connection can be lost, since none is kept."""
        return not self._link.closed.is_set()

    @property
    def dropped(self) -> deque[tuple[str, bytes]]:
        """The last hundred messages that a server may not send: what each was, and its beginning."""
        return self._link.dropped

    async def open(self) -> None:
        """See `mesero.transports.Transport.open`. Nothing is sent yet."""
        self._link.open()

    def exchange(self, outgoing: Outgoing) -> HttpExchange:
        """See `mesero.transports.Transport.exchange`; the first `receive` sends."""
        return HttpExchange(self._link, outgoing)

    async def notify(self, raw: bytes) -> None:
        """See `mesero.transports.Transport.notify`.

        Raises:
            HttpStatusError: the server did not accept it.
        """
        response = await self._link.post(raw)
        # The server must say 202 without a body if it accepts the notification, else an error status.
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
        if 200 <= response.status < 300:
            self._link.drain(response)
            return
        answer = await self._link.read_answer(response)
        raise answer.status_error("the notification was not accepted")

    def unsolicited(self) -> AsyncIterator[Received]:
        """See `mesero.transports.Transport.unsolicited`.

        Over HTTP everything belongs to a request, unless the server may send requests, or is listened to.
        """
        return self._link.inbox.read()

    def start_listening(self, on_gap: Callable[[], None] | None = None) -> None:
        """Ask the server for the stream on which it says what belongs to no request; it may have none.

        Args:
            on_gap: Called when the stream was lost and is back, and what was said meanwhile is not known.
        """
        self.stop_listening()
        listener = HttpListener(self._link, on_gap=on_gap)
        self._listening = asyncio.get_running_loop().create_task(listener.run())

    def stop_listening(self) -> None:
        """Give that stream up."""
        if self._listening is not None:
            self._listening.cancel()
            self._listening = None

    async def say_goodbye(self, *, timeout_s: float = 2.0) -> None:
        """Tell the server that it may forget us. Whether it cares is its own matter.

        Args:
            timeout_s: How long it may take to answer, in seconds.
        """
        self.stop_listening()
        with contextlib.suppress(MeseroError, TimeoutError):
            async with asyncio.timeout(timeout_s):
                self._link.drain(await self._link.delete())

    async def aclose(self) -> None:
        """See `mesero.transports.Transport.aclose`."""
        listening = self._listening
        self.stop_listening()
        await self._link.aclose()
        if listening is not None and listening is not asyncio.current_task():
            await asyncio.wait({listening})
