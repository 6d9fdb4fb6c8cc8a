"""HTTP+SSE of 2024-11-05, the client's side: one stream of events from the server, a POST for each message.

The stream's first event says where to post, which must be the same server. Everything else is as on any
shared channel: answers are correlated by id, and the end of the stream is the end of all that waits for it.

https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Coroutine, Mapping
from typing import Any

import aiohttp
from yarl import URL

from mesero.errors import ConnectError, DisconnectedError, MeseroError, ProtocolError
from mesero.framing import Event, EventFramer, TooLong
from mesero.jsonrpc import MAX_MESSAGE_BYTES
from mesero.transports import Direction, Observer, Outgoing
from mesero.transports.http_addresses import has_same_origin, shown_url
from mesero.transports.http_failures import body_failure_for
from mesero.transports.http_link import Authorize, HttpLink
from mesero.transports.http_stream import is_event_stream
from mesero.transports.stream import StreamExchange, StreamTransport

__all__ = ["SseTransport"]

_ENDPOINT = "endpoint"
_POST_WAIT_S = 30.0
"""How long a server may take to accept a message that nobody waits for."""


class SseTransport(StreamTransport):
    """The connection to a server of the older transport, opened again when it is needed after it ended.

    Args:
        url: Where the stream is. HTTPS, or plain HTTP to this machine. Without credentials in it.
        headers: Sent with every request, for example an authorization.
        connect_timeout_s: How long it may take to answer with a stream, and then to name the address for
            messages, in seconds each.
        max_bytes: The longest message accepted, in bytes.
        observer: Sees every message.
        allow_plain_http: Allow plain HTTP to other machines.
        authorize: Adds headers to each request, and may have a refused one sent again.
        tls: Settings for HTTPS other than the defaults.

    Raises:
        UsageError: a URL or a header that cannot be used.
    """

    kind = "sse"

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
        super().__init__(self._link.target, max_bytes=max_bytes, observer=observer)
        self._watch = None  # Whoever watches is told by the link, which sees more.
        self._connect_timeout_s = connect_timeout_s
        self._endpoint: URL | None = None
        self._reading: asyncio.Task[None] | None = None
        self._posting: set[asyncio.Task[None]] = set()
        self._opening = asyncio.Lock()

    # -- the stream ------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the stream and wait for the address to post to; again, after it ended.

        Raises:
            HttpStatusError: something else than an event stream came.
            ProtocolError: the stream names no address, or one of another server.
            TransportError: it could not be reached.
        """
        async with self._opening:
            if self._is_closed:
                raise self._gone_error()
            if self._is_up:
                return
            response = await self._ask_for_events()
            if not is_event_stream(response):
                answer = await self._link.read_answer(response)
                raise answer.status_error("no event stream, so this is no server of the older transport")
            if self._link.watch is not None:
                self._link.watch.begin_stream(response)
            framer = EventFramer(max_bytes=self._link.max_bytes)
            try:
                rest = await self._wait_for_endpoint(response, framer)
            except BaseException:
                self._link.close(response)
                raise
            if self._link.closed.is_set():
                self._link.close(response)
                raise self._gone_error()
            self._facts = self._link.facts_of(response, is_event=True)
            self.begin()
            self._reading = asyncio.get_running_loop().create_task(self._read(response, framer, rest))

    async def _ask_for_events(self) -> aiohttp.ClientResponse:
        limit_s = self._connect_timeout_s
        clock = asyncio.timeout(limit_s)
        try:
            async with clock:
                return await self._link.ask_for_events()
        except TimeoutError:
            if not clock.expired():
                raise
            raise ConnectError(
                f"GET {self.target} → no answer within {limit_s:g} s; the limit was ours (connect_timeout_s=)"
            ) from None

    async def _wait_for_endpoint(
        self, response: aiohttp.ClientResponse, framer: EventFramer
    ) -> list[Event | TooLong]:
        """Set the address that the first event names; the events that came after it."""
        where = f"GET {self.target}"
        limit = f"{self._connect_timeout_s:g} s; the limit was ours (connect_timeout_s=)"
        clock = asyncio.timeout(self._connect_timeout_s)
        try:
            async with clock:
                while data := await response.content.readany():
                    frames = self._frames_of(data, response, framer)
                    if frames:
                        self._endpoint = self._endpoint_from(frames[0], response)
                        return frames[1:]
        except TimeoutError:
            if not clock.expired():
                raise
            raise ConnectError(f"{where} → no event named the address for messages within {limit}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise self._link.closed_error_or(
                body_failure_for(error, where, came="nothing had come")
            ) from None
        raise ProtocolError(f"{where} → the event stream ended before it named the address for messages")

    def _frames_of(
        self, data: bytes, response: aiohttp.ClientResponse, framer: EventFramer
    ) -> list[Event | TooLong]:
        frames = framer.receive(data)
        if self._link.watch is not None:
            for frame in frames:
                self._link.watch.take_event(response, frame)
        return frames

    def _endpoint_from(self, frame: Event | TooLong, response: aiohttp.ClientResponse) -> URL:
        # "When a client connects, the server MUST send an endpoint event containing a URI for the client to
        # use for sending messages."
        # https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
        where = f"GET {self.target}"
        if isinstance(frame, TooLong) or frame.event != _ENDPOINT:
            raise ProtocolError(f"{where} → the first event of the stream does not name an address")
        text = frame.data.decode("utf-8", "replace").strip()
        try:
            url = response.url.join(URL(text))
        except ValueError:
            raise ProtocolError(f"{where} → the address for messages is no URL", excerpt=frame.data) from None
        if not has_same_origin(url, self._link.url):
            # Messages, and what authorizes them, would go to whom nobody named.
            raise ProtocolError(
                f"{where} → the address for messages is of another server: {shown_url(url)}; nothing was sent"
            )
        return url

    async def _read(
        self, response: aiohttp.ClientResponse, framer: EventFramer, frames: list[Event | TooLong]
    ) -> None:
        where = f"GET {self.target}"
        ended: MeseroError = DisconnectedError(f"{where} → the event stream ended")
        try:
            self._take(frames)
            while data := await response.content.readany():
                self._take(self._frames_of(data, response, framer))
            if self._link.watch is not None:
                self._link.watch.end(response, "s2c")
        except (aiohttp.ClientError, OSError) as error:
            ended = body_failure_for(error, where, came="the event stream had begun")
            if self._link.watch is not None:
                self._link.watch.break_off(response, ended)
        finally:
            self._link.close(response)
            if self._is_up and not self._is_closed:
                if isinstance(ended, DisconnectedError):
                    ended.last_message = self._last_message[:400]
                self.end(ended)

    def _take(self, frames: list[Event | TooLong]) -> None:
        for frame in frames:
            if isinstance(frame, TooLong):
                self._receive_too_long(frame)
            elif frame.data and frame.event != _ENDPOINT:
                self._receive_line(frame.data)

    def _observe(self, direction: Direction, raw: bytes) -> None:
        # What goes out is seen where it is posted.
        if direction == "s2c":
            super()._observe(direction, raw)

    # -- the posts -------------------------------------------------------------------------------------------

    def exchange(self, outgoing: Outgoing) -> StreamExchange:
        """See `mesero.transports.Transport.exchange`."""
        exchange = StreamExchange(self, outgoing.id, outgoing.method)
        if not self._is_up or self._is_closed:
            exchange.fail(self._gone_error())
            return exchange
        self._ledger.open(outgoing.id, exchange)
        self._spawn(self._post_for(exchange, outgoing.raw))
        return exchange

    async def notify(self, raw: bytes) -> None:
        """See `mesero.transports.Transport.notify`.

        Raises:
            HttpStatusError: the server did not accept it.
        """
        if not self._is_up or self._is_closed:
            raise self._gone_error()
        await self._post(raw)

    def _write(self, raw: bytes) -> None:
        self._spawn(self._post_unseen(raw))

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._posting.add(task)
        task.add_done_callback(self._posting.discard)

    async def _post(self, raw: bytes) -> None:
        response = await self._link.post(raw, path=self._endpoint)
        if 200 <= response.status < 300:
            self._link.drain(response)
            return
        answer = await self._link.read_answer(response)
        raise answer.status_error("the message was not accepted")

    async def _post_for(self, exchange: StreamExchange, raw: bytes) -> None:
        try:
            await self._post(raw)
        except MeseroError as error:
            if self.forget(exchange.id):
                exchange.fail(error)

    async def _post_unseen(self, raw: bytes) -> None:
        try:
            async with asyncio.timeout(_POST_WAIT_S):
                await self._post(raw)
        except (MeseroError, TimeoutError):
            return  # Nobody waits for it: what follows from it is told by the stream.

    # -- the end ---------------------------------------------------------------------------------------------

    async def aclose(self) -> None:
        """See `mesero.transports.Transport.aclose`."""
        self.mark_closed()
        self._is_up = False
        await self._link.aclose()
        ending = {*self._posting, *([self._reading] if self._reading is not None else [])}
        ending -= {asyncio.current_task()}
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending)
