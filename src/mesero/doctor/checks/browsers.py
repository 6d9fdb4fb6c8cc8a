"""What a web page may do with a server: the guard of local ones, and what CORS lets through.

https://fetch.spec.whatwg.org/#http-cors-protocol
"""

from __future__ import annotations

import urllib.parse
from typing import Final

from mesero.doctor.fetched import Fetched
from mesero.doctor.fetching import Fetcher, discover_request, initialize_request
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.transports.http_addresses import is_loopback

__all__ = ["check_browsers"]

_FOREIGN: Final = "https://attacker.example"
_ALWAYS: Final = ("content-type", "mcp-protocol-version")
_MODERN: Final = ("mcp-method", "mcp-name")
_SOMETIMES: Final = ("authorization", "last-event-id")
"""What only some pages send: to sign in, and to go on with a stream."""


async def check_browsers(
    sheet: Sheet,
    fetcher: Fetcher,
    url: str,
    *,
    is_legacy: bool = False,
    has_session: bool,
    is_protected: bool = False,
    is_old_stream: bool = False,
) -> None:
    """Look at Origin and CORS.

    Args:
        sheet: Takes what is seen.
        fetcher: Sends the requests.
        url: The URL.
        is_legacy: Whether the server wants the older handshake: then that is what a page would send.
        has_session: Whether the server gave a session id.
        is_protected: Whether it answers 401, which a page must be able to read, too.
        is_old_stream: Whether it is the transport of 2024-11-05, which begins with GET.
    """
    own, body = initialize_request() if is_legacy else discover_request()
    with sheet.check("origin") as check:
        if is_protected or not is_loopback(urllib.parse.urlsplit(url).hostname or ""):
            check.skip("for open servers on this machine")
        else:
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-endpoint
            foreign = {**own, "Origin": _FOREIGN}
            seen = await (
                fetcher.fetch("GET", url, headers={"Accept": "text/event-stream", "Origin": _FOREIGN})
                if is_old_stream
                else fetcher.fetch("POST", url, headers=foreign, body=body)
            )
            check.say(f"a page of {_FOREIGN} gets {seen.status or seen.error}")
            await _end_session(fetcher, url, seen)
            if 200 <= seen.status < 300:
                check.warn("a foreign page can use this server")
                sheet.diagnose(
                    "ORIGIN-1", f"a request with Origin {_FOREIGN} was answered with {seen.status}"
                )
    with sheet.check("cors") as check:
        needed = [*_ALWAYS, *(() if is_legacy else _MODERN)]
        needed += ["mcp-session-id"] * has_session + ["authorization"] * is_protected
        is_open = await _check_preflight(sheet, check, fetcher, url, needed)
        if not is_open or not (has_session or is_protected):
            return
        answer = await fetcher.fetch("POST", url, headers={**own, "Origin": _FOREIGN}, body=body)
        await _end_session(fetcher, url, answer)
        if answer.status and "access-control-allow-origin" not in answer.headers:
            check.warn(f"the answer ({answer.status}) has no Access-Control-Allow-Origin")
            sheet.diagnose(
                "CORS-4",
                f"the preflight allows other sites, and the answer itself ({answer.status}) does not",
            )
        elif has_session:
            exposed = _words_in(answer, "access-control-expose-headers")
            if "mcp-session-id" not in exposed and "*" not in exposed:
                check.warn("Mcp-Session-Id is not exposed")
                sheet.diagnose("CORS-2", f"Access-Control-Expose-Headers is {', '.join(exposed)!r}")


async def _end_session(fetcher: Fetcher, url: str, seen: Fetched) -> None:
    session = seen.headers.get("mcp-session-id")
    if session is not None:
        await fetcher.fetch("DELETE", url, headers={"Mcp-Session-Id": session})


async def _check_preflight(
    sheet: Sheet, check: OpenCheck, fetcher: Fetcher, url: str, needed: list[str]
) -> bool:
    """Whether browsers may ask at all."""
    asked = {
        "Origin": _FOREIGN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": ", ".join(dict.fromkeys((*needed, *_SOMETIMES))),
    }
    seen = await fetcher.fetch("OPTIONS", url, headers=asked)
    check.say(f"a preflight gets {seen.status or seen.error}")
    if "access-control-allow-origin" not in seen.headers:
        check.skip("the server does not serve browsers of other sites")
        return False
    if not 200 <= seen.status < 300:
        # https://fetch.spec.whatwg.org/#cors-preflight-fetch: only a status of 200 to 299 counts.
        check.warn("browsers take 200 to 299 only")
        sheet.diagnose("CORS-3", f"OPTIONS was answered with {seen.status}")
        return False
    allowed = _words_in(seen, "access-control-allow-headers")
    # "*" stands for every header but Authorization, which has to be named.
    # https://fetch.spec.whatwg.org/#cors-non-wildcard-request-header-name
    refused = [
        name
        for name in dict.fromkeys((*needed, *_SOMETIMES))
        if name not in allowed and ("*" not in allowed or name == "authorization")
    ]
    missing = [name for name in refused if name in needed]
    if missing:
        check.warn(f"not allowed: {', '.join(missing)}")
        sheet.diagnose("CORS-1", f"the preflight does not allow {', '.join(missing)}")
    else:
        also = f", but not {', '.join(refused)}, which only some need" if refused else ""
        check.say(f"the preflight allows what MCP needs{also}")
    return True


def _words_in(seen: Fetched, name: str) -> list[str]:
    return [word.strip().lower() for word in seen.headers.get(name, "").split(",") if word.strip()]
