"""Streamable HTTP, the client's side: one POST per exchange, answered by JSON or by an event stream.

The POST runs inside `HttpExchange.receive`, in the caller's own task: cancelling the caller closes the socket, which
is how a request is cancelled over HTTP. Nothing is queued between the socket and the caller.

aiohttp is imported here and in `http_failures` only; nothing of it is visible above the seam.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

import asyncio
import io
import ssl
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from importlib.metadata import PackageNotFoundError, version

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from mesero.errors import ClosedError, DisconnectedError, MeseroError, ProtocolError, RpcError, UsageError
from mesero.framing import Event, EventFramer, TooLong
from mesero.jsonrpc import MAX_MESSAGE_BYTES, Notification, Request, decode_message
from mesero.transports import HttpFacts, Observer, Outgoing, Received
from mesero.transports.http_addresses import check_url, find_proxy, has_same_origin, shown_url
from mesero.transports.http_answers import (
    EVENT_STREAM,
    JSON,
    HttpAnswer,
    answers,
    is_redirect,
    media_type_of,
    read_answer,
    stray_error_for,
)
from mesero.transports.http_failures import body_failure_for, send_failure_for

__all__ = ["Authorize", "HttpExchange", "HttpTransport"]

Authorize = Callable[[Mapping[str, str], HttpFacts | None], Awaitable[Mapping[str, str] | None]]
"""Asked before each request with its headers and None: returns headers to add, or None for none. Asked again when the
answer was 401 or 403, with the facts of that answer: returns headers for one more try, or None to give up."""

_OURS = ("accept", "accept-encoding", "connection", "content-length", "content-type", "transfer-encoding")
"""Headers that a caller may not set: the transport's own, or such that would break the framing of HTTP."""

_KEEP_ALIVE_S = 4.0
"""Shorter than the 5 s after which common servers close an idle connection: a request that meets the closing on its
way is lost, and only the server knows whether it was carried out."""

_DRAIN_S = 1.0
"""How long a connection may take to end its event stream after the response, to be used again."""

_MAX_EXCERPT_BYTES = 64 * 1024
_EXCERPT_WAIT_S = 2.0
_READ_BUFFER_BYTES = 1024 * 1024
_MAX_PLAIN_BODY_BYTES = 1024 * 1024
"""aiohttp writes larger bodies in pieces only when they come as a file."""


