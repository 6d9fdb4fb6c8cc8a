"""Rules about HTTP headers: those that mirror the body, and those that say what either side can read.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mesero.audit.evidence import REVISION_KEY, Evidence, short
from mesero.audit.examples import (
    answered,
    asked,
    failed,
    hello,
    http_answer,
    http_request,
    posted,
    replied,
    trace,
    welcome,
)
from mesero.audit.rules import HANDSHAKE, SINCE_2025_03, SINCE_2025_06, STATELESS, Fault, check
from mesero.errors import HeaderMismatchError
from mesero.modern.headers import check_param_headers, decode_header_value

__all__: list[str] = []

_HTTP = "basic/transports/streamable-http"
_VERSION = f"{_HTTP}#protocol-version-header"
_STANDARD = f"{_HTTP}#standard-request-headers"
_CHECKS = f"{_HTTP}#server-validation"
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_CALL = asked("tools/call", {"name": "add", "arguments": {"a": 1}})
_GOOD = trace(posted(_CALL), replied(answered({"content": []})))
_REDACTED = "<redacted "

_MARKED = {
    "name": "add",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer", "x-mcp-header": "A"}}},
}
_LISTED = [
    posted(asked("tools/list", id=9), exchange=9),
    replied(answered({"tools": [_MARKED], "ttlMs": 0, "cacheScope": "private"}, id=9), exchange=9),
]


@check(
    "HDR-001",
    "A request over HTTP has no MCP-Protocol-Version",
    on=("request",),
    side="c2s",
    needs_http=True,
    revisions=STATELESS,
    blame="client",
    spec=_VERSION,
    fix="Send MCP-Protocol-Version with the revision of the body on every POST.",
    passes=_GOOD,
    fails=trace(posted(_CALL, drop="mcp-protocol-version"), replied(failed(-32020), status=400)),
)
def _no_version(evidence: Evidence) -> Iterator[Fault | str]:
    if _is_posted(evidence) and "mcp-protocol-version" not in evidence.headers:
        yield f"{evidence.what} came without MCP-Protocol-Version"


def _is_posted(evidence: Evidence) -> bool:
    """Whether the headers of the request are in the trace, and of the transport that has these headers."""
    exchange = evidence.exchange
    # Other recordings say nothing about headers; HTTP+SSE is older than they are.
    return evidence.direction == "c2s" and bool(evidence.headers) and not (exchange and exchange.is_old_sse)


@check(
    "HDR-002",
    "MCP-Protocol-Version differs from the body",
    on=("request",),
    side="c2s",
    needs_http=True,
    revisions=STATELESS,
    blame="client",
    spec=_VERSION,
    fix="Send the same revision in the header and in _meta.",
    passes=_GOOD,
    fails=trace(posted(_CALL, mcp_protocol_version="2025-11-25"), replied(failed(-32020), status=400)),
)
def _other_version(evidence: Evidence) -> Iterator[Fault | str]:
    sent = evidence.headers.get("mcp-protocol-version")
    stated = evidence.meta.get(REVISION_KEY)
    if _is_posted(evidence) and sent is not None and isinstance(stated, str) and sent != stated:
        yield f"{evidence.what}: the header says {short(sent)}, the body {short(stated)}"


@check(
    "HDR-003",
    "A request over HTTP has no Mcp-Method",
    on=("request",),
    side="c2s",
    needs_http=True,
    revisions=STATELESS,
    blame="client",
    spec=_STANDARD,
    fix="Send Mcp-Method on every request. A bridge in between may have to be updated for it.",
    passes=_GOOD,
    fails=trace(posted(_CALL, drop="mcp-method"), replied(failed(-32020), status=400)),
)
def _no_method(evidence: Evidence) -> Iterator[Fault | str]:
    if _is_posted(evidence) and "mcp-method" not in evidence.headers:
        yield f"{evidence.what} came without Mcp-Method"


@check(
    "HDR-004",
    "Mcp-Method differs from the body",
    on=("request",),
    side="c2s",
    needs_http=True,
    revisions=STATELESS,
    blame="client",
    spec=_CHECKS,
    fix=(
        "Send the method of the body in Mcp-Method. If the client did, something in between "
        "changed one of them."
    ),
    passes=_GOOD,
    fails=trace(posted(_CALL, mcp_method="tools/list"), replied(failed(-32020), status=400)),
)
def _other_method(evidence: Evidence) -> Iterator[Fault | str]:
    sent = evidence.headers.get("mcp-method")
    if _is_posted(evidence) and sent is not None and sent != evidence.method:
        yield f"the header says {short(sent)}, the body {short(evidence.method)}"


@check(
    "HDR-005",
    "A request that names something has no Mcp-Name",
    on=("request",),
    side="c2s",
    needs_http=True,
    methods=_NAMED,
    revisions=STATELESS,
    blame="client",
    spec=_STANDARD,
    fix="Send Mcp-Name with the tool's or prompt's name or the resource's URI.",
    passes=_GOOD,
    fails=trace(posted(_CALL, drop="mcp-name"), replied(failed(-32020), status=400)),
)
def _no_name(evidence: Evidence) -> Iterator[Fault | str]:
    name = evidence.params.get(_NAMED.get(evidence.method, ""))
    if _is_posted(evidence) and "mcp-name" not in evidence.headers and isinstance(name, str):
        yield f"{evidence.what} for {short(name)} came without Mcp-Name"


@check(
    "HDR-006",
    "Mcp-Name differs from the body",
    on=("request",),
    side="c2s",
    needs_http=True,
    methods=_NAMED,
    revisions=STATELESS,
    blame="client",
    spec=_CHECKS,
    fix=(
        "Send the name of the body in Mcp-Name: a gateway decides by the header, the server acts by the body."
    ),
    passes=_GOOD,
    fails=trace(posted(_CALL, mcp_name="delete"), replied(failed(-32020), status=400)),
)
def _other_name(evidence: Evidence) -> Iterator[Fault | str]:
    sent = evidence.headers.get("mcp-name")
    name = evidence.params.get(_NAMED.get(evidence.method, ""))
    repeated = evidence.exchange.repeated if evidence.exchange is not None else ()
    if not _is_posted(evidence) or sent is None or sent.startswith(_REDACTED) or "mcp-name" in repeated:
        return
    try:
        said = decode_header_value(sent)
    except ValueError:
        return
    if isinstance(name, str) and said != name:
        yield f"the header says {short(said)}, the body {short(name)}"


@check(
    "HDR-007",
    "A mirrored header cannot be read",
    on=("request",),
    side="c2s",
    needs_http=True,
    revisions=STATELESS,
    blame="client",
    spec=f"{_HTTP}#value-encoding",
    fix="Send plain ASCII as it is, anything else as =?base64?<Base64 of the UTF-8>?=.",
    passes=trace(posted(_CALL, mcp_name="=?base64?YWRk?="), replied(answered({"content": []}))),
    fails=trace(posted(_CALL, mcp_name="=?base64?%%%?="), replied(failed(-32020), status=400)),
)
def _unreadable(evidence: Evidence) -> Iterator[Fault | str]:
    for name, value in evidence.headers.items():
        if name == "mcp-name" or name.startswith("mcp-param-"):
            try:
                decode_header_value(value)
            except ValueError as error:
                yield f"{name} is {short(value)}: {error}"


@check(
    "HDR-008",
    "A header that routes is sent several times",
    on=("request",),
    side="c2s",
    needs_http=True,
    revisions=STATELESS,
    blame="client",
    spec=_CHECKS,
    fix="Send each of the MCP headers once: two readers may take two different values.",
    passes=_GOOD,
    fails=trace(posted(_CALL, mcp_name=["add", "add"]), replied(failed(-32020), status=400)),
)
def _repeated(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    for name in exchange.repeated if exchange is not None else ():
        if name.startswith("mcp-"):
            yield f"{evidence.what} came with {name} several times"


@check(
    "HDR-009",
    "A parameter that the tool mirrors in a header is missing there, or differs",
    on=("request",),
    side="c2s",
    needs_http=True,
    methods=("tools/call",),
    revisions=STATELESS,
    blame="client",
    spec=f"{_HTTP}#server-behavior-for-custom-headers",
    fix="Send Mcp-Param-<name> for each parameter that has x-mcp-header in the tool's inputSchema.",
    passes=trace(*_LISTED, posted(_CALL, mcp_param_a="1"), replied(answered({"content": []}))),
    fails=trace(*_LISTED, posted(_CALL, mcp_param_a="2"), replied(failed(-32020), status=400)),
)
def _param_headers(evidence: Evidence) -> Iterator[Fault | str]:
    tool = evidence.link.tools.get(str(evidence.params.get("name")))
    if not _is_posted(evidence) or tool is None or tool.marks_fault:
        return
    if evidence.is_redacted("arguments") or evidence.is_redacted("mcp-param-"):
        return
    try:
        check_param_headers(tool.marks, evidence.params.get("arguments", {}), evidence.headers)
    except HeaderMismatchError as error:
        yield f"{evidence.what}: {error.message}"


@check(
    "HDR-010",
    "The server runs a request whose headers contradict its body",
    on=("result",),
    side="s2c",
    needs_http=True,
    revisions=STATELESS,
    blame="server",
    spec=_CHECKS,
    fix="Compare the headers with the body first, and refuse what differs with 400 and -32020.",
    passes=trace(posted(_CALL, drop="mcp-name"), replied(failed(-32020), status=400)),
    fails=trace(posted(_CALL, mcp_name="delete"), replied(answered({"content": []}))),
    also=("HDR-006",),
)
def _accepted_mismatch(evidence: Evidence) -> Iterator[Fault | str]:
    exchange, about = evidence.exchange, evidence.asked
    if exchange is None or about is None or about.exchange is not exchange or not exchange.headers:
        return
    wrong = [
        name
        for name, expected in (("mcp-method", about.method), ("mcp-name", about.name))
        if (sent := exchange.headers.get(name)) is not None
        and not sent.startswith((_REDACTED, "=?base64?"))
        and expected
        and sent != expected
        and (name != "mcp-name" or about.method in _NAMED)
    ]
    if wrong:
        yield f"{evidence.what} was given although {' and '.join(wrong)} differed from the body"


@check(
    "HDR-011",
    "Accept does not list both content types",
    on=("http request",),
    revisions=SINCE_2025_03,
    blame="client",
    spec=f"{_HTTP}#sending-messages",
    fix="Send Accept: application/json, text/event-stream on every POST.",
    passes=_GOOD,
    fails=trace(posted(_CALL, accept="application/json"), replied(answered({"content": []}))),
)
def _accept(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or exchange.method != "POST" or not exchange.kind or not exchange.headers:
        return
    if exchange.is_old_sse:
        return
    accepted = exchange.headers.get("accept", "")
    missing = [kind for kind in ("application/json", "text/event-stream") if not _accepts(accepted, kind)]
    if missing:
        yield f"the POST accepts {short(accepted)}, not {' or '.join(missing)}"


def _accepts(accepted: str, kind: str) -> bool:
    ranges = {part.partition(";")[0].strip().lower() for part in accepted.split(",")}
    return bool(ranges & {kind, f"{kind.partition('/')[0]}/*", "*/*"})


@check(
    "HDR-012",
    "A message is posted with another content type than JSON",
    on=("http request",),
    severity="warning",
    blame="client",
    revisions=SINCE_2025_03,
    spec=f"{_HTTP}#standard-request-headers",
    fix="Send Content-Type: application/json.",
    passes=_GOOD,
    fails=trace(posted(_CALL, content_type="text/plain"), replied(failed(-32600), status=415)),
)
def _content_type(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or exchange.method != "POST" or not exchange.kind or not exchange.headers:
        return
    kind = exchange.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        yield f"the message was posted as {short(kind or 'nothing')}"


_OLD_START = [
    posted({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}, exchange=8),
    replied({"jsonrpc": "2.0", "id": 0, "result": welcome()}, exchange=8),
    posted(
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        exchange=7,
        mcp_protocol_version="2025-11-25",
    ),
    http_answer(202, exchange=7),
]
_OLD_CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@check(
    "HDR-013",
    "The negotiated revision is not sent along after the handshake",
    on=("request",),
    side="c2s",
    needs_http=True,
    revisions=SINCE_2025_06,
    blame="client",
    spec="2025-11-25/basic/transports#protocol-version-header",
    fix="Send MCP-Protocol-Version with the negotiated revision on every request after initialize.",
    passes=trace(
        *_OLD_START,
        posted(_OLD_CALL, mcp_protocol_version="2025-11-25"),
        replied({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}),
    ),
    fails=trace(
        *_OLD_START, posted(_OLD_CALL), replied({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}})
    ),
)
def _no_negotiated_version(evidence: Evidence) -> Iterator[Fault | str]:
    if (
        evidence.era == "legacy"
        and _is_posted(evidence)
        and evidence.method != "initialize"
        and "mcp-protocol-version" not in evidence.headers
    ):
        yield f"{evidence.what} came without MCP-Protocol-Version: {evidence.revision}"


@check(
    "HDR-014",
    "MCP-Protocol-Version is not the negotiated revision",
    on=("request", "notification"),
    side="c2s",
    needs_http=True,
    revisions=HANDSHAKE,
    severity="warning",
    blame="client",
    spec="2025-11-25/basic/transports#protocol-version-header",
    fix=(
        "Send the revision that the server chose in its answer to initialize, not the newest "
        "that the client knows."
    ),
    passes=trace(*_OLD_START, posted(_OLD_CALL, mcp_protocol_version="2025-11-25")),
    fails=trace(*_OLD_START, posted(_OLD_CALL, mcp_protocol_version="2025-06-18")),
)
def _other_negotiated_version(evidence: Evidence) -> Iterator[Fault | str]:
    sent = evidence.headers.get("mcp-protocol-version")
    handshake = evidence.link.handshake_for(evidence.exchange.session if evidence.exchange else "")
    if not _is_posted(evidence) or sent is None or handshake is None or not handshake.is_answered:
        return
    if sent != handshake.revision and evidence.method != "initialize":
        yield f"{handshake.revision} was negotiated, but the client sends {short(sent)}"


@check(
    "HDR-015",
    "An event stream may be held back by proxies",
    on=("http answer",),
    revisions=STATELESS,
    severity="info",
    blame="server",
    spec=f"{_HTTP}#receiving-messages",
    fix="Send X-Accel-Buffering: no with every event stream.",
    passes=trace(posted(_CALL), replied(answered({"content": []}), sse=True)),
    fails=trace(posted(_CALL), replied(answered({"content": []}), sse=True, x_accel_buffering="yes")),
)
def _buffering(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if (
        exchange is not None
        and exchange.is_stream
        and exchange.kind == "request"
        and exchange.answer_headers.get("x-accel-buffering") != "no"
    ):
        yield "the event stream comes without X-Accel-Buffering: no"


_UNEXPANDED = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")


@check(
    "HDR-016",
    "A header holds a variable that nobody filled in",
    on=("http request",),
    severity="warning",
    blame="client",
    phase="launch",
    spec=f"{_HTTP}#sending-messages",
    fix=(
        "This host does not expand variables in its configuration, or the variable is not set: "
        "write the value itself."
    ),
    passes=trace(posted(_CALL, x_key="k"), replied(answered({"content": []}))),
    fails=trace(posted(_CALL, x_key="${API_KEY}"), http_answer(400)),
)
def _variable(evidence: Evidence) -> Iterator[Fault | str]:
    for name, value in evidence.headers.items():
        if _UNEXPANDED.search(value):
            yield f"the header {name} was sent as the literal text {short(value)}"


@check(
    "HDR-017",
    "A GET for an event stream does not accept one",
    on=("http request",),
    revisions=SINCE_2025_03[:-1],
    blame="client",
    spec="2025-11-25/basic/transports#listening-for-messages-from-the-server",
    fix="Send Accept: text/event-stream with the GET.",
    passes=trace(*_OLD_START, http_request("GET", accept="text/event-stream"), http_answer(405)),
    fails=trace(*_OLD_START, http_request("GET", accept="application/json"), http_answer(405)),
)
def _accepts_no_stream(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or exchange.method != "GET" or exchange.url != evidence.link.resource:
        return
    if not _accepts(exchange.headers.get("accept", ""), "text/event-stream"):
        yield f"the GET accepts {short(exchange.headers.get('accept', ''))}, so no event stream can answer it"
