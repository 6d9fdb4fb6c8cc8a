"""What a configuration file does to a server; what is wrong with the file is in `mesero.host.problems`."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
    "CONFIG-1": Text(
        "The host is told not to start this server",
        "launch",
        "client",
        'Take "disabled": true (or "enabled": false) out of its entry.',
        "note",
    ),
    "CONFIG-3": Text(
        "The configuration names nothing to start or to connect to",
        "launch",
        "client",
        "Write the program into its entry, or the URL.",
    ),
    "CONFIG-2": Text(
        "The program may be on your shell's PATH only",
        "launch",
        "client",
        "Put its absolute path into `command`: hosts with a window do not read a shell's startup files.",
        "note",
        "possible",
    ),
}
"""By code."""