class HttpExchange:
    """One POST and what answers it."""

    __slots__ = (
        "_cancels",
        "_error",
        "_facts",
        "_framer",
        "_frames",
        "_heard",
        "_last_message",
        "_outgoing",
        "_reader",
        "_response",
        "_transport",
        "id",
        "method",
    )

    def __init__(self, transport: HttpTransport, outgoing: Outgoing) -> None:
        self.id = outgoing.id
        self.method = outgoing.method
        self._transport = transport
        self._outgoing = outgoing
        self._response: aiohttp.ClientResponse | None = None
        self._facts: HttpFacts | None = None
        self._framer: EventFramer | None = None
        self._frames: deque[Event | TooLong] = deque()
        self._heard = 0
        self._last_message = b""
        self._error: MeseroError | None = None
        self._reader: asyncio.Task[object] | None = None
        self._cancels = 0

    async def receive(self) -> Received:
        """See `mesero.transports.Exchange.receive`."""
        if self._error is not None:
            raise self._error
        reader = self._reader = asyncio.current_task()
        if reader is None:
            raise UsageError("an exchange is read inside a task")
        self._cancels = reader.cancelling()
        try:
            return await (self._begin() if self._framer is None else self._next_message())
        except asyncio.CancelledError:
            if self._error is not None and reader.uncancel() <= self._cancels:
                raise self._error from None
            if self._framer is None:
                # A POST that was cut off cannot be continued; an open event stream can, until `close`.
                self.end(ClosedError(f"{self.method} was given up", where=self._transport.target))
            raise
        except MeseroError as error:
            self.end(error)
            raise
        finally:
            self._reader = None

    async def _begin(self) -> Received:
        """Send the request; the first message, or the only one."""
        self._transport.track(self)
        response = self._response = await self._transport.post(self._outgoing.raw, self._outgoing.headers)
        if 200 <= response.status < 300 and media_type_of(response.headers) == EVENT_STREAM:
            self._facts = self._transport.facts_of(response, is_event=True)
            self._framer = EventFramer(max_bytes=self._transport.max_bytes)
            return await self._next_message()
        answer = await self._transport.read_answer(response)
        message = read_answer(answer, self.id, self.method)
        facts = self._transport.facts_of(response)
        self._transport.observe(answer.body, facts)
        self._over()
        return Received(answer.body, message, facts)

    async def _next_message(self) -> Received:
        while True:
            while self._frames:
                received = self._take_frame(self._frames.popleft())
                if received is not None:
                    return received
            await self._read_frames()

    async def _read_frames(self) -> None:
        response, framer = self._response, self._framer
        if response is None or framer is None:
            raise ClosedError(f"{self.method} is over", where=self._transport.target)
        try:
            data = await response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise self._transport.closed_error_or(
                body_failure_for(error, self._where, came=self._came, last_message=self._last_message)
            ) from None
        if data:
            self._frames.extend(framer.receive(data))
            return
        raise self._transport.closed_error_or(
            DisconnectedError(
                f"{self._where} → the event stream ended without the response to {self.method} "
                f"(id {self.id!r}); {self._came}",
                last_message=self._last_message,
            )
        )

    @property
    def _where(self) -> str:
        return f"POST {self._transport.target}"

    @property
    def _came(self) -> str:
        messages = f"{self._heard} message" if self._heard == 1 else f"{self._heard} messages"
        return f"{messages if self._heard else 'nothing'} had come"

    def _take_frame(self, frame: Event | TooLong) -> Received | None:
        """One event: a message to hand on, or nothing."""
        if isinstance(frame, TooLong):
            raise self._transport.too_long_error(frame.beginning)
        if not frame.data:
            return None  # An event without data (an id, a retry time) says nothing in this revision.
        try:
            message = decode_message(frame.data)
        except RpcError as error:
            what = f"{self._where}: an event that is no message came for {self.method}: {error.message}"
            raise ProtocolError(what, excerpt=frame.data) from None
        if isinstance(message, Request):
            # "The server MUST NOT send independent JSON-RPC requests on this stream."
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
            self._transport.dropped.append(("request", frame.data[:200]))
            return None
        if not isinstance(message, Notification) and not answers(message, self.id):
            raise stray_error_for(message, frame.data, self.id, self.method, self._where)
        self._heard += 1
        self._last_message = frame.data
        self._transport.observe(frame.data, self._facts)
        if not isinstance(message, Notification):
            self._over()
        return Received(frame.data, message, self._facts)

    def _over(self) -> None:
        """The response has come: nothing follows it, and the connection can be used again once its body has ended."""
        self._error = ClosedError(
            f"{self.method} is over: its response was read", where=self._transport.target
        )
        self._transport.forget(self)
        response, self._response = self._response, None
        if response is not None:
            self._transport.drain(response)

    def end(self, error: MeseroError) -> None:
        """End the exchange at once, also under a task that waits in `receive`: that one gets the error."""
        if self._error is not None:
            return
        self._error = error
        self._transport.forget(self)
        response, self._response = self._response, None
        if response is not None:
            response.close()
        if self._reader is not None and self._reader is not asyncio.current_task():
            self._reader.cancel()

    async def close(self, reason: str = "") -> None:
        """See `mesero.transports.Exchange.close`."""
        # "Closing the SSE response stream MUST be treated by the server as cancellation of that request."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#cancellation
        text = f"{self.method} was given up: {reason}" if reason else f"{self.method} was given up"
        self.end(ClosedError(text, where=self._transport.target))


