"""What a line leaves behind in the memory of its link, after the rules have seen it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from mesero.audit.evidence import (
    CAPABILITIES_KEY,
    SUBSCRIPTION_KEY,
    Evidence,
    members_of,
)
from mesero.audit.link import Asked, Exchange, Failure, Handshake, LinkState, Listen, Round, find_id_key
from mesero.audit.rules import HANDSHAKE
from mesero.audit.tooling import ToolFacts
from mesero.trace.format import EofLine, ExitLine, LinkLine, NoteLine, SpawnLine, StderrLine, TextLine

__all__ = ["CHANGES", "LISTS", "asked_of", "digest_of", "open_link", "remember", "rise_of"]

LISTS: Final = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
"""Method → the member that holds the items, and the member that names each."""

CHANGES: Final = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
}
_NAMES: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
_MAX_NAMES = 10_000
_MAX_METHODS = 20
_LONG_LINE_CHARS = 65_536


def digest_of(value: Any) -> int:
    """A number that is the same for equal JSON values."""
    try:
        return hash(msgspec.json.encode(value, order="sorted"))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return 0


def remember(evidence: Evidence) -> None:
    """Bring the link's memory up to date."""
    action = _ACTIONS.get(evidence.kind)
    if evidence.message is not None:
        evidence.link.text_depth = 0
    if action is not None:
        action(evidence)


# -- messages ------------------------------------------------------------------------------------------------


def _remember_request(evidence: Evidence) -> None:
    link, key = evidence.link, evidence.id_key
    asked = asked_of(evidence)
    exchange = evidence.exchange
    if exchange is not None and evidence.direction == "c2s":
        exchange.asked = asked
        asked.exchange = exchange
    if evidence.direction == "s2c" and evidence.exchange is not None and evidence.exchange.asked is not None:
        asked.during = find_id_key(evidence.exchange.asked.id)
    if evidence.direction == "c2s":
        _remember_era(evidence, asked)
        link.first_asked = link.first_asked or asked
        if len(link.methods) < _MAX_METHODS:
            link.methods.append(evidence.method)
    if key is None:
        return
    link.open[evidence.direction, key] = asked
    link.answered.pop((evidence.direction, key), None)
    if asked.progress_token is not None:
        link.progress[evidence.direction, asked.progress_token] = (asked, None)
        link.finished_tokens.pop((evidence.direction, asked.progress_token), None)
    if evidence.era == "modern" and evidence.method == "subscriptions/listen":
        link.listens[key] = Listen(seq=evidence.seq, filter=members_of(evidence.params.get("notifications")))
    if evidence.method in LISTS:
        _remember_listing(evidence)


def asked_of(evidence: Evidence) -> Asked:
    """The part of a request that is of interest until it is answered."""
    params = evidence.params
    meta = members_of(params.get("_meta"))
    name = params.get(_NAMES.get(evidence.method, "name"))
    asked = Asked(
        direction=evidence.direction,
        id=evidence.id,
        method=evidence.method,
        seq=evidence.seq,
        t=evidence.t,
        era=evidence.era,
        revision=evidence.revision,
        name=name if isinstance(name, str) else "",
        progress_token=find_id_key(meta.get("progressToken")),
        is_ascii=evidence.raw.isascii(),
    )
    cursor = params.get("cursor")
    if isinstance(cursor, str):
        asked.cursor = cursor
    if evidence.era == "modern":
        capabilities = meta.get(CAPABILITIES_KEY)
        asked.capabilities = capabilities if isinstance(capabilities, dict) else None
        level = meta.get(_LOG_LEVEL)
        asked.log_level = level if isinstance(level, str) else ""
        if evidence.method in _NAMES:
            asked.arguments = digest_of(params.get("arguments"))
            asked.is_retry = "inputResponses" in params or "requestState" in params
    if evidence.method == "tools/call" and asked.name in evidence.link.tools:
        faults = evidence.link.tools[asked.name].find_errors("inputSchema", params.get("arguments", {}))
        asked.arguments_fault = faults[0] if faults else ""
    return asked


