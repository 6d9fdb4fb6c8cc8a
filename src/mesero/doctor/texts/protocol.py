"""What is wrong with a server that can be talked to, and with how it ends."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
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
"""By code."""
