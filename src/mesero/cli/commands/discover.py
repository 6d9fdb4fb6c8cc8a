"""``mesero discover``: what a server is, what it offers, and what it may ask of its client, as two blocks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
import typer
from msgspec import UNSET

from mesero.cli.connection import Connection, connecting
from mesero.cli.printing import json_text, safe_line
from mesero.client import Client, ServerFacts
from mesero.errors import MeseroError, UsageError
from mesero.types import ServerCapabilities

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "[TARGET] [-- COMMAND...]"

EXAMPLES = """\
  mesero discover https://example.com/mcp
  mesero discover notes.py
  mesero discover -- uvx mcp-server-time
  mesero discover --era legacy -- uvx mcp-server-time
"""


@connecting
def command(
    connection: Connection,
    target: Annotated[
        list[str] | None, typer.Argument(metavar="[TARGET]", help="A URL or a Python file.")
    ] = None,
) -> None:
    """Show a server's name, revision and instructions, what it offers, and what it may ask of this client."""
    if connection.options.no_discover:
        raise UsageError("discover without discovering has nothing to show")
    connection.wants_discovery = True
    found, rest = connection.take_target(target)
    if rest:
        raise UsageError(f"{rest[0]!r} is one word too many")

    async def work(client: Client) -> None:
        facts = client.server
        counts = await _counts_of(client, facts.capabilities or ServerCapabilities())
        asks = {"elicitation": ["form", "url"], "roots": bool(connection.options.root), "sampling": False}
        if connection.output.as_json:
            connection.output.give(_document_of(client, facts, counts, asks))
        else:
            connection.output.say("\n".join(_lines_of(facts, counts, asks)))

    connection.run(found, work)


async def _counts_of(client: Client, capabilities: ServerCapabilities) -> dict[str, int | str]:
    """How many there are of each kind; the error's text where a list cannot be had."""
    lists: dict[str, tuple[Any, Callable[[], Awaitable[list[Any]]]]] = {
        "tools": (capabilities.tools, client.list_tools),
        "resources": (capabilities.resources, client.list_resources),
        "templates": (capabilities.resources, client.list_resource_templates),
        "prompts": (capabilities.prompts, client.list_prompts),
    }
    counts: dict[str, int | str] = {}
    for name, (capability, listing) in lists.items():
        if capability is UNSET:
            continue
        try:
            counts[name] = len(await listing())
        except MeseroError as error:
            counts[name] = str(error)
    return counts


def _document_of(
    client: Client, facts: ServerFacts, counts: dict[str, int | str], asks: dict[str, Any]
) -> dict[str, Any]:
    return {
        "target": client.transport.target,
        "server": facts.info,
        "era": facts.era,
        "revision": facts.revision,
        "verdict": facts.verdict,
        "decision": facts.decision,
        "supported": list(facts.supported),
        "capabilities": facts.capabilities,
        "counts": counts,
        "instructions": facts.instructions,
        "mayAsk": asks,
    }


def _lines_of(facts: ServerFacts, counts: dict[str, int | str], asks: dict[str, Any]) -> list[str]:
    title = f" ({safe_line(facts.title)})" if facts.title != facts.name else ""
    name = (
        " ".join(part for part in (safe_line(facts.name), safe_line(facts.version)) if part)
        or "a server without a name"
    )
    lines = [
        f"{name}{title} speaks {facts.revision} ({facts.era})",
        f"  because: {safe_line(facts.verdict)}",
        *([f"  it supports: {safe_line(', '.join(facts.supported))}"] if facts.era == "modern" else []),
        "",
        "What the server offers",
        *_offer_lines(facts.capabilities or ServerCapabilities(), counts),
        "",
        "What it may ask of this client",
        f"  elicitation  {', '.join(asks['elicitation'])}",
        f"  roots        {'yes' if asks['roots'] else 'no (give --root DIR)'}",
        "  sampling     no",
    ]
    if facts.instructions:
        lines += ["", "Instructions", *(f"  {line}" for line in facts.instructions.splitlines())]
    return lines


def _offer_lines(capabilities: ServerCapabilities, counts: dict[str, int | str]) -> list[str]:
    lines = []
    for name in ("tools", "resources", "templates", "prompts"):
        if name not in counts:
            lines.append(f"  {name:<11}  none")
            continue
        declared: Any = getattr(capabilities, "resources" if name == "templates" else name)
        notes = ["changes are announced"] if declared.list_changed else []
        if name == "resources" and declared.subscribe:
            notes.append("single ones can be watched")
        count = counts[name]
        shown = str(count) if isinstance(count, int) else f"cannot be listed: {safe_line(count)}"
        lines.append(f"  {name:<11}  {shown}" + (f", {', '.join(notes)}" if notes else ""))
    lines += [
        f"  {name:<11}  {'no' if getattr(capabilities, name) is UNSET else 'yes'}"
        for name in ("completions", "logging")
    ]
    for kind in ("extensions", "experimental"):
        found = getattr(capabilities, kind)
        noun = kind.removesuffix("s")
        for identifier, settings in ({} if found is UNSET else found).items():
            lines.append(f"  {noun:<11}  {safe_line(identifier)} {_settings_text(settings)}".rstrip())
    return lines


def _settings_text(settings: Any) -> str:
    return json_text(msgspec.to_builtins(settings), indent=0) if settings else ""
