"""What a server does with stdin and stdout in place of messages."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
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
    "STREAM-5": Text(
        "The command repeats what it is told, and answers nothing",
        "launch",
        "client",
        "Give it no terminal (docker run -i, not -it; ssh without -t); otherwise it is no MCP server.",
        confidence="likely",
    ),
    "STREAM-4": Text(
        "The server writes without ever ending a line",
        "launch",
        "server",
        "End each message with a newline; nothing else belongs on stdout.",
    ),
}
"""By code."""
