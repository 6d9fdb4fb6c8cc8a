"""An HTTP server's address with us in front of it: what passes is recorded, and not changed.

A reverse proxy for one origin on a loopback address. Bodies pass as they come, piece by piece, event by
event; redirects, refusals and metadata documents pass as they are; a host that hangs up closes the request
upstream. Only what belongs to one connection is not passed on (``Connection`` and its like), and ``Host``
names the server. With a token of its own the proxy signs in where the host could not.

Other machines and pages in browsers are refused: whoever may use the proxy uses its token too.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from mesero.errors import UsageError
from mesero.trace.http_tape import READABLE_CODINGS, HttpTape, headers_from
from mesero.trace.scribe import Scribe, ScribeSettings
from mesero.transports.http_addresses import check_url, find_proxy, is_loopback, shown_url
from mesero.transports.http_failures import send_failure_for

__all__ = ["Proxy", "open_proxy", "parse_listen", "run_proxy"]

_CONNECT_WAIT_S = 30.0
_MAX_BODY_BYTES = 256 * 1024 * 1024
_MAX_PLAIN_BODY_BYTES = 1024 * 1024
_MAX_HEADER_BYTES = 64 * 1024
_READ_BUFFER_BYTES = 256 * 1024
_KEEP_ALIVE_S = 4.0
"""Shorter than the 5 s after which common servers close an idle connection."""
_END_WAIT_S = 0.5
"""How long open exchanges may go on when the proxy is told to end, in seconds."""
_MAX_EXPLAINED = 100
_OF_A_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that are about one connection, not about what it carries."""
_ADDED = ("Content-Type", "Date", "Server")
"""Headers that the HTTP library adds where the server sent none."""


def run_proxy(
    url: str,
    *,
    listen: str,
    to: str,
    raw: bool = False,
    live: bool = False,
    bearer: str = "",
    complain: Callable[[str], None],
) -> None:
    """Be the server for whoever connects, until a signal to end.

    Args:
        url: The server's MCP endpoint.
        listen: Where to listen, ``127.0.0.1:9000``; the port 0 takes one that is free.
        to: The file to record into.
        raw: Record secrets as they are.
        live: Print a line for each message on stderr.
        bearer: A token to send with each request, instead of what the host sends.
        complain: Takes what people should know, a sentence each.

    Raises:
        UsageError: the URL or the address cannot be used.
    """
    host, port = parse_listen(listen)
    target = check_url(url, allow_plain_http=False)
    if url.isascii():
        # As it was written, down to what need not have been escaped.
        target = URL(url.partition("#")[0], encoded=True)
    settings = ScribeSettings(
        path=to,
        name=target.authority,
        transport="http",
        target=shown_url(target),
        raw=raw,
        live=live,
        secrets=[bearer] if bearer else [],
    )
    scribe = Scribe(settings, complain)
    proxy = Proxy(target, scribe, bearer=bearer, complain=complain)
    try:
        asyncio.run(_serve_until_told(proxy, host, port, complain))
    finally:
        scribe.close()


async def _serve_until_told(proxy: Proxy, host: str, port: int, complain: Callable[[str], None]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        # Elsewhere KeyboardInterrupt ends it.
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
    async with open_proxy(proxy, host, port) as url:
        proxy.scribe.start()
        complain(f"in the host, put {url} in the place of {shown_url(proxy.target.with_query(None))}")
        await stop.wait()


def parse_listen(text: str) -> tuple[str, int]:
    """Host and port to listen on.

    Raises:
        UsageError: it cannot be read, or is no address of loopback.
    """
    host, colon, digits = text.rpartition(":")
    name = host.removeprefix("[").removesuffix("]")
    if not colon or not digits.isdecimal() or not name or int(digits) > 65535:
        raise UsageError(f"{text!r} is no address to listen on", fix="It looks like 127.0.0.1:9000")
    if not is_loopback(name):
        raise UsageError(
            f"the proxy does not listen on {name!r}: other machines could use it",
            fix="Listen on 127.0.0.1, ::1 or localhost",
        )
    return name, int(digits)


@contextlib.asynccontextmanager
async def open_proxy(proxy: Proxy, host: str, port: int) -> AsyncIterator[str]:
    """Listen within an ``async with``; gives the URL for the host.

    Raises:
        UsageError: the address cannot be listened on.
    """
    listener = _open_listener(host, port)
    own = f"[{host}]" if ":" in host else host
    proxy.own_url = f"http://{own}:{listener.getsockname()[1]}{proxy.target.raw_path}"
    app = web.Application(client_max_size=_MAX_BODY_BYTES)
    app.router.add_route("*", "/{path:.*}", proxy.serve)
    app.on_response_prepare.append(_keep_headers)
    runner = web.AppRunner(
        app,
        access_log=None,
        # A host that hangs up ends its request, also while nothing comes from the server.
        handler_cancellation=True,
        shutdown_timeout=_END_WAIT_S,
        auto_decompress=False,
        max_line_size=_MAX_HEADER_BYTES,
        max_field_size=_MAX_HEADER_BYTES,
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        async with proxy.connected():
            yield proxy.own_url
    finally:
        await runner.cleanup()
        listener.close()


def _open_listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror or error}", fix="Choose another port"
        ) from None


