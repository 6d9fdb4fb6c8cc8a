"""What the URL itself answers to one message, and what answers beside it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping
from typing import Final

from mesero.doctor.fetching import POST_HEADERS, Fetched, Fetcher, discover_request
from mesero.doctor.sheet import Sheet

__all__ = ["check_endpoint", "diagnose_refusal", "find_neighbour"]

_NEIGHBOURS: Final = ("/mcp", "/mcp/", "/sse", "/api/mcp", "/v1/mcp", "/")
_TITLE: Final = re.compile(rb"<title[^>]*>(.*?)</title>", re.DOTALL | re.IGNORECASE)
_GATEWAY: Final = frozenset({502, 503, 504})


async def check_endpoint(sheet: Sheet, fetcher: Fetcher, url: str, headers: Mapping[str, str]) -> Fetched:
    """Send one message as it is, and note what comes."""
    with sheet.check("http") as check:
        own, body = discover_request()
        seen = await fetcher.fetch("POST", url, headers={**own, **headers}, body=body)
        check.say(str(seen))
        if not seen.status:
            check.fail(seen.error)
        for name in ("server", "via", "location", "www-authenticate", "retry-after"):
            if name in seen.headers:
                check.say(f"{name}: {seen.headers[name][:200]}")
        title = _TITLE.search(seen.body)
        if title is not None:
            check.say(f"a page titled {title[1].decode('utf-8', 'replace').strip()[:100]!r}")
        return seen


async def diagnose_refusal(sheet: Sheet, fetcher: Fetcher, seen: Fetched, *, is_connected: bool) -> None:
    """What can be told from that answer alone.

    Args:
        sheet: Takes the diagnosis, if there is one.
        fetcher: To look at neighbouring paths.
        seen: What the URL answered.
        is_connected: Whether a client could live with it.
    """
    location = seen.headers.get("location")
    if 300 <= seen.status < 400 and location is not None:
        _diagnose_redirect(sheet, seen, urllib.parse.urljoin(seen.url, location), is_connected=is_connected)
    elif is_connected:
        with sheet.check("neighbours") as check:
            check.skip("MCP is at this path")
    elif b"HTTPS port" in seen.body or b"HTTPS server" in seen.body:
        sheet.diagnose("TLS-5", f"{seen.url} answered that it speaks https")
    elif seen.is_timeout:
        sheet.diagnose("HTTP-12", str(seen))
    elif seen.status in _GATEWAY:
        by = f" ({seen.headers['server']})" if "server" in seen.headers else ""
        sheet.diagnose("HTTP-6", f"{seen}{by}")
    elif seen.status == 429:
        wait = seen.headers.get("retry-after")
        sheet.diagnose("HTTP-8", f"{seen}" + (f"; Retry-After: {wait}" if wait else ""))
    elif seen.status >= 500:
        sheet.diagnose("HTTP-7", f"{seen}{_quote(seen)}")
    elif seen.status in (404, 405) or seen.kind == "text/html":
        with sheet.check("neighbours") as check:
            found = await find_neighbour(fetcher, seen.url)
            if found is None:
                check.say(f"nothing that speaks MCP at {', '.join(_NEIGHBOURS)}")
                return
            check.say(str(found))
        sheet.diagnose(
            "HTTP-3",
            f"{seen}, while {found.url} answers with MCP",
            fix=f'"url": "{found.url}"' + (', "type": "sse"' if found.is_old_stream else ""),
        )


def _quote(seen: Fetched) -> str:
    text = seen.body[:200].decode("utf-8", "replace").strip()
    return f": {text}" if text and seen.kind != "text/html" else ""


def _diagnose_redirect(sheet: Sheet, seen: Fetched, to: str, *, is_connected: bool) -> None:
    if seen.url.startswith("https://") and to.startswith("http://"):
        secure = "https://" + to.removeprefix("http://")
        sheet.diagnose(
            "HTTP-2",
            f"{seen.url} leads to {to}; it is not followed, and credentials were not sent there",
            fix=f'"url": "{secure}". Server: trust the proxy\'s X-Forwarded-Proto',
        )
        return
    sheet.diagnose(
        "HTTP-1",
        f"{seen.url} is answered with {seen.status} and leads to {to}",
        fix=f'"url": "{to}"',
        severity="degraded" if is_connected else "broken",
    )


async def find_neighbour(fetcher: Fetcher, url: str) -> Fetched | None:
    """What speaks MCP at one of the usual paths of the same server, or None. No credentials go there."""
    parts = urllib.parse.urlsplit(url)
    own, body = discover_request()
    for path in _NEIGHBOURS:
        if path == parts.path:
            continue
        beside = urllib.parse.urlunsplit((parts.scheme, parts.netloc, path, "", ""))
        if path != "/sse":
            seen = await fetcher.fetch("POST", beside, headers=own, body=body)
            if seen.is_mcp:
                return seen
        if path in ("/sse", "/"):
            seen = await fetcher.fetch("GET", beside, headers={"Accept": POST_HEADERS["Accept"]})
            if seen.is_old_stream:
                return seen
    return None
