"""``mesero doctor``: what is wrong with a server, whose fault it is, what to do. Line one is the answer."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from mesero.cli.configured import document_of, read_configured, target_text
from mesero.cli.connection import Connection, connecting_with
from mesero.cli.examining import ExaminationDisplay
from mesero.cli.exits import AUTHORIZE, DISCONNECTED, DONE, FAILED, INTERRUPTED, PROTOCOL, TIMEOUT
from mesero.cli.exits import USAGE as ASKED_WRONG
from mesero.cli.printing import Output, safe_line
from mesero.cli.reports import overview_lines, print_lines, report_lines
from mesero.doctor import Overview, Report, examine, examine_all
from mesero.doctor.overview import Patient, patients_of
from mesero.errors import UsageError
from mesero.host.configured import ConfiguredServer, configured_servers
from mesero.host.hosts import HOSTS, host_for
from mesero.host.places import this_machine
from mesero.jsonrpc import decode_value, encode_value

__all__ = ["EXAMPLES", "USAGE", "calls_from", "command", "exit_code_of"]

USAGE = "[TARGET|CONFIG FILE] [-- COMMAND...]"

EXAMPLES = """\
  mesero doctor
  mesero doctor https://example.com/mcp
  mesero doctor -- npx -y @modelcontextprotocol/server-everything
  mesero doctor github
  mesero doctor --yes .vscode/mcp.json
  mesero doctor --deep --call 'search {"query": "tea"}' -- python server.py
  mesero doctor --json --trace visit.jsonl -- python server.py
