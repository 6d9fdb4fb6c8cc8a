"""``mesero listen``: what changes at a server, one line a change, until Ctrl-C."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from msgspec import UNSET

from mesero.cli.connection import Connection, connecting
from mesero.cli.printing import json_text, safe_line
from mesero.client import Client, ServerChange
from mesero.errors import UsageError

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "[TARGET] [-- COMMAND...]"

EXAMPLES = """\
  mesero listen https://example.com/mcp
  mesero listen notes.py --resource notes://1
  mesero listen --tools --json -- python server.py
"""


@connecting
def command(  # noqa: PLR0917 - the parser passes them by name
    connection: Connection,
    target: Annotated[
        list[str] | None, typer.Argument(metavar="[TARGET]", help="A URL or a Python file.")
    ] = None,
    tools: Annotated[bool, typer.Option("--tools", help="The list of tools.")] = False,
    prompts: Annotated[bool, typer.Option("--prompts", help="The list of prompts.")] = False,
    resources: Annotated[bool, typer.Option("--resources", help="The list of resources.")] = False,
    resource: Annotated[
        list[str] | None, typer.Option("--resource", metavar="URI", help="The contents of this resource.")
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", metavar="N", help="End after so many changes.")
    ] = None,
) -> None:
    """Print changes as they come: of the lists, and of single resources. Without options, of all lists."""
    found, rest = connection.take_target(target)
    if rest:
        raise UsageError(f"{rest[0]!r} is one word too many")
    wanted: dict[str, Any] = {"tools": tools, "prompts": prompts, "resources": resources}
    if not any(wanted.values()) and not resource:
        wanted = dict.fromkeys(wanted, True)
    if resource:
        wanted["resourceSubscriptions"] = resource

    async def work(client: Client) -> None:
        async with client.listen(**wanted) as listening:
            connection.output.note(f"listening: {json_text(listening.honoured, indent=0)}; Ctrl-C ends")
            heard = 0
            async for change in listening:
                _show(connection, change)
                heard += 1
                if heard == count:
                    return
        connection.output.note("the server ended the subscription")

    connection.run(found, work)


def _show(connection: Connection, change: ServerChange) -> None:
    if not connection.output.as_json:
        connection.output.say(safe_line(f"{change.kind} {change.uri or 'changed'}".strip()))
        return
    document = {
        "kind": change.kind,
        "uri": UNSET if change.uri is None else change.uri,
        "params": change.params,
    }
    connection.output.give({key: value for key, value in document.items() if value is not UNSET}, indent=0)
