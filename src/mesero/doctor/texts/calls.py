"""What shows when tools are called."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
    "CALL-1": Text(
        "The server reads its stdin as a local code page",
        "operation",
        "server",
        "Set PYTHONUTF8=1 in `env`, or let the server read its stdin as UTF-8.",
        "degraded",
        "likely",
    ),
    "CALL-2": Text(
        "A program that a tool started holds the server's stdin",
        "operation",
        "server",
        "Start programs inside of tools with a stdin of their own (stdin=subprocess.DEVNULL).",
        "degraded",
    ),
    "CALL-3": Text(
        "A tool is slow",
        "operation",
        "server",
        "Answer sooner, or report progress: many hosts stop after 60 s, and wait longer for reports only. "
        "--timeout SECONDS lets the doctor wait longer.",
        "degraded",
        "possible",
    ),
    "CALL-4": Text(
        "The whole server hangs in a tool",
        "operation",
        "server",
        "Run what blocks beside the loop, in a thread or a process: other requests want an answer meanwhile.",
        "degraded",
    ),
    "CALL-5": Text(
        "The server does not get over a question that was turned down",
        "operation",
        "server",
        "Finish the call when the answer is decline, cancel or an error: people say no.",
        "degraded",
    ),
    "CALL-6": Text(
        "A tool fails with an internal error",
        "operation",
        "server",
        "Catch the error in the tool, and answer with isError and words: a traceback tells strangers much.",
        "note",
    ),
    "CALL-7": Text(
        "A call breaks the connection",
        "operation",
        "server",
        "Look at the log of the server, and of what is in between, for this time.",
    ),
}
"""By code."""