"""

_BARE_URL = re.compile(
    r"(?:localhost|(?:\d{1,3}\.){3}\d{1,3}|[\w-]+(?:\.[\w-]+)+):\d{1,5}(?:/\S*)?|localhost(?:/\S*)?"
)
_CONFIG_ENDINGS = (".json", ".jsonc", ".toml", ".yaml", ".yml")

_Seen = TypeVar("_Seen")


@connecting_with(
    *("json", "config", "header", "bearer_env", "env", "cwd", "timeout", "trace", "verbose", "debug")
)
def command(  # noqa: PLR0917 - the parser passes them by name
    connection: Connection,
    target: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]",
            help="A URL, a configured server's name, or a configuration file. "
            "Without one: every server of every installed host.",
        ),
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
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help=f"Only this host: {', '.join(HOSTS)}.")
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="For each server, all in all.")
    ] = 30.0,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before servers of a file are started.")
    ] = False,
) -> None:
    """Say what is wrong with a server, whose fault it is, and what to do.

    Without a target the servers of all installed hosts are examined side by side, after asking. Tools are
    called for --call and --deep only.
    """
    if timeout <= 0:
        raise UsageError("--timeout is a number of seconds above 0")
    if watch < 0:
        raise UsageError("--watch is a number of seconds")
    settings: dict[str, Any] = {"timeout_s": timeout, "watch_s": watch, "is_deep": deep}
    words = list(target or [])
    file = _config_file_in(words, has_command=connection.has_command)
    if file is not None or (not words and not connection.has_command):
        _check_overview_options(connection, call)
        code = _examine_many(connection, file or connection.options.config, host, is_agreed=yes, **settings)
    else:
        if words and not connection.has_command:
            _check_words(words, has_y=yes)
        if host is not None or yes:
            raise UsageError("--host and --yes are for the servers of files", fix="Write HOST:NAME")
        code = _examine_one(connection, words, calls=calls_from(call), **settings)
    raise typer.Exit(code)


def _check_words(words: Sequence[str], *, has_y: bool) -> None:
    """A command line without ``--`` before it, and a URL without its beginning, are no targets.

    Raises:
        UsageError: it is one of them.
    """
    first, *more = words[0].split(maxsplit=1) or [""]
    rest = [*(["-y"] if has_y and not more else []), *more, *words[1:]]
    if rest and shutil.which(first):
        line = " ".join([first, *rest])
        raise UsageError(f"{words[0]!r} is a command", fix=f"mesero doctor -- {line}")
    if _BARE_URL.fullmatch(words[0]):
        raise UsageError(f"{words[0]!r} is no whole URL", fix=f"mesero doctor http://{words[0]}")


def _config_file_in(words: Sequence[str], *, has_command: bool) -> str | None:
    """The configuration file that is the target, if it is one."""
    if has_command or len(words) != 1:
        return None
    word = words[0]
    if word.startswith(("http://", "https://")) or not word.lower().endswith(_CONFIG_ENDINGS):
        return None
    return word


# -- one server ----------------------------------------------------------------------------------------------


def _examine_one(connection: Connection, words: list[str], **settings: Any) -> int:
    options, output = connection.options, connection.output
    if words and words[0].endswith(".jsonl"):
        raise UsageError("a recording has been made already", fix=f"mesero audit {words[0]}")
    try:
        found, rest = connection.take_target(words)
    except UsageError:
        _check_files(options.config)
        raise
    if rest:
        raise UsageError(f"{rest[0]!r} is one word too many")
    value, env, headers = found.value, connection.env(), connection.headers()
    if found.kind == "file":
        # A server of this process would share its faults with the doctor.
        value = [sys.executable, "-m", "mesero", "serve", found.value]
    if found.server is not None:
        _check_inputs(found.server, {**env, **headers})

    def work(display: ExaminationDisplay, keep: Callable[[Report], None]) -> Coroutine[Any, Any, Report]:
        return examine(
            value,
            env=env,
            cwd=connection.cwd(),
            headers=headers,
            trace=None if options.trace is None else Path(options.trace),
            server=found.server,
            watch=display.watch("examining"),
            on_cancelled=keep,
            **settings,
        )

    report = _examined(output, work, _give)
    return INTERRUPTED if report is None else exit_code_of(report)


def _examined(
    output: Output,
    work: Callable[[ExaminationDisplay, Callable[[_Seen], None]], Coroutine[Any, Any, _Seen]],
    give: Callable[[Output, _Seen], None],
) -> _Seen | None:
    """Examine, show how it goes on, and print what was found; None after an interrupt.

    Args:
        output: Where to.
        work: Begins with it; takes where it is shown, and who keeps what was seen until an interrupt.
        give: Prints what was seen.
    """
    reached: list[_Seen] = []
    try:
        with ExaminationDisplay(output) as display:
            found = asyncio.run(work(display, reached.append))
    except KeyboardInterrupt:
        for seen in reached:
            give(output, seen)
        output.note("interrupted")
        return None
    give(output, found)
    return found


def _check_files(config: str | None) -> None:
    """What is no target may be a server of a file that nobody can read.

    Raises:
        UsageError: there is such a file.
    """
    files, _ = read_configured(this_machine(), Path.cwd(), config=config)
    lost = next((file.source.file for file in files if not file.is_readable), None)
    if lost is not None:
        raise UsageError(
            "no server of that name is known, and a file cannot be read", fix=f"mesero doctor {lost}"
        )


def _check_inputs(server: ConfiguredServer, values: Mapping[str, str]) -> None:
    """What the host asks its user for must come from somewhere else here."""
    launch, title = server.launch, HOSTS[server.entry.host].title
    in_words = [name for name in server.inputs if _is_in(name, (*launch.command, launch.url or ""))]
    names = [*in_words, *(name for name in server.inputs if _is_in(name, values.values()))]
    if not names:
        return
    way = "--header 'NAME: VALUE'" if launch.url else "--env NAME=VALUE"
    raise UsageError(
        f"{title} asks its user for {' and '.join(names)} before it starts {server.entry.name!r}",
        fix="Examine the command itself, behind '--'" if in_words else f"Give the value with {way}",
    )


def _give(output: Output, report: Report) -> None:
    if output.as_json:
        output.give(report)
    else:
        print_lines(list(report_lines(report)), output)


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


def _is_in(name: str, texts: Iterable[str]) -> bool:
    return any(f"${{input:{name}}}" in text for text in texts)


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


# -- many ----------------------------------------------------------------------------------------------------


def _check_overview_options(connection: Connection, calls: list[str] | None) -> None:
    options = connection.options
    given = {
        "--env": options.env,
        "--cwd": options.cwd,
        "--header": options.header,
        "--bearer-env": options.bearer_env,
        "--trace": options.trace,
        "--call": calls,
    }
    for option, value in given.items():
        if value:
            raise UsageError(f"{option} is for one server", fix="mesero doctor NAME")


def _examine_many(
    connection: Connection, config: str | None, host: str | None, *, is_agreed: bool, **settings: Any
) -> int:
    machine, output = this_machine(), connection.output
    if host is not None:
        host_for(host)
    files, across = read_configured(machine, Path.cwd(), config=config, host=host)
    servers = configured_servers(files, across, machine.environment)
    if not servers and not any(file.problems for file in files):
        read = list(dict.fromkeys(file.source.file for file in files))
        where = config or " or ".join(read[:3]) or (HOSTS[host].title if host else "the files of the hosts")
        raise UsageError(
            f"no server is configured in {where}", fix="mesero config path --all lists the places"
        )
    patients = patients_of(servers)
    if servers and not is_agreed and not _is_agreed_to(connection, patients):
        output.note("nothing was started; --yes starts them without asking, mesero doctor NAME only one")
        return DONE if connection.terminal.is_interactive else ASKED_WRONG

    def work(display: ExaminationDisplay, keep: Callable[[Overview], None]) -> Coroutine[Any, Any, Overview]:
        return examine_all(
            servers,
            files=files,
            watch=lambda patient: display.watch(patient.name),
            on_cancelled=keep,
            **settings,
        )

    found = _examined(output, work, _give_all)
    if found is None:
        return INTERRUPTED
    return DONE if found.verdict == "ok" else FAILED


def _give_all(output: Output, found: Overview) -> None:
    if output.as_json:
        output.give(_document_of(found))
    else:
        print_lines(list(overview_lines(found, is_verbose=output.is_verbose)), output)


def _is_agreed_to(connection: Connection, patients: Sequence[Patient]) -> bool:
    """Show what would be started, and ask; without a terminal the answer is no."""
    lines = ["This would be started or connected to:"]
    for patient in patients:
        hosts = ", ".join(dict.fromkeys(HOSTS[one.entry.host].title for one in patient.servers))
        what = patient.skipped or target_text(patient.servers[0].launch)
        lines.append(safe_line(f"  {patient.name} ({hosts}): {what}"))
    connection.output.note("\n".join(lines))
    if not connection.terminal.is_interactive:
        return False
    try:
        answer = asyncio.run(connection.terminal.ask("Go on? [y/N] "))
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")


def _document_of(found: Overview) -> dict[str, Any]:
    servers = []
    for each in found.patients:
        entries = [document_of(one.entry, one.launch) for one in each.servers]
        problems = [problem for one in each.servers for problem in one.problems]
        report = {} if each.report is None else decode_value(encode_value(each.report))
        skipped = {"skipped": each.skipped} if each.skipped else {}
        servers.append({"name": each.name, "entries": entries, "problems": problems, **skipped, **report})
    return {
        "verdict": found.verdict,
        "took_s": found.took_s,
        "diagnoses": found.diagnoses,
        "servers": servers,
    }
