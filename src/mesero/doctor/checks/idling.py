"""What becomes of a connection on which nothing passes: closed in order, or reset by something in between.

A client that sends on a connection that was reset loses its request; whether it came, only the server knows.

https://www.rfc-editor.org/rfc/rfc9112#section-9.6
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from typing import Literal

import msgspec
from yarl import URL

from mesero.doctor.addresses import port_of, split_url
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.errors import UsageError
from mesero.transports.http_addresses import find_proxy

__all__ = ["Idle", "hold_idle", "tell_idle"]

_MAX_BYTES = 65_536


class Idle(msgspec.Struct, frozen=True):
    """How a connection ended that was left alone, and after how many seconds: "open" is not at all."""

    end: Literal["open", "closed", "reset"]
    after_s: float


async def hold_idle(url: str, *, for_s: float) -> Idle | None:
    """Ask once, without credentials, and then wait; None where that cannot be done, as through a proxy.

    Args:
        url: The URL.
        for_s: How long, in seconds.
    """
    parts = split_url(url)
    host, is_tls = parts.hostname or "", parts.scheme == "https"
    with contextlib.suppress(OSError, TimeoutError, UsageError):
        if find_proxy(URL(url)) is not None:
            return None
        async with asyncio.timeout(for_s):
            reader, writer = await asyncio.open_connection(
                host,
                port_of(parts),
                ssl=ssl.create_default_context() if is_tls else None,
            )
        try:
            return await _wait(reader, writer, parts.netloc, parts.path or "/", for_s)
        finally:
            writer.transport.abort()
    return None


async def _wait(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, path: str, for_s: float
) -> Idle:
    lines = (f"OPTIONS {path} HTTP/1.1", f"Host: {host}", "User-Agent: mesero-doctor", "", "")
    writer.write("\r\n".join(lines).encode())
    last = time.monotonic()
    end: Literal["open", "closed", "reset"] = "open"
    try:
        async with asyncio.timeout(for_s):
            while await reader.read(_MAX_BYTES):
                last = time.monotonic()
        end = "closed"
    except TimeoutError:
        pass  # It was left alone for as long as it should be.
    except ConnectionError:
        end = "reset"
    return Idle(end, round(time.monotonic() - last, 3))


def tell_idle(sheet: Sheet, check: OpenCheck, idle: Idle | None) -> None:
    """Say what became of it; a reset is a note, since clients connect again.

    Args:
        sheet: Takes the diagnosis.
        check: Takes what was seen.
        idle: What became of it, None where nothing is known.
    """
    if idle is None:
        return
    words = {"open": "was still open", "closed": "was closed in order", "reset": "was reset"}
    check.say(f"a connection on which nothing passed {words[idle.end]} after {idle.after_s:.1f} s")
    if idle.end == "reset":
        check.warn("whoever sends something just then loses it")
        sheet.diagnose(
            "WATCH-5", f"a connection on which nothing passed was reset after {idle.after_s:.1f} s"
        )
