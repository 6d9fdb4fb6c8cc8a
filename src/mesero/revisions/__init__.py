"""The revisions of MCP: which there are, their order, and the wire shapes of each.

A revision is one of an enumerated set. Its text looks like a date, but revisions are never compared as
strings: `is_older` compares places in `REVISIONS`. The shapes live in one generated module per revision,
imported on first use; judging a message by them is the work of `mesero.revisions.judge`. Importing this
package imports neither a revision's module nor the JSON Schema library.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, cast

import msgspec

from mesero.revisions.shapes import RevisionModule, UnknownRevisionError

__all__ = [
    "HANDSHAKE_REVISIONS",
    "REVISIONS",
    "STATELESS_REVISIONS",
    "definitions_for",
    "is_older",
    "revision_module_for",
    "schema_for",
]

HANDSHAKE_REVISIONS: tuple[str, ...] = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Those that begin with ``initialize`` and keep state for the connection, oldest first."""

STATELESS_REVISIONS: tuple[str, ...] = ("2026-07-28",)
"""Those in which every request carries its own revision and capabilities, oldest first."""

REVISIONS: tuple[str, ...] = HANDSHAKE_REVISIONS + STATELESS_REVISIONS
"""All of them, oldest first."""


@cache
def is_older(revision: str, than: str) -> bool:
    """Tell whether ``revision`` was published before ``than``; `UnknownRevisionError` if unknown."""
    return _place_of(revision) < _place_of(than)


def revision_module_for(revision: str) -> RevisionModule:
    """Return the module with the wire shapes of ``revision``; `UnknownRevisionError` if there is none."""
    known = REVISIONS[_place_of(revision)]
    module = importlib.import_module(f"mesero.revisions.v{known.replace('-', '_')}")
    # Protocols describe modules for the type checker, but import_module returns a bare ModuleType.
    return cast("RevisionModule", module)


@cache
def schema_for(revision: str) -> dict[str, Any]:
    """Return the official JSON Schema of ``revision`` without prose: shared, so not to be changed."""
    schema: dict[str, Any] = msgspec.json.decode(revision_module_for(revision).SCHEMA)
    return schema


def definitions_for(revision: str) -> dict[str, Any]:
    """Return the schema definitions of ``revision`` by name: shared, so not to be changed."""
    schema = schema_for(revision)
    definitions: dict[str, Any] = schema["$defs"] if "$defs" in schema else schema["definitions"]
    return definitions


def _place_of(revision: str) -> int:
    if revision not in REVISIONS:
        raise UnknownRevisionError(revision, REVISIONS)
    return REVISIONS.index(revision)
