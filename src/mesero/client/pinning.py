"""What ``era=`` may be, and what it means.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from __future__ import annotations

import msgspec

from mesero.client.facts import Decision
from mesero.eras import LEGACY_REVISIONS, MODERN_REVISIONS, Era, era_of
from mesero.errors import UsageError

__all__ = ["Pin", "pin_from"]


class Pin(msgspec.Struct, frozen=True):
    """The era that the caller of the client wants.

    ``era`` is None when the server's answers decide. ``revision`` is the one to declare or to offer first;
    ``hint`` is what was decided before.
    """

    era: Era | None = None
    revision: str = MODERN_REVISIONS[0]
    hint: Decision | None = None


def pin_from(era: str | Decision | None) -> Pin:
    """The meaning of ``era=``.

    Raises:
        UsageError: neither an era nor a revision that we speak.
    """
    if era is None:
        return Pin()
    if isinstance(era, Decision):
        return Pin(hint=era)
    if era == "modern":
        return Pin("modern", MODERN_REVISIONS[0])
    if era == "legacy":
        return Pin("legacy", LEGACY_REVISIONS[0])
    if era in (*MODERN_REVISIONS, *LEGACY_REVISIONS):
        return Pin(era_of(era), era)
    known = ", ".join(("modern", "legacy", *MODERN_REVISIONS, *LEGACY_REVISIONS))
    raise UsageError(f"era={era!r} is none of: {known}")
