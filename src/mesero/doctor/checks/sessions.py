"""How a server of the older era keeps its sessions: unknown, lost, ended, and shared by replicas or not.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from mesero.doctor.fetched import Fetched
from mesero.doctor.fetching import POST_HEADERS, Fetcher, initialize_request
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.trace.format import Header, Http, HttpLine, Line, MessageLine

__all__ = ["Loss", "RawSession", "check_sessions", "find_loss", "has_session_in"]

_UNKNOWN: Final = "00000000-0000-4000-8000-000000000000"
_PINGS: Final = 7
"""Enough to meet each of a few replicas; each has a connection of its own."""
_REVISION: Final = re.compile(rb'"protocolVersion"\s*:\s*"([0-9-]{10})"')
_REFUSALS: Final = (400, 401, 403, 404, 409, 410, 500, 503)
"""With what servers answer a session that they do not know; 404 is right."""


class Loss(msgspec.Struct, frozen=True):
    """A session that a server gave, and refused while it was in use.

    ``good`` is how many of its requests were answered before, ``status`` what then came.
    """

    session: str
    status: int
    good: int


class RawSession:
    """A session of the doctor's own, of which each request is sent as it is.

    Args:
        fetcher: Sends the requests.
        url: The URL.
        headers: What is sent along.

    Attributes:
        id: The session's id, "" where the server gave none.
        is_open: Whether ``initialize`` was answered.
    """

    def __init__(self, fetcher: Fetcher, url: str, headers: Mapping[str, str]) -> None:
        self._fetcher = fetcher
        self._url = url
        self._headers = dict(headers)
        self.id = ""
        self.is_open = False

    @property
    def headers(self) -> dict[str, str]:
        """What every request of it is sent with."""
        return dict(self._headers)

    async def open(self) -> Fetched:
        """Send ``initialize``, and say that it was understood."""
        own, body = initialize_request()
        seen = await self._fetcher.fetch("POST", self._url, headers={**own, **self._headers}, body=body)
        revision = _REVISION.search(seen.body)
        if not 200 <= seen.status < 300 or revision is None:
            return seen
        self.is_open = True
        self.id = seen.headers.get("mcp-session-id", "")
        self._headers["MCP-Protocol-Version"] = revision[1].decode()
        if self.id:
            self._headers["Mcp-Session-Id"] = self.id
        await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return seen

    async def ping(self) -> Fetched:
        """Send a ``ping``."""
        return await self._post({"jsonrpc": "2.0", "id": 2, "method": "ping"})

    async def delete(self) -> Fetched:
        """Ask the server to end it."""
        return await self._fetcher.fetch("DELETE", self._url, headers=self._headers)

    async def _post(self, message: dict[str, object]) -> Fetched:
        sent = {**POST_HEADERS, **self._headers}
        return await self._fetcher.fetch("POST", self._url, headers=sent, body=json.dumps(message).encode())


def has_session_in(lines: Sequence[Header | Line]) -> bool:
    """Whether the server gave a session id."""
    return any(line.dir == "s2c" and "mcp-session-id" in http.headers for line, http in _http_of(lines))


def find_loss(lines: Sequence[Header | Line]) -> Loss | None:
    """The first session that the server refused although it had given it, in a recording; or None."""
    asked: dict[object, str] = {}
    good: Counter[str] = Counter()
    ended: set[str] = set()
    for line, http in _http_of(lines):
        if line.dir == "c2s":
            session = str(http.headers.get("mcp-session-id", ""))
            if http.method == "POST":
                asked[http.exchange] = session
            elif http.method == "DELETE":
                ended.add(session)
            continue
        session = asked.get(http.exchange, "")
        if not session or session in ended or not isinstance(http.status, int):
            continue
        if http.status < 300:
            good[session] += 1
        elif http.status in _REFUSALS and not _is_about_method(line):
            return Loss(session, http.status, good[session])
    return None


def _is_about_method(line: MessageLine | HttpLine) -> bool:
    """Whether it is a JSON-RPC error that is no word about the session."""
    return isinstance(line, MessageLine) and ('"error"' not in line.raw or "-32601" in line.raw)


def _http_of(lines: Sequence[Header | Line]) -> Iterator[tuple[MessageLine | HttpLine, Http]]:
    for line in lines:
        if isinstance(line, HttpLine | MessageLine) and isinstance(line.http, Http):
            yield line, line.http


async def check_sessions(
    sheet: Sheet, fetcher: Fetcher, url: str, headers: Mapping[str, str], *, loss: Loss | None = None
) -> None:
    """Use a session of our own, end it, and send a request with an id that nobody gave.

    Args:
        sheet: Takes what is seen.
        fetcher: Sends the requests.
        url: The URL.
        headers: What is sent along.
        loss: A session that was lost while the client was connected.
    """
    with sheet.check("sessions") as check:
        session = RawSession(fetcher, url, headers)
        seen = await session.open()
        if not session.id:
            check.skip("the server gives no session id" if session.is_open else f"initialize: {seen}")
            return
        statuses = [(await session.ping()).status for _ in range(_PINGS)]
        good = sum(200 <= status < 300 for status in statuses)
        check.say(f"a session answered {good} of {_PINGS} requests, each on a connection of its own")
        if 0 in statuses or 429 in statuses:
            check.warn("some were not answered at all, or too many: that says nothing about sessions")
            return
        first_bad = next((number for number, status in enumerate(statuses) if status >= 300), _PINGS)
        if any(status < 300 for status in statuses[first_bad:]):
            _diagnose_replicas(sheet, check, statuses)
            return
        if 0 < first_bad < _PINGS:
            loss = Loss(session.id, statuses[first_bad], first_bad)
        wrong = await _ask_unknown(check, session, fetcher, url)
        if loss is not None:
            _diagnose_loss(sheet, loss, wrong)
        elif wrong:
            sheet.diagnose("SESSION-1", f"a session id that it never gave was answered with {wrong}")
        if first_bad == _PINGS:
            await _end(sheet, check, session)


def _diagnose_replicas(sheet: Sheet, check: OpenCheck, statuses: list[int]) -> None:
    """A session that is refused, and then answered again: a restart would have ended it for good."""
    bad = [status for status in statuses if status >= 300]
    good = len(statuses) - len(bad)
    check.warn("it is known to some of those who answer, and not to others")
    sheet.diagnose(
        "SESSION-2",
        f"one session was answered {good} times and refused {len(bad)} times "
        f"({', '.join(map(str, dict.fromkeys(bad)))}), in turns: the requests reach replicas, and not each "
        "knows it",
        severity="degraded" if good > 1 else "broken",
    )


async def _ask_unknown(check: OpenCheck, session: RawSession, fetcher: Fetcher, url: str) -> int:
    """The status that an id gets that nobody gave, if it is a wrong one; else 0."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    sent = {**POST_HEADERS, **session.headers, "Mcp-Session-Id": _UNKNOWN}
    seen = await fetcher.fetch("POST", url, headers=sent, body=body)
    check.say(f"an unknown session gets {seen.status or seen.error}")
    # "The server MAY terminate the session at any time, after which it MUST respond to requests containing
    # that session ID with HTTP 404 Not Found."
    if not seen.status or seen.status in (404, 429) or 300 <= seen.status < 400:
        return 0
    check.warn("clients take only 404 for the loss of a session")
    return seen.status


def _diagnose_loss(sheet: Sheet, loss: Loss, wrong: int) -> None:
    """A session that was in use was lost, and not by replicas."""
    said = f"a session that it had given, and had answered {loss.good} times, was then answered with"
    if loss.status != 404:
        also = f"; so is an id that it never gave ({wrong})" if wrong else ""
        sheet.diagnose("SESSION-1", f"{said} {loss.status}{also}", severity="degraded")
    else:
        sheet.diagnose("SESSION-4", f"{said} 404; a new one works")


async def _end(sheet: Sheet, check: OpenCheck, session: RawSession) -> None:
    """Whether a session that was ended is over."""
    ended = await session.delete()
    check.say(f"DELETE of the session gets {ended.status or ended.error}")
    # "The server MAY respond to this request with HTTP 405 Method Not Allowed"
    if not 200 <= ended.status < 300:
        return
    after = await session.ping()
    if 200 <= after.status < 300:
        check.warn("the session still answers")
        sheet.diagnose(
            "SESSION-3", f"DELETE was answered with {ended.status}, and a ping after it with {after.status}"
        )