def _remember_era(evidence: Evidence, asked: Asked) -> None:
    link = evidence.link
    if evidence.era == "modern":
        link.modern_requests += 1
        if evidence.method == "server/discover" and link.probe is None:
            link.probe = asked
        if asked.is_retry:
            _close_round(evidence, asked)
    elif evidence.method == "initialize" and evidence.era == "legacy":
        stated = evidence.params.get("protocolVersion")
        shake = Handshake(
            asked=stated if isinstance(stated, str) else "",
            seq=evidence.seq,
            revision=evidence.revision,
            client_capabilities=members_of(evidence.params.get("capabilities")),
        )
        link.current = shake
        link.handshakes[""] = shake
    handshake = link.handshake_for(evidence.exchange.session if evidence.exchange else "")
    if handshake is not None and evidence.era == "legacy" and evidence.id_key is not None:
        handshake.ids[evidence.id_key] = evidence.seq


def _close_round(evidence: Evidence, asked: Asked) -> None:
    """A retry takes its round with it."""
    rounds = evidence.link.rounds
    for seq, each in rounds.items():
        if each.asked.method == asked.method and each.asked.name == asked.name:
            del rounds[seq]
            return


def _remember_listing(evidence: Evidence) -> None:
    listing = evidence.link.listing_of(evidence.method)
    if "cursor" not in evidence.params:
        if listing.is_complete:
            listing.order = tuple(listing.names)
        listing.names = {}
        listing.scope = ""
        listing.is_complete = False
        listing.changed_seq = 0
    listing.next_cursor = None


def _remember_answer(evidence: Evidence) -> None:
    link, asked = evidence.link, evidence.asked
    if evidence.exchange is not None:
        evidence.exchange.messages += 1
    if asked is None:
        return
    key = find_id_key(asked.id)
    if key is not None:
        link.open.pop((asked.direction, key), None)
        link.answered[asked.direction, key] = asked
    link.last_answered, link.last_answer_seq = asked, evidence.seq
    if asked.direction == "c2s":
        link.answers += 1
        link.last_long_line = evidence.seq if len(evidence.raw) > _LONG_LINE_CHARS else 0
        if link.first_answer_t is None:
            link.first_answer_t = evidence.t
        if evidence.kind == "error":
            _remember_failure(evidence, asked)
    if asked.progress_token is not None:
        entry = link.progress.pop((asked.direction, asked.progress_token), None)
        asked.had_progress = entry is not None and entry[1] is not None
        link.finished_tokens[asked.direction, asked.progress_token] = evidence.seq
    if key is not None and asked.method == "subscriptions/listen" and key in link.listens:
        link.listens[key].closed = evidence.t
        link.listens[key].ack_due = evidence.kind == "result"
    if asked.method == "initialize" and asked.era == "legacy":
        _remember_handshake(evidence)
    if evidence.kind == "result":
        _remember_result(evidence, asked)
    elif asked.method == "server/discover" and link.probe is asked:
        link.probe_error = evidence.error


def _remember_failure(evidence: Evidence, asked: Asked) -> None:
    exchange = evidence.exchange
    handshake = evidence.link.handshake_for(exchange.session if exchange is not None else "")
    evidence.link.failures.append(
        Failure(
            seq=evidence.seq,
            t=evidence.t,
            code=evidence.code,
            message=str(evidence.error.get("message", ""))[:_MAX_TEXT_CHARS],
            has_data=bool(evidence.error.get("data")),
            asked=asked,
            status=exchange.status if exchange is not None else 0,
            was_initialized=handshake is not None and handshake.is_done,
        )
    )


_MAX_TEXT_CHARS = 400


def _remember_handshake(evidence: Evidence) -> None:
    link, shake = evidence.link, evidence.link.current
    if shake is None or shake.is_answered:
        return
    shake.is_answered = True
    shake.is_refused = evidence.kind == "error"
    if evidence.kind != "result":
        return
    stated = evidence.result.get("protocolVersion")
    if stated in HANDSHAKE:
        shake.revision = stated
    shake.server_capabilities = members_of(evidence.result.get("capabilities"))
    link.server_capabilities = shake.server_capabilities
    exchange = evidence.exchange
    if exchange is not None:
        session = exchange.answer_headers.get("mcp-session-id", "")
        if session:
            shake.session = session
            link.handshakes[session] = shake
            link.sessions[session] = "open"


