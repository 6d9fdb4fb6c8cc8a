"""Single HTTP requests, without a client's ways: nothing is followed, retried or kept.

The only place of the doctor that knows aiohttp. What fails comes back as a fact, not as an exception.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any, Final, Self

import aiohttp
import msgspec

from mesero.doctor.rawstream import PLAIN_HELLO
from mesero.eras import MODERN_REVISIONS
from mesero.modern.client import mirrored_headers
from mesero.types import CLIENT_CAPABILITIES_KEY, PROTOCOL_VERSION_KEY

__all__ = ["POST_HEADERS", "Fetched", "Fetcher", "discover_request", "initialize_request"]

_MAX_BYTES: Final = 65_536
POST_HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
"""What every message over HTTP is sent with."""


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a request. ``status`` is 0 and ``error`` says why where nothing came."""

    method: str
    url: str
    status: int = 0
    headers: dict[str, str] = {}
    body: bytes = b""
    error: str = ""
    is_timeout: bool = False
    took_s: float = 0.0

    @property
    def kind(self) -> str:
        """The content type without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_mcp(self) -> bool:
        """Whether this is how a server of either era answers a message, a refusal included."""
        return b'"jsonrpc"' in self.body and (self.kind in ("application/json", "text/event-stream"))

    @property
    def is_old_stream(self) -> bool:
        """Whether this is the beginning of the stream of 2024-11-05."""
        return self.kind == "text/event-stream" and b"endpoint" in self.body[:200]

    def find_document(self) -> dict[str, Any] | None:
        """The JSON object in the body of a 200, or None."""
        if self.status != 200:
            return None
        try:
            value = json.loads(self.body)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    def __str__(self) -> str:
        came = f"{self.status} {self.kind}".rstrip() if self.status else self.error
        return f"{self.method} {self.url} → {came}"


class Fetcher:
    """Sends requests; used with ``async with``.

    Args:
        timeout_s: How long each may take, in seconds.
    """

    def __init__(self, *, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            trust_env=True, auto_decompress=True, cookie_jar=aiohttp.DummyCookieJar()
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def fetch(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Fetched:
        """Send one request; of its body the beginning is read, of an event stream the first piece."""
        start = time.monotonic()
        seen: dict[str, Any] = {}
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._read(method, url, headers, body, seen)
        except TimeoutError:
            if not seen:
                seen = {"error": f"no answer within {self._timeout_s:g} s", "is_timeout": True}
        except (aiohttp.ClientError, OSError, ValueError) as error:
            seen.setdefault("error", str(error) or type(error).__name__)
        return Fetched(method=method, url=url, took_s=round(time.monotonic() - start, 3), **seen)

    async def _read(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        body: bytes | None,
        seen: dict[str, Any],
    ) -> None:
        if self._session is None:
            raise ValueError("the fetcher is not open")
        async with self._session.request(
            method, url, headers=headers, data=body, allow_redirects=False
        ) as response:
            seen["status"] = response.status
            seen["headers"] = {name.lower(): value for name, value in response.headers.items()}
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                seen["body"] = await response.content.readany()
            else:
                seen["body"] = await response.content.read(_MAX_BYTES)


def discover_request() -> tuple[dict[str, str], bytes]:
    """The headers and the body of ``server/discover``."""
    revision = MODERN_REVISIONS[0]
    meta = {PROTOCOL_VERSION_KEY: revision, CLIENT_CAPABILITIES_KEY: {}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}
    mirrored = dict(mirrored_headers(revision, "server/discover", None))
    return {**POST_HEADERS, **mirrored}, json.dumps(request).encode()


def initialize_request() -> tuple[dict[str, str], bytes]:
    """The headers and the body of ``initialize``."""
    return dict(POST_HEADERS), PLAIN_HELLO
