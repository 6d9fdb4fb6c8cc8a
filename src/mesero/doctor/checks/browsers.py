"""What a web page may do with a server: the guard of local ones, and what CORS lets through."""

from __future__ import annotations

import urllib.parse
from typing import Final

from mesero.doctor.checks.network import is_loopback
from mesero.doctor.fetching import Fetcher, discover_request, initialize_request
from mesero.doctor.sheet import Sheet

__all__ = ["check_browsers"]

_FOREIGN: Final = "https://attacker.example"
_ASKED: Final = ("content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "authorization")


async def check_browsers(
    sheet: Sheet, fetcher: Fetcher, url: str, *, is_legacy: bool = False, has_session: bool
) -> None:
    """Look at Origin and CORS.

    Args:
        sheet: Takes what is seen.
        fetcher: Sends the requests.
        url: The URL.
        is_legacy: Whether the server wants the older handshake: then that is what a page would send.
        has_session: Whether the server gave a session id.
    """
    own, body = initialize_request() if is_legacy else discover_request()
    with sheet.check("origin") as check:
        if not is_loopback(urllib.parse.urlsplit(url).hostname or ""):
            check.skip("for servers on this machine")
        else:
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-warning
            seen = await fetcher.fetch("POST", url, headers={**own, "Origin": _FOREIGN}, body=body)
            check.say(f"a page of {_FOREIGN} gets {seen.status}")
            session = seen.headers.get("mcp-session-id")
            if session is not None:
                await fetcher.fetch("DELETE", url, headers={"Mcp-Session-Id": session})
            if 200 <= seen.status < 300:
                check.warn("a foreign page can use this server")
                sheet.diagnose(
                    "ORIGIN-1", f"a request with Origin {_FOREIGN} was answered with {seen.status}"
                )
    with sheet.check("cors") as check:
        asked = {
            "Origin": _FOREIGN,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": ", ".join(_ASKED),
        }
        seen = await fetcher.fetch("OPTIONS", url, headers=asked)
        if "access-control-allow-origin" not in seen.headers:
            check.skip("the server does not serve browsers of other sites")
            return
        allowed = seen.headers.get("access-control-allow-headers", "").lower()
        missing = [name for name in _ASKED if name not in allowed and allowed != "*"]
        if missing:
            check.warn(f"not allowed: {', '.join(missing)}")
            sheet.diagnose("CORS-1", f"the preflight does not allow {', '.join(missing)}")
        else:
            check.say("the preflight allows what MCP needs")
        if has_session:
            answer = await fetcher.fetch("POST", url, headers={**own, "Origin": _FOREIGN}, body=body)
            exposed = answer.headers.get("access-control-expose-headers", "").lower()
            if "mcp-session-id" not in exposed and exposed != "*":
                check.warn("Mcp-Session-Id is not exposed")
                sheet.diagnose("CORS-2", f"Access-Control-Expose-Headers is {exposed!r}")
