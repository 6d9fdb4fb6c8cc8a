"""``mesero demo``: the main job in one go. What it does is in `mesero.demo`."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from mesero.cli.exits import reporting

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = ""

EXAMPLES = "  mesero demo\n"


@reporting
def command(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by `reporting`
) -> None:
    """Start the demo server over stdio and over HTTP, use it, and show what passed on the wire."""
    raise typer.Exit(importlib.import_module("mesero.demo.show").run_demo())