class _Answer(web.StreamResponse):
    """What the server answered; ``absent`` are the headers that it did not send."""

    absent: Sequence[str] = ()


async def _keep_headers(request: web.Request, response: web.StreamResponse) -> None:
    del request
    if isinstance(response, _Answer):
        for name in response.absent:
            response.headers.popall(name, None)


class Proxy:
    """Passes requests on to one origin, and tells a scribe.

    Args:
        target: The server's MCP endpoint; a query in it is added to requests to the endpoint that have none.
        scribe: Is told what passes.
        bearer: A token to send with each request, instead of what the host sends.
        complain: Takes what people should know.
    """

    def __init__(
        self, target: URL, scribe: Scribe, *, bearer: str = "", complain: Callable[[str], None]
    ) -> None:
        self.target = target
        self.scribe = scribe
        self.own_url = ""
        """The endpoint as the host knows it."""
        self._bearer = bearer
        self._complain = complain
        self._origin = str(target.origin())
        self._exchanges = 0
        self._explained: set[str] = set()
        self._session: aiohttp.ClientSession | None = None
        self._way = find_proxy(target)

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Be able to reach the server."""
        connector = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=_KEEP_ALIVE_S, resolver=aiohttp.ThreadedResolver()
        )
        async with aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            timeout=aiohttp.ClientTimeout(total=None, connect=_CONNECT_WAIT_S),
            read_bufsize=_READ_BUFFER_BYTES,
            max_line_size=_MAX_HEADER_BYTES,
            max_field_size=_MAX_HEADER_BYTES,
        ) as self._session:
            yield

    # -- one exchange ------------------------------------------------------------------------------------

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer one request with what the server answers."""
        refusal = _find_refusal(request)
        if refusal:
            self._explain(refusal, f"a request was refused: {refusal}")
            return web.Response(status=403, text=f"mesero trace: {refusal}\n")
        body = await request.read()
        url = self._url_for(request)
        headers = self._headers_for(request)
        self._exchanges += 1
        tape = HttpTape(
            self.scribe.tell,
            self._explain,
            self._exchanges,
            is_endpoint=url.raw_path == self.target.raw_path,
            own_url=self.own_url,
        )
        tape.ask(request.method, str(url), headers_from([("host", url.authority), *headers.items()]), body)
        try:
            answer = await self._ask(request.method, url, headers, body)
        except (aiohttp.ClientError, OSError) as error:
            return self._failed(tape, error, request.method)
        except asyncio.CancelledError:
            tape.give_up()
            raise
        return await self._pass_back(request, answer, tape)

    async def _ask(
        self, method: str, url: URL, headers: CIMultiDict[str], body: bytes
    ) -> aiohttp.ClientResponse:
        assert self._session is not None  # noqa: S101  (requests come while it is open only)
        return await self._session.request(
            method,
            url,
            # The library wants a file where there is much to write.
            data=(body or None) if len(body) <= _MAX_PLAIN_BODY_BYTES else io.BytesIO(body),
            headers=headers,
            allow_redirects=False,
            proxy=self._way,
        )

    async def _pass_back(
        self, request: web.Request, answer: aiohttp.ClientResponse, tape: HttpTape
    ) -> web.StreamResponse:
        headers = _passed_on(answer.headers)
        tape.begin_answer(answer.status, headers_from(answer.headers.items()))
        response = _Answer(status=answer.status, reason=answer.reason, headers=headers)
        response.absent = [name for name in _ADDED if name not in answer.headers]
        try:
            await response.prepare(request)
            while data := await answer.content.readany():
                tape.take(data)
                await response.write(data)
            tape.finish()
            await response.write_eof()
        except (asyncio.CancelledError, ConnectionResetError):
            tape.give_up()
            raise
        except (aiohttp.ClientError, OSError) as error:
            tape.fail(f"the answer broke off: {type(error).__name__}: {error}")
            # Without an end of its own: the host must see that it is not whole.
            if request.transport is not None:
                request.transport.close()
        finally:
            answer.close() if not answer.content.is_eof() else answer.release()
        return response

    def _failed(self, tape: HttpTape, error: Exception, method: str) -> web.Response:
        failure = send_failure_for(
            error,
            f"{method} {shown_url(self.target)}",
            connect_timeout_s=_CONNECT_WAIT_S,
            proxy="" if self._way is None else shown_url(self._way),
        )
        tape.fail(str(failure))
        self._complain(str(failure))
        return web.Response(status=502, text=f"mesero trace: {failure}\n")

    # -- what goes upstream ------------------------------------------------------------------------------

    def _url_for(self, request: web.Request) -> URL:
        path = request.raw_path
        if not path.startswith("/"):
            raise web.HTTPBadRequest(text="mesero trace: this is a reverse proxy; paths begin with '/'\n")
        url = URL(self._origin + path, encoded=True)
        if url.raw_path == self.target.raw_path and "?" not in path:
            return self.target
        return url

    def _headers_for(self, request: web.Request) -> CIMultiDict[str]:
        headers = _passed_on(request.headers)
        headers.popall("Host", None)
        if self._bearer:
            headers["Authorization"] = f"Bearer {self._bearer}"
        codings = headers.getall("Accept-Encoding", [])
        readable = _readable_codings(codings)
        if codings and readable != ", ".join(codings):
            self._explain(
                "codings",
                "the host also accepts bodies in codings that cannot be read here;"
                f" the server is told 'Accept-Encoding: {readable}'",
            )
            headers["Accept-Encoding"] = readable
        return headers

    def _explain(self, subject: str, text: str) -> None:
        """Tell people something once: in the recording, and now."""
        if subject not in self._explained and len(self._explained) < _MAX_EXPLAINED:
            self._explained.add(subject)
            self.scribe.tell("note", text)
            self._complain(text)


