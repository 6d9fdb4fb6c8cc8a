"""Rules about features that still work and are on their way out.

https://modelcontextprotocol.io/specification/2026-07-28/deprecated
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mesero.audit.evidence import Evidence, members_of
from mesero.audit.examples import (
    answer,
    ask,
    asked,
    endpoint,
    http_answer,
    http_request,
    posted,
    replied,
    trace,
)
from mesero.audit.rules import ALL, SINCE_2025_11, STATELESS, Fault, check

__all__: list[str] = []

_PAGE = "deprecated#deprecated"
_GOOD = trace(ask("tools/call", {"name": "x"}), answer({"content": []}))


def _asked_for(method: str, params: dict[str, Any], capability: str, reply: dict[str, Any]) -> Any:
    question = {"method": method, **({"params": params} if params else {})}
    return trace(
        ask("tools/call", {"name": "x"}, capabilities={capability: {}}),
        answer({"resultType": "input_required", "inputRequests": {"k": question}}),
        ask("tools/call", {"name": "x", "inputResponses": {"k": reply}}, id=2, capabilities={capability: {}}),
    )


def _methods(evidence: Evidence) -> list[str]:
    if evidence.result.get("resultType") != "input_required":
        return []
    questions = members_of(evidence.result.get("inputRequests")).values()
    return [str(members_of(question).get("method")) for question in questions]


@check(
    "DEP-001",
    "Roots are used, which are deprecated",
    on=("result",),
    side="s2c",
    revisions=STATELESS,
    severity="info",
    blame="server",
    spec=_PAGE,
    fix=(
        "Take folders and files as parameters of tools, as resource URIs, or from the server's configuration."
    ),
    passes=_GOOD,
    fails=_asked_for("roots/list", {}, "roots", {"roots": []}),
)
def _roots(evidence: Evidence) -> Iterator[Fault | str]:
    if "roots/list" in _methods(evidence):
        yield f"{evidence.what} asks for roots"


_MESSAGES = [{"role": "user", "content": {"type": "text", "text": "?"}}]
_SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "!"}, "model": "m"}


@check(
    "DEP-002",
    "Sampling is used, which is deprecated",
    on=("result",),
    side="s2c",
    revisions=STATELESS,
    severity="info",
    blame="server",
    spec=_PAGE,
    fix="Call the API of a model provider.",
    passes=_GOOD,
    fails=_asked_for("sampling/createMessage", {"messages": _MESSAGES, "maxTokens": 1}, "sampling", _SAMPLED),
)
def _sampling(evidence: Evidence) -> Iterator[Fault | str]:
    if "sampling/createMessage" in _methods(evidence):
        yield f"{evidence.what} asks for a sampled message"


@check(
    "DEP-003",
    "Log messages are sent to the client, which is deprecated",
    on=("notification",),
    side="s2c",
    methods=("notifications/message",),
    revisions=STATELESS,
    severity="info",
    blame="server",
    spec=_PAGE,
    fix="Log to stderr, or use OpenTelemetry.",
    passes=_GOOD,
    fails=trace(
        posted(asked("tools/call", {"name": "x"}, log_level="info")),
        replied(
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}},
            sse=True,
        ),
    ),
)
def _logging(evidence: Evidence) -> Iterator[Fault | str]:
    yield f"{evidence.what} was sent to the client"


@check(
    "DEP-004",
    "Sampling includes the context of servers, which is deprecated",
    on=("request", "result"),
    side="s2c",
    revisions=SINCE_2025_11,
    severity="info",
    blame="server",
    spec=_PAGE,
    fix='Leave includeContext out, or use "none".',
    passes=_GOOD,
    fails=_asked_for(
        "sampling/createMessage",
        {"messages": _MESSAGES, "maxTokens": 1, "includeContext": "thisServer"},
        "sampling",
        _SAMPLED,
    ),
    also=("DEP-002",),
)
def _context(evidence: Evidence) -> Iterator[Fault | str]:
    questions = members_of(evidence.result.get("inputRequests")).values()
    asked_with = [evidence.params, *(members_of(members_of(each).get("params")) for each in questions)]
    if any(params.get("includeContext") in ("thisServer", "allServers") for params in asked_with):
        yield f"{evidence.what} asks to include the context of servers"


@check(
    "DEP-005",
    "The old HTTP+SSE transport is used, which is deprecated",
    on=("http",),
    revisions=ALL,
    severity="info",
    blame="server",
    phase="select era",
    spec=_PAGE,
    fix="Serve Streamable HTTP; keep the old endpoints beside it as long as clients need them.",
    passes=_GOOD,
    fails=trace(http_request("GET", url="https://example.com/sse", accept="text/event-stream"), endpoint()),
)
def _old_transport(evidence: Evidence) -> Iterator[Fault | str]:
    http = getattr(evidence.line, "http", None)
    if getattr(http, "event", None) == "endpoint":
        yield "the stream begins with an endpoint event, as in 2024-11-05"


@check(
    "DEP-006",
    "A client is registered dynamically, which is deprecated",
    on=("http request",),
    revisions=ALL,
    severity="info",
    blame="client",
    spec=_PAGE,
    fix=(
        "Use a Client ID Metadata Document where the authorization server supports it, or "
        "register beforehand."
    ),
    passes=_GOOD,
    fails=trace(
        http_request("POST", url="https://auth.example.com/register", body='{"redirect_uris": []}'),
        http_answer(201, body={}),
    ),
)
def _registration(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if (
        exchange is not None
        and exchange.method == "POST"
        and not exchange.kind
        and '"redirect_uris"' in exchange.body
    ):
        yield "the client registered itself at the authorization server"
