"""``mesero read``: what is behind a resource's URI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mesero.cli.connection import Connection, connecting
from mesero.cli.contents import lines_of_contents
from mesero.client import Client
from mesero.errors import ProtocolError, UsageError
from mesero.types import ReadResourceResult

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "[TARGET] URI [-- COMMAND...]"

EXAMPLES = """\
  mesero read notes.py notes://1
  mesero read https://example.com/mcp file:///logo.png --output logo.png
  mesero read notes://1 -- python server.py
"""


@connecting
def command(
    connection: Connection,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TARGET] URI", help="A URL or a Python file; a resource's URI."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the bytes as they are; '-' for stdout."),
    ] = None,
) -> None:
    """Read a resource, and print its text; with --output, save its bytes."""
    target, rest = connection.take_target(words)
    if len(rest) != 1:
        raise UsageError("name one URI to read", fix="mesero list TARGET resources shows them")

    async def work(client: Client) -> None:
        result = await client.read_resource(rest[0])
        if output is not None:
            _save(connection, result, output)
        elif connection.output.as_json:
            connection.output.give(result)
        else:
            lines = [line for contents in result.contents for line in lines_of_contents(contents)]
            connection.output.say("\n".join(lines) or "(nothing)")

    connection.run(target, work)


def _save(connection: Connection, result: ReadResourceResult, path: str) -> None:
    try:
        data = b"".join(contents.data for contents in result.contents)
    except ValueError as error:
        raise ProtocolError(f"the resource's blob is no base64: {error}") from None
    if path == "-":
        connection.output.write_bytes(data)
        return
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path!r}: {error.strerror}") from None
    connection.output.note(f"{len(data)} bytes written to {path}")
