"""What is wrong with a server that can be talked to, and with the examination itself."""

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
    "DOCTOR-1": Text(
        "The doctor itself failed in the middle of the examination",
        "operation",
        "unknown",
        "What was seen until then holds; report this to mesero, with the recording of --trace FILE.",
        "degraded",
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
    "LIST-3": Text(
        "The list of tools differs from one reading to the next",
        "discover",
        "server",
        "Sort the list, by name for example, and send notifications/tools/list_changed when it changes.",
        "note",
    ),
    "LIST-4": Text(
        "A list has the same entry twice",
        "discover",
        "server",
        "List each entry once: sort the list, and let the cursor name an entry instead of a position.",
        "note",
    ),
    "LIST-5": Text(
        "A page of a list is empty and names a next one",
        "discover",
        "server",
        "Fill each page, or leave nextCursor out: some clients take an empty page for the end.",
        "note",
    ),
    "LIST-6": Text(
        "The tools come on several pages, and some hosts read only the first",
        "discover",
        "client",
        "Give all tools on one page, where there are not too many; or let such hosts ask for fewer tools.",
        "note",
    ),
    "CAP-1": Text(
        "The server has tools and does not announce them",
        "discover",
        "server",
        'Add "tools": {} to its capabilities: clients that look there never ask for the list.',
        "degraded",
    ),
    "CAP-2": Text(
        "The server has resources or prompts and does not announce them",
        "discover",
        "server",
        'Add "resources": {} or "prompts": {} to its capabilities: clients never ask for them otherwise.',
        "note",
    ),
    "PING-1": Text(
        "The server does not answer ping",
        "operation",
        "server",
        "Answer ping with {}: clients end connections whose ping fails, and start the server again.",
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
