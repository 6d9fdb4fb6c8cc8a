"""The keys of ``_meta`` that the specification reserves."""

from __future__ import annotations

from typing import Final

from mesero.explain.glossary.entries import ALL, ONLY_2025_11, STATELESS, Entry

__all__ = ["META_KEYS"]

_META = "basic/index#meta"

META_KEYS: Final = (
    Entry(
        name="io.modelcontextprotocol/protocolVersion",
        kind="_meta key",
        title="The revision of this request",
        meaning="Required on every stateless request. Its presence is what makes a request stateless: no"
        " handshake is looked for.",
        sender="client",
        revisions=STATELESS,
        causes=(
            "missing: -32602 with HTTP 400, or the request is taken for one of a session",
            "not spoken by the server: -32022",
        ),
        spec=_META,
    ),
    Entry(
        name="io.modelcontextprotocol/clientCapabilities",
        kind="_meta key",
        title="What this client can do",
        meaning="Required on every stateless request, if only as `{}`. The server may use nothing that is not"
        " in it, and remembers nothing of earlier requests.",
        sender="client",
        revisions=STATELESS,
        causes=("missing: -32602", "lacks what the request needs: -32021"),
        spec=_META,
    ),
    Entry(
        name="io.modelcontextprotocol/clientInfo",
        kind="_meta key",
        title="Who asks",
        meaning="Name and version of the client, for display and logs. Nobody verifies it, so nothing may"
        " depend on it.",
        sender="client",
        revisions=STATELESS,
        causes=("missing: allowed, though clients should send it",),
        spec=_META,
    ),
    Entry(
        name="io.modelcontextprotocol/serverInfo",
        kind="_meta key",
        title="Who answers",
        meaning="Name and version of the server, in every result. For display and logs.",
        sender="server",
        revisions=STATELESS,
        causes=("missing: allowed, though servers should send it",),
        spec=_META,
    ),
    Entry(
        name="io.modelcontextprotocol/logLevel",
        kind="_meta key",
        title="How much to log",
        meaning="The least severe level of `notifications/message` that this request wants to get. Without it"
        " none may be sent.",
        sender="client",
        revisions=STATELESS,
        causes=("no log lines: it was not sent",),
        spec="server/utilities/logging",
    ),
    Entry(
        name="io.modelcontextprotocol/subscriptionId",
        kind="_meta key",
        title="Which stream",
        meaning="On all that is sent for a `subscriptions/listen`: the id of that request.",
        sender="server",
        revisions=STATELESS,
        causes=("missing: over stdio nobody knows which of several subscriptions is meant",),
        spec="basic/patterns/subscriptions#receiving-notifications",
    ),
    Entry(
        name="progressToken",
        kind="_meta key",
        title="Tell me how far you are",
        meaning="Asks for `notifications/progress` with this token. Unique among the requests that are open.",
        sender="both",
        revisions=ALL,
        causes=("no progress: the token was not sent, or the server does not report any",),
        spec="basic/patterns/progress",
    ),
    Entry(
        name="traceparent",
        kind="_meta key",
        title="Trace context",
        meaning="Joins this request to a distributed trace, as in W3C Trace Context.",
        sender="both",
        revisions=STATELESS,
        causes=("not of that form: it is ignored, and the trace breaks here",),
        spec=_META,
    ),
    Entry(
        name="tracestate",
        kind="_meta key",
        title="Trace context of vendors",
        meaning="Goes with `traceparent`, as in W3C Trace Context.",
        sender="both",
        revisions=STATELESS,
        spec=_META,
    ),
    Entry(
        name="baggage",
        kind="_meta key",
        title="Values that travel along",
        meaning="Application values of a distributed trace, as in W3C Baggage.",
        sender="both",
        revisions=STATELESS,
        spec=_META,
    ),
    Entry(
        name="io.modelcontextprotocol/related-task",
        kind="_meta key",
        title="Belongs to a task",
        meaning="Ties a message to the task that its `taskId` names.",
        sender="both",
        revisions=ONLY_2025_11,
        causes=("missing: the other side cannot tell for which task a question is",),
        spec="2025-11-25/basic/utilities/tasks",
    ),
    Entry(
        name="io.modelcontextprotocol/model-immediate-response",
        kind="_meta key",
        title="What to tell the model meanwhile",
        meaning="With a task that has begun: a text that the model gets at once in place of the result.",
        sender="server",
        revisions=ONLY_2025_11,
        spec="2025-11-25/basic/utilities/tasks",
    ),
)
