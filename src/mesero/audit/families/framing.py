"""Rules about bytes: what stands on a message channel without being a message.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from mesero.audit.evidence import Evidence, members_of, short
from mesero.audit.examples import (
    answer,
    ask,
    asked,
    c2s,
    garbled,
    http_answer,
    noise,
    old_answer,
    old_ask,
    posted,
    s2c,
    shake,
    stderr,
    trace,
    wrote,
)
from mesero.audit.rules import Fault, check, claim
from mesero.errors import RpcError
from mesero.jsonrpc import check_duplicate_members

__all__: list[str] = []

_STDIO = "basic/transports/stdio"
_ON_STDERR = "Write messages to stdout, and only logs to stderr."
_LINE = "Write one JSON-RPC message a line to stdout, and everything else to stderr."
_GOOD = trace(ask("tools/list"), answer({"tools": [], "ttlMs": 0, "cacheScope": "private"}))

_HEADER = re.compile(r"content-(length|type)\s*:", re.IGNORECASE)
_NOT_FINITE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(-?\b(?:NaN|Infinity)\b)')
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_GLUED = re.compile(r'\{\s*"jsonrpc"\s*:')


def _text_of(evidence: Evidence) -> str | None:
    if evidence.raw:
        return evidence.raw
    raw = getattr(evidence.line, "raw", UNSET)
    return raw if isinstance(raw, str) else None


def _sort(evidence: Evidence) -> str:
    """Which of this family's rules a piece of text is for; each text has one."""
    text = _text_of(evidence)
    if text is None:
        return "bytes"
    if _SURROGATE.search(text) and _is_json(text):
        return "half"
    if evidence.exchange is not None:
        return "http"
    if text.startswith("\ufeff"):
        return "bom"
    if _HEADER.match(text):
        return "header"
    has_brace = text.lstrip().startswith(("{", "["))
    if has_brace and any(match[1] for match in _NOT_FINITE.finditer(text)):
        return "number"
    if evidence.link.text_depth > 0:
        return "continued"
    if text.startswith("{") and text.count("{") > text.count("}") and '"' not in text.partition("{")[0]:
        return "split"
    if _GLUED.search(text):
        return "glued"
    return "client" if evidence.direction == "c2s" else "server"


