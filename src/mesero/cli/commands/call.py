"""``mesero call``: call a tool with arguments as people type them, and print what it answers."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from mesero.cli.arguments import build_arguments, missing_names, parse_object, parse_words
from mesero.cli.connection import Connection, connecting, read_text
from mesero.cli.contents import lines_of_result
from mesero.cli.exits import FAILED
from mesero.cli.fields import fields_of
from mesero.cli.questions import ask_fields
from mesero.client import Client
from mesero.errors import (
    InvalidParamsError,
    MeseroError,
    MethodNotFoundError,
    MissingCapabilityError,
    ProtocolError,
    RpcError,
    UsageError,
)
from mesero.types import CallToolResult, Tool

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "[TARGET] TOOL [ARGUMENT]... [-- COMMAND...]"

EXAMPLES = """\
  mesero call notes.py notes_add title=Milk body='two litres'
  mesero call https://example.com/mcp add '{"a": 1, "b": 2}'
  mesero call add a=1 b=2 -- python server.py
  mesero call notes.py notes_delete id=3 --answer sure=true

Arguments are one JSON object, '-' for a JSON object on stdin, or words:
  key=value    read by the tool's schema: a number, true/false, JSON for lists
  key:=json    JSON as it stands
  key=@file    the text of a file
Required arguments that are missing are asked for on a terminal.
"""


@connecting
def command(
    connection: Connection,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET] TOOL [ARGUMENT]...", help="A URL or a Python file; a tool; its arguments."
        ),
    ] = None,
) -> None:
    """Call a tool, and print what it answers. Its questions are asked on the terminal."""
    target, rest = connection.take_target(words)
    if not rest:
        raise UsageError("no tool is named", fix="mesero list TARGET tools shows them")
    name, *typed = rest
    document = _document_in(typed)
    given = [] if document is not None else parse_words(typed, read_text)

    async def work(client: Client) -> int | None:
        tools = await _find_tools(connection, client)
        schema = next((tool.input_schema for tool in tools or () if tool.name == name), {})
        arguments = build_arguments(given, schema) if document is None else document
        if document is None:
            arguments |= await _asked_for(connection, arguments, schema)
        on_progress = connection.progress.show if connection.progress.is_wanted else None
        try:
            result = await client.call_tool(name, arguments, on_progress=on_progress)
        except (InvalidParamsError, MethodNotFoundError) as error:
            raise _unknown_tool(name, tools, error) from None
        connection.progress.stop()
        return _show(connection, name, result)

    connection.run(target, work)


def _document_in(typed: Sequence[str]) -> dict[str, Any] | None:
    """The arguments as one JSON object, None when they are words."""
    if len(typed) != 1:
        return None
    if typed[0] == "-":
        return parse_object(sys.stdin.read(), "stdin")
    return parse_object(typed[0], "the argument") if typed[0].lstrip().startswith("{") else None


async def _find_tools(connection: Connection, client: Client) -> list[Tool] | None:
    """The server's tools, for their schemas; None when it does not list them: that need not stop the call."""
    try:
        return await client.list_tools()
    except MissingCapabilityError:
        raise
    except (RpcError, ProtocolError) as error:
        connection.output.note(f"note: the tools cannot be listed, so arguments are guessed: {error}")
        return None


async def _asked_for(
    connection: Connection, arguments: Mapping[str, Any], schema: Mapping[str, Any]
) -> dict[str, Any]:
    missing = missing_names(arguments, schema)
    if not missing or not connection.terminal.is_interactive:
        return {}
    fields = {field.name: field for field in fields_of(schema)}
    wanted = [fields[name] for name in missing if name in fields]
    return await ask_fields(connection.terminal, wanted)


def _unknown_tool(name: str, tools: Sequence[Tool] | None, error: MeseroError) -> MeseroError:
    """The server's own refusal, or a better text when the tool does not exist."""
    names = [tool.name for tool in tools or ()]
    if tools is None or name in names:
        return error
    close = difflib.get_close_matches(name, names, n=3)
    fix = f"Did you mean {' or '.join(close)}?" if close else f"It has {', '.join(names[:20]) or 'no tools'}"
    return UsageError(f"the server has no tool {name!r}", fix=fix)


def _show(connection: Connection, name: str, result: Any) -> int | None:
    if connection.output.as_json or not isinstance(result, CallToolResult):
        connection.output.give(result)
    else:
        connection.output.say("\n".join(lines_of_result(result)))
    if isinstance(result, CallToolResult) and result.is_error:
        connection.output.note(f"error: the tool {name!r} says that it failed")
        return FAILED
    return None
