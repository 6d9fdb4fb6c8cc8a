"""Rules about sessions of the older Streamable HTTP, and about what is left of them in the newer era.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from mesero.audit.evidence import Evidence, short
from mesero.audit.examples import (
    answered,
    asked,
    hello,
    http_answer,
    http_request,
    posted,
    replied,
    trace,
    welcome,
)
from mesero.audit.link import Handshake
from mesero.audit.rules import HANDSHAKE, SINCE_2025_03, STATELESS, Fault, check

__all__: list[str] = []

_PAGE = "2025-11-25/basic/transports#session-management"
_EARLIER = "basic/transports/streamable-http#earlier-streamable-http-revisions"
_WITH_SESSIONS = SINCE_2025_03[:-1]
_ID = "1868a90c-46a2-4b5f-9d1e-0c3a5b7d9e11"


def _start(session: str = _ID) -> list[Any]:
    return [
        posted({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}, exchange=8),
        replied({"jsonrpc": "2.0", "id": 0, "result": welcome()}, exchange=8, mcp_session_id=session),
        posted(
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            exchange=9,
            mcp_session_id=session,
            mcp_protocol_version="2025-11-25",
        ),
        http_answer(202, exchange=9),
    ]


def _list(id: int = 1, exchange: int = 1, **headers: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": id, "method": "tools/list"}
    return posted(message, exchange=exchange, mcp_protocol_version="2025-11-25", **headers)


def _listed(id: int = 1, exchange: int = 1) -> Any:
    return replied({"jsonrpc": "2.0", "id": id, "result": {"tools": []}}, exchange=exchange)


_GOOD = trace(*_start(), _list(mcp_session_id=_ID), _listed())
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_REDACTED = "<redacted "


@check(
    "SESS-001",
    "A session id has characters that it must not have",
    on=("http answer",),
    revisions=_WITH_SESSIONS,
    blame="server",
    phase="initialize",
    spec=_PAGE,
    fix="Use visible ASCII characters only, for example a UUID.",
    passes=_GOOD,
    fails=trace(*_start("session number one, ok")),
)
def _odd(evidence: Evidence) -> Iterator[Fault | str]:
    session = _minted(evidence)
    if session and not _VISIBLE.fullmatch(session):
        yield f"the session id {short(session)} has characters outside of 0x21 to 0x7E"


def _minted(evidence: Evidence) -> str:
    session = evidence.exchange.answer_headers.get("mcp-session-id", "") if evidence.exchange else ""
    return "" if session.startswith(_REDACTED) else session


@check(
    "SESS-002",
    "The client leaves the session id out",
    on=("request",),
    side="c2s",
    needs_http=True,
    revisions=_WITH_SESSIONS,
    blame="client",
    spec=_PAGE,
    fix=(
        "Send Mcp-Session-Id on every request after initialize. In browsers the server must "
        "expose that header."
    ),
    passes=_GOOD,
    fails=trace(*_start(), _list(), _listed()),
)
def _left_out(evidence: Evidence) -> Iterator[Fault | str]:
    exchange, current = evidence.exchange, evidence.link.current
    if exchange is None or not exchange.headers or current is None or not current.session:
        return
    if evidence.direction == "c2s" and evidence.method != "initialize" and not exchange.session:
        yield f"{evidence.what} came without the session id that the server gave in line {current.seq}"


@check(
    "SESS-003",
    "The client goes on with a session that the server has forgotten",
    on=("request",),
    side="c2s",
    needs_http=True,
    revisions=_WITH_SESSIONS,
    blame="client",
    spec=_PAGE,
    fix="After a 404, send initialize again, without a session id, and go on with the new session.",
    passes=trace(*_start(), _list(mcp_session_id=_ID), http_answer(404)),
    fails=trace(
        *_start(),
        _list(mcp_session_id=_ID),
        http_answer(404),
        _list(2, 2, mcp_session_id=_ID),
        http_answer(404, exchange=2),
    ),
)
def _forgotten(evidence: Evidence) -> Iterator[Fault | str]:
    session = evidence.exchange.session if evidence.exchange is not None else ""
    if evidence.link.sessions.get(session) == "lost" and evidence.method != "initialize":
        yield f"{evidence.what} uses the session {short(session)}, which was answered with 404"


@check(
    "SESS-004",
    "A session that was deleted still works",
    on=("result",),
    side="s2c",
    needs_http=True,
    revisions=_WITH_SESSIONS,
    severity="warning",
    blame="server",
    spec=_PAGE,
    fix="Answer 404 for a session after DELETE, or answer DELETE with 405 if sessions cannot be ended.",
    passes=trace(*_start(), http_request("DELETE", mcp_session_id=_ID), http_answer(200)),
    fails=trace(
        *_start(),
        http_request("DELETE", mcp_session_id=_ID),
        http_answer(200),
        _list(2, 2, mcp_session_id=_ID),
        _listed(2, 2),
    ),
)
def _undead(evidence: Evidence) -> Iterator[Fault | str]:
    session = evidence.exchange.session if evidence.exchange is not None else ""
    if evidence.link.sessions.get(session) == "deleted":
        yield f"{evidence.what} was given in the session {short(session)}, which DELETE had ended"


def _sessions(count: int, *, closed: bool = False) -> list[Any]:
    steps = []
    for number in range(count):
        session = f"{_ID[:-1]}{number}"
        steps += [*_start(session), _list(mcp_session_id=session), _listed()]
        if closed:
            steps += [
                http_request("DELETE", exchange=2, mcp_session_id=session),
                http_answer(200, exchange=2),
            ]
    return steps


_MANY: Final = 3


@check(
    "SESS-011",
    "The client opens one session after the other, and closes none",
    on=("end",),
    revisions=_WITH_SESSIONS,
    severity="warning",
    blame="client",
    phase="shutdown",
    spec=_PAGE,
    fix="Send DELETE with the session id when a session is needed no more; until then the server keeps it.",
    passes=trace(*_sessions(4, closed=True)),
    fails=trace(*_sessions(4)),
)
def _never_closed(evidence: Evidence) -> Iterator[Fault | str]:
    link = evidence.link
    if "deleted" in link.sessions.values():
        return
    agents: dict[str, list[Handshake]] = {}
    for session, handshake in link.handshakes.items():
        if session and link.sessions.get(session) == "open":
            agents.setdefault(handshake.agent, []).append(handshake)
    for shaken in agents.values():
        # The last one may still be in use, and one that goes on beside its successor is.
        left = [one for one, after in pairwise(shaken) if _last_used(one) < after.seq]
        if len(left) >= _MANY:
            text = f"{len(shaken)} sessions were opened, {len(left)} of them left behind, and none was closed"
            yield Fault(text, seq=left[0].seq)


def _last_used(handshake: Handshake) -> int:
    return max([handshake.seq, *handshake.ids.values()])


@check(
    "SESS-005",
    "A request of the newer era carries a session id",
    on=("http request",),
    revisions=STATELESS,
    severity="warning",
    blame="client",
    spec=_EARLIER,
    fix="Drop Mcp-Session-Id: 2026-07-28 has no sessions.",
    passes=trace(posted(asked("tools/call", {"name": "x"})), replied(answered({"content": []}))),
    fails=trace(
        posted(asked("tools/call", {"name": "x"}), mcp_session_id=_ID), replied(answered({"content": []}))
    ),
)
def _leaks(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.exchange is not None and evidence.exchange.session:
        yield "the request carries Mcp-Session-Id"


@check(
    "SESS-006",
    "An answer of the newer era gives a session id",
    on=("http answer",),
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec=_EARLIER,
    fix="Do not give or repeat session ids to requests of 2026-07-28.",
    passes=trace(posted(asked("tools/call", {"name": "x"})), replied(answered({"content": []}))),
    fails=trace(
        posted(asked("tools/call", {"name": "x"})), replied(answered({"content": []}), mcp_session_id=_ID)
    ),
)
def _mints(evidence: Evidence) -> Iterator[Fault | str]:
    is_newer = evidence.link.modern_answers > 0 or "resultType" in evidence.result
    if (
        evidence.exchange is not None
        and "mcp-session-id" in evidence.exchange.answer_headers
        and (is_newer or evidence.about != "server/discover")
    ):
        yield "the answer carries Mcp-Session-Id"


@check(
    "SESS-007",
    "A session id can be guessed",
    on=("http answer",),
    revisions=_WITH_SESSIONS,
    severity="warning",
    blame="server",
    phase="initialize",
    spec=_PAGE,
    fix="Use a random UUID or a signed token: whoever knows the id can speak in the session.",
    passes=_GOOD,
    fails=trace(*_start("42")),
)
def _guessable(evidence: Evidence) -> Iterator[Fault | str]:
    session = _minted(evidence)
    if session and (len(session) < 16 or session.isdecimal()):
        yield f"the session id {short(session)} has {len(session)} characters"


@check(
    "SESS-008",
    "`initialize` carries a session id",
    on=("request",),
    side="c2s",
    needs_http=True,
    methods=("initialize",),
    revisions=HANDSHAKE,
    severity="warning",
    blame="client",
    phase="initialize",
    spec=_PAGE,
    fix="Send initialize without Mcp-Session-Id: it begins a session of its own.",
    passes=_GOOD,
    fails=trace(
        posted({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}, mcp_session_id=_ID),
        replied({"jsonrpc": "2.0", "id": 0, "result": welcome()}),
    ),
)
def _carried(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.exchange is not None and evidence.exchange.session:
        yield f"initialize came with the session id {short(evidence.exchange.session)}"


@check(
    "SESS-009",
    "The client wants to resume a stream in the newer era",
    on=("http request",),
    revisions=STATELESS,
    severity="warning",
    blame="client",
    spec=_EARLIER,
    fix="Send the request again under a new id; streams cannot be resumed in 2026-07-28.",
    passes=trace(posted(asked("tools/call", {"name": "x"})), replied(answered({"content": []}))),
    fails=trace(
        posted(asked("tools/call", {"name": "x"}), last_event_id="7"), replied(answered({"content": []}))
    ),
)
def _resumes(evidence: Evidence) -> Iterator[Fault | str]:
    if "last-event-id" in evidence.headers:
        yield "the request carries Last-Event-ID"


@check(
    "SESS-010",
    "Events of the newer era have ids",
    on=("notification", "result", "error"),
    side="s2c",
    needs_http=True,
    revisions=STATELESS,
    severity="info",
    blame="server",
    spec="changelog#major-changes",
    fix="Leave the ids of events out: nothing can be resumed with them.",
    passes=trace(posted(asked("tools/call", {"name": "x"})), replied(answered({"content": []}), sse=True)),
    fails=trace(
        posted(asked("tools/call", {"name": "x"})),
        replied(answered({"content": []}), sse=True, event_id="7"),
    ),
)
def _event_ids(evidence: Evidence) -> Iterator[Fault | str]:
    http = getattr(evidence.line, "http", None)
    exchange = evidence.exchange
    if exchange is None or exchange.is_old_sse:
        return
    if isinstance(getattr(http, "event_id", None), str):
        yield f"{evidence.what} came in an event with an id"
