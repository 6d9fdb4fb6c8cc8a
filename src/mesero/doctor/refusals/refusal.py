"""One fact: who refuses what, what happens then, and where that is known from."""

from __future__ import annotations

from typing import Literal

import msgspec

from mesero.audit.diagnosis import Confidence
from mesero.doctor.refusals import kinds

__all__ = ["Consequence", "Refusal", "Softening"]

Consequence = Literal[
    "the whole request", "every tool of the server", "this tool", "calls of this tool", "tools of later pages"
]
"""What is lost. ``the whole request``: no answer of the model at all, as long as the tool is there."""

Softening = Literal["no", "some hosts", "most hosts"]
"""Who rewrites tools before they get there, so that nothing happens."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One fact.

    Attributes:
        id: Names it.
        by: Who refuses, as the subject of a sentence.
        what: What is refused, in words.
        kind: How it is seen, with its limits.
        code: The diagnosis that tells it.
        consequence: What is lost.
        source: Where it is known from.
        sure: How sure it is.
        softened: Who mends it on the way.
        since, until: When it holds, where that is known: a date or a version. What is over is no diagnosis.
        rule: The rule of the audit that forbids it anyway.
        legal_since: The revision that lifted that rule.
    """

    id: str
    by: str
    what: str
    kind: kinds.Kind
    code: str
    consequence: Consequence
    source: str
    sure: Confidence = "certain"
    softened: Softening = "no"
    since: str = ""
    until: str = ""
    rule: str = ""
    legal_since: str = ""

    @property
    def is_grave(self) -> bool:
        """Whether it costs a whole request or a whole server, as far as is known."""
        is_wide = self.consequence in ("the whole request", "every tool of the server")
        return is_wide and self.sure != "possible" and self.softened == "no"
