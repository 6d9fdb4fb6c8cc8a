"""What shows only when it is asked for: odd requests (DEEP) and a connection that is kept (WATCH)."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
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
    "DEEP-6": Text(
        "The server answers a notification",
        "operation",
        "server",
        "Answer only what has an id, and pass over notifications that are not known.",
        "note",
    ),
    "DEEP-7": Text(
        "The server does not outlive a cancellation",
        "operation",
        "server",
        "Ignore cancellations of what is unknown or over, and go on after any other: people press stop.",
        "degraded",
    ),
    "DEEP-8": Text(
        "The server does not end while a call is open",
        "operation",
        "server",
        "At the end of stdin give up open calls and what they started, and exit.",
        "note",
    ),
    "DEEP-9": Text(
        "The server does not look at MCP-Protocol-Version",
        "operation",
        "server",
        "Answer 400 to a version in that header that is not spoken.",
        "note",
    ),
    "DEEP-10": Text(
        "The server runs a request without its metadata",
        "operation",
        "server",
        "Refuse it with -32602: without _meta nobody knows by which revision it is to be understood.",
        "note",
    ),
    "DEEP-11": Text(
        "The server does not answer requests with certain ids",
        "operation",
        "server",
        "Tell a missing id from an id that is 0: the official SDKs count from 0, and initialize comes first.",
        "degraded",
    ),
    "DEEP-12": Text(
        "Two requests of one id are not told apart",
        "operation",
        "server",
        "Answer each request, or refuse the second one with -32600.",
        "note",
    ),
    "DEEP-13": Text(
        "An array of requests is not refused as it should be",
        "operation",
        "server",
        "Refuse it with -32600: batches exist in 2025-03-26 only, and silence leaves a client waiting.",
        "note",
    ),
    "DEEP-14": Text(
        "A list as params is not refused as it should be",
        "operation",
        "server",
        "Refuse it with -32602.",
        "note",
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
    "WATCH-4": Text(
        "A stream is cut when nothing is said on it",
        "operation",
        "intermediary",
        "Send a comment line on it before the idle limit of what is in between is over, or raise that limit.",
        "degraded",
        "likely",
    ),
    "WATCH-5": Text(
        "A connection that is not used is reset",
        "operation",
        "intermediary",
        "A firewall or balancer forgets it: clients should not use a connection again after that time. One "
        "that sends its request again on a new connection loses nothing.",
        "note",
        "likely",
    ),
}
"""By code."""
