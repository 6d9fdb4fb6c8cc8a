"""Rules about ids: who answers what.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests
"""

from __future__ import annotations

from collections.abc import Iterator

from mesero.audit.evidence import Evidence, short
from mesero.audit.examples import (
    answer,
    answered,
    ask,
    asked,
    c2s,
    fail,
    failed,
    old_answer,
    old_ask,
    posted,
    replied,
    s2c,
    shake,
    trace,
)
from mesero.audit.link import find_id_key
from mesero.audit.rules import ALL, HANDSHAKE, STATELESS, Fault, check, claim

__all__: list[str] = []

_REQUESTS = "basic/index#requests"
_RESULTS = "basic/index#result-responses"
_ERRORS = "basic/index#error-responses"
_ECHO = "Copy the id of the request into its answer, unchanged in value and type."
_TWO_CALLS = trace(
    ask("tools/call", {"name": "a"}), answer({"content": []}), ask("tools/call", {"name": "a"}, id=2)
)
_UNREADABLE = frozenset({-32700, -32600})

claim(
    "ID-001",
    "The id of a request is null",
    path=r"\$(\[\d+\])?\.id$",
    says="not null",
    kinds=("request",),
    spec=_REQUESTS,
    fix="Give each request an id of its own, a string or an integer; leave the id out of notifications only.",
    passes=_TWO_CALLS,
    fails=trace(*shake(), old_ask("ping", id=None)),
)

claim(
    "ID-002",
    "An id is neither a string nor an integer",
    path=r"\$(\[\d+\])?\.id$",
    says="must be",
    kinds=("request", "result"),
    spec=_REQUESTS,
    fix="Use strings or integers for ids.",
    passes=_TWO_CALLS,
    fails=trace(*shake(), old_ask("ping", id=1.5)),
)


@check(
    "ID-003",
    "A request uses the id of one that is still open",
    on=("request",),
    spec=_REQUESTS,
    fix="Use a new id for each request: two open ones with the same id cannot be told apart.",
    passes=_TWO_CALLS,
    fails=trace(ask("tools/call", {"name": "a"}), ask("tools/call", {"name": "b"})),
)
def _reused_while_open(evidence: Evidence) -> Iterator[Fault | str]:
    key = evidence.id_key
    if key is None:
        return
    first = evidence.link.open.get((evidence.direction, key))
    # Over HTTP several clients may share a link; only those of one session are surely the same.
    exchange = evidence.exchange
    if exchange is not None and not exchange.session:
        return
    if first is not None and first.exchange is not None and exchange is not None:
        first = first if first.exchange.session == exchange.session else None
    if first is not None and first.cancelled_t is None:
        yield (
            f"{evidence.what} has the id of `{short(first.method, quoted=False)}` (line "
            f"{first.seq}), still open"
        )


@check(
    "ID-004",
    "An id is used a second time in one session",
    on=("request",),
    revisions=HANDSHAKE,
    spec="2025-11-25/basic/index#requests",
    fix="Count ids up, or use random ones: in a session none may come twice.",
    passes=trace(*shake(), old_ask("ping"), old_answer({}), old_ask("ping", id=2)),
    fails=trace(*shake(), old_ask("ping"), old_answer({}), old_ask("ping")),
)
def _reused_in_session(evidence: Evidence) -> Iterator[Fault | str]:
    key = evidence.id_key
    session = evidence.exchange.session if evidence.exchange is not None else ""
    handshake = evidence.link.handshake_for(session)
    if key is None or handshake is None or evidence.direction == "s2c" or evidence.method == "initialize":
        return
    if key in handshake.ids and (evidence.direction, key) not in evidence.link.open:
        yield f"{evidence.what} has an id that line {handshake.ids[key]} of this session had already"


@check(
    "ID-005",
    "An answer belongs to no request",
    on=("result", "error"),
    spec=_RESULTS,
    fix=_ECHO,
    passes=_TWO_CALLS,
    fails=trace(ask("tools/list"), answer({"content": []}, id=77)),
)
def _unknown(evidence: Evidence) -> Iterator[Fault | str]:
    key = evidence.id_key
    if key is None or evidence.asked is not None or evidence.link.is_forgetful():
        return
    if evidence.era == "modern" and evidence.direction == "c2s":
        return  # ERA-009: there it must not be at all.
    other = "s2c" if evidence.direction == "c2s" else "c2s"
    if (other, key) not in evidence.link.answered and not _twin_of(evidence):
        yield f"nobody asked anything under the id {short(evidence.id)}"


def _twin_of(evidence: Evidence) -> str:
    """The open id that is the same but for its type; empty if there is none."""
    other = "s2c" if evidence.direction == "c2s" else "c2s"
    value = evidence.id
    twin: object = str(value) if isinstance(value, int) else None
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 20:
        twin = int(value)
    key = find_id_key(twin)
    return repr(twin) if key is not None and (other, key) in evidence.link.open else ""


