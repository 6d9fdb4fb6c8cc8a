"""``mesero diff``: two recordings compared, call by call: for "it worked yesterday"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer
from msgspec import UNSET

from mesero.cli.exits import DONE, FAILED, reporting
from mesero.cli.printing import Output, safe_line
from mesero.cli.recordings import Counted, check_not_empty, plural, reading, short_json
from mesero.trace.diff import Change, Difference, compare

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "BEFORE AFTER"

EXAMPLES = """\
  mesero diff yesterday.jsonl today.jsonl
  mesero diff works.har fails.har --json
"""

_SIGNS: dict[Literal["added", "missing", "changed"], str] = {"added": "+", "missing": "-", "changed": "~"}
_MAX_CHANGES = 10


@reporting
def command(  # noqa: PLR0917 - the parser passes them by name
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A trace, HAR, a host's log, any text.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The same, later.")],
    raw: Annotated[
        bool, typer.Option("--raw", help="Leave secrets in that another program wrote down.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Show every value that changed.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by `reporting`
) -> None:
    """Compare two recordings: calls and lists that were added, are missing, or have changed.

    Ends with 1 when there are differences.
    """
    output = Output(as_json=json)
    with reading(before, output, raw=raw) as older, reading(after, output, raw=raw) as newer:
        older_lines, newer_lines = Counted(older), Counted(newer)
        found = compare(older_lines, newer_lines)
    check_not_empty(older_lines, before)
    check_not_empty(newer_lines, after)
    if json:
        output.give({"differences": [_document_of(one) for one in found]})
    else:
        output.say(_text_of(found, most=None if every else _MAX_CHANGES))
    raise typer.Exit(FAILED if found else DONE)


def _document_of(difference: Difference) -> dict[str, Any]:
    fields = ("kind", "subject", "name", "link", "seq_before", "seq_after")
    document = {name: getattr(difference, name) for name in fields if getattr(difference, name) is not UNSET}
    changes = [
        {
            "path": change.path,
            **({} if change.before is UNSET else {"before": change.before}),
            **({} if change.after is UNSET else {"after": change.after}),
        }
        for change in difference.changes
    ]
    return {**document, "changes": changes}


def _text_of(found: Sequence[Difference], *, most: int | None) -> str:
    if not found:
        return "no differences"
    counts = Counter(one.kind for one in found)
    parts = ", ".join(f"{counts[kind]} {kind}" for kind in _SIGNS if counts[kind])
    lines = [f"{plural(len(found), 'difference')}: {parts}", ""]
    for one in found:
        lines.append(f"{_SIGNS[one.kind]} {one.kind} {one.subject} {safe_line(one.name)}{_place_of(one)}")
        lines += [f"    {_change_text(change)}" for change in one.changes[:most]]
        left = len(one.changes) - len(one.changes[:most])
        if left:
            lines.append(f"    and {left} more (--all)")
    return "\n".join(lines)


def _place_of(difference: Difference) -> str:
    seqs = [str(seq) for seq in (difference.seq_before, difference.seq_after) if seq is not UNSET]
    return f"  (line {' → '.join(seqs)})" if seqs else ""


def _change_text(change: Change) -> str:
    path = safe_line(change.path)
    if change.before is UNSET:
        return f"{path}: added {short_json(change.after)}"
    if change.after is UNSET:
        return f"{path}: gone, was {short_json(change.before)}"
    return f"{path}: {short_json(change.before)} → {short_json(change.after)}"
