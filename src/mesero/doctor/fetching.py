"""Single HTTP requests, without a client's ways: nothing is followed, retried or kept.

The only place of the doctor that knows aiohttp. What fails comes back as a fact, not as an exception.
Proxies count as they do for the client, and each request has a connection of its own, so that replicas behind
one address take turns. After a 429 the server is left alone.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.parse
from collections.abc import Mapping
from typing import Any, Final, Literal, Self

import aiohttp
from aiohttp.http_exceptions import ContentEncodingError
from yarl import URL

from mesero.doctor.addresses import Reach, host_of, may_lead_to, reach_of, split_url
from mesero.doctor.fetched import LEFT_ALONE, NOT_ASKED, Fetched, Streamed
from mesero.doctor.rawstream import PLAIN_HELLO
from mesero.eras import MODERN_REVISIONS
from mesero.errors import UsageError
from mesero.modern.client import mirrored_headers
from mesero.transports.http_addresses import find_proxy
from mesero.types import CLIENT_CAPABILITIES_KEY, PROTOCOL_VERSION_KEY

__all__ = [
    "POST_HEADERS",
    "Fetcher",
    "discover_request",
    "initialize_request",
    "stateless_request",
]

_MAX_BYTES: Final = 65_536
_STREAM_S: Final = 2.0
"""How long a stream is read on for a message, once something of it came."""
POST_HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
"""What every message over HTTP is sent with."""


class Fetcher:
    """Sends requests; used with ``async with``.

    Args:
        timeout_s: How long each may take, in seconds.
        server: The URL that is examined; what it names may not lead further inwards than it is itself.

    Attributes:
        limited: The first answer that was 429, None while there was none.
    """

    def __init__(self, *, timeout_s: float, server: str = "") -> None:
        self._timeout_s = timeout_s
        self._server = server
        self._session: aiohttp.ClientSession | None = None
        self._guarded: aiohttp.ClientSession | None = None
        self.limited: Fetched | None = None

    async def __aenter__(self) -> Self:
        self._session = _session(aiohttp.ThreadedResolver())
        return self

    async def __aexit__(self, *_: object) -> None:
        for session in (self._session, self._guarded):
            if session is not None:
                await session.close()

    async def fetch(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Fetched:
        """Send one request; of its body the beginning is read, of an event stream up to the first message."""
        if self._session is None:
            raise ValueError("the fetcher is not open")
        return await self._fetch(self._session, method, url, headers, body)

    async def fetch_named(self, url: str) -> Fetched:
        """GET what a server named, without credentials: by HTTPS, and no further inwards than the server is.

        On the server's own origin everything may be asked for.
        """
        parts, own = split_url(url), split_url(self._server)
        headers = {"Accept": "application/json"}
        if (parts.scheme, parts.netloc) == (own.scheme, own.netloc):
            return await self.fetch("GET", url, headers=headers)
        reach = await self._reach_of_server()
        refusal = _refusal_of(parts, host_of(url), reach)
        if refusal:
            return Fetched(method="GET", url=url, error=refusal)
        if self._guarded is None:
            self._guarded = _session(_GuardedResolver(reach))
        # Behind a proxy names are its business, and the proxy itself may be anywhere.
        try:
            is_proxied = find_proxy(URL(url)) is not None
        except (UsageError, ValueError):
            is_proxied = False
        session = self._session if is_proxied and self._session is not None else self._guarded
        return await self._fetch(session, "GET", url, headers, None)

    def leave_alone(self) -> None:
        """Ask the server nothing more: it told the client to wait."""
        if self.limited is None:
            self.limited = Fetched(method="POST", url=self._server, status=429)

    async def _reach_of_server(self) -> Reach:
        host = split_url(self._server).hostname or ""
        try:
            async with asyncio.timeout(self._timeout_s):
                found = await asyncio.get_running_loop().getaddrinfo(host, None)
            return reach_of(str(found[0][4][0]))
        except (OSError, TimeoutError, UnicodeError, ValueError, IndexError):
            return "public"

    async def _fetch(
        self,
        session: aiohttp.ClientSession,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        body: bytes | None,
    ) -> Fetched:
        if self._is_limited(url):
            return Fetched(method=method, url=url, error=LEFT_ALONE)
        start = time.monotonic()
        seen: dict[str, Any] = {}
        try:
            async with asyncio.timeout(self._timeout_s):
                await _read(_opened(session, method, url, headers, body), seen, start)
        except TimeoutError:
            if "status" not in seen:
                seen = {"error": f"no answer within {self._timeout_s:g} s", "is_timeout": True}
        except (aiohttp.ClientError, OSError, ValueError) as error:
            _note_failure(seen, error)
        fetched = Fetched(method=method, url=url, took_s=round(time.monotonic() - start, 3), **seen)
        if fetched.status == 429 and self.limited is None:
            self.limited = fetched
        return fetched

    def _is_limited(self, url: str) -> bool:
        return self.limited is not None and split_url(url).netloc == split_url(self.limited.url).netloc

    async def hold(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        for_s: float,
        until: bytes = b"",
        is_head_enough: bool = False,
    ) -> Streamed:
        """Open a stream and read it, until something came, it ended, or the time is over.

        Args:
            method, url, headers, body: The request.
            for_s: How long at most, in seconds.
            until: What ends the reading once it came; empty for nothing.
            is_head_enough: Whether the head of a stream ends the reading; of a page its beginning is read.
        """
        if self._session is None:
            raise ValueError("the fetcher is not open")
        if self._is_limited(url):
            return Streamed(head=Fetched(method=method, url=url, error=LEFT_ALONE))
        start = time.monotonic()
        head = Fetched(method=method, url=url, error=f"no answer within {for_s:g} s", is_timeout=True)
        pieces: list[tuple[float, bytes]] = []
        came = bytearray()
        end: Literal["ours", "server", "cut"] = "ours"
        try:
            async with (
                asyncio.timeout(for_s),
                _opened(self._session, method, url, headers, body) as response,
            ):
                named = _joined(response.headers)
                head_s = round(time.monotonic() - start, 3)
                head = Fetched(method=method, url=url, status=response.status, headers=named, head_s=head_s)
                if is_head_enough and head.kind == "text/event-stream":
                    return Streamed(head=head, end_s=head_s)
                while data := await response.content.readany():
                    pieces.append((round(time.monotonic() - start, 3), data[:_MAX_BYTES]))
                    came += data[:_MAX_BYTES]
                    if (until and until in came) or len(came) > _MAX_BYTES:
                        return Streamed(head=head, pieces=tuple(pieces), end_s=pieces[-1][0])
                end = "server"
        except TimeoutError:
            pass  # Then it was held for as long as it should be.
        except (aiohttp.ClientError, OSError, ValueError) as error:
            end = "cut"
            if not head.status:
                head = Fetched(method=method, url=url, error=_reason_of(error))
        if head.status == 429 and self.limited is None:
            self.limited = head
        return Streamed(head=head, pieces=tuple(pieces), end=end, end_s=round(time.monotonic() - start, 3))


def _opened(
    session: aiohttp.ClientSession,
    method: str,
    url: str,
    headers: Mapping[str, str] | None,
    body: bytes | None,
) -> Any:
    """A request that is about to be sent, for ``async with``: the way of the client, no redirect followed."""
    return session.request(
        method, url, headers=headers, data=body, allow_redirects=False, proxy=find_proxy(URL(url))
    )


async def _read(opened: Any, seen: dict[str, Any], start: float) -> None:
    """Read an answer into ``seen``: of a page the beginning, of a stream up to its first message."""
    async with opened as response:
        seen["head_s"] = round(time.monotonic() - start, 3)
        seen["status"] = response.status
        seen["headers"] = _joined(response.headers)
        seen["body"] = b""
        is_stream = seen["headers"].get("content-type", "").startswith("text/event-stream")
        deadline = asyncio.timeout(None)
        try:
            async with deadline:
                while len(seen["body"]) < _MAX_BYTES and (data := await response.content.readany()):
                    # What was compressed may have grown a thousandfold.
                    seen["body"] += data[:_MAX_BYTES]
                    if is_stream and (b'"jsonrpc"' in seen["body"] or b"endpoint" in seen["body"]):
                        return
                    if is_stream and deadline.when() is None:
                        deadline.reschedule(asyncio.get_running_loop().time() + _STREAM_S)
        except TimeoutError:
            if not deadline.expired():
                raise


class _GuardedResolver(aiohttp.ThreadedResolver):
    """Gives no address that the server may not send us to. What is resolved here is what is connected to."""

    def __init__(self, server: Reach) -> None:
        super().__init__()
        self._from = server

    async def resolve(self, *args: Any, **kwargs: Any) -> Any:
        """See `aiohttp.abc.AbstractResolver.resolve`.

        Raises:
            OSError: there is none, or one leads further inwards.
        """
        found = await super().resolve(*args, **kwargs)
        for each in found:
            if not may_lead_to(self._from, reach_of(each["host"])):
                where = each["host"]
                raise OSError(f"{NOT_ASKED}: the name leads to {where}, an address that is not public")
        return found


def _session(resolver: aiohttp.ThreadedResolver) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=resolver, force_close=True),
        cookie_jar=aiohttp.DummyCookieJar(),
        # As the client: what is not asked for is not compressed, and who asks is said.
        skip_auto_headers=("Accept-Encoding", "User-Agent"),
        headers={"User-Agent": "mesero-doctor"},
        timeout=aiohttp.ClientTimeout(total=None),
    )


def _joined(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers by their names in lower case; what was sent several times is one list, and all is UTF-8."""
    joined: dict[str, str] = {}
    for name, value in headers.items():
        lower = name.lower()
        text = value.encode(errors="surrogateescape").decode(errors="replace")
        joined[lower] = f"{joined[lower]}, {text}" if lower in joined else text
    return joined


