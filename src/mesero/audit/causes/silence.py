"""Why an answer never arrives, and why a client gave up waiting.

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
    asked,
    eof,
    fail,
    note,
    old_ask,
    posted,
    replied,
    shake,
    stderr,
    tell,
    trace,
    wait,
    wrote,
)
from mesero.audit.link import Asked, LinkState

__all__: list[str] = []

_LONG_S: Final = 5.0
"""A request that was open for a shorter time at the end was not waited for, in seconds."""
_GIVEN_UP_S: Final = 1.0
"""A request that was cancelled sooner was not waited for in vain, in seconds."""

_CALL: Final = ask("tools/call", {"name": "slow"}, id=3)
_LIST: Final = [ask("tools/list"), answer({"tools": [], "ttlMs": 0, "cacheScope": "private"})]
_CANCEL: Final = tell("notifications/cancelled", {"requestId": 3}, "c2s")


def _what(one: Asked) -> str:
    name = f" {short(one.name)}" if one.name else ""
    return f"`{short(one.method, quoted=False)}`{name} (id {short(one.id)})"


def _unanswered(link: LinkState) -> list[Asked]:
    """Requests of the client that were waited for in vain: still open, or given up."""
    waiting = [each for (direction, _), each in link.open.items() if direction == "c2s"]
    known = {each.seq for each in waiting}
    waiting += [each for each in link.given_up if each.seq not in known]
    return [
        each
        for each in sorted(waiting, key=lambda one: one.seq)
        if each.method != "subscriptions/listen" and _waited(link, each) >= _GIVEN_UP_S
    ]


def _waited(link: LinkState, one: Asked) -> float:
    end = one.cancelled_t if one.cancelled_t is not None else link.last_t
    return end - one.t


def _by_rule(link: LinkState, rule: str, ending: str) -> Iterator[Proof]:
    """An answer that was there, and that no client could take for one."""
    waiting = _unanswered(link)
    if rule in link.found and waiting:
        seq, said = link.found[rule]
        yield Proof(f"{said}; {_what(waiting[0])} {ending}", (waiting[0].seq, seq))


@cause(
    "SILENT-1",
    "The answer was written to stderr",
    phase="operation",
    blame="server",
    fix="Write answers, errors included, to stdout.",
    example=trace(
        *_LIST, _CALL, stderr('{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}}'), wait(60), _CANCEL
    ),
)
def _on_stderr(link: LinkState) -> Iterator[Proof]:
    yield from _by_rule(link, "FRAME-008", "waits for it")


@cause(
    "SILENT-2",
    "The answer came under the id in another type",
    phase="operation",
    blame="server",
    fix='Echo ids unchanged: 3 and "3" are different.',
    example=trace(*_LIST, _CALL, answer({"content": []}, id="3"), wait(60), _CANCEL),
)
def _other_type(link: LinkState) -> Iterator[Proof]:
    yield from _by_rule(link, "ID-007", "waits for it")


@cause(
    "SILENT-3",
    "The answer came without its id",
    phase="operation",
    blame="server",
    fix="Copy the id of the request into the error.",
    example=trace(*_LIST, _CALL, fail(-32603, "it broke", id=None), wait(60), _CANCEL),
)
def _without_id(link: LinkState) -> Iterator[Proof]:
    yield from _by_rule(link, "ID-008", "went on waiting")


@cause(
    "SILENT-4",
    "The answer is not JSON: NaN or Infinity",
    phase="operation",
    blame="server",
    fix="Send null or a string in place of numbers that are not finite.",
    example=trace(*_LIST, _CALL, wrote('{"jsonrpc":"2.0","id":3,"result":{"mean":NaN}}'), wait(60), _CANCEL),
)
def _not_finite(link: LinkState) -> Iterator[Proof]:
    yield from _by_rule(link, "FRAME-003", "waits for it")


@cause(
    "SILENT-5",
    "The answer shares its line with other text, or has several lines",
    phase="operation",
    blame="server",
    fix="Write each message on one line of its own, and logs to stderr.",
    example=trace(*_LIST, _CALL, wrote('done: {"jsonrpc":"2.0","id":3,"result":{}}'), wait(60), _CANCEL),
)
def _hidden_in_text(link: LinkState) -> Iterator[Proof]:
    for rule in ("FRAME-005", "FRAME-004", "FRAME-011", "FRAME-006"):
        yield from _by_rule(link, rule, "waits for it")


@cause(
    "SILENT-6",
    "Deadlock: the server asked, and the client never answered",
    phase="operation",
    blame="client",
    fix="Serve requests of the server while a call is open.",
    example=trace(
        *shake(client={"roots": {}}),
        old_ask("tools/call", {"name": "x"}, id=3),
        old_ask("roots/list", id="s1", direction="s2c"),
        wait(60),
        _CANCEL,
    ),
)
def _deadlock(link: LinkState) -> Iterator[Proof]:
    waiting = _unanswered(link)
    for (direction, _), question in link.open.items():
        if direction == "s2c" and waiting and question.seq > waiting[0].seq:
            text = f"while {_what(waiting[0])} was open the server asked {_what(question)} and had no answer"
            yield Proof(text, (waiting[0].seq, question.seq))


_ABLE: Final[dict[str, Any]] = {"elicitation": {}}


@cause(
    "SILENT-7",
    "The server needs input, and the client never came back",
    phase="operation",
    blame="client",
    fix="Answer input_required results, or do not declare the capability in the request.",
    example=trace(
        ask("tools/call", {"name": "x"}, capabilities=_ABLE),
        answer({"resultType": "input_required", "requestState": "s"}),
        wait(60),
        eof("c2s"),
    ),
)
def _no_retry(link: LinkState) -> Iterator[Proof]:
    for each in link.rounds.values():
        if link.last_t - each.asked.t >= _GIVEN_UP_S:
            asks = f" ({short(', '.join(each.keys))})" if each.keys else ""
            yield Proof(
                f"{_what(each.asked)} was answered with input_required{asks}; no retry came", (each.seq,)
            )


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
    if "HTTP-009" not in link.found:
        return
    seq, said = link.found["HTTP-009"]
    for exchange in link.exchanges.values():
        if exchange.ended_by == "s2c" and exchange.asked is not None and link.last_t - exchange.t >= 30:
            yield Proof(f"{said}, after {link.last_t - exchange.t:.0f} s", (exchange.seq, seq))


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
    if "HTTP-009" in link.found:
        yield Proof(link.found["HTTP-009"][1], (link.found["HTTP-009"][0],))


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
    for each in _unanswered(link):
        if last is None or last.direction == "s2c" or not last.method == each.method == "tools/call":
            continue
        # The other one was sent before the last answer came, and nothing was answered since.
        if last.seq < each.seq < link.last_answer_seq:
            text = f"{_what(last)} was answered, {_what(each)}, sent meanwhile, never"
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
    waiting = _unanswered(link)
    if len(waiting) > 1 and link.answers and waiting[0].method == "tools/call" and _is_alive(link):
        first, second = waiting[0], waiting[1]
        if second.t - first.t >= _GIVEN_UP_S:
            text = f"{_what(first)} was never answered, and after it nothing was: {_what(second)} neither"
            yield Proof(text, (first.seq, second.seq))


# -- timed out -----------------------------------------------------------------------------------------------


def _given_up(link: LinkState) -> list[Asked]:
    return [each for each in link.given_up if _waited(link, each) >= _GIVEN_UP_S]


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
    for each in _given_up(link):
        token = each.progress_token
        entry = link.progress.get(("c2s", token)) if token is not None else None
        if each.had_progress or (entry is not None and entry[1] is not None):
            text = (
                f"the client gave {_what(each)} up after its own {_waited(link, each):.0f} s; "
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
    for each in _given_up(link):
        token = "" if each.progress_token is not None else "; the request had no progressToken"
        waited = _waited(link, each)
        yield Proof(
            f"the client gave {_what(each)} up after {waited:.0f} s, a limit of its own{token}", (each.seq,)
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
            waiting = _unanswered(link)
            about = f" for {_what(waiting[0])}" if waiting else ""
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
                f"the server answered {_what(failure.asked)} with -32001: {short(failure.message)}",
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
    for each in _unanswered(link):
        is_open = each.cancelled_t is None and not _was_given_up(link, each)
        if link.answers and is_open and _waited(link, each) >= _LONG_S:
            yield Proof(f"{_what(each)} had no answer in {_waited(link, each):.0f} s", (each.seq,))


def _was_given_up(link: LinkState, one: Asked) -> bool:
    return any(each is one for each in link.given_up)
