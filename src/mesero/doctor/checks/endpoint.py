"""What the URL itself answers to one message, and what answers beside it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

import asyncio
import urllib.parse
from collections.abc import Mapping
from typing import Final

from mesero.doctor.addresses import port_of, split_url
from mesero.doctor.checks.certificates import speaks_tls
from mesero.doctor.checks.pages import find_login, find_name, find_title, find_wall, guards_host, quote
from mesero.doctor.checks.redirects import diagnose_redirect
from mesero.doctor.fetched import Fetched
from mesero.doctor.fetching import POST_HEADERS, Fetcher, discover_request
from mesero.doctor.sheet import Sheet

__all__ = ["check_endpoint", "diagnose_refusal", "find_neighbour"]

_NEIGHBOURS: Final = ("/mcp", "/mcp/", "/sse", "/api/mcp", "/v1/mcp", "/")
_GATEWAY: Final = frozenset({502, 503, 504})
_TOLD: Final = (
    *("server", "via", "cf-ray", "cf-mitigated", "x-accel-buffering", "location", "allow"),
    *("www-authenticate", "proxy-authenticate", "retry-after"),
)
_TLS_S: Final = 2.0


async def check_endpoint(sheet: Sheet, fetcher: Fetcher, url: str, headers: Mapping[str, str]) -> Fetched:
    """Send one message as it is, and note what comes."""
    with sheet.check("http") as check:
        own, body = discover_request()
        seen = await fetcher.fetch("POST", url, headers={**own, **headers}, body=body)
        check.say(f"{seen} after {seen.head_s:.3f} s" if seen.status else str(seen))
        if not seen.status:
            check.fail(seen.error)
        elif seen.fault:
            check.warn(seen.error)
        for name in _TOLD:
            if name in seen.headers:
                check.say(f"{name}: {seen.headers[name][:200]}")
        title = find_title(seen)
        if title:
            check.say(f"a page titled {title!r}")
        return seen


async def diagnose_refusal(sheet: Sheet, fetcher: Fetcher, seen: Fetched, *, is_connected: bool) -> None:
    """What can be told from that answer alone.

    Args:
        sheet: Takes the diagnosis, if there is one.
        fetcher: To look at neighbouring paths.
        seen: What the URL answered.
        is_connected: Whether a client could live with it.
    """
    if 300 <= seen.status < 400 and "location" in seen.headers:
        await diagnose_redirect(sheet, fetcher, seen, is_connected=is_connected)
    elif is_connected:
        with sheet.check("neighbours") as check:
            check.skip("MCP is at this path")
    elif not await _diagnose_way(sheet, seen):
        await _diagnose_answer(sheet, fetcher, seen)


async def _diagnose_way(sheet: Sheet, seen: Fetched) -> bool:
    """Whether it is something on the way that answered, or nobody."""
    by = f" ({seen.headers['server']})" if "server" in seen.headers else ""
    wall = find_wall(seen)
    if wall:
        sheet.diagnose("HTTP-13", f"{seen}{by}: {wall}")
    elif b"HTTPS port" in seen.body or b"HTTPS server" in seen.body:
        sheet.diagnose("TLS-5", f"{seen.url} answered that it speaks https")
    elif not seen.status and not seen.is_timeout and await _speaks_tls(seen.url):
        sheet.diagnose("TLS-5", f"{seen.url} did not answer ({seen.error}), and its port speaks TLS")
    elif seen.is_timeout:
        sheet.diagnose("HTTP-12", str(seen))
    elif seen.status == 407:
        said = seen.headers.get("proxy-authenticate", "")
        sheet.diagnose("NET-6", f"{seen}" + (f"; it says: {said}" if said else ""))
    elif seen.status in _GATEWAY and not find_login(seen):
        sheet.diagnose("HTTP-6", f"{seen}{by}")
    elif seen.status == 429:
        wait = seen.headers.get("retry-after")
        sheet.diagnose("HTTP-8", f"{seen}" + (f"; Retry-After: {wait}" if wait else ""))
    elif seen.fault:
        encoding = seen.headers.get("content-encoding", "none")
        code, what = (
            ("HTTP-14", f"; Content-Encoding: {encoding}") if seen.fault == "encoding" else ("HTTP-15", "")
        )
        sheet.diagnose(code, f"{seen}{what}; {len(seen.body)} bytes could be read{by}")
    else:
        return False
    return True


async def _diagnose_answer(sheet: Sheet, fetcher: Fetcher, seen: Fetched) -> None:
    """What somebody answered that a client cannot use."""
    if guards_host(seen):
        host = split_url(seen.url).netloc
        # Some say by which name they want to be called.
        name = find_name(seen)
        fix = f'"url": "{seen.url.replace(host, name, 1)}"' if name else ""
        told = f"{seen}{quote(seen)}; the name that it was called by is {host}"
        sheet.diagnose("HTTP-18", told, fix=fix, blame="client" if name else None)
        return
    may_be_beside = seen.status in (404, 405) or seen.kind == "text/html"
    if may_be_beside and await _diagnose_neighbour(sheet, fetcher, seen):
        return
    login = find_login(seen)
    if login:
        sheet.diagnose("AUTH-10", f"{seen}, and {login}")
    elif seen.status == 403:
        sheet.diagnose("HTTP-17", f"{seen}{quote(seen)}")
    elif seen.status >= 500:
        sheet.diagnose("HTTP-7", f"{seen}{quote(seen)}")
    elif seen.status in (200, 202, 204) and not seen.body and seen.kind != "text/event-stream":
        sheet.diagnose("HTTP-16", f"{seen}, without a body")


async def _diagnose_neighbour(sheet: Sheet, fetcher: Fetcher, seen: Fetched) -> bool:
    """Whether MCP is beside it."""
    with sheet.check("neighbours") as check:
        found = await find_neighbour(fetcher, seen.url)
        if found is None:
            check.say(f"nothing that speaks MCP at {', '.join(_NEIGHBOURS)}")
            return False
        check.say(str(found))
    sheet.diagnose(
        "HTTP-3",
        f"{seen}, while {found.url} answers with {'MCP' if found.status != 401 else '401, as MCP would'}",
        fix=f'"url": "{found.url}"' + (', "type": "sse"' if found.is_old_stream else ""),
    )
    return True


async def _speaks_tls(url: str) -> bool:
    parts = split_url(url)
    host, port = parts.hostname or "", port_of(parts)
    if parts.scheme != "http":
        return False
    return await speaks_tls(lambda: asyncio.open_connection(host, port), host, timeout_s=_TLS_S)


async def find_neighbour(fetcher: Fetcher, url: str) -> Fetched | None:
    """What speaks MCP at one of the usual paths of the same server, or None. No credentials go there."""
    parts = split_url(url)
    own, body = discover_request()
    for path in _NEIGHBOURS:
        if path == parts.path:
            continue
        beside = urllib.parse.urlunsplit((parts.scheme, parts.netloc, path, "", ""))
        if path != "/sse":
            seen = await fetcher.fetch("POST", beside, headers=own, body=body)
            # What asks for a token there, and not here, is most likely it, too.
            if seen.is_mcp or (seen.status == 401 and "www-authenticate" in seen.headers):
                return seen
        if path in ("/sse", "/"):
            seen = await fetcher.fetch("GET", beside, headers={"Accept": POST_HEADERS["Accept"]})
            if seen.is_old_stream:
                return seen
    return None
