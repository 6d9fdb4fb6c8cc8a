"""What HTTP, a process and the ends of streams leave behind in the memory of a link.

The part of `mesero.audit.tracking` that is about no message. Nothing here judges.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final, cast

import msgspec
from msgspec import UNSET

from mesero.audit.evidence import Evidence, members_of
from mesero.audit.link import Exchange, LinkState, find_id_key
from mesero.trace.format import ExitLine, LinkLine, MessageLine, NoteLine, SpawnLine, StderrLine, TextLine

__all__ = [
    "open_link",
    "remember_eof",
    "remember_exit",
    "remember_http",
    "remember_http_answer",
    "remember_http_request",
    "remember_note",
    "remember_spawn",
    "remember_stderr",
    "remember_text",
    "rise_of",
]

_MAX_STATUSES: Final = 20
_UNDELIVERED: Final = frozenset({301, 302, 307, 308, 401, 403, 429, 503})
"""After these the same message is sent again: to another address, with other credentials, or later."""
_MAX_TEXT_CHARS: Final = 400
_SCOPE: Final = re.compile(r'\bscope="([^"]*)"')


def remember_http_request(evidence: Evidence) -> None:
    """The endpoint, and who sends credentials to it."""
    link, exchange = evidence.link, cast("Exchange", evidence.exchange)
    if exchange.method == "POST" and exchange.kind and not link.resource:
        link.resource = exchange.url
    if "authorization" in exchange.headers and exchange.url == link.resource:
        link.authorized_agents[exchange.headers.get("user-agent", "")] = evidence.seq
    if exchange.method == "DELETE" and exchange.session:
        # Whoever ends its session wants no answers any more.
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
        for asked in link.open.values():
            is_of_session = asked.exchange is not None and asked.exchange.session == exchange.session
            if is_of_session and asked.cancelled_t is None:
                asked.cancelled_t = evidence.t


def remember_http_answer(evidence: Evidence) -> None:
    """The status, and what it means for the request, the token and the session."""
    link, exchange = evidence.link, cast("Exchange", evidence.exchange)
    if exchange.asked is not None and exchange.status >= 300 and evidence.message is None:
        # HTTP has answered in place of the server; no message will come.
        exchange.asked.is_answered = True
        link.close(exchange.asked)
    if exchange.status in _UNDELIVERED and evidence.message is None:
        link.take_back(exchange)
    token = exchange.headers.get("authorization")
    if exchange.status == 401 and token:
        link.refused_tokens[token] = evidence.seq
    elif exchange.status < 300 and token and exchange.kind:
        link.good_tokens[token] = evidence.seq
    if exchange.status >= 400:
        link.refusals.append(exchange)
    if exchange.session:
        _remember_session(evidence, exchange)
    if 300 <= exchange.status < 400:
        link.redirects += 1
    if "/.well-known/oauth-protected-resource" in exchange.url and exchange.status == 200:
        _remember_metadata(link, exchange)
    scope = _SCOPE.search(exchange.answer_headers.get("www-authenticate", ""))
    if scope is not None and exchange.status in (401, 403):
        link.challenged = tuple(scope[1].split())


def _remember_metadata(link: LinkState, exchange: Exchange) -> None:
    """What a server says of its authorization."""
    try:
        document = members_of(msgspec.json.decode(exchange.body))
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return
    link.authorization_servers = _texts(document.get("authorization_servers")) or link.authorization_servers
    link.scopes_supported = _texts(document.get("scopes_supported")) or link.scopes_supported


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def remember_http(evidence: Evidence) -> None:
    """A connection that broke, before or in the middle of its answer."""
    http = getattr(evidence.line, "http", UNSET)
    exchange = evidence.exchange
    if http is UNSET or exchange is None or not isinstance(http.error, str):
        return
    exchange.error, exchange.ended_t = http.error, evidence.t
    if not exchange.status:
        # Nobody knows whether it arrived; it may come again as it was.
        if exchange.asked is not None:
            exchange.asked.is_answered = True
            evidence.link.close(exchange.asked)
        evidence.link.take_back(exchange)


def _remember_session(evidence: Evidence, exchange: Exchange) -> None:
    link, session = evidence.link, exchange.session
    if session not in link.statuses:
        link.statuses[session] = deque(maxlen=_MAX_STATUSES)
    link.statuses[session].append((evidence.t, exchange.status))
    if exchange.method == "DELETE" and 200 <= exchange.status < 300:
        link.sessions[session] = "deleted"
    elif exchange.status == 404 and exchange.kind and link.sessions.get(session) != "deleted":
        link.sessions[session] = "lost"


def remember_text(evidence: Evidence) -> None:
    """Whether a message over several lines is still open."""
    link, raw = evidence.link, cast("TextLine | MessageLine", evidence.line).raw
    # A brace at the beginning of a line may begin a message over several lines; one inside a log does not.
    if raw is not UNSET and (link.text_depth or raw.startswith("{")):
        link.text_depth = max(0, link.text_depth + rise_of(raw))


def rise_of(text: str) -> int:
    """How many more braces a line opens than it closes; those in strings do not count."""
    pieces = text.replace("\\\\", "").replace('\\"', "").split('"')
    return sum(piece.count("{") - piece.count("}") for piece in pieces[::2])


def remember_stderr(evidence: Evidence) -> None:
    """The last words of a server."""
    raw = cast("StderrLine", evidence.line).raw
    if raw is not UNSET:
        evidence.link.stderr.append(raw[:_MAX_TEXT_CHARS])


def remember_eof(evidence: Evidence) -> None:
    """Who closed which stream, and what that cancels."""
    link, exchange = evidence.link, evidence.exchange
    if exchange is None:
        link.closed.setdefault(evidence.direction, evidence.t)
        return
    exchange.ended_by, exchange.ended_t = evidence.direction, evidence.t
    asked = exchange.asked
    if asked is not None and evidence.direction == "c2s" and not asked.is_answered:
        asked.cancelled_t = evidence.t
        link.given_up.append(asked)
    key = find_id_key(asked.id) if asked is not None else None
    if key is not None and key in link.listens and link.listens[key].closed is None:
        link.listens[key].closed = evidence.t


def remember_spawn(evidence: Evidence) -> None:
    """A new process: what was before it is over."""
    evidence.link.begin_anew()
    evidence.link.spawn, evidence.link.spawn_t = cast("SpawnLine", evidence.line), evidence.t


def remember_note(evidence: Evidence) -> None:
    """A remark of the recorder, or what a host told its user."""
    text = cast("NoteLine", evidence.line).text
    evidence.link.reports.append((evidence.seq, text[:_MAX_TEXT_CHARS]))


def remember_exit(evidence: Evidence) -> None:
    """How a process ended."""
    evidence.link.exit, evidence.link.exit_t = cast("ExitLine", evidence.line), evidence.t


def open_link(link: LinkState, line: LinkLine) -> None:
    """Take over what a line says of a link."""
    link.title, link.transport, link.target = line.name, line.transport, line.target
