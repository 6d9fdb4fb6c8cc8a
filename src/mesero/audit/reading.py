"""From a line of the trace to evidence: decoded, classified, tied to what it answers, and put in its era.

The era of a message comes from the message itself (its metadata, its version header, a method that only one
era has), from the request that it answers, or from a handshake that is really there: in this order. Where
none of them tells, the era stays unknown; it is never guessed from the kind of connection.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from mesero.audit.evidence import REVISION_KEY, SUBSCRIPTION_KEY, Evidence, members_of, parts_of
from mesero.audit.link import Asked, Direction, Era, Exchange, LinkState, find_id_key
from mesero.audit.rules import HANDSHAKE, STATELESS, Kind
from mesero.trace.format import (
    EofLine,
    ExitLine,
    Http,
    HttpLine,
    Line,
    MessageLine,
    NoteLine,
    SpawnLine,
    StderrLine,
    TextLine,
)

__all__ = ["read_line"]

_KINDS: dict[type, Kind] = {
    TextLine: "text",
    StderrLine: "stderr",
    EofLine: "eof",
    SpawnLine: "spawn",
    ExitLine: "exit",
    NoteLine: "note",
    HttpLine: "http",
}
_ONLY_STATELESS = frozenset({"server/discover", "subscriptions/listen"})
_MODERN_CODES = frozenset({-32020, -32021, -32022})
_VERSION = "mcp-protocol-version"

_UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeEncodeError)
"""What decoding text raises; the last of them when it holds half a surrogate pair as it is."""

_decode = msgspec.json.Decoder().decode


def read_line(link: LinkState, line: Line) -> list[Evidence]:
    """The evidence in one line, in the order in which it is to be judged."""
    found: list[Evidence] = []
    http = getattr(line, "http", UNSET)
    exchange = None if http is UNSET else _exchange_of(link, line, http)
    if exchange is not None and http is not UNSET and isinstance(http.event_id, str):
        exchange.event_id = http.event_id
    if exchange is not None and http is not UNSET and http.event == "endpoint":
        _learn_endpoint(link, exchange, "" if http.body is UNSET else http.body)
    if isinstance(line, MessageLine):
        found = _read_message(link, line, exchange)
    elif type(line) in _KINDS:
        found = [Evidence(link, line, _KINDS[type(line)])]
        found[0].exchange = exchange
        if exchange is not None:
            _place_in_exchange(found[0], exchange)
    if exchange is not None and http is not UNSET:
        found[:0] = _read_http(link, line, exchange, http, found)
    return found


# -- messages ------------------------------------------------------------------------------------------------


def _read_message(link: LinkState, line: MessageLine, exchange: Exchange | None) -> list[Evidence]:
    try:
        value = _decode(line.raw)
    except _UNREADABLE:
        evidence = Evidence(link, line, "text")
        evidence.exchange, evidence.raw = exchange, line.raw
        return [evidence]
    is_batch = isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
    found = [_evidence_of(link, line, value, exchange)]
    if is_batch:
        found += [_evidence_of(link, line, item, exchange) for item in value]
        # A batch is in the era of what is in it.
        found[0].era, found[0].revision = found[1].era, found[1].revision
    return found


def _evidence_of(link: LinkState, line: MessageLine, value: Any, exchange: Exchange | None) -> Evidence:
    evidence = Evidence(link, line, _kind_of(value))
    evidence.raw = line.raw
    evidence.message = value
    evidence.exchange = exchange
    if isinstance(value, dict):
        method = value.get("method")
        evidence.method = method if isinstance(method, str) else ""
        evidence.params = members_of(value.get("params"))
        evidence.result = members_of(value.get("result"))
        evidence.error = members_of(value.get("error"))
        evidence.meta = members_of(
            (evidence.result if evidence.kind == "result" else evidence.params).get("_meta")
        )
    if evidence.kind in ("result", "error"):
        evidence.asked = _find_asked(evidence)
        if exchange is None and evidence.asked is not None:
            evidence.exchange = evidence.asked.exchange
    _choose_era(evidence)
    if evidence.kind == "request" and exchange is not None and line.dir == "c2s" and not exchange.kind:
        exchange.era, exchange.revision = evidence.era, evidence.revision
    if exchange is not None and line.dir == "c2s" and not exchange.kind:
        exchange.kind = evidence.kind
        exchange.era, exchange.revision = evidence.era, evidence.revision
    return evidence


def _kind_of(value: Any) -> Kind:
    if not isinstance(value, dict):
        return "broken"
    if "method" in value:
        return "request" if "id" in value and not _is_named_notification(value) else "notification"
    if "result" in value:
        return "result"
    return "error" if "error" in value else "broken"


def _is_named_notification(value: dict[str, Any]) -> bool:
    method = value["method"]
    return isinstance(method, str) and method.startswith("notifications/")


def _find_asked(evidence: Evidence) -> Asked | None:
    """The request that an answer belongs to: by its HTTP exchange and its id."""
    key = evidence.id_key
    other: Direction = "s2c" if evidence.direction == "c2s" else "c2s"
    own = evidence.exchange.asked if evidence.exchange is not None and evidence.direction == "s2c" else None
    # Several clients may share a link over HTTP, and with it an id: the exchange tells them apart.
    if own is not None and not own.is_answered and find_id_key(own.id) == key:
        return own
    found = evidence.link.open.get((other, key)) if key is not None else None
    if found is None and own is not None and not own.is_answered:
        return own
    return found


# -- eras ----------------------------------------------------------------------------------------------------


def _choose_era(evidence: Evidence) -> None:
    if evidence.kind == "request":
        _choose_by_request(evidence)
    elif evidence.kind == "notification":
        _choose_by_notification(evidence)
    elif evidence.kind in ("result", "error"):
        _choose_by_answer(evidence)
    else:
        _choose_by_surroundings(evidence)


def _put(evidence: Evidence, era: Era, stated: object = "") -> None:
    evidence.era = era
    evidence.stated = stated if isinstance(stated, str) else ""
    known = STATELESS if era == "modern" else HANDSHAKE
    evidence.revision = evidence.stated if evidence.stated in known else known[-1]


def _choose_by_request(evidence: Evidence) -> None:
    meta = members_of(evidence.params.get("_meta"))
    version = evidence.headers.get(_VERSION, "")
    if evidence.direction == "s2c":
        _choose_by_surroundings(evidence)
    elif REVISION_KEY in meta:
        _put(evidence, "modern", meta[REVISION_KEY])
    elif version and version not in HANDSHAKE:
        _put(evidence, "modern", version)
    elif evidence.method in _ONLY_STATELESS:
        _put(evidence, "modern")
    elif evidence.method == "initialize":
        _put(evidence, "legacy", evidence.params.get("protocolVersion"))
    else:
        _choose_by_surroundings(evidence)


def _choose_by_notification(evidence: Evidence) -> None:
    link = evidence.link
    if evidence.direction == "s2c" and SUBSCRIPTION_KEY in members_of(evidence.params.get("_meta")):
        _put(evidence, "modern")
        return
    owner = None
    if evidence.method == "notifications/progress":
        token = find_id_key(evidence.params.get("progressToken"))
        entry = link.progress.get((_other(evidence), token)) if token is not None else None
        owner = entry[0] if entry is not None else None
    elif evidence.method == "notifications/cancelled":
        key = find_id_key(evidence.params.get("requestId"))
        owner = link.open.get((evidence.direction, key)) if key is not None else None
        if owner is None and key is not None:
            owner = link.answered.get((evidence.direction, key))
    if owner is not None:
        evidence.era, evidence.revision = owner.era, owner.revision
    else:
        _choose_by_surroundings(evidence)


def _other(evidence: Evidence) -> Any:
    return "c2s" if evidence.direction == "s2c" else "s2c"


def _choose_by_answer(evidence: Evidence) -> None:
    asked = evidence.asked
    if asked is not None and asked.method == "initialize" and asked.era == "legacy":
        agreed = evidence.result.get("protocolVersion", asked.revision)
        _put(evidence, "legacy", agreed)
    elif asked is not None:
        evidence.era, evidence.revision = asked.era, asked.revision
    elif "resultType" in evidence.result or evidence.code in _MODERN_CODES:
        _put(evidence, "modern")
    else:
        _choose_by_surroundings(evidence)


def _choose_by_surroundings(evidence: Evidence) -> None:
    """By the exchange, its session and version header, or by a handshake; else unknown."""
    exchange, link = evidence.exchange, evidence.link
    if exchange is not None and exchange.era and evidence.direction == "s2c":
        evidence.era, evidence.revision = exchange.era, exchange.revision
        return
    session = exchange.session if exchange is not None else ""
    version = evidence.headers.get(_VERSION, "")
    if version and version not in HANDSHAKE:
        _put(evidence, "modern", version)
        return
    handshake = link.handshake_for(session)
    if handshake is not None:
        _put(evidence, "legacy", handshake.revision)
    elif version or session:
        # Without a version header, a server should assume this one.
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
        _put(evidence, "legacy", version or "2025-03-26")
    elif link.modern_requests and not (evidence.kind == "request" and evidence.direction == "c2s"):
        _put(evidence, "modern")


# -- HTTP ----------------------------------------------------------------------------------------------------


def _headers_of(http: Http) -> tuple[dict[str, str], tuple[str, ...]]:
    headers = {}
    repeated = []
    for name, value in http.headers.items():
        if isinstance(value, list):
            repeated.append(name.lower())
            value = ", ".join(value)  # noqa: PLW2901 - one value from here on, however many lines it had
        headers[name.lower()] = value
    return headers, tuple(repeated)


def _exchange_of(link: LinkState, line: Line, http: Http) -> Exchange:
    """The exchange that a line belongs to, begun if it is a request."""
    direction = getattr(line, "dir", "s2c")
    is_request = direction == "c2s" and (http.method is not UNSET or http.url is not UNSET)
    if http.exchange is not UNSET and not is_request and http.exchange in link.exchanges:
        return link.exchanges[http.exchange]
    if http.exchange is UNSET and direction == "s2c":
        found = _find_exchange_by_id(link, line)
        if found is not None:
            return found
    number = http.exchange
    if number is UNSET:
        link.unnumbered -= 1
        number = link.unnumbered
    headers, repeated = _headers_of(http) if is_request else ({}, ())
    exchange = Exchange(
        number=number,
        seq=line.seq,
        t=line.t,
        method="" if http.method is UNSET else http.method,
        url="" if http.url is UNSET else http.url,
        headers=headers,
        repeated=repeated,
        session=headers.get("mcp-session-id", ""),
    )
    path = parts_of(exchange.url).path
    exchange.is_old_sse = link.transport == "sse" or (exchange.method == "POST" and path in link.sse_paths)
    link.exchanges[number] = exchange
    return exchange


def _learn_endpoint(link: LinkState, stream: Exchange, address: str) -> None:
    """Only now is it clear that this is the old HTTP+SSE transport: a recorder cannot know it beforehand.

    https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
    """
    stream.is_old_sse = True
    # Without its query: the id of the session in it may have been redacted.
    path = parts_of(address).path
    if path:
        folder = parts_of(stream.url).path.rpartition("/")[0]
        link.sse_paths[path if path.startswith("/") else f"{folder}/{path}"] = stream.seq


def _find_exchange_by_id(link: LinkState, line: Line) -> Exchange | None:
    """Where the recorder did not number the exchanges, an answer finds its own by its id."""
    try:
        value = _decode(line.raw) if isinstance(line, MessageLine) else None
    except _UNREADABLE:
        return None
    key = find_id_key(value.get("id")) if isinstance(value, dict) else None
    asked = link.open.get(("c2s", key)) if key is not None else None
    return asked.exchange if asked is not None else None


def _place_in_exchange(evidence: Evidence, exchange: Exchange) -> None:
    evidence.asked = exchange.asked
    evidence.era, evidence.revision = exchange.era, exchange.revision
    if not exchange.era:
        _choose_by_surroundings(evidence)
        if evidence.direction == "c2s":
            exchange.era, exchange.revision = evidence.era, evidence.revision


def _read_http(
    link: LinkState, line: Line, exchange: Exchange, http: Http, messages: list[Evidence]
) -> list[Evidence]:
    """The HTTP request or answer around a line, once for each exchange."""
    kind: Kind
    if getattr(line, "dir", "s2c") == "c2s" and http.method is not UNSET:
        kind = "http request"
    elif http.status is not UNSET and not exchange.is_answered:
        kind = "http answer"
        exchange.is_answered = True
        exchange.status = http.status
        exchange.answer_headers, _ = _headers_of(http)
        exchange.is_stream = exchange.answer_headers.get("content-type", "").startswith("text/event-stream")
    else:
        return []
    if http.body is not UNSET:
        exchange.body = http.body
        if kind == "http request":
            exchange.sent = http.body
    evidence = Evidence(link, line, kind)
    evidence.exchange = exchange
    if messages and messages[0].kind != "http":
        evidence.message, evidence.raw = messages[0].message, messages[0].raw
        evidence.method, evidence.params = messages[0].method, messages[0].params
        evidence.meta, evidence.result = messages[0].meta, messages[0].result
    _place_in_exchange(evidence, exchange)
    if kind == "http answer" and not messages[0].kind.startswith("http"):
        evidence.asked = messages[0].asked or exchange.asked
    return [evidence]
