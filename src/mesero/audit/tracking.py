"""What a line leaves behind in the memory of its link, after the rules have seen it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from mesero.audit.evidence import (
    CAPABILITIES_KEY,
    SERVER_KEY,
    SUBSCRIPTION_KEY,
    Evidence,
    members_of,
)
from mesero.audit.link import Asked, Failure, Handshake, LinkState, Listen, Round, find_id_key
from mesero.audit.rules import HANDSHAKE
from mesero.audit.streams import (
    remember_eof,
    remember_exit,
    remember_http,
    remember_http_answer,
    remember_http_request,
    remember_note,
    remember_spawn,
    remember_stderr,
    remember_text,
)
from mesero.audit.tooling import ToolFacts

__all__ = ["CHANGES", "LISTS", "asked_of", "digest_of", "find_round", "remember"]

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
_SIGNS: Final = {"ttlMs", "cacheScope", "supportedVersions"}
"""Members of a result that only a server of the newer era sends."""


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
        if evidence.direction == "c2s":
            evidence.link.last_sent_seq = evidence.seq
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
        for each in asked.capabilities or ():
            evidence.link.declared[each] = evidence.seq
        level = meta.get(_LOG_LEVEL)
        asked.log_level = level if isinstance(level, str) else ""
        if evidence.method in _NAMES:
            asked.arguments = digest_of(params.get("arguments"))
            asked.is_retry = "inputResponses" in params or "requestState" in params
    if (
        evidence.method == "tools/call"
        and asked.name in evidence.link.tools
        and not evidence.is_redacted("arguments")
    ):
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
            agent=evidence.headers.get("user-agent", ""),
        )
        asked.handshake = shake
        link.current = shake
    handshake = link.handshake_for(evidence.exchange.session if evidence.exchange else "")
    if handshake is not None and evidence.era == "legacy" and evidence.id_key is not None:
        handshake.ids[evidence.id_key] = evidence.seq


def _close_round(evidence: Evidence, asked: Asked) -> None:
    """A retry takes its round with it."""
    state = evidence.params.get("requestState")
    found = find_round(evidence.link, asked.method, asked.name, state)
    if found is not None:
        del evidence.link.rounds[found.seq]


def find_round(link: LinkState, method: str, name: object, state: object) -> Round | None:
    """The round that a retry goes on with: that of its state, else the oldest of its method and name."""
    alike = [each for each in link.rounds.values() if each.asked.method == method and each.asked.name == name]
    by_state = [each for each in alike if state is not None and each.state == state]
    return next(iter(by_state or alike), None)


def _remember_listing(evidence: Evidence) -> None:
    listing = evidence.link.listing_of(evidence.method)
    if "cursor" not in evidence.params:
        if listing.is_complete:
            listing.order = tuple(listing.names)
        listing.names = {}
        listing.pages = set()
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
    if evidence.exchange is not None and evidence.direction == "c2s":
        evidence.exchange.answers = asked
    asked.is_answered = True
    link.close(asked)
    if key is not None:
        link.answered[asked.direction, key] = asked
    link.last_answered, link.last_answer_seq = asked, evidence.seq
    if asked.direction == "c2s":
        _count_answer(evidence, asked)
    if asked.progress_token is not None:
        entry = link.progress.pop((asked.direction, asked.progress_token), None)
        asked.had_progress = entry is not None and entry[1] is not None
        link.finished_tokens[asked.direction, asked.progress_token] = evidence.seq
    if key is not None and asked.method == "subscriptions/listen" and key in link.listens:
        link.listens[key].closed = evidence.t
        link.listens[key].ack_due = evidence.kind == "result"
    if asked.handshake is not None:
        _remember_handshake(evidence, asked.handshake)
    if evidence.kind == "result":
        _remember_result(evidence, asked)
    elif asked.method == "server/discover" and link.probe is asked:
        link.probe_error = evidence.error


def _count_answer(evidence: Evidence, asked: Asked) -> None:
    link = evidence.link
    link.answers += 1
    link.last_long_line = evidence.seq if len(evidence.raw) > _LONG_LINE_CHARS else 0
    if link.first_answer_t is None:
        link.first_answer_t = evidence.t
    if evidence.kind == "error":
        _remember_failure(evidence, asked)


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
            requires=tuple(members_of(members_of(evidence.error.get("data")).get("requiredCapabilities"))),
        )
    )


_MAX_TEXT_CHARS = 400


def _remember_handshake(evidence: Evidence, shake: Handshake) -> None:
    link = evidence.link
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
    elif asked.era == "modern" and not _SIGNS & result.keys() and SERVER_KEY not in evidence.meta:
        link.bare_answers.append((asked.seq, evidence.seq))
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
    if asked.cursor is None:
        # A change that was told of before the answer is in it.
        listing.changed_seq = 0
    listing.pages.add(asked.cursor)
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
        _finish_handshake(evidence)
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


def _finish_handshake(evidence: Evidence) -> None:
    exchange = evidence.exchange
    handshake = evidence.link.handshake_for(exchange.session if exchange is not None else "")
    if handshake is None or evidence.direction != "c2s":
        return
    if exchange is not None and not handshake.is_done:
        exchange.completes = handshake
    handshake.is_done = True


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


_ACTIONS: Final[dict[str, Callable[[Evidence], None]]] = {
    "request": _remember_request,
    "notification": _remember_notification,
    "result": _remember_answer,
    "error": _remember_answer,
    "http request": remember_http_request,
    "http answer": remember_http_answer,
    "text": remember_text,
    "http": remember_http,
    "stderr": remember_stderr,
    "eof": remember_eof,
    "spawn": remember_spawn,
    "exit": remember_exit,
    "note": remember_note,
}
