"""``mesero diagram``: a recording as a sequence diagram."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from mesero.audit.auditor import Auditor
from mesero.cli.exits import reporting
from mesero.cli.printing import Output
from mesero.diagram import Builder, Drawing, Limits, drawing_html, drawing_mermaid, drawing_text
from mesero.errors import UsageError
from mesero.trace.importers import open_recording

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "FILE"

EXAMPLES = """\
  mesero diagram trace.jsonl
  mesero diagram trace.jsonl --format html -o trace.html
  mesero diagram session.har --format mermaid --from 10 --to 40
"""

_Format = Literal["text", "mermaid", "html"]


@reporting
def command(  # noqa: PLR0917 - the parser passes them by name
    file: Annotated[str, typer.Argument(metavar="FILE", help="A trace, HAR, a host's log, any text.")],
    format: Annotated[_Format | None, typer.Option("--format", "-f", help="How to draw it.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it there; '.html' is a format."),
    ] = None,
    link: Annotated[
        str | None, typer.Option("--link", help="Draw this connection only: key or name.")
    ] = None,
    first: Annotated[int, typer.Option("--from", metavar="SEQ", help="Begin at this line.")] = 0,
    last: Annotated[int | None, typer.Option("--to", metavar="SEQ", help="End at this line.")] = None,
    gap: Annotated[
        float, typer.Option("--gap", metavar="SECONDS", help="Draw a silence of this length; 0 for none.")
    ] = 1.0,
    no_audit: Annotated[bool, typer.Option("--no-audit", help="Leave the findings out.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Leave secrets in that another program wrote down.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print what would be drawn as one JSON document.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by `reporting`
) -> None:
    """Draw a recording: phases, messages, rounds, subscriptions, silences, findings in their place."""
    chosen = _format_for(format, out)
    keeps_raw = json or chosen == "html"
    limits = Limits(gap_s=gap) if keeps_raw else Limits(gap_s=gap, raw_chars=0)
    builder = Builder(
        limits, auditor=None if no_audit else Auditor(), link=link, first_seq=first, last_seq=last
    )
    drawing = _draw(builder, file, raw=raw)
    output = Output(as_json=json)
    if json:
        output.give(drawing)
        return
    text = {"text": drawing_text, "mermaid": drawing_mermaid, "html": drawing_html}[chosen](drawing)
    if out is None:
        output.say(text)
        return
    try:
        out.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"{str(out)!r} cannot be written: {error.strerror or error}") from None
    output.note(f"written: {out}")


def _format_for(format: _Format | None, out: Path | None) -> _Format:
    if format is not None:
        return format
    endings: dict[str, _Format] = {".html": "html", ".htm": "html", ".mmd": "mermaid"}
    return endings.get(out.suffix.lower(), "text") if out is not None else "text"


def _draw(builder: Builder, file: str, *, raw: bool) -> Drawing:
    recording = open_recording(file, raw=raw)
    try:
        builder.receive_header(recording.header)
        for line in recording:
            builder.receive(line)
        problems = [*map(str, recording.problems.kept), *recording.unknown]
    finally:
        recording.close()
    return builder.build(name=Path(file).name, problems=problems)
