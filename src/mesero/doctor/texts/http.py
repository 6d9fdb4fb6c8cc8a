"""What a URL answers: statuses, redirects, paths, streams, sessions, browsers."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
    "HTTP-1": Text(
        "The server redirects to another address",
        "select era",
        "client",
        "Put the final URL into the configuration: many clients do not follow a redirect of a POST.",
        "degraded",
    ),
    "HTTP-2": Text(
        "A redirect leads from https to http",
        "select era",
        "server",
        "Server: trust the proxy's X-Forwarded-Proto. Meanwhile use the final path with https.",
    ),
    "HTTP-3": Text(
        "Nothing is served at this path; MCP answers at another one",
        "select era",
        "client",
        "Correct the path of the URL.",
    ),
    "HTTP-4": Text(
        "The address belongs to the old HTTP+SSE transport",
        "select era",
        "client",
        'Configure this server with the type "sse", or use its Streamable HTTP address if it has one.',
        "note",
    ),
    "HTTP-6": Text(
        "A proxy cannot reach the server behind it",
        "select era",
        "intermediary",
        "Start the server behind the proxy, or correct the proxy's upstream.",
    ),
    "HTTP-7": Text(
        "The server fails",
        "select era",
        "server",
        "Look at the server's log for this time.",
    ),
    "HTTP-8": Text(
        "Too many requests",
        "select era",
        "client",
        "Wait as long as Retry-After says.",
    ),
    "HTTP-9": Text(
        "A redirect makes a GET of the message",
        "select era",
        "server",
        "Put the final URL into the configuration. Server: answer 307 or 308, which keep the method.",
    ),
    "HTTP-10": Text(
        "The server redirects in a circle",
        "select era",
        "server",
        "Look at the rules for slashes and for https: two of them undo each other.",
    ),
    "HTTP-11": Text(
        "The server redirects to another server",
        "select era",
        "client",
        "Put that URL into the configuration if you trust it: no client may follow with credentials.",
    ),
    "HTTP-12": Text(
        "The connection is accepted, and no answer comes",
        "select era",
        "server",
        "Look whether the server hangs, and whether something in between holds the answer back.",
        confidence="likely",
    ),
    "HTTP-13": Text(
        "A wall against bots stands before the server",
        "select era",
        "intermediary",
        "Exempt the path of MCP from bot protection and challenges: no client can solve them.",
        confidence="likely",
    ),
    "HTTP-14": Text(
        "The body is not what Content-Encoding says",
        "select era",
        "intermediary",
        "Compress once, where the header is set: a proxy or the server does one without the other.",
    ),
    "HTTP-15": Text(
        "The body breaks off",
        "select era",
        "server",
        "Look at the server's log for this time, and at limits on size and time of what is in between.",
        confidence="likely",
    ),
    "HTTP-16": Text(
        "A request is accepted and not answered",
        "select era",
        "server",
        "Answer with JSON or an event stream: 202 without a body is for notifications.",
    ),
    "HTTP-17": Text(
        "Access is refused, and nothing says how to get in",
        "select era",
        "server",
        "Look at allow-lists of addresses and clients. Server: answer 401 with WWW-Authenticate if it wants "
        "a sign-in.",
    ),
    "HTTP-18": Text(
        "The server does not accept the name that it is called by",
        "select era",
        "server",
        "Add the host to the server's allowed hosts: its guard against DNS rebinding knows others only.",
        confidence="likely",
    ),
    "SSE-1": Text(
        "Something holds event streams back",
        "operation",
        "intermediary",
        "Send X-Accel-Buffering: no with streams, and switch buffering and compression of them off in the "
        "proxy (nginx: proxy_buffering off).",
        "degraded",
        "likely",
    ),
    "SSE-2": Text(
        "A subscription ends as soon as it begins",
        "operation",
        "server",
        "Acknowledge it, and keep its stream open until the client leaves.",
        "degraded",
    ),
    "SSE-3": Text(
        "The server announces changes, and does not let anybody listen",
        "operation",
        "server",
        "Serve subscriptions/listen, or do not announce listChanged.",
        "degraded",
    ),
    "SSE-4": Text(
        "A subscription is not acknowledged",
        "operation",
        "server",
        "Send notifications/subscriptions/acknowledged as the first message of the stream, at once.",
        "degraded",
    ),
    "METHOD-1": Text(
        "GET is answered with neither a stream nor 405",
        "operation",
        "server",
        "Answer GET with text/event-stream, or with 405 if there is no stream: clients ask for one.",
        "degraded",
    ),
    "SESSION-1": Text(
        "An unknown session is answered with the wrong status",
        "operation",
        "server",
        "Answer 404 to a session id that is not known, so that clients start again after a restart.",
        "note",
    ),
    "SESSION-2": Text(
        "The server does not know the session that it has just given",
        "initialize",
        "server",
        "With several replicas: route by Mcp-Session-Id, or serve without sessions. Else keep the sessions.",
        confidence="likely",
    ),
    "SESSION-3": Text(
        "A session that was ended still answers",
        "shutdown",
        "server",
        "Forget a session when it is deleted, and answer 404 afterwards: sessions pile up otherwise.",
        "degraded",
    ),
    "SESSION-4": Text(
        "The server forgot a session while it was in use",
        "operation",
        "server",
        "It was restarted, or ends sessions after a short pause: keep them where a restart finds them. "
        "Clients have to send initialize again.",
        "degraded",
        "likely",
    ),
    "SESSION-5": Text(
        "A request that begins no session is given one",
        "operation",
        "server",
        "Give sessions at initialize alone: nobody will ever end the others, and they pile up.",
        "note",
    ),
    "ORIGIN-1": Text(
        "The server answers web pages of other sites",
        "operation",
        "server",
        "Check Origin and answer 403 to foreign ones: any page in the user's browser can use this server.",
        "note",
    ),
    "CORS-1": Text(
        "Browsers may not send the headers that MCP needs",
        "operation",
        "server",
        "Add the headers that are named to Access-Control-Allow-Headers.",
        "degraded",
    ),
    "CORS-2": Text(
        "Browsers cannot read the session id",
        "operation",
        "server",
        "Send Access-Control-Expose-Headers: Mcp-Session-Id.",
        "degraded",
    ),
    "CORS-3": Text(
        "The preflight of browsers is refused",
        "operation",
        "server",
        "Answer OPTIONS without credentials and with 204: browsers send none with a preflight.",
        "degraded",
    ),
    "CORS-4": Text(
        "Browsers may ask, and may not read the answer",
        "operation",
        "server",
        "Send Access-Control-Allow-Origin with every answer, with refusals, too.",
        "degraded",
    ),
}
"""By code."""