def _remember_result(evidence: Evidence, asked: Asked) -> None:
    link = evidence.link
    result = evidence.result
    if asked.era == "modern" and "resultType" in result:
        link.modern_answers += 1
    if asked.method == "server/discover" and "capabilities" in result:
        link.server_capabilities = members_of(result["capabilities"])
    if result.get("resultType") == "input_required" and asked.method in _NAMES:
        state = result.get("requestState")
        keys = tuple(members_of(result.get("inputRequests")))
        if keys or isinstance(state, str):
            link.rounds[evidence.seq] = Round(
                seq=evidence.seq, asked=asked, keys=keys, state=state if isinstance(state, str) else None
            )
        if isinstance(state, str):
            link.states[state] = evidence.seq
    elif asked.method in LISTS and asked.direction == "c2s":
        _remember_page(evidence, asked)


def _remember_page(evidence: Evidence, asked: Asked) -> None:
    link = evidence.link
    member, name_field = LISTS[asked.method]
    listing = link.listing_of(asked.method)
    listing.seq = evidence.seq
    items = evidence.result.get(member)
    for item in items if isinstance(items, list) else ():
        name = item.get(name_field) if isinstance(item, dict) else None
        if not isinstance(name, str):
            continue
        if len(listing.names) < _MAX_NAMES:
            listing.names.setdefault(name, evidence.seq)
        if asked.method == "tools/list":
            link.tools[name] = ToolFacts(item)
    scope = evidence.result.get("cacheScope")
    listing.scope = listing.scope or (scope if isinstance(scope, str) else "")
    cursor = evidence.result.get("nextCursor")
    listing.next_cursor = cursor if isinstance(cursor, str) else None
    listing.is_complete = listing.next_cursor is None
    if listing.next_cursor is not None:
        listing.cursors[listing.next_cursor] = evidence.seq
    listing.count += 1


def _remember_notification(evidence: Evidence) -> None:
    link, params = evidence.link, evidence.params
    method = evidence.method
    other = "s2c" if evidence.direction == "c2s" else "c2s"
    if evidence.exchange is not None and evidence.direction == "s2c":
        evidence.exchange.messages += 1
    if method == "notifications/initialized":
        handshake = link.handshake_for(evidence.exchange.session if evidence.exchange else "")
        if handshake is not None and evidence.direction == "c2s":
            handshake.is_done = True
    elif method == "notifications/progress":
        token = find_id_key(params.get("progressToken"))
        value = params.get("progress")
        if token is not None and (other, token) in link.progress and isinstance(value, (int, float)):
            owner = link.progress[other, token][0]  # type: ignore[index]  # the key was just found
            link.progress[other, token] = (owner, float(value))  # type: ignore[index]  # same
    elif method == "notifications/cancelled":
        _remember_cancelling(evidence)
    elif method in CHANGES:
        for each in CHANGES[method]:
            if each in link.listings:
                link.listings[each].changed_seq = evidence.seq
    elif method == "notifications/subscriptions/acknowledged":
        key = find_id_key(evidence.meta.get(SUBSCRIPTION_KEY))
        if key is not None and key in link.listens:
            link.listens[key].is_acknowledged = True


def _remember_cancelling(evidence: Evidence) -> None:
    link = evidence.link
    key = find_id_key(evidence.params.get("requestId"))
    if key is None:
        return
    asked = link.open.get((evidence.direction, key))
    if asked is not None:
        asked.cancelled_t = evidence.t
        if evidence.direction == "c2s":
            link.given_up.append(asked)
    if key in link.listens and link.listens[key].closed is None:
        link.listens[key].closed = evidence.t
        if evidence.direction == "s2c":
            link.open.pop(("c2s", key), None)


# -- HTTP, processes, streams --------------------------------------------------------------------------------


def _remember_http_request(evidence: Evidence) -> None:
    link, exchange = evidence.link, evidence.exchange
    if exchange is None:
        return
    if exchange.method == "POST" and exchange.kind and not link.resource:
        link.resource = exchange.url
    if "authorization" in exchange.headers and exchange.url == link.resource:
        link.was_authorized = True


