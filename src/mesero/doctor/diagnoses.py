"""The standing texts of the doctor's diagnoses, as data: what is wrong, whose fault, and what to do.

Here is only what no recording shows (the machine, the network, probes of its own); what a recording shows is
diagnosed by `mesero.audit.causes`, and a broken rule by `mesero.audit.families`: `mesero.doctor.judging`
takes those over.
"""

from __future__ import annotations

from typing import Final

import msgspec

from mesero.audit.diagnosis import Confidence
from mesero.audit.findings import Blame, Phase
from mesero.doctor.report import Severity

__all__ = ["TEXTS", "Text"]


class Text(msgspec.Struct, frozen=True):
    """What stands of a diagnosis in every case; see `mesero.doctor.report.Diagnosis`."""

    title: str
    phase: Phase
    blame: Blame
    fix: str
    severity: Severity = "broken"
    confidence: Confidence = "certain"


_LAUNCH: Final = {
    "LAUNCH-1": Text(
        "The program is installed, but not on this PATH",
        "launch",
        "client",
        "Put its absolute path into `command`, or its folder into PATH of `env`.",
    ),
    "LAUNCH-2": Text(
        "The program is not installed here",
        "launch",
        "client",
        "Install it, or correct the name in `command`.",
    ),
    "LAUNCH-3": Text(
        "The program cannot be run",
        "launch",
        "client",
        "Make it executable (chmod +x) with a first line like #!/bin/sh, or start its interpreter.",
    ),
    "LAUNCH-4": Text(
        "The whole command line stands where only the program belongs",
        "launch",
        "client",
        "Put the program into `command` and each of its arguments into `args`.",
    ),
    "LAUNCH-5": Text(
        "The working directory does not exist",
        "launch",
        "client",
        "Correct `cwd`, or make the folder.",
    ),
    "LAUNCH-6": Text(
        "A variable reaches the server unexpanded",
        "launch",
        "client",
        "Write the value itself, or start the server where the variable is expanded.",
        confidence="likely",
    ),
    "LAUNCH-7": Text(
        "`env` replaces PATH instead of adding to it",
        "launch",
        "client",
        "Leave PATH out of `env`, or list the folders of the usual PATH in it, too.",
    ),
    "LAUNCH-8": Text(
        "The program is a .cmd shim, which cannot be started directly",
        "launch",
        "client",
        "Start it as `cmd /c NAME …`, or start node.exe with the script; keep PATHEXT and COMSPEC in `env`.",
    ),
    "LAUNCH-9": Text(
        "The package manager is still installing",
        "launch",
        "client",
        "Run the command once by hand, then start the server again; or raise the start limit.",
        confidence="likely",
    ),
}

_EXITS: Final = {
    "EXIT-1": Text(
        "A module or package that the server needs is not installed",
        "launch",
        "server",
        "Install what is missing into the environment that this command uses.",
    ),
    "EXIT-2": Text(
        "The server lacks a setting",
        "launch",
        "client",
        "Set it in `env` of the configuration: hosts do not pass on the variables of your shell.",
        confidence="likely",
    ),
    "EXIT-3": Text(
        "The server printed its usage and ended",
        "launch",
        "client",
        "Correct the arguments: a subcommand or an option is missing or wrong.",
    ),
    "EXIT-4": Text(
        "The script does not exist",
        "launch",
        "client",
        "Correct the path in `args`; an absolute one does not depend on the working directory.",
    ),
    "EXIT-5": Text(
        "The server ends because something that it needs cannot be reached",
        "launch",
        "server",
        "Start or correct what it connects to. A server should answer first, and tell this in its results.",
        confidence="likely",
    ),
    "EXIT-6": Text(
        "The server does not run on this version of its language",
        "launch",
        "client",
        "Start it with the version that it is written for.",
        confidence="likely",
    ),
    "EXIT-7": Text(
        "A port that the server wants is taken",
        "launch",
        "client",
        "End the other process (often an earlier start of the same server), or choose another port.",
    ),
    "EXIT-8": Text(
        "The server lacks a variable of the usual environment",
        "launch",
        "client",
        "Add to the environment instead of replacing it: HOME and PATH belong in it.",
        confidence="likely",
    ),
    "EXIT-9": Text(
        "The package does not exist under this name",
        "launch",
        "client",
        "Correct the name or the version of the package in `args`.",
    ),
}

_STREAM: Final = {
    "STREAM-1": Text(
        "The server answers only when its stdin is closed",
        "launch",
        "server",
        "Read stdin line by line, and flush stdout after each message.",
    ),
    "STREAM-2": Text(
        "The server waits for Content-Length headers",
        "launch",
        "server",
        "Speak one JSON message a line: Content-Length headers belong to the Language Server Protocol.",
    ),
    "STREAM-3": Text(
        "The server writes UTF-16",
        "launch",
        "server",
        "Write UTF-8. Some shells convert what passes through them: start the program itself.",
    ),
    "STREAM-4": Text(
        "The server writes without ever ending a line",
        "launch",
        "server",
        "End each message with a newline; nothing else belongs on stdout.",
    ),
}

_PROTOCOL: Final = {
    "CONNECT-1": Text(
        "The connection could not be made",
        "select era",
        "unknown",
        "Look at the evidence; --trace FILE keeps all that passed.",
        confidence="possible",
    ),
    "TIME-1": Text(
        "The examination took longer than its limit",
        "operation",
        "unknown",
        "Give it more time with --timeout SECONDS.",
        "degraded",
        "possible",
    ),
    "LIST-1": Text(
        "A list cannot be had",
        "discover",
        "server",
        "Look at the server's log for this request.",
        "degraded",
    ),
    "LIST-2": Text(
        "A list never ends",
        "discover",
        "server",
        "Leave nextCursor out of the last page.",
        "degraded",
    ),
    "CAP-1": Text(
        "The server has tools and does not announce them",
        "discover",
        "server",
        'Add "tools": {} to its capabilities: clients that look there never ask for the list.',
        "degraded",
    ),
    "PING-1": Text(
        "The server does not answer ping",
        "operation",
        "server",
        "Answer ping with {}: clients end connections whose ping fails, and start the server again.",
        "degraded",
    ),
    "MODEL-1": Text(
        "Model APIs refuse the schema of a tool",
        "discover",
        "server",
        "Wrap the alternatives in a property of an object; some APIs refuse the whole request for one tool.",
        "degraded",
    ),
    "MODEL-2": Text(
        "Model APIs refuse the name of a tool",
        "discover",
        "server",
        "Shorten it: with a host's prefix (mcp__server__) it must not pass 64 characters of A-Z a-z 0-9 _ -.",
        "degraded",
    ),
    "SHUTDOWN-1": Text(
        "The server goes on when its stdin is closed",
        "shutdown",
        "server",
        "Exit at the end of stdin: it is how a client ends a server. Otherwise processes pile up.",
        "degraded",
    ),
    "SHUTDOWN-2": Text(
        "Processes of the server survive it",
        "shutdown",
        "server",
        "End what the server started when it ends; do not detach it from the server's process group.",
        "degraded",
    ),
}

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

TEXTS: Final[dict[str, Text]] = {
    **_LAUNCH,
    **_EXITS,
    **_STREAM,
    **_PROTOCOL,
    **_NETWORK,
    **_HTTP,
    **_AUTHORIZATION,
}
"""Every diagnosis that only the doctor can make, by its code."""
