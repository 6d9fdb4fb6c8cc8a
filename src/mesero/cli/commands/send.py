"""``mesero send``: bytes as they are, and the raw answers as they come."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from mesero.cli.connection import Connection, connecting
from mesero.cli.exits import DONE, TIMEOUT
from mesero.cli.printing import safe_line
from mesero.cli.raw import RawAnswer, RawSettings, send_raw
from mesero.cli.targets import Target
from mesero.errors import UsageError

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "[TARGET] RAW [-- COMMAND...]"

EXAMPLES = """\
  mesero send https://example.com/mcp '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
  mesero send 'no JSON' -- python server.py
  mesero compose server/discover | mesero send - -- python server.py
"""


@connecting
def command(
    connection: Connection,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TARGET] RAW", help="A URL or a Python file; what to send, '-' for stdin."),
    ] = None,
    wait: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", help="How long to wait for answers.")
    ] = 5.0,
    no_mirror: Annotated[
        bool, typer.Option("--no-mirror", help="Over HTTP: no headers from the message.")
    ] = False,
) -> None:
    """Send bytes as they are, one line or one HTTP body, and print the raw answers as they come."""
    target, rest = connection.take_target(words)
    if len(rest) != 1:
        raise UsageError("give what to send as one word, or '-' for stdin")
    if wait <= 0:
        raise UsageError("--wait is a number of seconds above 0")
    raw = (
        sys.stdin.buffer.read().rstrip(b"\r\n")
        if rest[0] == "-"
        else rest[0].encode("utf-8", "surrogateescape")
    )
    options = connection.options
    settings = RawSettings(
        wait,
        headers=connection.headers(),
        mirrors=not no_mirror,
        env=connection.env(),
        cwd=connection.cwd(),
        on_stderr=connection.show_stderr if options.stderr else None,
    )
    redirected = contextlib.redirect_stdout(sys.stderr) if target.kind == "file" else contextlib.nullcontext()
    with redirected:
        came = asyncio.run(_send(connection, target, raw, settings))
    if options.json:
        connection.output.give(_document_of(came))
    if not came:
        connection.output.note(f"nothing came back within {wait:g} s; the limit was ours (--wait)")
    raise typer.Exit(DONE if came else TIMEOUT)


async def _send(connection: Connection, target: Target, raw: bytes, settings: RawSettings) -> list[RawAnswer]:
    came = []
    async with contextlib.aclosing(send_raw(target, raw, settings)) as answers:  # type: ignore[type-var]  # a generator
        async for answer in answers:
            came.append(answer)
            if connection.output.as_json:
                continue
            if answer.status:
                lowered = {name.lower(): value for name, value in answer.headers}
                kind = lowered.get("content-type", "no content type")
                connection.output.note(safe_line(f"HTTP {answer.status} {answer.reason} · {kind}"))
            else:
                connection.output.say(answer.raw.decode("utf-8", "backslashreplace"))
    return came


def _document_of(came: Sequence[RawAnswer]) -> dict[str, Any]:
    answers = [answer.raw.decode("utf-8", "backslashreplace") for answer in came if not answer.status]
    heads = [answer for answer in came if answer.status]
    if not heads:
        return {"answers": answers}
    return {"status": heads[0].status, "headers": dict(heads[0].headers), "answers": answers}
