"""What known hosts and model APIs refuse of tools: facts with their sources, kept as data.

Only what somebody documented, or what a host's code or an API's answer shows, is in it. A fact grows old:
each has its source, so that it can be looked at again. ``names`` and ``schemas`` have the facts, ``kinds``
the kinds of things that are refused, ``places`` the way through a schema. Everything here is pure.
"""

from __future__ import annotations

from typing import Final

from mesero.doctor.refusals.kinds import Found, Kind, Listed
from mesero.doctor.refusals.names import NAMES
from mesero.doctor.refusals.refusal import Consequence, Refusal
from mesero.doctor.refusals.schemas import SCHEMAS

__all__ = ["REFUSALS", "Consequence", "Found", "Kind", "Listed", "Refusal"]

REFUSALS: Final[tuple[Refusal, ...]] = (*SCHEMAS, *NAMES)
"""All of them."""
