"""What one entry of the glossary is. The texts are in the tables beside it, one file for each kind of term.

An entry explains one thing that is on the wire: a method, an error code, an HTTP status, a header, a key of
``_meta``, a field. All of it is data; nothing here or in the tables computes anything.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from mesero.revisions import HANDSHAKE_REVISIONS, REVISIONS, STATELESS_REVISIONS

__all__ = [
    "ALL",
    "HANDSHAKE",
    "ONLY_2025_11",
    "SINCE_2025_03",
    "SINCE_2025_06",
    "SINCE_2025_11",
    "STATELESS",
    "Entry",
    "Kind",
    "Sender",
]

ALL: Final = REVISIONS
HANDSHAKE: Final = HANDSHAKE_REVISIONS
STATELESS: Final = STATELESS_REVISIONS
SINCE_2025_03: Final = REVISIONS[1:]
SINCE_2025_06: Final = REVISIONS[2:]
SINCE_2025_11: Final = REVISIONS[3:]
ONLY_2025_11: Final = REVISIONS[3:4]

Kind = Literal[
    "request", "question", "notification", "error code", "HTTP status", "header", "_meta key", "field"
]
"""``question``: asked by the server; a message of its own with a handshake, part of a result without."""

Sender = Literal["client", "server", "both", "host", "intermediary"]
"""Who sends it. ``host``: nobody; the user's program shows it for something that happened on its own side."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One term. ``revisions`` is empty for what the specification does not define.

    ``causes`` says what it usually means when it turns up where one did not expect it. ``spec`` is a page of
    the specification, without the beginning of its address.
    """

    name: str
    kind: Kind
    title: str
    meaning: str
    sender: Sender
    revisions: tuple[str, ...] = ALL
    causes: tuple[str, ...] = ()
    spec: str = ""

    @property
    def link(self) -> str:
        """The address of the page, empty when there is none."""
        if not self.spec:
            return ""
        page = self.spec if self.spec[:4].isdigit() else f"{REVISIONS[-1]}/{self.spec}"
        return f"https://modelcontextprotocol.io/specification/{page}"

    @property
    def era(self) -> str:
        """In which era it is used, as words."""
        if not self.revisions:
            return "none: no revision of the specification defines it"
        has_handshake = any(each in HANDSHAKE for each in self.revisions)
        if has_handshake and any(each in STATELESS for each in self.revisions):
            return "both: with a handshake, and stateless"
        return "handshake (initialize)" if has_handshake else "stateless (every request by itself)"
