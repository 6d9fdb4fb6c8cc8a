"""Rules about the handshake of the older revisions. None of them holds where there is no handshake.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from __future__ import annotations

from collections.abc import Iterator

from mesero.audit.evidence import Evidence, short
from mesero.audit.examples import failed, hello, old_answer, old_ask, s2c, shake, tell, trace
from mesero.audit.link import Handshake, find_id_key
from mesero.audit.rules import HANDSHAKE, STATELESS, Fault, check

__all__: list[str] = []

_INIT = "2025-11-25/basic/lifecycle#initialization"
_VERSION = "2025-11-25/basic/lifecycle#version-negotiation"
_PING = "2025-11-25/basic/utilities/ping#behavior-requirements"
_GOOD = trace(*shake(), old_ask("tools/list"), old_answer({"tools": []}))
_REFUSED = s2c(failed(-32602, "Unsupported protocol version, supported: 2024-11-05", id=0))
_FREE = frozenset({"ping", "initialize"})


def _handshake(evidence: Evidence) -> Handshake | None:
    return evidence.link.handshake_for(evidence.exchange.session if evidence.exchange is not None else "")


@check(
    "LIFE-001",
    "The client goes on before `initialize` is answered",
    on=("request",),
    side="c2s",
    revisions=HANDSHAKE,
    severity="warning",
    phase="initialize",
    spec=_INIT,
    fix="Wait for the answer to initialize; only ping may be sent before it.",
    passes=_GOOD,
    fails=trace(old_ask("initialize", hello(), id=0), old_ask("tools/list")),
)
def _too_early(evidence: Evidence) -> Iterator[Fault | str]:
    handshake = _handshake(evidence)
    if (
        evidence.direction == "c2s"
        and evidence.method not in _FREE
        and handshake is not None
        and not handshake.is_answered
        and not handshake.is_done
    ):
        yield f"{evidence.what} was sent before initialize (line {handshake.seq}) was answered"


@check(
    "LIFE-002",
    "The client goes on without `notifications/initialized`",
    on=("request",),
    side="c2s",
    revisions=HANDSHAKE,
    phase="initialize",
    spec=_INIT,
    fix="Send notifications/initialized right after the answer to initialize.",
    passes=_GOOD,
    fails=trace(*shake()[:2], old_ask("tools/list")),
)
def _not_initialized(evidence: Evidence) -> Iterator[Fault | str]:
    handshake = _handshake(evidence)
    if (
        evidence.direction == "c2s"
        and evidence.method not in _FREE
        and handshake is not None
        and handshake.is_answered
        and not handshake.is_refused
        and not handshake.is_done
    ):
        yield f"{evidence.what} was sent before notifications/initialized"


@check(
    "LIFE-003",
    "The server asks something before the client is ready",
    on=("request",),
    side="s2c",
    revisions=HANDSHAKE,
    severity="warning",
    phase="initialize",
    spec=_INIT,
    fix="Wait for notifications/initialized; only ping may be sent before it.",
    passes=_GOOD,
    fails=trace(
        *shake(client={"roots": {}})[:2],
        old_ask("roots/list", id="s1", direction="s2c"),
    ),
)
def _server_too_early(evidence: Evidence) -> Iterator[Fault | str]:
    handshake = _handshake(evidence)
    if (
        evidence.direction == "s2c"
        and evidence.method != "ping"
        and handshake is not None
        and not handshake.is_done
    ):
        yield f"the server sent {evidence.what} before notifications/initialized"


@check(
    "LIFE-004",
    "A second `initialize` on a connection that is open",
    on=("request",),
    side="c2s",
    methods=("initialize",),
    revisions=HANDSHAKE,
    severity="warning",
    phase="initialize",
    spec=_INIT,
    fix="Initialize a process once; start another one for another connection.",
    passes=_GOOD,
    fails=trace(*shake(), old_ask("initialize", hello(), id=9)),
)
def _second(evidence: Evidence) -> Iterator[Fault | str]:
    current = evidence.link.current
    if current is not None and current.is_answered and not current.is_refused and evidence.exchange is None:
        yield f"this connection was initialized in line {current.seq} already"


@check(
    "LIFE-005",
    "`initialize` is answered with a revision that nobody published",
    on=("result",),
    side="s2c",
    methods=("initialize",),
    revisions=HANDSHAKE,
    phase="initialize",
    spec=_VERSION,
    fix=f"Answer with the revision that was asked for, or with one of {', '.join(HANDSHAKE)}.",
    passes=_GOOD,
    fails=trace(*shake(answers="2025-01-01")),
)
def _unknown_answer(evidence: Evidence) -> Iterator[Fault | str]:
    stated = evidence.result.get("protocolVersion")
    if isinstance(stated, str) and stated not in HANDSHAKE and stated not in STATELESS:
        yield f"the server chose {short(stated)}, which is no revision of MCP"


@check(
    "LIFE-006",
    "`initialize` asks for a revision that nobody published",
    on=("request",),
    side="c2s",
    methods=("initialize",),
    revisions=HANDSHAKE,
    severity="warning",
    phase="initialize",
    spec=_VERSION,
    fix=f"Ask for one of {', '.join(HANDSHAKE)}.",
    passes=_GOOD,
    fails=trace(*shake("2025-07-04", answers="2025-11-25")),
)
def _unknown_question(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.stated and evidence.stated not in HANDSHAKE and evidence.stated not in STATELESS:
        yield f"the client asked for {short(evidence.stated)}, which is no revision of MCP"


@check(
    "LIFE-007",
    "`notifications/initialized` comes before the answer to `initialize`",
    on=("notification",),
    side="c2s",
    methods=("notifications/initialized",),
    revisions=HANDSHAKE,
    severity="warning",
    phase="initialize",
    spec=_INIT,
    fix="Wait for the answer to initialize, look at its revision, then send notifications/initialized.",
    passes=_GOOD,
    fails=trace(shake()[0], shake()[2], shake()[1]),
)
def _initialized_too_early(evidence: Evidence) -> Iterator[Fault | str]:
    handshake = _handshake(evidence)
    if handshake is not None and not handshake.is_answered:
        yield "the client said that it is initialized before it had the server's answer"


@check(
    "LIFE-008",
    "`notifications/initialized` comes twice",
    on=("notification",),
    side="c2s",
    methods=("notifications/initialized",),
    revisions=HANDSHAKE,
    severity="info",
    phase="initialize",
    spec=_INIT,
    fix="Send it once.",
    passes=_GOOD,
    fails=trace(*shake(), shake()[2]),
)
def _initialized_twice(evidence: Evidence) -> Iterator[Fault | str]:
    handshake = _handshake(evidence)
    if handshake is not None and handshake.is_done:
        yield "the client had said already that it is initialized"


@check(
    "LIFE-009",
    "The client cancels `initialize`",
    on=("notification",),
    methods=("notifications/cancelled",),
    revisions=HANDSHAKE,
    phase="initialize",
    spec="2025-11-25/basic/utilities/cancellation#behavior-requirements",
    fix="Close the connection instead; initialize must not be cancelled.",
    passes=trace(*shake(), old_ask("tools/list"), tell("notifications/cancelled", {"requestId": 1}, "c2s")),
    fails=trace(shake()[0], tell("notifications/cancelled", {"requestId": 0}, "c2s")),
)
def _cancelled(evidence: Evidence) -> Iterator[Fault | str]:
    key = find_id_key(evidence.params.get("requestId"))
    owner = evidence.link.open.get((evidence.direction, key)) if key is not None else None
    if owner is not None and owner.method == "initialize":
        yield "the client cancelled initialize, which it must not"


@check(
    "LIFE-010",
    "The client goes on although `initialize` was refused",
    on=("request",),
    side="c2s",
    revisions=HANDSHAKE,
    phase="initialize",
    spec=_INIT,
    fix="Stop, and tell the user what the server answered; without a handshake nothing else is defined.",
    passes=trace(shake()[0], _REFUSED),
    fails=trace(shake()[0], _REFUSED, old_ask("tools/list")),
)
def _after_refusal(evidence: Evidence) -> Iterator[Fault | str]:
    handshake = _handshake(evidence)
    if (
        evidence.direction == "c2s"
        and evidence.method not in _FREE
        and handshake is not None
        and handshake.is_refused
    ):
        yield f"{evidence.what} was sent although initialize (line {handshake.seq}) was refused"


@check(
    "LIFE-011",
    "`ping` is answered with an error",
    on=("error",),
    methods=("ping",),
    revisions=HANDSHAKE,
    spec=_PING,
    fix="Answer ping with an empty result, always: clients use it to see whether the server is alive.",
    passes=trace(*shake(), old_ask("ping"), old_answer({})),
    fails=trace(*shake(), old_ask("ping"), s2c(failed(-32601))),
)
def _ping_refused(evidence: Evidence) -> Iterator[Fault | str]:
    yield f"ping was answered with the error {evidence.code}; each side must answer it with {{}}"


@check(
    "LIFE-012",
    "The answer to `ping` is not empty",
    on=("result",),
    methods=("ping",),
    revisions=HANDSHAKE,
    severity="warning",
    spec=_PING,
    fix="Answer ping with {}.",
    passes=trace(*shake(), old_ask("ping"), old_answer({})),
    fails=trace(*shake(), old_ask("ping"), old_answer({"pong": True})),
)
def _ping_filled(evidence: Evidence) -> Iterator[Fault | str]:
    # The fields of the newer era are told by ERA-004.
    extra = sorted(set(evidence.result) - {"_meta", "resultType", "ttlMs", "cacheScope"})
    if extra:
        yield f"the answer to ping holds {short(', '.join(extra))}"


@check(
    "LIFE-013",
    "The server negotiates upwards",
    on=("result",),
    side="s2c",
    methods=("initialize",),
    revisions=HANDSHAKE,
    severity="warning",
    phase="initialize",
    spec=_VERSION,
    fix=(
        "Answer with the revision that was asked for; when it is not supported, an older one is "
        "the safer answer."
    ),
    passes=trace(*shake("2025-11-25", answers="2025-06-18")),
    fails=trace(*shake("2024-11-05", answers="2025-11-25")),
)
def _upwards(evidence: Evidence) -> Iterator[Fault | str]:
    stated, shaken = evidence.result.get("protocolVersion"), evidence.link.current
    if shaken is None or stated not in HANDSHAKE or shaken.asked not in HANDSHAKE:
        return
    if HANDSHAKE.index(stated) > HANDSHAKE.index(shaken.asked):
        yield (
            f"the client asked for {shaken.asked}, the server chose {stated}, which that client may not know"
        )
