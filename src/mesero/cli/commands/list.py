"""``mesero list``: the tools, resources, templates and prompts of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

import typer
from msgspec import UNSET

from mesero.cli.arguments import resolve
from mesero.cli.connection import Connection, connecting
from mesero.cli.printing import safe_line
from mesero.client import Client
from mesero.errors import MissingCapabilityError, UsageError
from mesero.types import Prompt, Resource, ResourceTemplate, Tool

__all__ = ["EXAMPLES", "KINDS", "USAGE", "command", "signature_of"]

USAGE = "[TARGET] [KIND]... [-- COMMAND...]"

EXAMPLES = """\
  mesero list notes.py
  mesero list https://example.com/mcp tools
  mesero list resources -- python server.py
"""

KINDS = {"tools": "tools", "resources": "resources", "templates": "resourceTemplates", "prompts": "prompts"}
"""The kinds of things that can be listed, and their names in the JSON document."""


@connecting
def command(
    connection: Connection,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET] [KIND]...",
            help="A URL or a Python file; tools, resources, templates, prompts or all.",
        ),
    ] = None,
) -> None:
    """List what a server offers: everything, or only the kinds that are named."""
    target, rest = connection.take_target(words)
    unknown = [word for word in rest if word not in KINDS and word != "all"]
    if unknown:
        raise UsageError(f"{unknown[0]!r} cannot be listed", fix=f"Name one of {', '.join(KINDS)}, all")
    wants_all = not rest or "all" in rest
    wanted = [kind for kind in KINDS if wants_all or kind in rest]

    async def work(client: Client) -> None:
        found = await _lists_of(client, wanted, wants_all=wants_all)
        if connection.output.as_json:
            connection.output.give({KINDS[kind]: entries for kind, entries in found.items()})
            return
        lines = [line for kind, entries in found.items() for line in _lines_for(kind, entries)]
        connection.output.say("\n".join(lines) or "the server offers no tools, resources or prompts")

    connection.run(target, work)


async def _lists_of(client: Client, wanted: Sequence[str], *, wants_all: bool) -> dict[str, list[Any]]:
    lists: Mapping[str, Callable[[], Awaitable[list[Any]]]] = {
        "tools": client.list_tools,
        "resources": client.list_resources,
        "templates": client.list_resource_templates,
        "prompts": client.list_prompts,
    }
    found = {}
    for kind in wanted:
        try:
            found[kind] = await lists[kind]()
        except MissingCapabilityError:
            # What was asked for by name must be there; of "everything" it is only not a part.
            if not wants_all:
                raise
    return found


def _lines_for(kind: str, entries: Sequence[Any]) -> list[str]:
    noun = kind[:-1] if len(entries) == 1 else kind
    return [f"{len(entries)} {noun}", *(f"  {_line_of(entry)}" for entry in entries)]


def _line_of(entry: Tool | Resource | ResourceTemplate | Prompt) -> str:
    if isinstance(entry, Tool):
        head = signature_of(entry)
    elif isinstance(entry, Prompt):
        arguments = [] if entry.arguments is UNSET else entry.arguments
        names = ", ".join(one.name + ("" if one.required else "?") for one in arguments)
        head = f"{entry.name}({names})"
    elif isinstance(entry, ResourceTemplate):
        head = entry.uri_template
    else:
        head = entry.uri
    text = next((one for one in (entry.description, entry.title) if one is not UNSET), "")
    first = text.strip().split("\n", 1)[0]
    return safe_line(f"{head} - {first}" if first else head)


def signature_of(tool: Tool) -> str:
    """A tool like a function: its name and its arguments, ``?`` behind optional ones."""
    properties = tool.input_schema.get("properties")
    required = tool.input_schema.get("required") or []
    parts = []
    for name, schema in (properties if isinstance(properties, Mapping) else {}).items():
        parts.append(f"{name}{'' if name in required else '?'}: {_type_text(schema, tool.input_schema)}")
    return f"{tool.name}({', '.join(parts)})"


def _type_text(schema: Any, root: Mapping[str, Any]) -> str:
    found = resolve(schema, root)
    kind = found.get("type")
    if isinstance(kind, str):
        if kind == "array" and "items" in found:
            return f"[{_type_text(found['items'], root)}]"
        return kind
    if isinstance(kind, list):
        return "|".join(str(one) for one in kind)
    options = found.get("anyOf") or found.get("oneOf")
    if isinstance(options, list):
        return "|".join(_type_text(option, root) for option in options)
    return "string" if "enum" in found else "any"
