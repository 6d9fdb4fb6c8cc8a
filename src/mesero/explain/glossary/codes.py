"""Error codes and HTTP statuses: what they mean in which era, and what usually is behind them."""

from __future__ import annotations

from typing import Final

from mesero.explain.glossary.entries import (
    HANDSHAKE,
    ONLY_2025_11,
    SINCE_2025_03,
    STATELESS,
    Entry,
)

__all__ = ["CODES", "STATUSES"]

_ERRORS = "basic/index#error-codes"

CODES: Final = (
    Entry(
        name="-32700",
        kind="error code",
        title="Parse error",
        meaning="What arrived is no JSON, or no UTF-8, or nested too deeply. The answer has no id, since none"
        " could be read. HTTP 400.",
        sender="both",
        causes=(
            "a message was split by a line end within it: over stdio one line is one message",
            "NaN or Infinity as a number, a byte order mark, text in another encoding",
            "text for people on a channel for messages",
        ),
        spec=_ERRORS,
    ),
    Entry(
        name="-32600",
        kind="error code",
        title="Invalid request",
        meaning='JSON, but no JSON-RPC 2.0 message: no `"jsonrpc": "2.0"`, an id that is null or a fraction,'
        " `params` that is no object, a batch. With a handshake also a request that comes out of order."
        " HTTP 400.",
        sender="both",
        causes=(
            "a batch (array): only 2025-03-26 has them",
            "a request before the handshake is done, or a second `initialize`",
            "an id that is still in use for another request on the same process",
        ),
        spec=_ERRORS,
    ),
    Entry(
        name="-32601",
        kind="error code",
        title="Method not found",
        meaning="The method is unknown, or belongs to a capability that was not declared. Over HTTP in the"
        " stateless era with status 404.",
        sender="both",
        causes=(
            (
                "a method of the other era: `initialize`, `ping` and `logging/setLevel` are gone in"
                " 2026-07-28; `server/discover` is unknown before"
            ),
            "the capability was not declared, and the client asks all the same",
            "a typing error; names are case-sensitive",
        ),
        spec=_ERRORS,
    ),
    Entry(
        name="-32602",
        kind="error code",
        title="Invalid params",
        meaning="The parameters do not fit. In the stateless era also: `params._meta` lacks the revision or"
        " the capabilities (then with HTTP 400), an unknown tool or prompt, a resource that does not exist"
        " (with `data.uri`), a cursor or a `requestState` that is not valid.",
        sender="both",
        causes=(
            "the client speaks a revision with a handshake and the server is stateless: there is no `_meta`",
            "an unknown tool: the list changed since it was read, or the host renamed the tool",
            "a required argument is missing, or of another type; `arguments` is sent as a string",
            "a question's answer was sent without what belongs to it",
        ),
        spec=_ERRORS,
    ),
    Entry(
        name="-32603",
        kind="error code",
        title="Internal error",
        meaning="The other side failed while it worked on a valid request.",
        sender="both",
        causes=(
            "an exception in a function of the server; its stderr or log tells more",
            "a failure that should be a result with `isError`, so that the model can read it",
        ),
        spec=_ERRORS,
    ),
    Entry(
        name="-32020",
        kind="error code",
        title="Header mismatch",
        meaning="Over HTTP: the headers `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name` or `Mcp-Param-*` are"
        " missing, repeated or say something else than the body. HTTP 400. Checked before the revision is.",
        sender="server",
        revisions=STATELESS,
        causes=(
            "a proxy removed, added or rewrote headers",
            "a name outside of ASCII that was not encoded as `=?base64?…?=`",
            "the client's copy of the tool's schema is old: list the tools and send the call again",
        ),
        spec="basic/transports/streamable-http#server-validation",
    ),
    Entry(
        name="-32021",
        kind="error code",
        title="Missing required client capability",
        meaning="To serve this request the server needs what `data.requiredCapabilities` lists, and the"
        " request did not declare it in `_meta`. HTTP 400.",
        sender="server",
        revisions=STATELESS,
        causes=(
            "the host cannot ask its user or its model: use another host, or a tool without questions",
            "the client declares its capabilities on the first request only; each one has to",
        ),
        spec="basic/index#meta",
    ),
    Entry(
        name="-32022",
        kind="error code",
        title="Unsupported protocol version",
        meaning="The server does not speak the revision that the request declares. `data.supported` lists"
        " what it speaks, `data.requested` repeats what was asked. HTTP 400.",
        sender="server",
        revisions=STATELESS,
        causes=(
            "the client is newer or older than the server: send it again with a revision of that list",
            "the list has revisions with a handshake only: begin with `initialize`",
        ),
        spec="basic/versioning#protocol-version-negotiation",
    ),
    Entry(
        name="-32042",
        kind="error code",
        title="URL elicitation required",
        meaning="The request can only go on when the person has visited the pages in `data.elicitations`."
        " Send it again afterwards. 2026-07-28 asks in an `input_required` result instead.",
        sender="server",
        revisions=ONLY_2025_11,
        causes=("the server needs a sign-in with a third party first",),
        spec="2025-11-25/client/elicitation",
    ),
    Entry(
        name="-32002",
        kind="error code",
        title="Resource not found",
        meaning="There is no resource at this URI. 2026-07-28 says it with -32602 and `data.uri`; clients"
        " still have to understand the older code.",
        sender="server",
        revisions=HANDSHAKE,
        causes=("the URI was built from a template with a wrong value", "the resource was removed"),
        spec="2025-11-25/server/resources#error-handling",
    ),
    Entry(
        name="-32000",
        kind="error code",
        title="Made up on one's own side: connection closed",
        meaning="No revision gives it a meaning. Most often it never was on the wire: SDKs report with it"
        " that the connection ended while something waited (`Connection closed`). Some servers send it for"
        " sessions or authorization.",
        sender="host",
        revisions=(),
        causes=(
            "the server process ended: its exit code and its last lines on stderr say why",
            "the server printed something else to stdout, and the host gave up",
            "over HTTP: a bad or missing session id, often with status 400",
        ),
        spec=_ERRORS,
    ),
    Entry(
        name="-32001",
        kind="error code",
        title="Made up on one's own side: request timed out",
        meaning="No revision gives it a meaning. SDKs report with it that their own time limit passed (mostly"
        " 60 s); drafts of 2026-07-28 used it for what is -32020 now; some servers send it, with HTTP 404,"
        " for a session that they do not know.",
        sender="host",
        revisions=(),
        causes=(
            "the host gave up: the limit was its own, and the server may still be at work",
            "the server never read its stdin, or its answer has another id",
            "over HTTP with 404: the session ended; begin again with `initialize`",
        ),
        spec=_ERRORS,
    ),
    Entry(
        name="-32003",
        kind="error code",
        title="Old number of -32021",
        meaning="Drafts of 2026-07-28 used it for a missing client capability. No revision defines it.",
        sender="server",
        revisions=(),
        causes=("the server follows a draft",),
        spec="changelog",
    ),
    Entry(
        name="-32004",
        kind="error code",
        title="Old number of -32022",
        meaning="Drafts of 2026-07-28 used it for a revision that is not spoken. No revision defines it.",
        sender="server",
        revisions=(),
        causes=("the server follows a draft",),
        spec="changelog",
    ),
    Entry(
        name="-1",
        kind="error code",
        title="The user refused",
        meaning="What the specification's example shows for a question to the model that the person turned"
        " down. It lies outside of the reserved numbers.",
        sender="client",
        causes=("the person said no",),
        spec="client/sampling#error-handling",
    ),
)