def _passed_on(headers: Any) -> CIMultiDict[str]:
    """The headers that are not about one connection."""
    named = {name.strip().lower() for name in headers.get("Connection", "").split(",")}
    kept: CIMultiDict[str] = CIMultiDict()
    spelt: dict[str, str] = {}
    for name, value in headers.items():
        lowered = name.lower()
        if lowered not in _OF_A_CONNECTION and lowered not in named:
            # Of a header that is repeated in another spelling, the library would send the last one only.
            kept.add(spelt.setdefault(lowered, name), value)
    return kept


@functools.lru_cache(maxsize=64)
def _readable(value: str) -> str:
    codings = [coding.strip() for coding in value.split(",")]
    kept = [coding for coding in codings if coding.partition(";")[0].strip().lower() in READABLE_CODINGS]
    return ", ".join(codings if len(kept) == len(codings) else kept or ["identity"])


def _readable_codings(values: Iterable[str]) -> str:
    joined = ", ".join(values)
    readable = _readable(joined)
    # White space is no reason to change anything.
    return joined if readable.replace(" ", "") == joined.replace(" ", "") else readable


def _find_refusal(request: web.Request) -> str:
    """Why a request may not come in, empty when it may."""
    host = URL(f"http://{request.host}").host if request.host else None
    if host is None or not is_loopback(host):
        return f"the Host {request.host!r} is not this machine"
    origin = request.headers.get("Origin")
    if origin is None:
        return ""
    page = URL(origin).host if "://" in origin else None
    return "" if page is not None and is_loopback(page) else f"pages of {origin!r} may not use the proxy"
