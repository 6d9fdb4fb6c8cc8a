"""``mesero prompt``: fill in a prompt, and print its messages."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Annotated

import typer
from msgspec import UNSET

from mesero.cli.arguments import parse_object, parse_words
from mesero.cli.connection import Connection, connecting, read_text
from mesero.cli.contents import lines_of_block
from mesero.cli.fields import Field
from mesero.cli.questions import ask_fields
from mesero.client import Client
from mesero.errors import InvalidParamsError, MeseroError, RpcError, UsageError
from mesero.types import Prompt, PromptArgument

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "[TARGET] NAME [KEY=VALUE]... [-- COMMAND...]"

EXAMPLES = """\
  mesero prompt notes.py summarize topic=garden
  mesero prompt https://example.com/mcp summarize '{"topic": "garden"}'
  mesero prompt summarize topic=garden -- python server.py
"""


@connecting
def command(
    connection: Connection,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET] NAME [KEY=VALUE]...", help="A URL or a Python file; a prompt; its arguments."
        ),
    ] = None,
) -> None:
    """Fill in a prompt, and print the messages that it makes."""
    target, rest = connection.take_target(words)
    if not rest:
        raise UsageError("no prompt is named", fix="mesero list TARGET prompts shows them")
    name, *typed = rest
    arguments = _arguments_in(typed)

    async def work(client: Client) -> None:
        missing = await _missing_of(connection, client, name, arguments)
        given = arguments | await ask_fields(connection.terminal, missing)
        try:
            result = await client.get_prompt(name, given)
        except InvalidParamsError as error:
            raise await _unknown_prompt(client, name, error) from None
        if connection.output.as_json:
            connection.output.give(result)
            return
        lines = []
        for message in result.messages:
            lines += [f"{message.role}:", *(f"  {line}" for line in lines_of_block(message.content))]
        connection.output.say("\n".join(lines) or "(no messages)")

    connection.run(target, work)


def _arguments_in(typed: Sequence[str]) -> dict[str, str]:
    """Every argument of a prompt is a text."""
    if len(typed) == 1 and typed[0].lstrip().startswith("{"):
        found = parse_object(typed[0], "the argument")
        wrong = [key for key, value in found.items() if not isinstance(value, str)]
        if wrong:
            raise UsageError(f"{wrong[0]!r}: the arguments of a prompt are texts")
        return found
    return {word.key: word.text for word in parse_words(typed, read_text)}


async def _missing_of(
    connection: Connection, client: Client, name: str, arguments: dict[str, str]
) -> list[Field]:
    """The required arguments without a value, where there is somebody to ask."""
    if not connection.terminal.is_interactive:
        return []
    found = next((prompt for prompt in await client.list_prompts() if prompt.name == name), None)
    listed = [] if found is None or found.arguments is UNSET else found.arguments
    return [_field_for(one) for one in listed if one.required and one.name not in arguments]


def _field_for(argument: PromptArgument) -> Field:
    labels = {"title": argument.title, "description": argument.description}
    schema = {"type": "string", **{key: text for key, text in labels.items() if text is not UNSET}}
    return Field(argument.name, schema, {}, is_required=True, choices=(), is_multiple=False)


async def _unknown_prompt(client: Client, name: str, error: MeseroError) -> MeseroError:
    try:
        prompts: list[Prompt] = await client.list_prompts()
    except RpcError:
        return error
    names = [prompt.name for prompt in prompts]
    if name in names:
        return error
    close = difflib.get_close_matches(name, names, n=3)
    fix = (
        f"Did you mean {' or '.join(close)}?" if close else f"It has {', '.join(names[:20]) or 'no prompts'}"
    )
    return UsageError(f"the server has no prompt {name!r}", fix=fix)
