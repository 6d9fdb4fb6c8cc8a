"""Event streams: whether what is sent comes at once, and what becomes of a stream on which nothing is said.

The newer era opens one with `subscriptions/listen`, whose acknowledgement must come first; the older one with
GET.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from mesero.doctor.checks.idling import Idle, tell_idle
from mesero.doctor.checks.pages import find_title
from mesero.doctor.checks.sessions import RawSession
from mesero.doctor.fetched import Fetched, Streamed
from mesero.doctor.fetching import Fetcher, stateless_request
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.doctor.visit import Visit

__all__ = ["Held", "Listening", "between", "check_streams", "diagnose_silence", "find_way_to_listen"]

_ACKNOWLEDGED: Final = b"notifications/subscriptions/acknowledged"
_LONGEST_S: Final = 3.0
_SLOW_S: Final = 1.0
"""How much later than an ordinary answer the first event may be."""
_SIGNS: Final = ("server", "via", "cf-ray", "x-cache", "x-amz-cf-id", "x-served-by", "x-azure-ref")
_LISTENABLE: Final = (
    ("tools", "list_changed", "toolsListChanged"),
    ("prompts", "list_changed", "promptsListChanged"),
    ("resources", "list_changed", "resourcesListChanged"),
)


class Held(msgspec.Struct, frozen=True):
    """What was held open while the connection was watched: a stream, and a connection of no use."""

    stream: Streamed | None = None
    idle: Idle | None = None


class Listening(msgspec.Struct, frozen=True):
    """How a stream of the server's own is opened. ``session`` is to be ended when it is over."""

    method: str
    headers: dict[str, str]
    body: bytes | None = None
    session: RawSession | None = None

    @property
    def is_subscription(self) -> bool:
        """Whether it is one on which something must come at once."""
        return self.method == "POST"


async def find_way_to_listen(
    fetcher: Fetcher, visit: Visit, url: str, headers: Mapping[str, str]
) -> Listening | str:
    """How to open a stream, or why there is none to open.

    Args:
        fetcher: Begins a session where one is needed.
        visit: The connection.
        url: The URL.
        headers: What is sent along.
    """
    if visit.client.transport.kind == "sse":
        return "the transport is one stream"
    if visit.facts.era == "modern":
        wanted = _listenable_of(visit.facts.capabilities)
        if not wanted:
            return "the server announces nothing to listen to"
        own, body = stateless_request("subscriptions/listen", 7, notifications=wanted)
        return Listening("POST", {**own, **headers}, body)
    session = RawSession(fetcher, url, headers)
    seen = await session.open()
    if not session.is_open:
        return f"initialize: {seen}"
    return Listening("GET", {**session.headers, "Accept": "text/event-stream"}, None, session)


def _listenable_of(capabilities: Any) -> dict[str, bool]:
    """The part of a filter that asks for everything that is announced."""
    wanted = {}
    for noun, flag, key in _LISTENABLE:
        if getattr(getattr(capabilities, noun, None), flag, None) is True:
            wanted[key] = True
    return wanted


def between(headers: Mapping[str, str]) -> str:
    """What stands in between by its headers, and what was not said to it, in words."""
    signs = [f"{name}: {headers[name][:60]}" for name in _SIGNS if name in headers]
    said = f"X-Accel-Buffering: {headers['x-accel-buffering']}" if "x-accel-buffering" in headers else ""
    return "; ".join([*signs, said or "no X-Accel-Buffering"])


async def check_streams(
    sheet: Sheet,
    fetcher: Fetcher,
    url: str,
    way: Listening | str,
    *,
    usual_s: float,
    limit_s: float,
    held: Held = Held(),  # noqa: B008 - it cannot be changed
) -> None:
    """Measure when the first of a stream comes; and tell what became of one that was held open.

    Args:
        sheet: Takes what is seen.
        fetcher: Opens the stream.
        url: The URL.
        way: How, or why there is none.
        usual_s: How long an ordinary answer takes, in seconds.
        limit_s: How long the first event may take at most, in seconds.
        held: What was held open while the connection was watched.
    """
    with sheet.check("streams") as check:
        if isinstance(way, str):
            check.skip(way)
            tell_idle(sheet, check, held.idle)
            return
        limit_s = min(_LONGEST_S, limit_s)
        stream = await fetcher.hold(
            way.method,
            url,
            headers=way.headers,
            body=way.body,
            for_s=limit_s,
            until=_ACKNOWLEDGED if way.is_subscription else b"",
            is_head_enough=not way.is_subscription,
        )
        if way.is_subscription:
            _tell_subscription(sheet, check, stream, usual_s)
        else:
            _tell_older(sheet, check, stream)
        if held.stream is not None and check.status == "ok":
            _tell_held(sheet, check, held.stream, way)
        tell_idle(sheet, check, held.idle)
        if way.session is not None and way.session.id:
            await way.session.delete()


