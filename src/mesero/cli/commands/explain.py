"""``mesero explain``: what a message is and what becomes of it, or what a word of the protocol means."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mesero.cli.exits import reporting
from mesero.cli.printing import Output
from mesero.errors import UsageError
from mesero.explain import (
    Explanation,
    entry_text,
    explain_message,
    explanation_text,
    find_entries,
    near_names,
)
from mesero.explain.recorded import find_message
from mesero.revisions import REVISIONS
from mesero.trace.importers import open_recording

__all__ = ["EXAMPLES", "SETTINGS", "USAGE", "command"]

USAGE = "[FILE|-|MESSAGE|TERM]"

SETTINGS = {"ignore_unknown_options": True}
"""An error code begins like an option."""

EXAMPLES = """\
  mesero explain -32602
  mesero explain Mcp-Name
  mesero compose tools/list | mesero explain
  mesero explain message.json --header 'Mcp-Method: tools/call'
  mesero explain trace.jsonl --seq 12
"""


@reporting
def command(  # noqa: PLR0917 - the parser passes them by name
    what: Annotated[
        str,
        typer.Argument(
            metavar="[FILE|-|MESSAGE|TERM]",
            help="A file with one message, '-' for stdin, a message; or a code, method, header, key.",
        ),
    ] = "-",
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", metavar="'NAME: VALUE'", help="An HTTP header that came with it."),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="It came over HTTP, also where no --header is given.")
    ] = False,
    revision: Annotated[
        str | None, typer.Option("--revision", help="Take it for a message of this revision.")
    ] = None,
    seq: Annotated[
        int | None, typer.Option("--seq", metavar="N", help="The file is a trace: explain this line of it.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by `reporting`
) -> None:
    """Explain one message, or one word of the protocol. Nothing is connected to."""
    if revision is not None and revision not in REVISIONS:
        raise UsageError(f"{revision!r} is no revision", fix=f"It is one of {', '.join(REVISIONS)}")
    output = Output(as_json=json)
    headers = [_parse_header(line) for line in header or ()]
    if not _is_message(what) and not Path(what).is_file():
        _explain_term(output, what)
        return
    given = headers if headers or http else None
    if seq is None:
        raw = _read_message(what)
        if b'"mesero_trace"' in raw.partition(b"\n")[0]:
            raise UsageError(f"{what!r} is a trace", fix="Name one line of it with --seq N")
        found = explain_message(raw, headers=given, revision=revision)
    else:
        found = _explain_line(what, seq, given, revision)
    if json:
        output.give(found)
    else:
        output.say(explanation_text(found))


def _parse_header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise UsageError(f"{line!r} is no header", fix="Write it as 'Name: value'")
    return name.strip(), value.strip()


def _is_message(what: str) -> bool:
    return what == "-" or what.lstrip()[:1] in ("{", "[")


def _read_message(what: str) -> bytes:
    if what == "-":
        raw = sys.stdin.buffer.read()
    elif _is_message(what):
        raw = what.encode("utf-8", "surrogateescape")
    else:
        raw = Path(what).read_bytes()
    return raw.strip(b"\r\n")


def _explain_line(
    what: str, seq: int, headers: list[tuple[str, str]] | None, revision: str | None
) -> Explanation:
    if _is_message(what):
        raise UsageError("--seq needs a file with a trace")
    recording = open_recording(what)
    try:
        line = find_message(recording, seq)
    finally:
        recording.close()
    if line is None:
        raise UsageError(f"there is no message with seq {seq} in {what!r}")
    return explain_message(
        line.raw,
        headers=headers if headers is not None else line.headers,
        revision=revision,
        surroundings=line.revision,
        answers=line.answers or None,
    )


def _explain_term(output: Output, term: str) -> None:
    entries = find_entries(term)
    if not entries:
        near = near_names(term)
        raise UsageError(
            f"{term!r} is no file, and no code, method, header or key that is known here",
            fix=f"Perhaps one of these is meant: {', '.join(near)}" if near else "",
        )
    if output.as_json:
        fields = ("name", "kind", "title", "meaning", "era", "sender", "revisions", "causes", "link")
        documents: list[dict[str, Any]] = [
            {name: getattr(entry, name) for name in fields} for entry in entries
        ]
        output.give(documents)
        return
    output.say("\n\n".join(entry_text(entry) for entry in entries))