class HttpTransport:
    """The connection to the MCP endpoint of a server.

    Args:
        url: The endpoint. HTTPS, or plain HTTP to this machine.
        headers: Sent with every request, for example an authorization.
        connect_timeout_s: How long name resolution, connection and TLS may take together, in seconds.
        max_bytes: The longest message accepted, in bytes.
        observer: Sees every message.
        allow_plain_http: Allow plain HTTP to other machines.
        authorize: Adds headers to each request, and gets one more try when the server refuses it; see `Authorize`.
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
        self._url = check_url(url, allow_plain_http=allow_plain_http)
        self.target = shown_url(self._url)
        self.max_bytes = max_bytes
        self.dropped: deque[tuple[str, bytes]] = deque(maxlen=100)
        """What the server may not send: what it was, and its beginning."""
        self._headers = _fixed_headers(headers or {})
        self._connect_timeout_s = connect_timeout_s
        self._observer = observer
        self._authorize = authorize
        self._tls = tls
        self._proxy: URL | None = None
        self._session: aiohttp.ClientSession | None = None
        self._exchanges: set[HttpExchange] = set()
        self._draining: dict[aiohttp.ClientResponse, asyncio.TimerHandle] = {}
        self._closed = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """See `mesero.transports.Transport.is_open`: there is no connection to lose, only one to be closed."""
        return not self._closed.is_set()

    async def open(self) -> None:
        """See `mesero.transports.Transport.open`. Nothing is sent yet."""
        self._open_session()

    def _open_session(self) -> aiohttp.ClientSession:
        if self._closed.is_set():
            raise self._closed_error()
        if self._session is None:
            self._proxy = find_proxy(self._url)
            connector = aiohttp.TCPConnector(
                limit=0,
                keepalive_timeout=_KEEP_ALIVE_S,
                # The system's own resolver, whatever else is installed: hosts file, search domains, VPNs.
                resolver=aiohttp.ThreadedResolver(),
                ssl=self._tls if self._tls is not None else True,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
                timeout=aiohttp.ClientTimeout(total=None, connect=self._connect_timeout_s),
                read_bufsize=_READ_BUFFER_BYTES,
            )
        return self._session

    def exchange(self, outgoing: Outgoing) -> HttpExchange:
        """See `mesero.transports.Transport.exchange`."""
        exchange = HttpExchange(self, outgoing)
        if self._closed.is_set():
            exchange.end(self._closed_error())
        return exchange

    async def notify(self, raw: bytes) -> None:
        """See `mesero.transports.Transport.notify`."""
        response = await self.post(raw, ())
        if 200 <= response.status < 300:
            self.drain(response)
            return
        answer = await self.read_answer(response)
        raise answer.status_error("the notification was not accepted")

    # -- one POST --------------------------------------------------------------------------------------------------

    async def post(self, raw: bytes, mirrored: tuple[tuple[str, str], ...]) -> aiohttp.ClientResponse:
        """Send one message; the response, as soon as its headers are there.

        One retry for an authorization and one redirect within the origin happen in here.

        Raises:
            TransportError, ProtocolError, ClosedError: there was no response.
        """
        headers = self._headers.copy()
        for name, value in mirrored:
            headers[name] = value
        if self._authorize is not None:
            headers.update(await self._authorize(headers, None) or {})
        url = self._url
        response = await self._send(url, headers, raw)
        if response.status < 300:
            return response
        if is_redirect(response.status):
            moved = self._redirect_for(response)
            if moved is not None:
                response.release()
                url = moved
                response = await self._send(url, headers, raw)
        if response.status in (401, 403) and self._authorize is not None:
            more = await self._authorize(headers, self.facts_of(response))
            if more is not None:
                response.release()
                headers.update(more)
                response = await self._send(url, headers, raw)
        return response

    async def _send(self, url: URL, headers: CIMultiDict[str], raw: bytes) -> aiohttp.ClientResponse:
        if self._observer is not None:
            self._observer("c2s", raw, HttpFacts(url=self.target, headers=_pairs_of(headers)))
        session = self._open_session()
        try:
            return await session.request(
                "POST",
                url,
                data=raw if len(raw) <= _MAX_PLAIN_BODY_BYTES else io.BytesIO(raw),
                headers=headers,
                allow_redirects=False,
                proxy=self._proxy,
            )
        except (aiohttp.ClientError, OSError, RuntimeError, ValueError) as error:
            proxy = shown_url(self._proxy) if self._proxy is not None else ""
            failure = send_failure_for(
                error, f"POST {self.target}", connect_timeout_s=self._connect_timeout_s, proxy=proxy
            )
            raise self.closed_error_or(failure) from None

    def _redirect_for(self, response: aiohttp.ClientResponse) -> URL | None:
        """Where to send the same request again: the same origin only, and only when the method is kept."""
        if response.status not in (307, 308):
            return None
        try:
            moved = self._url.join(URL(response.headers.get("Location", "")))
        except ValueError:
            return None
        return moved if has_same_origin(moved, self._url) and moved != self._url else None

    async def read_answer(self, response: aiohttp.ClientResponse) -> HttpAnswer:
        """The whole answer; of an error page no more than its beginning.

        Raises:
            ProtocolError: a message over the limit.
            DisconnectedError: the body broke off.
        """
        is_success = 200 <= response.status < 300
        is_message = media_type_of(response.headers) == JSON
        limit = self.max_bytes if is_message or is_success else _MAX_EXCERPT_BYTES
        try:
            async with asyncio.timeout(None if is_success or is_message else _EXCERPT_WAIT_S):
                body = await self._read_body(response, limit)
        except TimeoutError:
            response.close()
            body = b""
        except (aiohttp.ClientError, OSError) as error:
            where = f"POST {self.target} → {response.status} {response.reason or ''}".rstrip()
            raise self.closed_error_or(body_failure_for(error, where, came="no message had come")) from None
        if len(body) > limit and is_success:
            raise self.too_long_error(body)
        return HttpAnswer(
            url=self.target,
            status=response.status,
            reason=response.reason or "",
            headers=response.headers,
            body=body,
        )

    async def _read_body(self, response: aiohttp.ClientResponse, limit: int) -> bytes:
        content = response.content
        body = await content.readany()
        if content.at_eof():
            return body
        parts = [body]
        size = len(body)
        while size <= limit:
            body = await content.readany()
            if not body:
                return b"".join(parts)
            parts.append(body)
            size += len(body)
        response.close()
        return b"".join(parts)

    # -- what the exchanges need -----------------------------------------------------------------------------------

    def track(self, exchange: HttpExchange) -> None:
        """Remember an exchange that `aclose` has to end."""
        self._exchanges.add(exchange)

    def forget(self, exchange: HttpExchange) -> None:
        """An exchange is over."""
        self._exchanges.discard(exchange)

    def observe(self, raw: bytes, facts: HttpFacts | None) -> None:
        """Show a received message to the observer."""
        if self._observer is not None:
            self._observer("s2c", raw, facts)

    def facts_of(self, response: aiohttp.ClientResponse, *, is_event: bool = False) -> HttpFacts:
        """What HTTP said around an answer."""
        return HttpFacts(
            url=self.target, status=response.status, headers=_pairs_of(response.headers), is_event=is_event
        )

    def too_long_error(self, beginning: bytes) -> ProtocolError:
        """The error for a message over the limit."""
        return ProtocolError(
            f"POST {self.target}: a message longer than the limit of {self.max_bytes} bytes (max_message_bytes=)",
            excerpt=beginning,
        )

    def closed_error_or(self, error: Exception) -> Exception:
        """`ClosedError` when it was us who closed, else the error."""
        return self._closed_error() if self._closed.is_set() else error

    def _closed_error(self) -> ClosedError:
        return ClosedError("the client is closed", where=self.target)

    def drain(self, response: aiohttp.ClientResponse) -> None:
        """Let a response end by itself, so that its connection can be used again; cut it off when it does not."""
        if response.closed or response.content.is_eof():
            return
        timer = asyncio.get_running_loop().call_later(_DRAIN_S, self._cut_off, response)
        self._draining[response] = timer
        response.content.on_eof(lambda: self._drained(response))

    def _cut_off(self, response: aiohttp.ClientResponse) -> None:
        del self._draining[response]
        response.close()

    def _drained(self, response: aiohttp.ClientResponse) -> None:
        timer = self._draining.pop(response, None)
        if timer is not None:
            timer.cancel()

    # -- the end ---------------------------------------------------------------------------------------------------

    async def unsolicited(self) -> AsyncIterator[Received]:
        """See `mesero.transports.Transport.unsolicited`: over HTTP everything belongs to a request."""
        await self._closed.wait()
        for received in ():
            yield received

    async def aclose(self) -> None:
        """See `mesero.transports.Transport.aclose`."""
        self._closed.set()
        for exchange in tuple(self._exchanges):
            exchange.end(ClosedError("the client was closed while this call was open", where=self.target))
        for response, timer in tuple(self._draining.items()):
            timer.cancel()
            response.close()
        self._draining.clear()
        if self._session is not None:
            await self._session.close()


def _fixed_headers(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """The headers of every request."""
    fixed: CIMultiDict[str] = CIMultiDict({"User-Agent": f"mesero/{_own_version()}"})
    for name, value in headers.items():
        if name.lower() in _OURS:
            raise UsageError(f"the header {name!r} is the transport's own")
        if any(char in "\r\n\0" for char in name + value):
            raise UsageError(f"the header {name!r} has a line break in it")
        fixed[name] = value
    # "The client MUST include an Accept header listing both application/json and text/event-stream"
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
    fixed["Accept"] = f"{JSON}, {EVENT_STREAM}"
    fixed["Content-Type"] = JSON
    return fixed


def _pairs_of(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name.lower(), value) for name, value in headers.items())


def _own_version() -> str:
    try:
        return version("mesero")
    except PackageNotFoundError:
        return "0"
