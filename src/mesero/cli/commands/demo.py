"""``mesero demo``: the main job in one go. What it does is in `mesero.demo`."""

from __future__ import annotations

import importlib

import typer

from mesero.cli.exits import reporting

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = ""

EXAMPLES = "  mesero demo\n"


@reporting
def command() -> None:
    """Start the demo server over stdio and over HTTP, use it, and show what passed on the wire."""
    raise typer.Exit(importlib.import_module("mesero.demo.show").run_demo())
