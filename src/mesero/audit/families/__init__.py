"""The rules, one file for each family. Importing a file registers its rules; `load` imports them all."""

from __future__ import annotations

import importlib
from typing import Final

__all__ = ["NAMES", "load"]

NAMES: Final = (
    "framing",
    "envelope",
    "ids",
    "lifecycle",
    "era",
    "metadata",
    "headers",
    "capabilities",
    "lists",
    "schemas",
    "results",
    "mrtr",
    "subscriptions",
    "caching",
    "progress",
    "logs",
    "sessions",
    "http_status",
    "authorization",
    "deprecated",
    "security",
    "shapes",
)
"""In the order in which they are loaded. ``shapes`` is last: it claims what no other family does."""


def load() -> None:
    """Register every rule; the second time costs nothing."""
    for name in NAMES:
        importlib.import_module(f"{__name__}.{name}")
