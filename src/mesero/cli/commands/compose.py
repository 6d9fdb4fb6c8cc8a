"""``mesero compose``: the exact message that we would send, without sending it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from mesero import __version__
from mesero.cli.arguments import build_arguments, parse_object, parse_words
from mesero.cli.connection import read_text
from mesero.cli.exits import reporting
from mesero.cli.printing import Output
from mesero.errors import UsageError
from mesero.jsonrpc import decode_value, encode_notification, encode_request
from mesero.modern import REVISIONS
from mesero.modern.client import Stamp, mirrored_headers
from mesero.modern.methods import METHODS
from mesero.types import Implementation

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "METHOD [PARAMS]..."

EXAMPLES = """\
  mesero compose server/discover
  mesero compose tools/call name=add arguments:='{"a": 1, "b": 2}'
  mesero compose tools/call '{"name": "add"}' --http
  mesero compose tools/list | mesero send - -- python server.py
"""


@reporting
def command(  # noqa: PLR0917 - the parser passes them by name
    method: Annotated[str, typer.Argument(help="For example tools/call.")],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[PARAMS]...", help="One JSON object, or key=value words.")
    ] = None,
    revision: Annotated[str, typer.Option("--revision", help="The protocol revision.")] = REVISIONS[0],
    id: Annotated[int, typer.Option("--id", help="The request's id.")] = 1,
    http: Annotated[bool, typer.Option("--http", help="Print the HTTP headers too.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print headers and message as one JSON document.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by `reporting`
) -> None:
    """Print the exact message that would be sent. Nothing is connected to."""
    if revision not in REVISIONS:
        raise UsageError(
            f"{revision!r} is no revision that is spoken here", fix=f"It is one of {', '.join(REVISIONS)}"
        )
    params = _params_in(words or [])
    headers: list[tuple[str, str]] = []
    if method.startswith("notifications/"):
        raw = encode_notification(method, params) if params else encode_notification(method)
    else:
        stamp = Stamp(
            revision, {"elicitation": {"form": {}, "url": {}}}, Implementation("mesero-cli", __version__)
        )
        raw = encode_request(id, method, {**params, "_meta": stamp.meta_for(extra=params.get("_meta"))})
        spec = METHODS.get(method)
        name = params.get(spec.name_field) if spec is not None and spec.name_field else None
        headers += mirrored_headers(revision, method, name if isinstance(name, str) else None)
    _show(Output(as_json=json), raw, headers if http else [], is_http=http)


def _params_in(words: Sequence[str]) -> dict[str, Any]:
    if list(words) == ["-"]:
        return parse_object(sys.stdin.read(), "stdin")
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        return parse_object(words[0], "the parameter")
    return build_arguments(parse_words(words, read_text), {})


def _show(output: Output, raw: bytes, headers: list[tuple[str, str]], *, is_http: bool) -> None:
    sent = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"), *headers]
    if output.as_json:
        document: dict[str, Any] = {"message": decode_value(raw)}
        output.give({"headers": dict(sent), **document} if is_http else document)
        return
    if is_http:
        output.say("\n".join(f"{name}: {value}" for name, value in sent) + "\n")
    output.write_bytes(raw + b"\n")
