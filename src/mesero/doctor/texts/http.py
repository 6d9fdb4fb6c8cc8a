"""What a URL answers: statuses, redirects, paths, sessions, browsers."""

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
    "HTTP-12": Text(
        "The connection is accepted, and no answer comes",
        "select era",
        "server",
        "Look whether the server hangs, and whether something in between holds the answer back.",
        confidence="likely",
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
}
"""By code."""
