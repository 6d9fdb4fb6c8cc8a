"""Every method, code, status, header, ``_meta`` key and protocol field of all revisions, explained. Data.

The tables are the one place of these texts: ``mesero explain TERM`` prints an entry, the explanation of a
message and the diagram quote them. `find_entries` takes what people type.
"""

from __future__ import annotations

import difflib
from typing import Final

from mesero.explain.glossary.codes import CODES, STATUSES
from mesero.explain.glossary.entries import Entry, Kind, Sender
from mesero.explain.glossary.fields import FIELDS
from mesero.explain.glossary.headers import HEADERS
from mesero.explain.glossary.metadata import META_KEYS
from mesero.explain.glossary.notifications import NOTIFICATIONS
from mesero.explain.glossary.requests import QUESTIONS, REQUESTS

__all__ = ["ENTRIES", "METHODS", "Entry", "Kind", "Sender", "find_entries", "find_entry", "near_names"]

ENTRIES: Final = (*REQUESTS, *QUESTIONS, *NOTIFICATIONS, *CODES, *STATUSES, *HEADERS, *META_KEYS, *FIELDS)

METHODS: Final = {entry.name: entry for entry in (*REQUESTS, *QUESTIONS, *NOTIFICATIONS)}
"""By the name of the method."""

_BY_NAME: Final = {(entry.kind, entry.name): entry for entry in ENTRIES}
_PARAM: Final = "mcp-param-"


def find_entry(kind: Kind, name: str) -> Entry | None:
    """The entry of this kind and exact name, or None."""
    return _BY_NAME.get((kind, name))


def find_entries(term: str) -> tuple[Entry, ...]:
    """What a term may mean, the closest first; case does not matter, and prefixes may be left out."""
    wanted = term.strip().lower().rstrip(":").removeprefix("http ").removeprefix("status ")
    if wanted.startswith(_PARAM):
        wanted = f"{_PARAM}*"
    exact = tuple(entry for entry in ENTRIES if entry.name.lower() == wanted)
    return exact or tuple(entry for entry in ENTRIES if wanted in _short_names(entry))


def near_names(term: str) -> tuple[str, ...]:
    """Names that somebody may have meant, at most five."""
    names = {name: entry.name for entry in ENTRIES for name in (*_short_names(entry), entry.name.lower())}
    found = difflib.get_close_matches(term.strip().lower(), names, n=5, cutoff=0.6)
    return tuple(dict.fromkeys(names[name] for name in found))


def _short_names(entry: Entry) -> tuple[str, ...]:
    """What is left of a name without its beginning: of a path, a prefix, a folder."""
    name = entry.name.lower()
    shorter = {name.rpartition(".")[2]} if entry.kind == "field" else {name.rpartition("/")[2]}
    if entry.kind == "notification":
        shorter.add(name.removeprefix("notifications/"))
    return tuple(shorter - {name, "list"})
