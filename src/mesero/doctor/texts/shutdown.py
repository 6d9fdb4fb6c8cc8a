"""What is wrong with how a server ends."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
    "SHUTDOWN-3": Text(
        "The server starts something when it is told to end",
        "shutdown",
        "server",
        "Only end: whether a server runs is for its client to decide. What is started then is nobody's.",
        "degraded",
    ),
}
"""By code."""