def _remember_http_answer(evidence: Evidence) -> None:
    link, exchange = evidence.link, evidence.exchange
    if exchange is None:
        return
    key = find_id_key(exchange.asked.id) if exchange.asked is not None else None
    if key is not None and exchange.status >= 300 and evidence.message is None:
        # HTTP has answered in place of the server; no message will come.
        link.open.pop(("c2s", key), None)
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
        try:
            servers = members_of(msgspec.json.decode(exchange.body)).get("authorization_servers")
        except (msgspec.MsgspecError, RecursionError):
            return
        if isinstance(servers, list):
            link.authorization_servers = tuple(each for each in servers if isinstance(each, str))


def _remember_session(evidence: Evidence, exchange: Exchange) -> None:
    link, session = evidence.link, exchange.session
    if session not in link.statuses:
        link.statuses[session] = deque(maxlen=_MAX_METHODS)
    link.statuses[session].append((evidence.t, exchange.status))
    if exchange.method == "DELETE" and 200 <= exchange.status < 300:
        link.sessions[session] = "deleted"
    elif exchange.status == 404 and exchange.kind and link.sessions.get(session) != "deleted":
        link.sessions[session] = "lost"


def _remember_text(evidence: Evidence) -> None:
    link, line = evidence.link, evidence.line
    link.counts["text"] += 1
    if not isinstance(line, TextLine) or line.raw is UNSET:
        return
    # A brace at the beginning of a line may begin a message over several lines; one inside a log does not.
    if link.text_depth or line.raw.startswith("{"):
        link.text_depth = max(0, link.text_depth + rise_of(line.raw))


def rise_of(text: str) -> int:
    """How many more braces a line opens than it closes; those in strings do not count."""
    pieces = text.replace("\\\\", "").replace('\\"', "").split('"')
    return sum(piece.count("{") - piece.count("}") for piece in pieces[::2])


def _remember_stderr(evidence: Evidence) -> None:
    line = evidence.line
    if isinstance(line, StderrLine) and line.raw is not UNSET:
        evidence.link.stderr.append(line.raw[:400])


def _remember_eof(evidence: Evidence) -> None:
    link, exchange = evidence.link, evidence.exchange
    if not isinstance(evidence.line, EofLine):
        return
    if exchange is None:
        link.closed.setdefault(evidence.line.dir, evidence.t)
        return
    exchange.ended_by = evidence.line.dir
    asked = exchange.asked
    key = find_id_key(asked.id) if asked is not None else None
    if key is not None and evidence.line.dir == "c2s" and ("c2s", key) in link.open:
        link.open["c2s", key].cancelled_t = evidence.t
        link.given_up.append(link.open["c2s", key])
    if key is not None and key in link.listens and link.listens[key].closed is None:
        link.listens[key].closed = evidence.t


def _remember_spawn(evidence: Evidence) -> None:
    link = evidence.link
    if isinstance(evidence.line, SpawnLine):
        link.begin_anew()
        link.spawn, link.spawn_t = evidence.line, evidence.t


def _remember_note(evidence: Evidence) -> None:
    line = evidence.line
    if isinstance(line, NoteLine):
        evidence.link.reports.append((line.seq, line.text[:_MAX_TEXT_CHARS]))


def _remember_exit(evidence: Evidence) -> None:
    if isinstance(evidence.line, ExitLine):
        evidence.link.exit, evidence.link.exit_t = evidence.line, evidence.t


def open_link(link: LinkState, line: LinkLine) -> None:
    """Take over what a line says of a link."""
    link.title, link.transport, link.target = line.name, line.transport, line.target


_ACTIONS: Final[dict[str, Callable[[Evidence], None]]] = {
    "request": _remember_request,
    "notification": _remember_notification,
    "result": _remember_answer,
    "error": _remember_answer,
    "http request": _remember_http_request,
    "http answer": _remember_http_answer,
    "text": _remember_text,
    "stderr": _remember_stderr,
    "eof": _remember_eof,
    "spawn": _remember_spawn,
    "exit": _remember_exit,
    "note": _remember_note,
}
