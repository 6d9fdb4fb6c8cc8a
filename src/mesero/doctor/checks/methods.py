"""What the endpoint answers to the methods beside POST, without a session.

The newer era has POST alone: GET and DELETE should get 405. The older one has GET for a stream and DELETE for
the end of a session. A server may speak both eras, so that none of it is a fault by itself.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mesero.doctor.fetched import Fetched
from mesero.doctor.fetching import Fetcher
from mesero.doctor.sheet import OpenCheck, Sheet

__all__ = ["check_methods"]

_HEAD_S: Final = 2.0
_METHODS: Final = {
    "GET": {"Accept": "text/event-stream"},
    "DELETE": {"Accept": "application/json"},
    "OPTIONS": {"Accept": "*/*"},
}


async def check_methods(
    sheet: Sheet, fetcher: Fetcher, url: str, headers: Mapping[str, str], *, limit_s: float = _HEAD_S
) -> None:
    """Ask with each, and note what comes.

    Args:
        sheet: Takes what is seen.
        fetcher: Sends the requests.
        url: The URL.
        headers: What is sent along.
        limit_s: How long each may take, in seconds.
    """
    with sheet.check("methods") as check:
        for method, own in _METHODS.items():
            stream = await fetcher.hold(
                method, url, headers={**headers, **own}, for_s=min(limit_s, _HEAD_S), is_head_enough=True
            )
            seen = stream.head
            _tell(check, seen)
            session = seen.headers.get("mcp-session-id")
            if session is not None and method in ("GET", "DELETE"):
                check.warn(f"{method} without a session was given one")
                sheet.diagnose("SESSION-5", f"{method} without Mcp-Session-Id was answered with a new one")
                await fetcher.fetch("DELETE", url, headers={**headers, "Mcp-Session-Id": session})


def _tell(check: OpenCheck, seen: Fetched) -> None:
    came = f"{seen.status} {seen.kind}".rstrip() if seen.status else seen.error
    allow = seen.headers.get("allow")
    also = f", Allow: {allow}" if allow else ""
    if seen.status == 405 and not allow:
        # https://www.rfc-editor.org/rfc/rfc9110#section-15.5.6
        also = ", without the Allow that belongs to it"
    check.say(f"{seen.method} gets {came}{also}")