def _refusal_of(parts: urllib.parse.SplitResult, host: str, server: Reach) -> str:
    """Why a URL that a server named is not asked, by its text alone; or ""."""
    try:
        target: Reach | None = reach_of(host)
    except ValueError:
        target = "loopback" if host == "localhost" or host.endswith(".localhost") else None
    if parts.scheme not in ("http", "https") or not host:
        return f"{NOT_ASKED}: this is no http(s) URL"
    if parts.username is not None:
        return f"{NOT_ASKED}: the URL has credentials in it"
    if target is not None and not may_lead_to(server, target):
        return f"{NOT_ASKED}: {host} is an address that is not public"
    if parts.scheme == "http" and target != "loopback":
        return f"{NOT_ASKED}: it is plain HTTP to another machine"
    return ""


def _note_failure(seen: dict[str, Any], error: Exception) -> None:
    if "status" in seen:
        cause = error.__cause__ or error
        seen["fault"] = "encoding" if isinstance(cause, ContentEncodingError) else "cut"
    seen.setdefault("error", _reason_of(error))


def _reason_of(error: Exception) -> str:
    inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    text = str(getattr(inner, "strerror", None) or inner) or type(error).__name__
    return text if text.startswith(NOT_ASKED) else str(error) or text


def stateless_request(method: str, id_: int = 1, **params: Any) -> tuple[dict[str, str], bytes]:
    """The headers and the body of a request of the newer era."""
    revision = MODERN_REVISIONS[0]
    meta = {PROTOCOL_VERSION_KEY: revision, CLIENT_CAPABILITIES_KEY: {}}
    request = {"jsonrpc": "2.0", "id": id_, "method": method, "params": {**params, "_meta": meta}}
    mirrored = dict(mirrored_headers(revision, method, None))
    return {**POST_HEADERS, **mirrored}, json.dumps(request).encode()


def discover_request() -> tuple[dict[str, str], bytes]:
    """The headers and the body of ``server/discover``."""
    return stateless_request("server/discover")


def initialize_request() -> tuple[dict[str, str], bytes]:
    """The headers and the body of ``initialize``."""
    return dict(POST_HEADERS), PLAIN_HELLO
