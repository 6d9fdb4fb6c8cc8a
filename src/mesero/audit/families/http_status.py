"""Rules about HTTP: methods, statuses, content types, streams.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.evidence import Evidence, short
from mesero.audit.examples import (
    answered,
    asked,
    eof,
    failed,
    hello,
    http_answer,
    http_request,
    posted,
    replied,
    trace,
    welcome,
)
from mesero.audit.link import Exchange, find_id_key
from mesero.audit.rules import ALL, SINCE_2025_03, STATELESS, Fault, check

__all__: list[str] = []

_PAGE = "basic/transports/streamable-http"
_SENDING = f"{_PAGE}#sending-messages"
_RECEIVING = f"{_PAGE}#receiving-messages"
_OLD = "2025-11-25/basic/transports"
_CALL = asked("tools/call", {"name": "x"})
_DONE = replied(answered({"content": []}))
_GOOD = trace(posted(_CALL), _DONE)
_WITH_GET = SINCE_2025_03[:-1]

_START: list[Any] = [
    posted({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}, exchange=8),
    replied({"jsonrpc": "2.0", "id": 0, "result": welcome()}, exchange=8),
]
_READY = posted(
    {"jsonrpc": "2.0", "method": "notifications/initialized"}, exchange=9, mcp_protocol_version="2025-11-25"
)


def _posted(evidence: Evidence) -> Exchange | None:
    """The exchange, if a message was posted in it."""
    exchange = evidence.exchange
    return exchange if exchange is not None and exchange.kind and exchange.method in ("POST", "") else None


@check(
    "HTTP-001",
    "A notification is accepted with another status than 202",
    on=("http answer",),
    revisions=SINCE_2025_03,
    blame="server",
    spec=_SENDING,
    fix="Answer an accepted notification with 202 and an empty body.",
    passes=trace(*_START, _READY, http_answer(202, exchange=9)),
    fails=trace(*_START, _READY, http_answer(200, exchange=9, body="")),
)
def _not_202(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = _posted(evidence)
    if exchange is None or exchange.is_old_sse:
        return
    if (
        exchange.kind in ("notification", "result", "error")
        and 200 <= exchange.status < 300
        and exchange.status != 202
    ):
        yield f"the {exchange.kind} in line {exchange.seq} was answered with {exchange.status}"


@check(
    "HTTP-002",
    "An unknown method is answered with another status than 404",
    on=("error",),
    side="s2c",
    needs_http=True,
    revisions=STATELESS,
    blame="server",
    spec=f"{_PAGE}#protocol-version-header",
    fix="Answer -32601 with 404.",
    passes=trace(posted(asked("x/y")), replied(failed(-32601), status=404)),
    fails=trace(posted(asked("x/y")), replied(failed(-32601))),
)
def _not_404(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.code == -32601 and not (evidence.is_refused_probe and not evidence.link.modern_answers):
        yield from _status_fault(evidence, 404)


def _status_fault(evidence: Evidence, expected: int) -> Iterator[str]:
    exchange = evidence.exchange
    # Once a stream has begun its status cannot change.
    if exchange is not None and exchange.status and not exchange.is_stream and exchange.status != expected:
        yield f"the error {evidence.code} came with {exchange.status}; {expected} is its status"


@check(
    "HTTP-003",
    "An error of the protocol is answered with another status than 400",
    on=("error",),
    side="s2c",
    needs_http=True,
    revisions=STATELESS,
    blame="server",
    spec=f"{_PAGE}#server-validation",
    fix="Answer -32020, -32021 and -32022 with 400: clients look at the body of a 400 to tell the era.",
    passes=trace(
        posted(_CALL), replied(failed(-32021, data={"requiredCapabilities": {"sampling": {}}}), status=400)
    ),
    fails=trace(posted(_CALL), replied(failed(-32021, data={"requiredCapabilities": {"sampling": {}}}))),
)
def _not_400(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.code in (-32020, -32021, -32022):
        yield from _status_fault(evidence, 400)


@check(
    "HTTP-004",
    "Missing metadata is answered with another status than 400",
    on=("error",),
    side="s2c",
    needs_http=True,
    revisions=STATELESS,
    blame="server",
    spec="basic/index#meta",
    fix="Answer a request without its required metadata with 400 and -32602.",
    passes=trace(
        posted({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}), replied(failed(-32602), status=400)
    ),
    fails=trace(
        posted(
            {"jsonrpc": "2.0", "id": 1, "method": "server/discover"},
            mcp_protocol_version="2026-07-28",
            mcp_method="server/discover",
        ),
        replied(failed(-32602)),
    ),
    also=("META-001",),
)
def _metadata_not_400(evidence: Evidence) -> Iterator[Fault | str]:
    asked_ = evidence.asked
    if evidence.code == -32602 and asked_ is not None and asked_.capabilities is None:
        yield from _status_fault(evidence, 400)


_READABLE: Final = ("application/json", "text/event-stream")


@check(
    "HTTP-005",
    "A request is answered with something that is neither JSON nor an event stream",
    on=("http answer",),
    revisions=SINCE_2025_03,
    blame="server",
    spec=_SENDING,
    fix="Look at the URL first: a page in HTML usually comes from another path, a login or a proxy.",
    passes=_GOOD,
    fails=trace(posted(_CALL), http_answer(200, body="<html><title>Login</title>", content_type="text/html")),
)
def _content_type(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = _posted(evidence)
    if exchange is None or exchange.kind != "request" or exchange.status != 200:
        return
    kind = exchange.answer_headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind not in _READABLE:
        blame = "intermediary" if kind == "text/html" else "server"
        title = _title_of(exchange.body)
        yield Fault(f"the answer is {kind}{title}, not MCP", blame=blame)  # type: ignore[arg-type]  # both are


def _title_of(body: str) -> str:
    _, start, rest = body.partition("<title>")
    return f" titled {short(rest.partition('</title>')[0].strip())}" if start else ""


@check(
    "HTTP-006",
    "GET or DELETE is sent to the endpoint in the newer era",
    on=("http answer",),
    revisions=STATELESS,
    severity="warning",
    blame="client",
    spec=f"{_PAGE}#earlier-streamable-http-revisions",
    fix="Use subscriptions/listen in place of GET; there are no sessions to delete.",
    passes=_GOOD,
    fails=trace(
        posted(_CALL),
        _DONE,
        http_request("GET", exchange=2, mcp_protocol_version="2026-07-28"),
        http_answer(405, exchange=2),
    ),
)
def _other_method(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or exchange.method not in ("GET", "DELETE") or exchange.url != evidence.link.resource:
        return
    if exchange.status == 405:
        yield f"{exchange.method} was sent; 2026-07-28 has POST only"
    elif exchange.status < 300:
        yield Fault(
            f"{exchange.method} was answered with {exchange.status}; a server of 2026-07-28 "
            "alone answers 405",
            blame="server",
            fix="Answer GET and DELETE with 405 and Allow: POST, unless older clients are served as well.",
        )


@check(
    "HTTP-007",
    "A message is answered with a redirect",
    on=("http answer",),
    severity="warning",
    blame="server",
    spec=_SENDING,
    fix="Put the final URL into the configuration: many clients do not follow a redirect of a POST.",
    passes=_GOOD,
    fails=trace(posted(_CALL), http_answer(307, location="https://example.com/mcp/")),
)
def _redirect(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = _posted(evidence)
    if exchange is not None and 300 <= exchange.status < 400:
        location = exchange.answer_headers.get("location", "")
        yield f"POST {short(exchange.url, quoted=False)} is sent on to {short(location, quoted=False)}"


@check(
    "HTTP-008",
    "406 although everything is accepted",
    on=("http answer",),
    blame="server",
    spec=_SENDING,
    fix="Read Accept as a set, in any order; a wrapper in front of the server may have dropped it.",
    passes=_GOOD,
    fails=trace(posted(_CALL), http_answer(406)),
)
def _not_acceptable(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = _posted(evidence)
    if exchange is None or exchange.status != 406:
        return
    accepted = exchange.headers.get("accept", "")
    if all(kind in accepted for kind in _READABLE):
        yield f"the request accepts {short(accepted)}, and was answered with 406 all the same"


@check(
    "HTTP-009",
    "The answer stream ends without the answer",
    on=("eof",),
    revisions=SINCE_2025_03,
    blame="server",
    spec=_RECEIVING,
    fix=(
        "Send the response before the stream ends. If the server did, a proxy cut the stream: "
        "raise its idle limit."
    ),
    passes=trace(posted(_CALL), replied(answered({"content": []}), sse=True), eof(exchange=1)),
    fails=trace(
        posted(_CALL),
        http_answer(200, content_type="text/event-stream", x_accel_buffering="no"),
        eof(exchange=1),
    ),
)
def _cut(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    owner = exchange.asked if exchange is not None else None
    key = find_id_key(owner.id) if owner is not None else None
    if owner is None or key is None or evidence.direction != "s2c" or ("c2s", key) not in evidence.link.open:
        return
    if owner.cancelled_t is not None:
        # What was cancelled needs no answer any more.
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#behavior-requirements
        return
    if exchange is not None and exchange.event_id and owner.era == "legacy":
        # The connection may end before the stream does: whoever has an event's id can go on.
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
        return
    if evidence.link.open["c2s", key] is owner and owner.method != "subscriptions/listen":
        yield (
            f"the stream for `{short(owner.method, quoted=False)}` (id {short(owner.id)}) ended "
            "before its result"
        )


@check(
    "HTTP-010",
    "Something follows the final answer on its stream",
    on=("notification", "request"),
    side="s2c",
    needs_http=True,
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec=_RECEIVING,
    fix="End the stream with the response.",
    passes=_GOOD,
    fails=trace(
        posted(_CALL),
        replied(answered({"content": []}), sse=True),
        replied({"jsonrpc": "2.0", "method": "notifications/vendor"}, sse=True),
    ),
)
def _afterwards(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    owner = exchange.asked if exchange is not None and evidence.direction == "s2c" else None
    key = find_id_key(owner.id) if owner is not None else None
    # A subscription that is over has a rule of its own, and so has late progress.
    quiet = ("notifications/progress",)
    if owner is None or key is None or owner.method == "subscriptions/listen" or evidence.method in quiet:
        return
    if evidence.link.answered.get(("c2s", key)) is owner:
        yield f"{evidence.what} came after the response to line {owner.seq}"


@check(
    "HTTP-011",
    "A response comes on the stream of a GET",
    on=("result", "error"),
    side="s2c",
    needs_http=True,
    revisions=_WITH_GET,
    blame="server",
    spec=f"{_OLD}#listening-for-messages-from-the-server",
    fix="Answer on the stream of the POST; on a GET only when it resumes that stream.",
    passes=trace(*_START),
    fails=trace(
        *_START,
        _READY,
        http_answer(202, exchange=9),
        posted({"jsonrpc": "2.0", "id": 1, "method": "ping"}, mcp_protocol_version="2025-11-25"),
        http_request("GET", exchange=2, accept="text/event-stream", mcp_protocol_version="2025-11-25"),
        replied({"jsonrpc": "2.0", "id": 1, "result": {}}, exchange=2, sse=True),
    ),
)
def _on_get(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    # Only a stream is meant: a refusal, as 405, may have the body of an error.
    if exchange is None or exchange.method != "GET" or exchange.is_old_sse or not exchange.is_stream:
        return
    if "last-event-id" not in exchange.headers:
        yield f"{evidence.what} came on the stream of the GET in line {exchange.seq}"


@check(
    "HTTP-012",
    "A message is sent with another method than POST",
    on=("http request",),
    revisions=ALL,
    blame="client",
    spec=_SENDING,
    fix="Send messages with POST.",
    passes=_GOOD,
    fails=trace(posted(_CALL, method="PUT"), http_answer(405)),
)
def _not_post(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is not None and evidence.message is not None and exchange.method not in ("POST", ""):
        yield f"a message was sent with {exchange.method}"


@check(
    "HTTP-013",
    "A request is answered with 202 and nothing else",
    on=("http answer",),
    revisions=SINCE_2025_03,
    blame="server",
    spec=_SENDING,
    fix="Answer a request with JSON or an event stream; 202 is for notifications.",
    passes=_GOOD,
    fails=trace(posted(_CALL), http_answer(202)),
)
def _only_202(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = _posted(evidence)
    # The old HTTP+SSE transport answers on its own stream.
    if (
        exchange is not None
        and exchange.kind == "request"
        and exchange.status == 202
        and not exchange.is_old_sse
        and evidence.raw == ""
    ):
        yield f"the request in line {exchange.seq} was answered with 202 alone"


_PREFLIGHT: Final[dict[str, Any]] = {
    "access_control_request_method": "POST",
    "origin": "https://app.example.com",
}


@check(
    "HTTP-014",
    "A preflight refuses headers that MCP needs",
    on=("http answer",),
    revisions=ALL,
    severity="warning",
    blame="server",
    spec=f"{_PAGE}#request-metadata",
    fix="Name the requested headers in Access-Control-Allow-Headers.",
    passes=trace(
        http_request("OPTIONS", access_control_request_headers="mcp-method", **_PREFLIGHT),
        http_answer(204, access_control_allow_headers="content-type, mcp-method"),
    ),
    fails=trace(
        http_request("OPTIONS", access_control_request_headers="mcp-method", **_PREFLIGHT),
        http_answer(204, access_control_allow_headers="content-type"),
    ),
)
def _preflight(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or exchange.method != "OPTIONS":
        return
    wanted = _names(exchange.headers.get("access-control-request-headers", ""))
    allowed = _names(exchange.answer_headers.get("access-control-allow-headers", ""))
    missing = sorted(wanted - allowed)
    if missing and "*" not in allowed:
        yield f"the browser asked for {short(', '.join(missing))}, and Access-Control-Allow-Headers lacks it"


def _names(value: str) -> set[str]:
    return {part.strip().lower() for part in value.split(",") if part.strip()}


@check(
    "HTTP-015",
    "A browser cannot read the session id",
    on=("http answer",),
    revisions=_WITH_GET,
    severity="warning",
    blame="server",
    phase="initialize",
    spec=f"{_OLD}#session-management",
    fix="Send Access-Control-Expose-Headers: Mcp-Session-Id.",
    passes=trace(*_START),
    fails=trace(
        posted(
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()},
            origin="https://app.example.com",
        ),
        replied(
            {"jsonrpc": "2.0", "id": 0, "result": welcome()},
            mcp_session_id="1868a90c-46a2-4b5f-9d1e-0c3a5b7d9e11",
            access_control_allow_origin="*",
        ),
    ),
)
def _hidden_session(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if (
        exchange is None
        or "origin" not in exchange.headers
        or "mcp-session-id" not in exchange.answer_headers
    ):
        return
    exposed = _names(exchange.answer_headers.get("access-control-expose-headers", ""))
    if "mcp-session-id" not in exposed and "*" not in exposed:
        yield "the answer to a browser carries Mcp-Session-Id without exposing it"
