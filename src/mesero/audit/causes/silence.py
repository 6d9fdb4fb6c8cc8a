"""Why an answer never arrives: it came in a form that is none, or the other side was never answered.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#responses
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.diagnosis import Proof, cause
from mesero.audit.evidence import short
from mesero.audit.examples import (
    answer,
    ask,
    c2s,
    eof,
    fail,
    old_ask,
    shake,
    stderr,
    tell,
    trace,
    wait,
    wrote,
)
from mesero.audit.link import LinkState
from mesero.audit.unanswered import GIVEN_UP_S, find_unanswered, words_for

__all__: list[str] = []

_CALL: Final = ask("tools/call", {"name": "slow"}, id=3)
_LIST: Final = [ask("tools/list"), answer({"tools": [], "ttlMs": 0, "cacheScope": "private"})]
_CANCEL: Final = tell("notifications/cancelled", {"requestId": 3}, "c2s")


def _by_rule(link: LinkState, rule: str, ending: str) -> Iterator[Proof]:
    """An answer that was there, and that no client could take for one."""
    waiting = find_unanswered(link)
    if rule in link.found and waiting:
        seq, said = link.found[rule]
        yield Proof(f"{said}; {words_for(waiting[0])} {ending}", (waiting[0].seq, seq))


@cause(
    "SILENT-13",
    "The requests were sent in an array, which this revision does not have",
    phase="operation",
    blame="client",
    fix="Send each request as a message of its own: batches exist in 2025-03-26 only.",
    example=trace(
        *shake(),
        c2s([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "ping"}]),
        fail(-32600, "Invalid Request", id=None),
        eof("c2s"),
    ),
)
def _in_a_batch(link: LinkState) -> Iterator[Proof]:
    if "ENV-009" not in link.found:
        return
    seq, said = link.found["ENV-009"]
    inside = [each for (direction, _), each in link.open.items() if direction == "c2s" and each.seq == seq]
    if inside:
        yield Proof(f"{said}; {words_for(inside[0])}, which was in it, had no answer", (seq,))


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
    waiting = find_unanswered(link)
    for (direction, _), question in link.open.items():
        if direction == "s2c" and waiting and question.seq > waiting[0].seq:
            asked = words_for(question)
            text = f"while {words_for(waiting[0])} was open the server asked {asked} and had no answer"
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
        if link.last_t - each.asked.t >= GIVEN_UP_S:
            asks = f" ({short(', '.join(each.keys))})" if each.keys else ""
            yield Proof(
                f"{words_for(each.asked)} was answered with input_required{asks}; no retry came", (each.seq,)
            )
