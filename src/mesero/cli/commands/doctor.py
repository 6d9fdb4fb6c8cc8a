"""``mesero doctor``: what is wrong with a server, whose fault it is, what to do. Line one is the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from mesero.cli.connection import Connection, connecting
from mesero.cli.exits import AUTHORIZE, DISCONNECTED, DONE, FAILED, INTERRUPTED, PROTOCOL, TIMEOUT
from mesero.cli.printing import Output, safe_line
from mesero.cli.targets import Target
from mesero.doctor import Check, Diagnosis, Report, examine
from mesero.errors import UsageError

__all__ = ["EXAMPLES", "USAGE", "calls_from", "command", "exit_code_of", "lines_of"]

USAGE = "[TARGET] [-- COMMAND...]"

EXAMPLES = """\
  mesero doctor https://example.com/mcp
  mesero doctor -- npx -y @modelcontextprotocol/server-everything
  mesero doctor github
  mesero doctor --deep --call 'search {"query": "tea"}' -- python server.py
  mesero doctor --json --trace visit.jsonl -- python server.py
"""

_DEFAULT_S = 30.0
_AT_FAULT = {
    "client": "the client's side: its configuration or its machine",
    "server": "the server",
    "intermediary": "something between client and server",
    "unknown": "not clear",
}
_MARKS = {"ok": "+", "warning": "!", "failed": "x", "not reached": ".", "skipped": "-"}
_VERDICTS = {"ok": "OK", "degraded": "DEGRADED", "broken": "BROKEN", "unknown": "UNKNOWN"}


@connecting
def command(
    connection: Connection,
    target: Annotated[
        list[str] | None, typer.Argument(metavar="[TARGET]", help="A URL, or a configured server's name.")
    ] = None,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Send odd requests, and call the tools marked read-only (which is the server's own word).",
        ),
    ] = False,
    call: Annotated[
        list[str] | None,
        typer.Option(
            "--call",
            metavar="'TOOL [JSON]'",
            help="Call this tool, too, perhaps more than once; without arguments they are made up.",
        ),
    ] = None,
    watch: Annotated[
        float, typer.Option("--watch", metavar="SECONDS", help="Stay connected for so long, and watch.")
    ] = 0.0,
) -> None:
    """Say what is wrong with a server, whose fault it is, and what to do.

    Tools are called for --call and --deep only.
    """
    found = _target_of(connection, target)
    timeout_s = _DEFAULT_S if connection.options.timeout is None else connection.options.timeout
    if timeout_s <= 0:
        raise UsageError("--timeout is a number of seconds above 0")
    if watch < 0:
        raise UsageError("--watch is a number of seconds")
    options, output = connection.options, connection.output
    is_url = found.kind == "url"
    examination = examine(
        found.value,
        env=None if is_url else connection.env(),
        cwd=None if is_url else connection.cwd(),
        headers=connection.headers() if is_url else None,
        timeout_s=timeout_s,
        watch_s=watch,
        is_deep=deep,
        calls=calls_from(call),
        trace=None if options.trace is None else Path(options.trace),
        watch=_progress_on(output),
        on_cancelled=lambda report: _give(output, report),
    )
    try:
        report = asyncio.run(examination)
    except KeyboardInterrupt:
        # What was seen until then has been told.
        output.note("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    _give(output, report)
    raise typer.Exit(exit_code_of(report))


def _target_of(connection: Connection, words: list[str] | None) -> Target:
    """The target.

    Raises:
        UsageError: it is none that can be examined.
    """
    found, rest = connection.take_target(words)
    if rest:
        raise UsageError(f"{rest[0]!r} is one word too many")
    if found.kind == "file":
        raise UsageError(
            "a Python file with a Server in it is started by a command, like any other server",
            fix=f"mesero doctor -- mesero serve {found.value}",
        )
    return found


def _give(output: Output, report: Report) -> None:
    if output.as_json:
        output.give(report)
    else:
        output.say("\n".join(lines_of(report)))


def calls_from(words: list[str] | None) -> dict[str, dict[str, Any] | None]:
    """The tools to call, with their arguments; None for made-up ones.

    Raises:
        UsageError: arguments that are no JSON object.
    """
    calls: dict[str, dict[str, Any] | None] = {}
    for word in words or ():
        name, brace, rest = word.partition("{")
        arguments: Any = None
        if brace:
            try:
                arguments = json.loads(brace + rest)
            except ValueError as error:
                raise UsageError(
                    f"the arguments in --call {word!r} are no JSON: {error}", fix="--call 'add {\"a\": 1}'"
                ) from None
        if not name.strip():
            raise UsageError(f"--call {word!r} names no tool")
        calls[name.strip()] = arguments
    return calls


def _progress_on(output: Output) -> Callable[[Check], None] | None:
    if not output.is_terminal:
        return None
    return lambda check: output.note(f"{_MARKS[check.status]} {check.name}")


def exit_code_of(report: Report) -> int:
    """The exit code that a report ends the process with."""
    if report.verdict == "ok":
        return DONE
    if report.verdict == "degraded" or not report.diagnoses:
        return FAILED
    first = report.diagnoses[0]
    if first.code.startswith(("AUTH-", "S401")):
        return AUTHORIZE
    if first.code in ("START-4", "START-2", "LAUNCH-9", "HTTP-12", "STREAM-1", "TIME-1", "SILENT-12"):
        return TIMEOUT
    if first.phase == "launch" or first.code.startswith(("HTTP-", "CONNECT-", "S4", "PAGE")):
        return DISCONNECTED
    return PROTOCOL


# -- text ----------------------------------------------------------------------------------------------------


def lines_of(report: Report) -> list[str]:
    """The report for people; the first line is the answer."""
    lines = [_answer_of(report)]
    for number, each in enumerate(report.diagnoses):
        lines += _diagnosis_lines(each, is_first=number == 0 and report.verdict != "ok")
    lines += ["", f"Checks of {safe_line(report.target)} ({report.took_s:.1f} s)"]
    for check in report.checks:
        lines += _check_lines(check)
    return lines


def _answer_of(report: Report) -> str:
    if report.verdict == "unknown":
        return f"{_VERDICTS[report.verdict]}: the examination was interrupted; what was seen until then:"
    if report.verdict != "ok":
        first = report.diagnoses[0]
        return f"{_VERDICTS[report.verdict]}: {first.title}: {safe_line(first.cause)}"
    info = report.server
    name = " ".join(part for part in (info.name, info.version) if part) if info is not None else "the server"
    rest = "it works, with a remark" if report.diagnoses else "nothing is wrong"
    speaks = f"speaks {report.revision} ({report.era})"
    return f"{_VERDICTS[report.verdict]}: {safe_line(name)} {speaks}; {rest}"


def _diagnosis_lines(each: Diagnosis, *, is_first: bool) -> list[str]:
    head = [] if is_first else ["", f"Also: {each.title}: {safe_line(each.cause)}"]
    lines = [
        *head,
        f"  fix: {safe_line(each.fix)}",
        f"  at fault: {_AT_FAULT[each.blame]} ({each.confidence}, {each.phase}, {each.code})",
    ]
    return [*lines, *(f"  | {safe_line(text)}" for text in each.evidence)]


def _check_lines(check: Check) -> list[str]:
    first, *rest = check.evidence or ("",)
    took = f"{check.took_s:6.2f} s" if check.status in ("ok", "warning", "failed") else " " * 8
    status = (
        "" if check.status in ("ok", "warning", "failed") else f"{check.status}: " if first else check.status
    )
    head = f"  {_MARKS[check.status]} {check.name:<13} {took}  {status}{safe_line(first)}".rstrip()
    return [head, *(f"{'':28}{safe_line(text)}" for text in rest)]