def _tell_subscription(sheet: Sheet, check: OpenCheck, stream: Streamed, usual_s: float) -> None:
    head = stream.head
    if _is_held_back(stream):
        diagnose_silence(sheet, check, stream, "subscriptions/listen, which must be acknowledged at once,")
    elif head.kind != "text/event-stream":
        check.warn(f"subscriptions/listen: {head}")
        if head.status != 429 and head.status:
            sheet.diagnose("SSE-3", f"its capabilities announce changes, and subscriptions/listen got {head}")
    elif _ACKNOWLEDGED not in stream.body:
        came = "keep-alive comments alone" if stream.body.lstrip().startswith(b":") else "something else"
        if stream.end == "ours":
            check.warn(f"no acknowledgement within {stream.end_s:.1f} s, {came}")
            sheet.diagnose(
                "SSE-4", f"within {stream.end_s:.1f} s the stream of subscriptions/listen brought {came}"
            )
        else:
            check.warn(f"the stream ended after {stream.end_s:.1f} s, without an acknowledgement")
            sheet.diagnose("SSE-2", f"the stream of subscriptions/listen ended after {stream.end_s:.1f} s")
    else:
        first_s = stream.pieces[0][0]
        check.say(f"head after {head.head_s:.3f} s, acknowledged after {stream.end_s:.3f} s")
        if first_s > usual_s + _SLOW_S:
            check.warn("that is long after an ordinary answer")
            sheet.diagnose(
                "SSE-1",
                f"the first event of a stream came after {first_s:.1f} s, an ordinary answer after "
                f"{usual_s:.1f} s; in between: {between(head.headers)}",
            )


def _is_held_back(stream: Streamed) -> bool:
    """Whether nothing came at all: no head, or a stream without a byte."""
    is_stream = stream.head.kind == "text/event-stream"
    return stream.head.is_timeout or (is_stream and not stream.pieces and stream.end == "ours")


def diagnose_silence(sheet: Sheet, check: OpenCheck, stream: Streamed, what: str) -> None:
    """Nothing of a stream came although something was due.

    Args:
        sheet: Takes the diagnosis.
        check: Where it was seen.
        stream: The stream.
        what: What was sent, for the sentence.
    """
    head = stream.head
    seen = f"its head came after {head.head_s:.1f} s, and" if head.status else "no head and"
    said = f"after {what} {seen} no event within {stream.end_s:.1f} s"
    check.fail(said)
    sheet.diagnose("SSE-1", f"{said}; in between: {between(head.headers)}")


def _tell_older(sheet: Sheet, check: OpenCheck, stream: Streamed) -> None:
    head = stream.head
    if head.is_timeout:
        check.warn(f"GET: not even a head within {stream.end_s:.1f} s")
        sheet.diagnose(
            "SSE-1",
            f"GET asks for an event stream, and not even its head came within {stream.end_s:.1f} s",
            severity="note",
        )
        return
    check.say(f"GET: {head} after {head.head_s:.3f} s")
    # "The server MUST either return Content-Type: text/event-stream in response to this HTTP GET, or else
    # return HTTP 405 Method Not Allowed"
    if head.status in (405, 429, 0) or head.kind == "text/event-stream":
        return
    body = Fetched(method="GET", url="", status=head.status, headers=head.headers, body=stream.body)
    page = f", a page titled {find_title(body)!r}" if find_title(body) else ""
    check.warn("that is neither a stream nor 405")
    sheet.diagnose("METHOD-1", f"{head}{page}", severity="degraded" if 200 <= head.status < 300 else "note")


def _tell_held(sheet: Sheet, check: OpenCheck, held: Streamed, way: Listening) -> None:
    """What became of a stream on which nobody said anything."""
    if held.head.kind != "text/event-stream":
        return
    if held.end == "ours":
        check.say(f"a stream was held open for {held.end_s:.1f} s")
        return
    silent_s = held.end_s - held.last_s
    said = f"the stream was cut after {silent_s:.1f} s of silence"
    is_announced = b'"result"' in held.body if way.is_subscription else held.end == "server"
    if is_announced:
        # "The server MAY close the SSE stream at any time."; in the newer era it says so with a result.
        check.say(f"the server ended a stream in order after {held.end_s:.1f} s")
        return
    by = "broken off" if held.end == "cut" else "ended without the result that tells of an end"
    check.warn(said)
    sheet.diagnose(
        "WATCH-4",
        f"{said}, {held.end_s:.1f} s after it was opened; it was {by}; in between: "
        f"{between(held.head.headers)}",
    )
