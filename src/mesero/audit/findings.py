"""What the audit says of a message: the finding. Pure data.

A finding names the rule that was broken, where it happened (link and line of the trace), who has to mend it
and how. It quotes no more than a short piece of what was recorded.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

__all__ = ["PHASES", "SEVERITIES", "Blame", "Finding", "Phase", "Severity", "is_at_least"]

Severity = Literal["error", "warning", "info"]
"""``error``: the specification forbids it; ``warning``: it advises against it; ``info``: good to know."""

Phase = Literal["launch", "select era", "discover", "initialize", "operation", "shutdown"]
"""The part of a connection's life in which something happened."""

Blame = Literal["client", "server", "intermediary", "unknown"]
"""Who has to mend it."""

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""Most severe first."""

PHASES: Final[tuple[Phase, ...]] = (
    "launch",
    "select era",
    "discover",
    "initialize",
    "operation",
    "shutdown",
)
"""In the order in which a connection goes through them."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One rule, broken at one line of a trace.

    ``seq`` is the number of the line, ``revision`` the one that the message was judged by, empty where none
    is known. ``path`` is the JSON path into the message, empty where the whole line is meant. ``spec`` is a
    link to the sentence that asks for it.
    """

    rule: str
    severity: Severity
    phase: Phase
    blame: Blame
    link: str
    seq: int
    revision: str
    message: str
    fix: str
    spec: str
    path: str = ""


def is_at_least(severity: Severity, than: Severity) -> bool:
    """Tell whether ``severity`` is as severe as ``than``, or more."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(than)
