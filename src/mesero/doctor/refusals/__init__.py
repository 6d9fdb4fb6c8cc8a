"""What known hosts and model APIs refuse of tools: facts with their sources, kept as data.

``table`` has the facts, ``kinds`` the kinds of things that are refused, ``places`` the way through a schema.
Everything here is pure.
"""

from mesero.doctor.refusals.kinds import Found, Kind, Listed
from mesero.doctor.refusals.table import REFUSALS, Refusal

__all__ = ["REFUSALS", "Found", "Kind", "Listed", "Refusal"]
