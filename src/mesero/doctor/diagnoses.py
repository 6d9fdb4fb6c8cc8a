"""The standing texts of the doctor's diagnoses, as data: what is wrong, whose fault, and what to do.

Here is only what no recording shows (the machine, the network, probes of its own); what a recording shows is
diagnosed by `mesero.audit.causes`, and a broken rule by `mesero.audit.families`: `mesero.doctor.judging`
takes those over.
"""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text
from mesero.doctor.url_texts import URL_TEXTS

__all__ = ["TEXTS"]


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

_DEEP: Final = {
    "DEEP-1": Text(
        "The server does not answer requests whose id is a text",
        "operation",
        "server",
        "Take strings and integers as ids, and echo them unchanged.",
        "degraded",
    ),
    "DEEP-2": Text(
        "The server does not refuse a method that it does not know",
        "operation",
        "server",
        "Answer unknown methods with the error -32601: clients wait for an answer.",
        "degraded",
    ),
    "DEEP-3": Text(
        "The server does not look at the revision of a request",
        "operation",
        "server",
        "Answer a revision that is not spoken with -32022 and the list of those that are.",
        "degraded",
    ),
    "DEEP-4": Text(
        "Requests that overlap hang the server",
        "operation",
        "server",
        "Mend its lock; until then send one request at a time.",
        "degraded",
    ),
    "DEEP-5": Text(
        "The server runs a request whose headers contradict its body",
        "operation",
        "server",
        "Compare Mcp-Method and Mcp-Name with the body, and answer -32020: gateways route by the headers.",
        "degraded",
    ),
    "WATCH-1": Text(
        "The server ends by itself",
        "operation",
        "server",
        "Look at its last words on stderr: an error that nobody caught, or a limit of its own on idle time.",
    ),
    "WATCH-2": Text(
        "The server grows while nothing happens",
        "operation",
        "server",
        "Look for what it keeps: a timer, a cache, a log in memory.",
        "degraded",
        "likely",
    ),
    "WATCH-3": Text(
        "The connection does not outlive a pause",
        "operation",
        "intermediary",
        "Look at the idle limit of what is in between, and send something before it is over.",
        "degraded",
        "likely",
    ),
}

TEXTS: Final[dict[str, Text]] = {
    **_LAUNCH,
    **_EXITS,
    **_STREAM,
    **_PROTOCOL,
    **_DEEP,
    **URL_TEXTS,
}
"""Every diagnosis that only the doctor can make, by its code."""
