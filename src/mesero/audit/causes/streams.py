"""Why an answer was lost with the connection or the event stream that it should have come on.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.diagnosis import Proof, cause
from mesero.audit.evidence import short
from mesero.audit.examples import (
    answered,
    asked,
    eof,
    hello,
    http_answer,
    http_error,
    posted,
    replied,
    trace,
    wait,
    welcome,
)
from mesero.audit.link import Asked, Exchange, LinkState
from mesero.audit.unanswered import words_for

__all__: list[str] = []

_IDLE_LIMIT_S: Final = 30.0
"""What is cut after a longer time was cut by whoever takes it for idle, in seconds."""
_VERSION: Final[dict[str, Any]] = {"mcp_protocol_version": "2025-11-25"}


def _lost(link: LinkState) -> Iterator[tuple[Exchange, Asked]]:
    """Streams that ended or broke without their answer, and the requests that they belong to."""
    for exchange in link.exchanges.values():
        owner = exchange.asked
        if owner is None or owner.is_answered or not exchange.is_stream or not _is_over(exchange):
            continue
        # Whoever closed its session afterwards has waited for it before.
        is_cancelled = owner.cancelled_t is not None and owner.cancelled_t < exchange.ended_t
        if not is_cancelled and owner.method != "subscriptions/listen":
            yield exchange, owner


def _is_over(exchange: Exchange) -> bool:
    return exchange.ended_by == "s2c" or bool(exchange.error)


def _how(exchange: Exchange, owner: Asked) -> str:
    ending = "broke off" if exchange.error else "ended"
    return f"the stream for {words_for(owner)} {ending} before its result"


def _followed(link: LinkState, exchange: Exchange) -> tuple[Exchange, str]:
    """The last request that went on with a stream, the stream's own if there is none; and its last event."""
    last, event_id = exchange, exchange.event_id
    for each in link.exchanges.values():
        if each.seq > last.seq and event_id and each.headers.get("last-event-id") == event_id:
            last, event_id = each, each.event_id or event_id
    return last, event_id


def _opened(number: int, event_id: str = "") -> list[Any]:
    """A session of the older era over HTTP, and a call in it whose answer begins as a stream."""
    hail = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "slow"}}
    told = {"jsonrpc": "2.0", "method": "notifications/vendor"}
    named: dict[str, Any] = {"event_id": event_id} if event_id else {}
    return [
        posted(hail, exchange=8),
        replied({"jsonrpc": "2.0", "id": 0, "result": welcome()}, exchange=8),
        posted(ready, exchange=9, **_VERSION),
        http_answer(202, exchange=9),
        posted(call, exchange=number, **_VERSION),
        replied(told, exchange=number, sse=True, **named),
    ]


@cause(
    "SILENT-14",
    "The stream was cut, and the client did not resume it",
    phase="operation",
    blame="client",
    fix="Send GET with Last-Event-ID, as often as the connection breaks: the answer waits at the server.",
    example=trace(*_opened(1, "e7"), eof(exchange=1), transport="http"),
)
def _not_resumed(link: LinkState) -> Iterator[Proof]:
    for exchange, owner in _lost(link):
        last, event_id = _followed(link, exchange)
        # 2026-07-28 has no such thing: there the request is sent again.
        if owner.era == "legacy" and event_id and last.is_stream and _is_over(last):
            again = "" if last is exchange else f", and so did that of line {last.seq}, which went on with it"
            text = (
                f"{_how(exchange, owner)}{again}; the last event was {short(event_id)}, and no request with "
                "it as Last-Event-ID followed"
            )
            yield Proof(text, (exchange.seq, last.seq))


@cause(
    "SILENT-8",
    "Something between client and server holds the events back or cuts the stream",
    phase="operation",
    blame="intermediary",
    confidence="likely",
    fix="Switch buffering off (X-Accel-Buffering: no), send keep-alive comments, raise the idle limit.",
    example=trace(
        posted(asked("tools/call", {"name": "slow"}, id=3)),
        replied({"jsonrpc": "2.0", "method": "notifications/vendor"}, sse=True),
        wait(60),
        eof(exchange=1),
        transport="http",
    ),
)
def _cut_stream(link: LinkState) -> Iterator[Proof]:
    for exchange, owner in _lost(link):
        open_s = exchange.ended_t - exchange.t
        if open_s >= _IDLE_LIMIT_S:
            yield Proof(f"{_how(exchange, owner)}, after {open_s:.0f} s", (exchange.seq,))


@cause(
    "SILENT-9",
    "The server ended the stream before the answer",
    phase="operation",
    blame="server",
    fix="Send the response before the stream ends; look at the server's log for that time.",
    example=trace(
        posted(asked("tools/call", {"name": "slow"}, id=3)),
        replied({"jsonrpc": "2.0", "method": "notifications/vendor"}, sse=True),
        eof(exchange=1),
        transport="http",
    ),
)
def _ended_stream(link: LinkState) -> Iterator[Proof]:
    for exchange, owner in _lost(link):
        last, event_id = _followed(link, exchange)
        if owner.era != "legacy":
            more = ""
        elif not event_id:
            more = "; the server sent no event id, so nothing can be resumed"
        elif last.status >= 400:
            more = f"; the client asked to go on after {short(event_id)}, and was answered with {last.status}"
        else:
            continue
        yield Proof(f"{_how(exchange, owner)}{more}", (exchange.seq, last.seq))


@cause(
    "DROPPED-4",
    "One connection broke, and the client gave up",
    phase="operation",
    blame="client",
    confidence="likely",
    fix="Try once more, on another connection: firewalls reset connections that were idle.",
    example=trace(
        posted(asked("tools/list")),
        replied(answered({"tools": [], "ttlMs": 0, "cacheScope": "private"})),
        wait(600),
        posted(asked("tools/list", id=2), exchange=2),
        http_error("connection reset by peer", exchange=2),
        transport="http",
    ),
)
def _gave_up_at_once(link: LinkState) -> Iterator[Proof]:
    last = next((each for each in link.exchanges.values() if each.seq == link.last_sent_seq), None)
    if last is None or not last.error or last.status or not link.answers:
        return
    before = max((each.t for each in link.exchanges.values() if each.seq < last.seq), default=last.t)
    idle = f" after {last.t - before:.0f} s without a request" if last.t - before >= 1.0 else ""
    about = "a message" if last.asked is None else f"`{short(last.asked.method, quoted=False)}`"
    said = last.error.rpartition("→ ")[2]
    text = f"the connection for {about} broke{idle} ({short(said, quoted=False)}), and nothing was sent since"
    yield Proof(text, (last.seq,))
