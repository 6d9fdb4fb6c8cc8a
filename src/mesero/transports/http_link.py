"""The way to one MCP endpoint: a request goes out, a response comes back. Knows aiohttp, and no message.

Redirects are followed once, within the origin, and only when the method is kept; everything else that a
redirect could do (another origin, plain HTTP, GET) would carry the request where nobody sent it.
Nothing is sent that was not asked for: no cookies, no `Accept-Encoding`, no `Referer`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from mesero.errors import ClosedError, MeseroError, ProtocolError, UsageError
from mesero.jsonrpc import Id, encode_notification
from mesero.transports import Conduct, HttpFacts, Observer
from mesero.transports.http_addresses import check_url, find_proxy, has_same_origin, shown_url
from mesero.transports.http_answers import EVENT_STREAM, JSON, HttpAnswer, is_redirect, media_type_of
from mesero.transports.http_failures import body_failure_for, send_failure_for
from mesero.transports.http_watch import HttpWatch, pairs_of
from mesero.transports.inbox import Inbox
from mesero.transports.watching import guarded, watch_for

__all__ = ["Authorize", "HttpLink", "Waiting"]

Authorize = Callable[[Mapping[str, str], HttpFacts | None], Awaitable[Mapping[str, str] | None]]
"""Asked before each request with its headers and None: returns headers to add, or None for none.

Asked again when the answer was 401 or 403, with the facts of that answer: returns headers for one more try,
or None to give up.
"""

_OURS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "transfer-encoding"}
)
"""Headers that a caller may not set: the transport's own, or such that would break the framing of HTTP."""

_KEEP_ALIVE_S = 4.0
"""Shorter than the 5 s after which common servers close an idle connection.

A request that crosses the closing is lost, and only the server knows whether it was carried out.
"""

_DRAIN_S = 1.0
"""How long a connection may take to end its event stream after the response, to be used again."""

_TELL_WAIT_S = 5.0
"""How long a server may take to accept a message that nobody waits for."""

_MAX_EXCERPT_BYTES = 64 * 1024
_EXCERPT_WAIT_S = 2.0
_READ_BUFFER_BYTES = 1024 * 1024
_MAX_PLAIN_BODY_BYTES = 1024 * 1024
"""Larger bodies are given as a file, since aiohttp writes only those in pieces."""


class Waiting(Protocol):
    """Whoever waits for something on this link and must be told when it is closed."""

    def end(self, error: MeseroError) -> None:
        """Stop waiting, with this error."""


