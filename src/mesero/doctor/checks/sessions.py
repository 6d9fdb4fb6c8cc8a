"""How a server of the older era answers a session that it does not know, as after a restart.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from mesero.doctor.fetching import POST_HEADERS, Fetcher
from mesero.doctor.sheet import Sheet
from mesero.trace.format import Header, Http, HttpLine, Line, MessageLine

__all__ = ["check_sessions", "has_session_in", "is_forgotten_in"]

_UNKNOWN: Final = "00000000-0000-4000-8000-000000000000"


def has_session_in(lines: Sequence[Header | Line]) -> bool:
    """Whether the server gave a session id."""
    return any(
        isinstance(line, HttpLine | MessageLine)
        and line.dir == "s2c"
        and "mcp-session-id" in getattr(line.http, "headers", {})
        for line in lines
    )


def is_forgotten_in(lines: Sequence[Header | Line]) -> bool:
    """Whether the server refused a session with 404 although it had only just given its id."""
    asked: set[object] = set()
    for line in lines:
        if not isinstance(line, HttpLine | MessageLine) or not isinstance(line.http, Http):
            continue
        if line.dir == "c2s" and "mcp-session-id" in line.http.headers:
            asked.add(line.http.exchange)
        elif line.dir == "s2c" and line.http.status == 404 and line.http.exchange in asked:
            return True
    return False


async def check_sessions(
    sheet: Sheet, fetcher: Fetcher, url: str, headers: Mapping[str, str], *, revision: str, has_session: bool
) -> None:
    """Send a request with an id that nobody gave."""
    with sheet.check("sessions") as check:
        if not has_session:
            check.skip("the server gave no session id")
            return
        sent = {
            **POST_HEADERS,
            **headers,
            "Mcp-Session-Id": _UNKNOWN,
            "MCP-Protocol-Version": revision,
        }
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
        seen = await fetcher.fetch("POST", url, headers=sent, body=body)
        check.say(f"an unknown session gets {seen.status}")
        if seen.status != 404 and not 300 <= seen.status < 400:
            check.warn("clients take only 404 for the loss of a session")
            sheet.diagnose("SESSION-1", f"a session id that it never gave was answered with {seen.status}")