_HTTP = "basic/transports/streamable-http#sending-messages"

STATUSES: Final = (
    Entry(
        name="200",
        kind="HTTP status",
        title="OK",
        meaning="An answer follows: one JSON message, or a stream of events that ends with it. It may be a"
        " JSON-RPC error all the same: once a stream has begun, the status cannot change.",
        sender="server",
        causes=("with a page of HTML in it: the URL is not that of the MCP endpoint",),
        spec=_HTTP,
    ),
    Entry(
        name="202",
        kind="HTTP status",
        title="Accepted",
        meaning="A notification (with a handshake also a response) was taken. No message follows.",
        sender="server",
        causes=("in answer to a request: the server took it for a notification, or uses HTTP+SSE",),
        spec=_HTTP,
    ),
    Entry(
        name="400",
        kind="HTTP status",
        title="Bad request",
        meaning="The message cannot be served as it is. In the stateless era a JSON-RPC error with -32700,"
        " -32600, -32602 (metadata), -32020, -32021 or -32022 is in the body.",
        sender="server",
        causes=(
            "with a handshake: `Mcp-Session-Id` is missing, or `MCP-Protocol-Version` is not the agreed one",
            "a stateless request to a server that knows sessions only: fall back to `initialize`",
        ),
        spec="basic/transports/streamable-http#server-validation",
    ),
    Entry(
        name="401",
        kind="HTTP status",
        title="Unauthorized",
        meaning="The request needs a token, or the token is not (or no longer) good. `WWW-Authenticate` says"
        " where the metadata of the resource are.",
        sender="server",
        causes=(
            "no token was sent, or a proxy removed it",
            "the token is for another resource (`aud`), or has expired",
            "the host cannot sign in: it needs a token in its configuration",
        ),
        spec="basic/authorization/index#error-handling",
    ),
    Entry(
        name="403",
        kind="HTTP status",
        title="Forbidden",
        meaning="The token lacks a scope (`WWW-Authenticate` with `insufficient_scope` names it), or the"
        " `Origin` or `Host` of the request is not allowed.",
        sender="server",
        causes=(
            "the server is reached by another name than it expects, for example through a tunnel",
            "a browser page from another origin",
            "a firewall or bot protection in front of the server; then the body is HTML",
        ),
        spec="basic/authorization/index#error-handling",
    ),
    Entry(
        name="404",
        kind="HTTP status",
        title="Not found",
        meaning="In the stateless era with -32601 in the body: the method is unknown. With a handshake: the"
        " session has ended, begin a new one with `initialize`. With neither: there is no MCP endpoint here.",
        sender="server",
        causes=(
            "a wrong path; `/mcp`, `/sse` and a slash at the end make a difference",
            "the server was restarted, or the next request came to another replica",
        ),
        spec="basic/transports/streamable-http#protocol-version-header",
    ),
    Entry(
        name="405",
        kind="HTTP status",
        title="Method not allowed",
        meaning="The endpoint does not offer this HTTP method. To GET and DELETE it is the correct answer in"
        " the stateless era, and an allowed one before (no stream, no ending of sessions).",
        sender="server",
        causes=(
            "to POST: the URL is that of HTTP+SSE (2024-11-05), or of something else altogether",
            "to GET: not an error; a client must go on without that stream",
        ),
        spec="basic/transports/streamable-http#security--endpoint",
    ),
    Entry(
        name="406",
        kind="HTTP status",
        title="Not acceptable",
        meaning="`Accept` does not list both `application/json` and `text/event-stream`.",
        sender="server",
        causes=("a hand-written client, or a check with curl that lacks the header",),
        spec=_HTTP,
    ),
    Entry(
        name="415",
        kind="HTTP status",
        title="Unsupported media type",
        meaning="The body is not declared as `application/json`.",
        sender="server",
        causes=("`Content-Type` is missing, or a form's",),
        spec=_HTTP,
    ),
    Entry(
        name="421",
        kind="HTTP status",
        title="Misdirected request",
        meaning="The `Host` is not one that this server answers for: a guard against DNS rebinding.",
        sender="server",
        causes=("the server listens on loopback and is reached through a tunnel or by another name",),
        spec="basic/transports/streamable-http#security--endpoint",
    ),
    Entry(
        name="429",
        kind="HTTP status",
        title="Too many requests",
        meaning="Wait as long as `Retry-After` says. It tells nothing about the era.",
        sender="intermediary",
        causes=("a limit of the server, or of a gateway in front of it",),
    ),
    Entry(
        name="500",
        kind="HTTP status",
        title="Internal server error",
        meaning="The server failed outside of the protocol. Its log tells more.",
        sender="server",
        causes=("some servers of the handshake era answer a stateless request so: try `initialize` once",),
    ),
    Entry(
        name="502",
        kind="HTTP status",
        title="Bad gateway",
        meaning="A proxy got no valid answer from the server behind it.",
        sender="intermediary",
        causes=("the server is down, restarting, or listens on another port",),
    ),
    Entry(
        name="503",
        kind="HTTP status",
        title="Service unavailable",
        meaning="The server, or the proxy in front of it, cannot serve right now.",
        sender="intermediary",
        causes=("the server is starting, or overloaded",),
    ),
    Entry(
        name="504",
        kind="HTTP status",
        title="Gateway timeout",
        meaning="A proxy lost patience before the server answered.",
        sender="intermediary",
        causes=(
            "a tool takes longer than the proxy waits: report progress, which turns the answer into a stream",
        ),
        revisions=SINCE_2025_03,
    ),
)
