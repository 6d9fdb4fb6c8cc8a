"""Why a server goes silent, and why a client gave up waiting for it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#timeouts
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.diagnosis import Proof, cause
from mesero.audit.evidence import short
from mesero.audit.examples import (
    answer,
    ask,
    eof,
    fail,
    hello,
    http_answer,
    note,
    posted,
    replied,
    tell,
    trace,
    wait,
    welcome,
)
from mesero.audit.link import Asked, LinkState
from mesero.audit.unanswered import GIVEN_UP_S, find_given_up, find_unanswered, waited_s, words_for

__all__: list[str] = []

_LONG_S: Final = 5.0
"""A request that was open for a shorter time at the end was not waited for, in seconds."""

_CALL: Final = ask("tools/call", {"name": "slow"}, id=3)
_LIST: Final = [ask("tools/list"), answer({"tools": [], "ttlMs": 0, "cacheScope": "private"})]
_CANCEL: Final = tell("notifications/cancelled", {"requestId": 3}, "c2s")


def _is_alive(link: LinkState) -> bool:
    return link.exit is None and "s2c" not in link.closed


@cause(
    "SILENT-10",
    "Calls that overlap hang the server",
    phase="operation",
    blame="server",
    confidence="likely",
    fix="Send one call at a time to this server until its lock is mended.",
    example=trace(
        *_LIST,
        ask("tools/call", {"name": "a"}, id=10),
        ask("tools/call", {"name": "b"}, id=11),
        answer({"content": []}, id=10),
        wait(60),
        eof("c2s"),
    ),
)
def _overlap(link: LinkState) -> Iterator[Proof]:
    last = link.last_answered
    for each in find_unanswered(link):
        if last is None or last.direction == "s2c" or not last.method == each.method == "tools/call":
            continue
        # The other one was sent before the last answer came, and nothing was answered since.
        if last.seq < each.seq < link.last_answer_seq:
            text = f"{words_for(last)} was answered, {words_for(each)}, sent meanwhile, never"
            yield Proof(text, (last.seq, each.seq))


@cause(
    "SILENT-11",
    "A tool hangs, and so does the server with it",
    phase="operation",
    blame="server",
    confidence="likely",
    fix=(
        "Start programs inside of tools with their stdin closed (stdin=subprocess.DEVNULL), and "
        "do not block the loop."
    ),
    example=trace(*_LIST, _CALL, wait(30), ask("tools/list", id=4), wait(30), eof("c2s")),
)
def _blocked(link: LinkState) -> Iterator[Proof]:
    waiting = find_unanswered(link)
    if len(waiting) > 1 and link.answers and waiting[0].method == "tools/call" and _is_alive(link):
        first, second = waiting[0], waiting[1]
        if second.t - first.t >= GIVEN_UP_S:
            later = words_for(second)
            text = f"{words_for(first)} was never answered, and after it nothing was: {later} neither"
            yield Proof(text, (first.seq, second.seq))


_QUESTIONS: Final = ("elicitation", "sampling", "roots")
_VERSION: Final[dict[str, Any]] = {"mcp_protocol_version": "2025-11-25"}


def _start_over_http(capabilities: dict[str, Any]) -> list[Any]:
    hail = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello(capabilities=capabilities)}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    return [
        posted(hail, exchange=8),
        replied({"jsonrpc": "2.0", "id": 0, "result": welcome()}, exchange=8),
        posted(ready, exchange=9, **_VERSION),
        http_answer(202, exchange=9),
    ]


@cause(
    "SILENT-15",
    "A question of the server has no stream to travel on",
    phase="operation",
    blame="unknown",
    confidence="possible",
    fix=(
        "Client: open the event stream (GET) after initialize. Server: ask on the stream of the call that "
        "needs the answer. If the tool asks nothing, it is only slow."
    ),
    example=trace(
        *_start_over_http({"elicitation": {}}),
        posted({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "x"}}, **_VERSION),
        wait(60),
        posted({"jsonrpc": "2.0", "id": 4, "method": "ping"}, exchange=2, **_VERSION),
        replied({"jsonrpc": "2.0", "id": 4, "result": {}}, exchange=2),
        transport="http",
    ),
)
def _no_stream(link: LinkState) -> Iterator[Proof]:
    listens = any(each.method == "GET" and each.url == link.resource for each in link.exchanges.values())
    if listens or link.exchanges.dropped or not link.resource:
        return
    for each in find_unanswered(link):
        exchange = each.exchange
        if exchange is None or exchange.is_old_sse or exchange.messages or each.era != "legacy":
            continue
        handshake = link.handshake_for(exchange.session)
        able = [name for name in _QUESTIONS if handshake and name in handshake.client_capabilities]
        if able and each.method == "tools/call":
            text = (
                f"{words_for(each)} had no answer in {waited_s(link, each):.0f} s; the client declared "
                f"{', '.join(able)}, and opened no event stream on which the server could ask"
            )
            yield Proof(text, (each.seq,))


# -- timed out -----------------------------------------------------------------------------------------------


@cause(
    "TIMEOUT-1",
    "The client gave up although the server reported progress",
    phase="operation",
    blame="client",
    fix=(
        "Let progress extend the limit (in the SDKs an option of the call), or raise the limit for this tool."
    ),
    example=trace(
        *_LIST,
        ask("tools/call", {"name": "slow"}, id=3, progress="t"),
        *[
            step
            for n in range(1, 4)
            for step in (wait(20), tell("notifications/progress", {"progressToken": "t", "progress": n}))
        ],
        _CANCEL,
    ),
)
def _in_spite_of_progress(link: LinkState) -> Iterator[Proof]:
    for each in find_given_up(link):
        token = each.progress_token
        entry = link.progress.get(("c2s", token)) if token is not None else None
        if each.had_progress or (entry is not None and entry[1] is not None):
            text = (
                f"the client gave {words_for(each)} up after its own {waited_s(link, each):.0f} s; "
                "progress was coming"
            )
            yield Proof(text, (each.seq,))


@cause(
    "TIMEOUT-2",
    "The client gave up after a limit of its own",
    phase="operation",
    blame="client",
    fix="Raise the limit for this tool, and send a progressToken so that the server can say that it works.",
    example=trace(*_LIST, _CALL, wait(60), _CANCEL),
)
def _own_limit(link: LinkState) -> Iterator[Proof]:
    for each in find_given_up(link):
        token = "" if each.progress_token is not None else "; the request had no progressToken"
        waited = waited_s(link, each)
        yield Proof(
            f"the client gave {words_for(each)} up after {waited:.0f} s, a limit of its own{token}",
            (each.seq,),
        )


@cause(
    "TIMEOUT-3",
    "-32001 is the client's own number for a time-out",
    phase="operation",
    blame="client",
    confidence="likely",
    fix="Raise the client's limit for this request; the server never sent this error.",
    example=trace(
        *_LIST, _CALL, wait(60), note("client reported: MCP error -32001: Request timed out"), eof("c2s")
    ),
)
def _reported(link: LinkState) -> Iterator[Proof]:
    if any(failure.code == -32001 for failure in link.failures):
        return
    for seq, text in link.reports:
        if text.startswith("client reported:") and ("-32001" in text or "timed out" in text.lower()):
            waiting = find_unanswered(link)
            about = f" for {words_for(waiting[0])}" if waiting else ""
            yield Proof(f"the client reported a time-out{about}; no such error was on the wire", (seq,))


@cause(
    "TIMEOUT-4",
    "-32001 came from the server: the draft's number for a header mismatch",
    phase="operation",
    blame="server",
    confidence="likely",
    fix="Update the server: in 2026-07-28 a header mismatch is -32020.",
    example=trace(*_LIST, _CALL, fail(-32001, "Header mismatch", id=3)),
)
def _draft_number(link: LinkState) -> Iterator[Proof]:
    for failure in link.failures:
        if failure.code == -32001 and failure.asked.era == "modern":
            yield Proof(
                f"the server answered {words_for(failure.asked)} with -32001: {short(failure.message)}",
                (failure.seq,),
            )


@cause(
    "SILENT-12",
    "The server never answered",
    phase="operation",
    blame="server",
    confidence="possible",
    fix=(
        "Look at the server's log for this request; every request must be answered, with an error if need be."
    ),
    example=trace(*_LIST, _CALL, wait(60), eof("c2s")),
)
def _silence(link: LinkState) -> Iterator[Proof]:
    for each in find_unanswered(link):
        is_open = each.cancelled_t is None and not _was_given_up(link, each)
        if link.answers and is_open and waited_s(link, each) >= _LONG_S:
            yield Proof(f"{words_for(each)} had no answer in {waited_s(link, each):.0f} s", (each.seq,))


def _was_given_up(link: LinkState, one: Asked) -> bool:
    return any(each is one for each in link.given_up)
