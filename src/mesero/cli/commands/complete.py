"""``mesero complete``: suggestions for an argument of a prompt, or for a variable of a resource template."""

from __future__ import annotations

from typing import Annotated

import typer
from msgspec import UNSET

from mesero.cli.arguments import parse_words
from mesero.cli.connection import Connection, connecting, read_text
from mesero.client import Client
from mesero.errors import UsageError

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "[TARGET] OWNER KEY=TYPED [KEY=VALUE]... [-- COMMAND...]"

EXAMPLES = """\
  mesero complete notes.py summarize topic=ga
  mesero complete notes.py 'notes://{id}' id=1
  mesero complete summarize topic=ga style=short -- python server.py

The first key=value is completed; the others are arguments that are settled.
"""


@connecting
def command(
    connection: Connection,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET] OWNER KEY=TYPED [KEY=VALUE]...",
            help="A URL or a Python file; a prompt's name or a URI template; what was typed so far.",
        ),
    ] = None,
) -> None:
    """Print suggestions for an argument, best first. OWNER is a prompt, or a template if it has a '{'."""
    target, rest = connection.take_target(words)
    if len(rest) < 2:
        raise UsageError("name what to complete: a prompt or a URI template, and argument=typed")
    owner, *typed = rest
    first, *settled = parse_words(typed, read_text)
    is_template = "{" in owner

    async def work(client: Client) -> None:
        completion = await client.complete(
            first.key,
            first.text,
            prompt=None if is_template else owner,
            template=owner if is_template else None,
            arguments={word.key: word.text for word in settled},
        )
        if connection.output.as_json:
            connection.output.give(completion)
            return
        connection.output.say("\n".join(completion.values) or "(no suggestions)")
        if completion.has_more:
            total = "" if completion.total is UNSET else f" of {completion.total}"
            connection.output.note(f"{len(completion.values)}{total} shown")

    connection.run(target, work)