def _is_json(text: str) -> bool:
    """Whether a lenient reader takes it: then half a surrogate pair is all that is wrong."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _quoted(evidence: Evidence) -> str:
    return short(_text_of(evidence) or "")


@check(
    "FRAME-001",
    "The server writes something to stdout that is no message",
    on=("text",),
    spec=f"{_STDIO}",
    fix="Send banners and logs to stderr (console.error, file=sys.stderr): stdout is for messages alone.",
    passes=_GOOD,
    fails=trace(wrote("Server running on stdio"), ask("server/discover")),
)
def _server_text(evidence: Evidence) -> Iterator[Fault | str]:
    if _sort(evidence) == "server":
        yield f"the server wrote {_quoted(evidence)}, which is no JSON-RPC message"


@check(
    "FRAME-002",
    "Messages are framed with Content-Length headers",
    on=("text",),
    spec=_STDIO,
    fix=(
        "Write each message on one line of its own, without headers; Content-Length belongs to "
        "another protocol."
    ),
    passes=_GOOD,
    fails=trace(wrote("Content-Length: 52"), ask("server/discover")),
)
def _length_headers(evidence: Evidence) -> Iterator[Fault | str]:
    if _sort(evidence) == "header":
        yield f"{_quoted(evidence)} is a header; MCP over stdio is one JSON message a line"


@check(
    "FRAME-003",
    "NaN or Infinity stands where JSON allows only numbers",
    on=("text",),
    spec="basic/index#messages",
    fix=(
        "Send null or a string in place of a number that is not finite (json.dumps(..., "
        "allow_nan=False) finds it)."
    ),
    passes=trace(ask("tools/call", {"name": "mean"}), answer({"content": [], "structuredContent": None})),
    fails=trace(wrote('{"jsonrpc":"2.0","id":4,"result":{"mean":NaN}}')),
)
def _not_finite(evidence: Evidence) -> Iterator[Fault | str]:
    if _sort(evidence) == "number":
        yield f"{_quoted(evidence)} has NaN or Infinity in it, so a strict reader refuses the whole message"


@check(
    "FRAME-004",
    "A message is spread over several lines",
    on=("text",),
    spec=_STDIO,
    fix="Encode without line breaks: a line is a message, so pretty-printed JSON cannot be read.",
    passes=_GOOD,
    fails=trace(wrote("{"), wrote('  "jsonrpc": "2.0", "id": 1, "result": {}'), wrote("}")),
)
def _split(evidence: Evidence) -> Iterator[Fault | str]:
    if _sort(evidence) == "split":
        yield f"a message begins with {_quoted(evidence)} and goes on over more lines"


@check(
    "FRAME-005",
    "A message shares its line with other text",
    on=("text",),
    spec=_STDIO,
    fix=_LINE,
    passes=_GOOD,
    fails=trace(wrote('INFO answering {"jsonrpc":"2.0","id":1,"result":{}}')),
)
def _glued(evidence: Evidence) -> Iterator[Fault | str]:
    if _sort(evidence) == "glued":
        yield f"{_quoted(evidence)} has a message in it, but also other text on the same line"


@check(
    "FRAME-006",
    "A message channel carries bytes that are not UTF-8",
    on=("text",),
    spec="basic/transports/index#messages",
    fix="Write UTF-8: for Python set PYTHONUTF8=1, for others set the encoding of the stream.",
    passes=trace(ask("tools/call", {"name": "größe"}), answer({"content": []})),
    fails=trace(noise("eyJ4IjoiZ3L232UifQ==")),
)
def _not_utf8(evidence: Evidence) -> Iterator[Fault | str]:
    if _sort(evidence) == "bytes":
        yield "these bytes are not UTF-8; messages must be"


@check(
    "FRAME-007",
    "A byte order mark stands before a message",
    on=("text",),
    severity="warning",
    spec="basic/transports/index#messages",
    fix='Write plain UTF-8 without a byte order mark (encoding "utf-8", not "utf-8-sig").',
    passes=_GOOD,
    fails=trace(wrote('\ufeff{"jsonrpc":"2.0","method":"notifications/message"}')),
)
def _byte_order_mark(evidence: Evidence) -> Iterator[Fault | str]:
    if _sort(evidence) == "bom":
        yield "a byte order mark stands before the message; strict JSON readers refuse it"


@check(
    "FRAME-008",
    "A message is written to stderr",
    on=("stderr",),
    blame="server",
    spec=_STDIO,
    fix=_ON_STDERR,
    passes=trace(
        ask("tools/list"), stderr("listing"), answer({"tools": [], "ttlMs": 0, "cacheScope": "private"})
    ),
    fails=trace(
        ask("tools/call", {"name": "x"}), stderr('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}')
    ),
)
def _message_on_stderr(evidence: Evidence) -> Iterator[Fault | str]:
    text = _text_of(evidence)
    if text is None or '"jsonrpc"' not in text:
        return
    try:
        value = members_of(msgspec.json.decode(text))
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return
    if "jsonrpc" in value and ("result" in value or "error" in value or "method" in value):
        yield f"the message with id {short(value.get('id'))} went to stderr, where no client looks for it"


@check(
    "FRAME-009",
    "The client writes something to the server's stdin that is no message",
    on=("text",),
    blame="client",
    spec=_STDIO,
    fix="Write one JSON-RPC message a line to the server's stdin and nothing else.",
    passes=_GOOD,
    fails=trace(wrote("tools/list", "c2s")),
)
def _client_text(evidence: Evidence) -> Iterator[Fault | str]:
    if _sort(evidence) == "client":
        yield f"the client wrote {_quoted(evidence)}, which is no JSON-RPC message"


@check(
    "FRAME-010",
    "An object has the same member twice",
    on=("request", "notification", "result", "error"),
    severity="warning",
    spec="basic/index#messages",
    fix="Send each member once: readers differ in which of the two they take.",
    passes=_GOOD,
    fails=trace(
        shake()[0], *shake()[1:], old_ask("ping"), s2c('{"jsonrpc":"2.0","id":1,"id":1,"result":{}}')
    ),
)
def _twins(evidence: Evidence) -> Iterator[Fault | str]:
    try:
        check_duplicate_members(evidence.raw.encode("utf-8", "replace"))
    except RpcError as error:
        if "twice" in str(error):
            yield f"{evidence.what}: {error}"


@check(
    "FRAME-011",
    "A string holds half a surrogate pair",
    on=("text",),
    spec="basic/transports/index#messages",
    fix="Cut and join strings by whole characters before encoding them.",
    passes=trace(*shake(), old_ask("tools/call", {"name": "x"}), old_answer({"content": []})),
    fails=trace(*shake(), s2c('{"jsonrpc":"2.0","method":"notifications/message","params":"\\ud83d"}')),
)
def _half_pair(evidence: Evidence) -> Iterator[Fault | str]:
    if _sort(evidence) == "half":
        yield f"{_quoted(evidence)} holds half a surrogate pair, which UTF-8 cannot carry"


claim(
    "FRAME-012",
    "A message nests too deeply to be judged",
    severity="warning",
    says="nests deeper than",
    spec="basic/index#composition-keyword-resource-use",
    fix="Flatten the data: many JSON readers stop at 100 to 1,000 levels.",
    passes=_GOOD,
    fails=trace(
        *shake(),
        c2s('{"jsonrpc":"2.0","method":"notifications/x","params":{"a":' + "[" * 300 + "]" * 300 + "}}"),
    ),
)


@check(
    "FRAME-013",
    "An HTTP body or event that should be a message is none",
    on=("text",),
    spec="basic/transports/streamable-http#sending-messages",
    fix="Answer with one JSON-RPC message; report failures with a status and a JSON-RPC error.",
    passes=_GOOD,
    fails=trace(
        posted(asked("server/discover")),
        http_answer(200, content_type="text/event-stream", x_accel_buffering="no"),
        garbled("pong"),
    ),
)
def _http_text(evidence: Evidence) -> Iterator[Fault | str]:
    if _sort(evidence) == "http":
        yield f"{_quoted(evidence)} came in place of a JSON-RPC message"
