"""The standing texts of diagnoses that only URLs can have: see `mesero.doctor.diagnoses`."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["URL_TEXTS"]

_NETWORK: Final = {
    "NET-1": Text(
        "The name cannot be resolved",
        "launch",
        "client",
        "Correct the host in the URL, or look at DNS and VPN.",
    ),
    "NET-2": Text(
        "Nothing listens there",
        "launch",
        "server",
        "Start the server, or correct the port in the URL.",
    ),
    "NET-3": Text(
        "The machine does not answer",
        "launch",
        "intermediary",
        "Look at firewalls and VPN between here and there, and at the address.",
        confidence="likely",
    ),
    "NET-4": Text(
        "Some addresses of the name do not answer",
        "launch",
        "intermediary",
        "Remove the address from DNS, or listen on it: clients that try it first wait in vain.",
        "degraded",
    ),
    "TLS-1": Text(
        "The certificate comes from an authority that is not trusted here",
        "launch",
        "intermediary",
        "Set SSL_CERT_FILE to a file that has this authority's certificate, too. Do not switch checks off.",
    ),
    "TLS-2": Text(
        "The certificate has expired",
        "launch",
        "server",
        "Renew the certificate; if it is valid, look at this machine's clock.",
    ),
    "TLS-3": Text(
        "The certificate belongs to another name",
        "launch",
        "server",
        "Use the name in the certificate, or get one for this name.",
    ),
    "TLS-4": Text(
        "The port does not speak TLS",
        "launch",
        "client",
        "Use http:// for a local server, or the port that speaks TLS.",
    ),
    "TLS-5": Text(
        "The port speaks TLS, and the URL says http",
        "launch",
        "client",
        "Use https:// in the URL.",
    ),
}

_HTTP: Final = {
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

_AUTHORIZATION: Final = {
    "AUTH-1": Text(
        "The server wants the user to sign in",
        "operation",
        "client",
        "Sign in: the metadata says where.",
    ),
    "AUTH-2": Text(
        "The credentials are not accepted",
        "operation",
        "client",
        "Check that the token is current and was issued for this server.",
    ),
    "AUTH-3": Text(
        "Credentials are needed, and nothing says where to get some",
        "operation",
        "server",
        "Server: publish /.well-known/oauth-protected-resource. Client: configure a token.",
    ),
    "AUTH-4": Text(
        "The 401 does not name the metadata",
        "operation",
        "server",
        "Add resource_metadata with the URL that answered to WWW-Authenticate.",
    ),
    "AUTH-5": Text(
        "The metadata is about another resource than this URL",
        "operation",
        "server",
        "The resource must be this URL, character for character: strict clients refuse it.",
    ),
    "AUTH-6": Text(
        "An authorization server calls itself by another name",
        "operation",
        "server",
        "The issuer in its metadata must be the one that the resource names, character for character.",
    ),
    "AUTH-7": Text(
        "The authorization server registers no clients by itself",
        "operation",
        "client",
        "Register an app there, and put its client_id into the configuration.",
    ),
    "AUTH-8": Text(
        "The metadata of the authorization server cannot be found",
        "operation",
        "server",
        "Publish it at /.well-known/oauth-authorization-server or /.well-known/openid-configuration.",
    ),
    "AUTH-9": Text(
        "Access is refused",
        "operation",
        "client",
        "The credentials are not good for this; ask for the scopes that the server names.",
    ),
}

URL_TEXTS: Final[dict[str, Text]] = {**_NETWORK, **_HTTP, **_AUTHORIZATION}
"""By code."""