@check(
    "ID-006",
    "A request is answered twice",
    on=("result", "error"),
    spec="basic/index#responses",
    fix="Answer each request once; what comes later belongs in notifications.",
    passes=_TWO_CALLS,
    fails=trace(ask("tools/call", {"name": "a"}), answer({"content": []}), answer({"content": []})),
)
def _twice(evidence: Evidence) -> Iterator[Fault | str]:
    other = "s2c" if evidence.direction == "c2s" else "c2s"
    key = evidence.id_key
    if key is not None and evidence.asked is None and (other, key) in evidence.link.answered:
        first = evidence.link.answered[other, key]  # type: ignore[index]  # the key was just found
        yield (
            f"the request `{short(first.method, quoted=False)}` with id {short(evidence.id)} was "
            "answered already"
        )


@check(
    "ID-007",
    "An answer has the right id in the wrong type",
    on=("result", "error"),
    spec=_RESULTS,
    fix='Echo the id with its type: 1 and "1" are different ids, and clients look them up as they are.',
    passes=_TWO_CALLS,
    fails=trace(ask("tools/call", {"name": "a"}), answer({"content": []}, id="1")),
)
def _other_type(evidence: Evidence) -> Iterator[Fault | str]:
    twin = _twin_of(evidence) if evidence.asked is None else ""
    if twin:
        yield f"the request's id was {twin}, the answer's is {short(evidence.id)}"


_UNREAD_STATUSES = frozenset({401, 403, 405, 406, 411, 413, 415, 421, 429, 431})
"""HTTP refuses by method or headers alone: nobody has read the id."""


@check(
    "ID-008",
    "An error has lost the id of its request",
    on=("error",),
    side="s2c",
    spec=_ERRORS,
    fix="Copy the request's id into the error; leave it out only when the request could not be read.",
    passes=trace(ask("tools/call", {"name": "a"}), fail(-32602)),
    fails=trace(ask("tools/call", {"name": "a"}), fail(-32603, "it broke", id=None)),
)
def _lost(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.id is not None or evidence.code in _UNREADABLE or evidence.direction == "c2s":
        return
    exchange = evidence.exchange
    if exchange is not None and (exchange.kind != "request" or exchange.status in _UNREAD_STATUSES):
        return
    waiting = [each for (direction, _), each in evidence.link.open.items() if direction == "c2s"]
    if len(waiting) == 1:
        one = waiting[0]
        text = short(evidence.error.get("message"))
        yield (
            f"an error without an id ({evidence.code}, {text}) came while `{short(one.method, quoted=False)}`"
            f" (id {short(one.id)}) was the only open request: it is very likely the answer to it"
        )


claim(
    "ID-009",
    "The id of an error is null or missing where the revision asks for one",
    path=r"\$(\[\d+\])?(\.id)?$",
    says=r'not null|lacks "id"|must be a',
    kinds=("error",),
    severity="warning",
    spec=_ERRORS,
    fix="Leave the id out, instead of null, when the request could not be read.",
    passes=trace(c2s(asked("tools/list")), s2c(failed(-32700, id=None))),
    fails=trace(
        c2s(asked("tools/list")),
        s2c({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "not JSON"}}),
    ),
)


@check(
    "ID-010",
    "An HTTP answer carries another id than the request of its exchange",
    on=("result", "error"),
    side="s2c",
    needs_http=True,
    spec=_RESULTS,
    fix=_ECHO,
    revisions=ALL,
    passes=trace(posted(asked("tools/call", {"name": "a"})), replied(answered({"content": []}))),
    fails=trace(
        posted(asked("tools/call", {"name": "a"})),
        posted(asked("tools/call", {"name": "b"}, id=2), exchange=2),
        replied(answered({"content": []}, id=2)),
    ),
)
def _other_exchange(evidence: Evidence) -> Iterator[Fault | str]:
    exchange, asked_here = evidence.exchange, evidence.asked
    if exchange is None or asked_here is None or exchange.asked is None or evidence.id is None:
        return
    if exchange.method == "POST" and exchange.asked is not asked_here and asked_here.exchange is not exchange:
        yield f"{evidence.what} came in the exchange of the request with id {short(exchange.asked.id)}"


@check(
    "ID-011",
    "An id is an integer that JavaScript cannot hold",
    on=("request",),
    revisions=STATELESS,
    severity="info",
    spec=_REQUESTS,
    fix="Keep integer ids below 2**53, or use strings: readers in JavaScript round larger ones.",
    passes=_TWO_CALLS,
    fails=trace(ask("tools/list", id=2**60 + 1)),
)
def _unsafe(evidence: Evidence) -> Iterator[Fault | str]:
    if isinstance(evidence.id, int) and abs(evidence.id) > 2**53 - 1:
        yield f"the id {evidence.id} is beyond 2**53 - 1, so some readers will round it and answer another id"
