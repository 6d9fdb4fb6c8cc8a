"""``mesero serve``: run the `Server` of a Python file, over stdio or HTTP."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from mesero.cli.exits import reporting
from mesero.cli.targets import load_server
from mesero.errors import UsageError

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "FILE.py[:NAME]"

EXAMPLES = """\
  mesero serve notes.py
  mesero serve notes.py:server --http 8000
"""


@reporting
def command(
    file: Annotated[str, typer.Argument(metavar="FILE.py[:NAME]", help="A Python file with a Server in it.")],
    http: Annotated[int | None, typer.Option("--http", metavar="PORT", help="Serve over HTTP.")] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    path: Annotated[str, typer.Option("--path", help="Where the endpoint is.")] = "/mcp",
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by `reporting`
) -> None:
    """Serve a Python file with a Server in it: over stdio, or over HTTP with --http."""
    if not file.endswith(".py") and ".py:" not in file:
        raise UsageError(f"{file!r} is no Python file", fix="Give notes.py, or notes.py:name")
    # stdout belongs to the protocol from the first line on, also while the file is loaded.
    stdout, sys.stdout = sys.stdout, sys.stderr
    try:
        server = load_server(file)
    finally:
        sys.stdout = stdout
    if http is None:
        server.run()
        return
    from mesero.server.run_http import run_http

    run_http(server, host=host, port=http, path=path)
