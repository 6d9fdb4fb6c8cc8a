"""Rules about progress and cancellation.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.evidence import Evidence, short
from mesero.audit.examples import answer, ask, asked, old_ask, posted, replied, shake, tell, trace, wait
from mesero.audit.link import Asked, Direction, IdKey, find_id_key
from mesero.audit.rules import STATELESS, Fault, check, claim

__all__: list[str] = []

_FLOW = "basic/patterns/progress#progress-flow"
_BEHAVIOUR = "basic/patterns/progress#behavior-requirements"
_CANCEL = "basic/patterns/cancellation#behavior-requirements"
_PROGRESS = "notifications/progress"
_CANCELLED = "notifications/cancelled"
_LATE_S: Final = 1.0
"""How long after a cancellation messages may still be on their way, in seconds."""

_CALL = ask("tools/call", {"name": "x"}, progress="t")


def _step(value: Any, of: Any = "t", **more: Any) -> Any:
    return tell(_PROGRESS, {"progressToken": of, "progress": value, **more})


_GOOD = trace(_CALL, _step(1), _step(2), answer({"content": []}))


def _asker(evidence: Evidence) -> Direction:
    return "c2s" if evidence.direction == "s2c" else "s2c"


def _token(evidence: Evidence) -> IdKey | None:
    return find_id_key(evidence.params.get("progressToken"))


def _entry(evidence: Evidence) -> tuple[Asked, float | None] | None:
    token = _token(evidence)
    return evidence.link.progress.get((_asker(evidence), token)) if token is not None else None


@check(
    "PROG-001",
    "Progress is reported for a token that nobody gave",
    on=("notification",),
    methods=(_PROGRESS,),
    spec=_BEHAVIOUR,
    fix="Report progress only to requests that carry a progressToken, with that token unchanged.",
    passes=_GOOD,
    fails=trace(_CALL, _step(1, "other")),
)
def _unknown_token(evidence: Evidence) -> Iterator[Fault | str]:
    token = _token(evidence)
    if token is None or evidence.link.is_forgetful():
        return
    key = (_asker(evidence), token)
    if key not in evidence.link.progress and key not in evidence.link.finished_tokens:
        yield f"nobody gave the progress token {short(token[1])}"


@check(
    "PROG-002",
    "Progress is reported after the answer",
    on=("notification",),
    methods=(_PROGRESS,),
    spec="basic/patterns/progress#implementation-notes",
    fix="Stop reporting before the answer is sent; make sure that a late timer does not report again.",
    passes=_GOOD,
    fails=trace(_CALL, _step(1), answer({"content": []}), _step(2)),
)
def _after_answer(evidence: Evidence) -> Iterator[Fault | str]:
    token = _token(evidence)
    key = (_asker(evidence), token)
    if token is not None and key not in evidence.link.progress and key in evidence.link.finished_tokens:
        seq = evidence.link.finished_tokens[key]  # type: ignore[index]  # the token was just looked at
        yield f"progress for {short(token[1])} came after the answer in line {seq}"


@check(
    "PROG-003",
    "Progress does not go forward",
    on=("notification",),
    methods=(_PROGRESS,),
    spec=_FLOW,
    fix="Let progress grow with each notification, also when the total is unknown.",
    passes=_GOOD,
    fails=trace(_CALL, _step(2), _step(2)),
)
def _standing(evidence: Evidence) -> Iterator[Fault | str]:
    entry, value = _entry(evidence), evidence.params.get("progress")
    if entry is not None and entry[1] is not None and isinstance(value, (int, float)) and value <= entry[1]:
        yield f"progress went from {entry[1]:g} to {value:g}"


@check(
    "PROG-004",
    "A progress token is used by two open requests",
    on=("request",),
    spec=_FLOW,
    fix="Give each request a progress token of its own.",
    passes=_GOOD,
    fails=trace(_CALL, ask("tools/call", {"name": "x"}, id=2, progress="t")),
)
def _shared_token(evidence: Evidence) -> Iterator[Fault | str]:
    token = find_id_key(evidence.meta.get("progressToken"))
    entry = evidence.link.progress.get((evidence.direction, token)) if token is not None else None
    if evidence.exchange is not None and not evidence.exchange.session:
        return  # Several clients may share a link over HTTP.
    if entry is not None and entry[0].id != evidence.id and entry[0].cancelled_t is None:
        yield f"{evidence.what} has the progress token of the request in line {entry[0].seq}, still open"


@check(
    "PROG-005",
    "Progress is beyond its total",
    on=("notification",),
    methods=(_PROGRESS,),
    severity="warning",
    spec=_FLOW,
    fix="Leave total out when it is not known.",
    passes=trace(_CALL, _step(1, total=2)),
    fails=trace(_CALL, _step(3, total=2)),
)
def _beyond(evidence: Evidence) -> Iterator[Fault | str]:
    value, total = evidence.params.get("progress"), evidence.params.get("total")
    if isinstance(value, (int, float)) and isinstance(total, (int, float)) and value > total:
        yield f"progress is {value:g} of {total:g}"


@check(
    "PROG-006",
    "A request is cancelled that was never sent",
    on=("notification",),
    methods=(_CANCELLED,),
    severity="warning",
    spec=_CANCEL,
    fix=(
        "Name the id of a request that the same side sent and that is still open, unchanged in "
        "value and type."
    ),
    passes=trace(*shake(), old_ask("tools/list"), tell(_CANCELLED, {"requestId": 1}, "c2s")),
    fails=trace(*shake(), old_ask("tools/list"), tell(_CANCELLED, {"requestId": "1"}, "c2s")),
)
def _cancels_unknown(evidence: Evidence) -> Iterator[Fault | str]:
    key, link = find_id_key(evidence.params.get("requestId")), evidence.link
    if key is None or link.is_forgetful() or (evidence.era == "modern" and evidence.direction == "s2c"):
        return
    direction = evidence.direction
    if (
        (direction, key) not in link.open
        and (direction, key) not in link.answered
        and not link.answered.dropped
    ):
        yield f"no request with the id {short(key[1])} was sent"


@check(
    "PROG-007",
    "A cancelled request goes on",
    on=("notification", "result"),
    severity="warning",
    spec=_CANCEL,
    fix="Stop the work when it is cancelled, and send nothing more for it.",
    passes=trace(_CALL, tell(_CANCELLED, {"requestId": 1}, "c2s"), answer({"content": []})),
    fails=trace(_CALL, tell(_CANCELLED, {"requestId": 1}, "c2s"), wait(5), _step(1)),
)
def _goes_on(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.kind == "result":
        owner = evidence.asked
    else:
        entry = _entry(evidence) if evidence.method == _PROGRESS else None
        owner = entry[0] if entry is not None else None
    if owner is None or owner.cancelled_t is None or owner.method == "subscriptions/listen":
        return
    late = evidence.t - owner.cancelled_t
    if late > _LATE_S:
        yield f"{evidence.what} came {late:.1f} s after its request (line {owner.seq}) was cancelled"


@check(
    "PROG-008",
    "The server cancels something that is no subscription",
    on=("notification",),
    side="s2c",
    methods=(_CANCELLED,),
    revisions=STATELESS,
    blame="server",
    spec=_CANCEL,
    fix="Answer the request with an error instead; servers cancel subscriptions/listen only.",
    passes=trace(_CALL, answer({"content": []})),
    fails=trace(_CALL, tell(_CANCELLED, {"requestId": 1})),
)
def _server_cancels(evidence: Evidence) -> Iterator[Fault | str]:
    key = find_id_key(evidence.params.get("requestId"))
    if (
        evidence.direction == "s2c"
        and key is not None
        and key not in evidence.link.listens
        and not evidence.link.is_forgetful()
    ):
        yield f"the server cancelled the request {short(key[1])}, which is no subscription"


@check(
    "PROG-009",
    "A request over HTTP is cancelled by a message",
    on=("notification",),
    side="c2s",
    needs_http=True,
    methods=(_CANCELLED,),
    revisions=STATELESS,
    severity="warning",
    blame="client",
    spec="basic/patterns/cancellation#transport-specific-cancellation",
    fix="Close the response stream: over HTTP that is the cancellation, and no message is expected.",
    passes=trace(_CALL, tell(_CANCELLED, {"requestId": 1}, "c2s")),
    fails=trace(
        posted(asked("tools/call", {"name": "x"})),
        posted({"jsonrpc": "2.0", "method": _CANCELLED, "params": {"requestId": 1}}, exchange=2),
    ),
)
def _cancelled_by_message(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.direction == "c2s" and evidence.is_http:
        yield "the client posted notifications/cancelled"


claim(
    "PROG-010",
    "A cancellation or a progress report is malformed",
    path=r"\$\.params",
    kinds=("notification",),
    methods=(_CANCELLED, _PROGRESS),
    spec=_CANCEL,
    fix="A cancellation names requestId; a progress report has progressToken and the number progress.",
    passes=_GOOD,
    fails=trace(_CALL, tell(_PROGRESS, {"progressToken": "t"})),
)


@check(
    "PROG-011",
    "Progress comes on the stream of another request",
    on=("notification",),
    side="s2c",
    needs_http=True,
    methods=(_PROGRESS,),
    revisions=STATELESS,
    blame="server",
    spec="basic/transports/streamable-http#receiving-messages",
    fix="Send progress on the stream that answers the request with this token.",
    passes=trace(
        posted(asked("tools/call", {"name": "x"}, progress="t")),
        replied(
            {"jsonrpc": "2.0", "method": _PROGRESS, "params": {"progressToken": "t", "progress": 1}}, sse=True
        ),
    ),
    fails=trace(
        posted(asked("tools/call", {"name": "x"}, progress="t")),
        posted(asked("tools/call", {"name": "y"}, id=2), exchange=2),
        replied(
            {"jsonrpc": "2.0", "method": _PROGRESS, "params": {"progressToken": "t", "progress": 1}},
            exchange=2,
            sse=True,
        ),
    ),
)
def _other_stream(evidence: Evidence) -> Iterator[Fault | str]:
    entry, exchange = _entry(evidence), evidence.exchange
    if entry is None or exchange is None or exchange.asked is None or entry[0].exchange is None:
        return
    if entry[0].exchange is not exchange and exchange.asked.method != "subscriptions/listen":
        yield f"progress for line {entry[0].seq} came in the answer to line {exchange.asked.seq}"