class HttpLink:
    """One endpoint and the connections to it, which come and go as they are needed.

    Takes the arguments of `mesero.transports.http_client.HttpTransport`, where they are described.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        connect_timeout_s: float,
        max_bytes: int,
        observer: Observer | None,
        allow_plain_http: bool,
        authorize: Authorize | None,
        tls: ssl.SSLContext | None,
    ) -> None:
        self.url = check_url(url, allow_plain_http=allow_plain_http)
        self.target = shown_url(self.url)
        self.max_bytes = max_bytes
        self.dropped: deque[tuple[str, bytes]] = deque(maxlen=100)
        self.waiting: set[Waiting] = set()
        self.closed = asyncio.Event()
        self.conduct = Conduct()
        self.inbox = Inbox()
        self._headers = _fixed_headers(headers)
        self._connect_timeout_s = connect_timeout_s
        watch = watch_for(observer, self.target)
        self.watch = None if watch is None else HttpWatch(watch, self.target)
        """Told of everything that passes; None when nobody wants that."""
        self._observer = observer if watch is None else None
        self._authorize = authorize
        self._tls = tls
        self._proxy: URL | None = None
        self._session: aiohttp.ClientSession | None = None
        self._telling: set[asyncio.Task[None]] = set()
        self._draining: dict[aiohttp.ClientResponse, asyncio.TimerHandle] = {}

    def open(self) -> aiohttp.ClientSession:
        """Get ready to send; the environment's proxy settings are read now.

        Raises:
            ClosedError: it was closed.
            UsageError: the environment names a proxy that cannot be used.
        """
        if self.closed.is_set():
            raise self.closed_error()
        if self._session is None:
            self._proxy = find_proxy(self.url)
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
                # Waiting for an answer is limited by the caller, who knows of progress.
                timeout=aiohttp.ClientTimeout(
                    total=None, connect=self._connect_timeout_s, ceil_threshold=float("inf")
                ),
                read_bufsize=_READ_BUFFER_BYTES,
            )
        return self._session

    # -- one request -------------------------------------------------------------------------------------

    async def post(
        self, raw: bytes, mirrored: tuple[tuple[str, str], ...] = (), *, path: URL | None = None
    ) -> aiohttp.ClientResponse:
        """Send one message; the response, as soon as its headers are there.

        One redirect within the origin and one retry for an authorization happen in here.

        Args:
            raw: The message.
            mirrored: Headers of this request alone.
            path: Another address of the same server, by default the endpoint.

        Raises:
            TransportError, ProtocolError, ClosedError: there was no response.
        """
        headers = self._headers.copy()
        headers.update(self.conduct.headers)
        for name, value in mirrored:
            headers[name] = value
        return await self._request("POST", path or self.url, headers, raw)

    async def ask_for_events(self, *, last_event_id: str = "") -> aiohttp.ClientResponse:
        """Ask for an event stream of the server's own, or for one to go on after its last event.

        Raises:
            TransportError, ProtocolError, ClosedError: there was no response.
        """
        headers = self._headers.copy()
        headers.update(self.conduct.headers)
        headers["Accept"] = EVENT_STREAM
        del headers["Content-Type"]
        if last_event_id:
            headers["Last-Event-ID"] = last_event_id
        return await self._request("GET", self.url, headers, b"")

    async def delete(self) -> aiohttp.ClientResponse:
        """Tell the server that it may forget us.

        Raises:
            TransportError, ProtocolError, ClosedError: there was no response.
        """
        headers = self._headers.copy()
        headers.update(self.conduct.headers)
        del headers["Content-Type"]
        return await self._request("DELETE", self.url, headers, b"")

    async def _request(
        self, method: str, target: URL, headers: CIMultiDict[str], raw: bytes
    ) -> aiohttp.ClientResponse:
        if self._authorize is not None:
            headers.update(await self._authorize(headers, None) or {})
        response = await self._send(method, target, headers, raw)
        if response.status < 300:
            return response
        url = self._find_redirect(response, target)
        if url is not None:
            self._pass_over(response)
            response = await self._send(method, url, headers, raw)
        if response.status in (401, 403) and self._authorize is not None:
            more = await self._ask_again(self._authorize, headers, response)
            if more is not None:
                self._pass_over(response)
                headers.update(more)
                response = await self._send(method, url or target, headers, raw)
        return response

    async def _ask_again(
        self, authorize: Authorize, headers: Mapping[str, str], response: aiohttp.ClientResponse
    ) -> Mapping[str, str] | None:
        try:
            return await authorize(headers, self.facts_of(response))
        except BaseException:
            self.close(response)
            raise

    def _pass_over(self, response: aiohttp.ClientResponse) -> None:
        """The same request is sent again, in answer to this response."""
        if self.watch is not None:
            self.watch.end(response, "c2s")
        response.release()

    async def _send(
        self, method: str, url: URL, headers: CIMultiDict[str], raw: bytes
    ) -> aiohttp.ClientResponse:
        if self._observer is not None and raw:
            facts = HttpFacts(url=self.target, headers=pairs_of(headers))
            guarded(self.target, self._observer, "c2s", raw, facts)
        if self.watch is None:
            return await self._send_unwatched(method, url, headers, raw)
        number = self.watch.ask(method, str(url), headers, raw)
        try:
            response = await self._send_unwatched(method, url, headers, raw)
        except (asyncio.CancelledError, ClosedError):
            self.watch.give_up(number)
            raise
        except MeseroError as error:
            self.watch.fail(number, error)
            raise
        self.watch.begin(response, number)
        return response

    async def _send_unwatched(
        self, method: str, url: URL, headers: CIMultiDict[str], raw: bytes
    ) -> aiohttp.ClientResponse:
        session = self.open()
        try:
            return await session.request(
                method,
                url,
                data=(raw or None) if len(raw) <= _MAX_PLAIN_BODY_BYTES else io.BytesIO(raw),
                headers=headers,
                allow_redirects=False,
                proxy=self._proxy,
            )
        except (aiohttp.ClientError, OSError) as error:
            proxy = shown_url(self._proxy) if self._proxy is not None else ""
            raise self.closed_error_or(
                send_failure_for(
                    error, f"{method} {self.target}", connect_timeout_s=self._connect_timeout_s, proxy=proxy
                )
            ) from None

    def _find_redirect(self, response: aiohttp.ClientResponse, target: URL) -> URL | None:
        """Where to send the same request again, or None."""
        if not is_redirect(response.status) or response.status not in (307, 308):
            return None
        try:
            moved = target.join(URL(response.headers.get("Location", "")))
        except ValueError:
            return None
        return moved if has_same_origin(moved, target) and moved != target else None

    def tell_cancelled(self, request_id: Id, reason: str) -> None:
        """Tell the server that a request was given up, without waiting for what it says to that."""
        params = {"requestId": request_id, "reason": reason} if reason else {"requestId": request_id}
        raw = encode_notification("notifications/cancelled", params)
        task = asyncio.get_running_loop().create_task(self._tell(raw))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self, raw: bytes) -> None:
        with contextlib.suppress(MeseroError, TimeoutError):
            async with asyncio.timeout(_TELL_WAIT_S):
                self.drain(await self.post(raw))

    # -- its answer --------------------------------------------------------------------------------------

    async def read_answer(self, response: aiohttp.ClientResponse) -> HttpAnswer:
        """The whole answer; of a page for people no more than its beginning, and what of it came.

        Raises:
            ProtocolError: a message over the limit.
            DisconnectedError: the message broke off.
        """
        try:
            if 200 <= response.status < 300 and media_type_of(response.headers) != "text/html":
                body = await self._read_message(response)
            else:
                body = await self._read_page(response)
        except BaseException as error:
            if self.watch is not None:
                self.watch.abandon(response, error)
            response.close()
            raise
        if self.watch is not None:
            self.watch.take_body(response, body)
        return HttpAnswer(
            method=response.method,
            url=self.target,
            status=response.status,
            reason=response.reason or "",
            headers=response.headers,
            body=body,
        )

    async def _read_message(self, response: aiohttp.ClientResponse) -> bytes:
        if (response.content_length or 0) > self.max_bytes:
            raise self.too_long_error()
        parts: list[bytes] = []
        try:
            is_whole = await _read_parts(response.content, parts, self.max_bytes)
        except (aiohttp.ClientError, OSError) as error:
            where = f"POST {self.target} → {response.status} {response.reason or ''}".rstrip()
            came = f"{sum(map(len, parts))} bytes had come"
            raise self.closed_error_or(body_failure_for(error, where, came=came)) from None
        if not is_whole:
            raise self.too_long_error(parts[0])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _read_page(self, response: aiohttp.ClientResponse) -> bytes:
        is_message = media_type_of(response.headers) == JSON
        parts: list[bytes] = []
        is_whole = False
        try:
            async with asyncio.timeout(None if is_message else _EXCERPT_WAIT_S):
                limit = self.max_bytes if is_message else _MAX_EXCERPT_BYTES
                is_whole = await _read_parts(response.content, parts, limit)
        except (aiohttp.ClientError, OSError):
            # The status says more than the rest of a page that did not come. A time-out is an OSError, too.
            pass
        if not is_whole:
            response.close()
        return b"".join(parts)

    def drain(self, response: aiohttp.ClientResponse) -> None:
        """Let a response end by itself, for its connection to be used again; cut it off if it does not."""
        if self.watch is not None:
            self.watch.take_nothing(response)
        if response.closed or response.content.is_eof():
            if self.watch is not None:
                self.watch.end(response, "s2c")
            return
        loop = asyncio.get_running_loop()
        self._draining[response] = loop.call_later(_DRAIN_S, self._end_draining, response)
        response.content.on_eof(lambda: self._end_draining(response))

    def _end_draining(self, response: aiohttp.ClientResponse) -> None:
        timer = self._draining.pop(response, None)
        if timer is not None:
            timer.cancel()
            if self.watch is not None and response.content.is_eof():
                self.watch.end(response, "s2c")
            if not response.content.is_eof():
                self.close(response)

    def close(self, response: aiohttp.ClientResponse) -> None:
        """Close the connection of a response of which nothing more is wanted."""
        if self.watch is not None:
            self.watch.end(response, "c2s")
        response.close()

    # -- what the exchanges need -------------------------------------------------------------------------

    def observe(self, raw: bytes, facts: HttpFacts | None) -> None:
        """Show a received message to the observer that sees no more than messages."""
        if self._observer is not None:
            guarded(self.target, self._observer, "s2c", raw, facts)

    def facts_of(self, response: aiohttp.ClientResponse, *, is_event: bool = False) -> HttpFacts:
        """What HTTP said around an answer."""
        return HttpFacts(
            method=response.method,
            url=self.target,
            status=response.status,
            headers=pairs_of(response.headers),
            is_event=is_event,
            exchange=0 if self.watch is None else self.watch.number_of(response),
        )

    def too_long_error(self, beginning: bytes = b"") -> ProtocolError:
        """The error for a message over the limit."""
        what = f"a message longer than the limit of {self.max_bytes} bytes (max_message_bytes=)"
        return ProtocolError(f"POST {self.target}: {what}", excerpt=beginning)

    def closed_error_or(self, error: MeseroError) -> MeseroError:
        """`ClosedError` when it was us who closed, else the error."""
        return self.closed_error() if self.closed.is_set() else error

    def closed_error(self) -> ClosedError:
        """The error for whoever comes too late."""
        return ClosedError("the client is closed", where=self.target)

    async def aclose(self) -> None:
        """End everything at once. From any task, any number of times."""
        self.closed.set()
        self.inbox.close()
        for waiting in tuple(self.waiting):
            waiting.end(ClosedError("the client was closed while this call was open", where=self.target))
        for response in tuple(self._draining):
            self._end_draining(response)
        for task in tuple(self._telling):
            task.cancel()
        if self._session is not None:
            await self._session.close()


async def _read_parts(content: aiohttp.StreamReader, parts: list[bytes], max_bytes: int) -> bool:
    """Read a body into ``parts``; False when it is longer than the limit, and not read to its end."""
    size = 0
    while size <= max_bytes:
        part = await content.readany()
        parts.append(part)
        size += len(part)
        if content.at_eof():
            return size <= max_bytes
    return False


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


def _own_version() -> str:
    try:
        return version("mesero")
    except PackageNotFoundError:
        return "0"
