"""The HTTP headers that MCP defines or depends on."""

from __future__ import annotations

from typing import Final

from mesero.explain.glossary.entries import ALL, HANDSHAKE, SINCE_2025_03, SINCE_2025_06, STATELESS, Entry

__all__ = ["HEADERS"]

_STANDARD = "basic/transports/streamable-http#standard-request-headers"

HEADERS: Final = (
    Entry(
        name="MCP-Protocol-Version",
        kind="header",
        title="The revision",
        meaning="The revision of this request. In the stateless era on every POST, equal to the one in"
        " `params._meta`; with a handshake (since 2025-06-18) on every request after `initialize`, equal to"
        " the agreed one.",
        sender="client",
        revisions=SINCE_2025_06,
        causes=(
            "missing on a stateless request: -32020",
            "missing with a handshake: the server should take it for 2025-03-26",
            "not the agreed one: HTTP 400",
        ),
        spec="basic/transports/streamable-http#protocol-version-header",
    ),
    Entry(
        name="Mcp-Method",
        kind="header",
        title="The method",
        meaning="Repeats the `method` of the body, so that proxies can route without reading it.",
        sender="client",
        revisions=STATELESS,
        causes=("missing, repeated or different from the body: -32020",),
        spec=_STANDARD,
    ),
    Entry(
        name="Mcp-Name",
        kind="header",
        title="What the request is about",
        meaning="Repeats `params.name` of `tools/call` and `prompts/get`, `params.uri` of `resources/read`."
        " What is not plain ASCII stands in it as `=?base64?…?=`.",
        sender="client",
        revisions=STATELESS,
        causes=("missing or different from the body: -32020",),
        spec=_STANDARD,
    ),
    Entry(
        name="Mcp-Param-*",
        kind="header",
        title="An argument of a tool",
        meaning="Repeats one argument of `tools/call` whose schema has the mark `x-mcp-header`.",
        sender="client",
        revisions=STATELESS,
        causes=("the client has not read the tool's schema, or an older one: -32020",),
        spec="basic/transports/streamable-http#custom-headers-from-tool-parameters",
    ),
    Entry(
        name="Mcp-Session-Id",
        kind="header",
        title="The session",
        meaning="With a handshake: the server may give it with the answer to `initialize`, and the client"
        " then repeats it on every request. The stateless era has no sessions and ignores it.",
        sender="both",
        revisions=HANDSHAKE[1:],
        causes=(
            "missing where the server gave one: HTTP 400",
            "unknown to the server, since it restarted or another replica got the request: HTTP 404",
            "a browser client cannot read it: the server must list it in `Access-Control-Expose-Headers`",
        ),
        spec="2025-11-25/basic/transports#session-management",
    ),
    Entry(
        name="Last-Event-ID",
        kind="header",
        title="Go on from there",
        meaning="With a handshake: sent with GET to get the events of a broken stream after this one. Streams"
        " cannot be resumed in the stateless era.",
        sender="client",
        revisions=HANDSHAKE[1:],
        causes=("the server keeps no events: the stream simply begins anew",),
        spec="2025-11-25/basic/transports#resumability-and-redelivery",
    ),
    Entry(
        name="Accept",
        kind="header",
        title="What may come back",
        meaning="On POST both `application/json` and `text/event-stream`: the server chooses.",
        sender="client",
        revisions=SINCE_2025_03,
        causes=("one of the two is missing: HTTP 406",),
        spec="basic/transports/streamable-http#sending-messages",
    ),
    Entry(
        name="Content-Type",
        kind="header",
        title="What the body is",
        meaning="`application/json` for one message, `text/event-stream` for a stream of events.",
        sender="both",
        causes=(
            "`text/html` in an answer: a login page, an error page, a wrong URL",
            "missing on a request: HTTP 415",
        ),
        spec="basic/transports/streamable-http#sending-messages",
    ),
    Entry(
        name="Authorization",
        kind="header",
        title="The token",
        meaning="`Bearer` and an access token, on every request. Never in the URL.",
        sender="client",
        revisions=SINCE_2025_03,
        causes=("it is dropped on a redirect to another origin, as it has to be",),
        spec="basic/authorization/index#token-requirements",
    ),
    Entry(
        name="WWW-Authenticate",
        kind="header",
        title="How to get in",
        meaning="With 401 and 403: where the metadata of the protected resource are, and which scope is"
        " needed.",
        sender="server",
        revisions=SINCE_2025_06,
        causes=("missing: clients then try the well-known addresses of the metadata",),
        spec="basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements",
    ),
    Entry(
        name="Origin",
        kind="header",
        title="The page that asks",
        meaning="Set by browsers. Servers have to refuse those that they do not know, with 403.",
        sender="client",
        revisions=ALL,
        causes=("an inspector in a browser is not on the server's list: HTTP 403",),
        spec="basic/transports/streamable-http#security--endpoint",
    ),
    Entry(
        name="Host",
        kind="header",
        title="The name that was asked",
        meaning="Servers on loopback check it against DNS rebinding.",
        sender="client",
        revisions=ALL,
        causes=("a tunnel or container reaches the server by another name: HTTP 403 or 421",),
        spec="basic/transports/streamable-http#security--endpoint",
    ),
    Entry(
        name="X-Accel-Buffering",
        kind="header",
        title="Do not hold back",
        meaning="`no` on a stream of events tells proxies such as nginx to pass on each event at once.",
        sender="server",
        revisions=STATELESS,
        causes=("missing: progress and notifications may all arrive at the end",),
        spec="basic/transports/streamable-http#receiving-messages",
    ),
    Entry(
        name="x-mcp-header",
        kind="header",
        title="The mark in a tool's schema",
        meaning="No header, but a keyword in a tool's `inputSchema`: this argument is repeated in"
        " `Mcp-Param-` and the given name.",
        sender="server",
        revisions=STATELESS,
        causes=("a mark that breaks a rule makes clients over HTTP leave out the whole tool",),
        spec="basic/transports/streamable-http#schema-extension",
    ),
)
