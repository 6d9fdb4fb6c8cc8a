"""``mesero config``: what each host would start, what is wrong with its files, and changes of them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from mesero.cli.configured import (
    document_of,
    document_of_file,
    problem_lines,
    read_configured,
    target_text,
)
from mesero.cli.connection import parse_headers, parse_pairs
from mesero.cli.exits import DONE, FAILED, reporting
from mesero.cli.printing import Output, safe_line
from mesero.errors import UsageError
from mesero.host.configs import ConfigFile
from mesero.host.configured import used_entries
from mesero.host.edits import add_server, entry_values, remove_server, trace_server, untrace_server
from mesero.host.entries import Launch, launch_for
from mesero.host.files import change_file
from mesero.host.hosts import HOSTS, Kind, choose_host, host_for
from mesero.host.places import Machine, places_for, this_machine
from mesero.host.problems import ConfigProblem, Source

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "[list|show|path|add|remove|trace|untrace] [NAME] [-- COMMAND...]"

EXAMPLES = """\
  mesero config
  mesero config show notes
  mesero config list --config mcp.json --json
  mesero config add notes --host cursor -- npx -y notes-mcp
  mesero config add far --host vscode --scope project --url https://example.com/mcp
  mesero config trace notes --host claude-desktop
  mesero config untrace notes --host claude-desktop
"""

_SCOPES = ("user", "project", "local")

_ACTION = Annotated[
    str, typer.Argument(metavar="[list|show|path|add|remove|trace|untrace]", help="What to do.")
]
_CONFIG = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help="This file instead of the hosts' own.")
]
_HOST = Annotated[
    str | None, typer.Option("--host", metavar="HOST", help=f"Only this host: {', '.join(HOSTS)}.")
]
_SCOPE = Annotated[
    str | None, typer.Option("--scope", metavar="SCOPE", help="Only these files: user, project or local.")
]
_PROJECT = Annotated[
    str, typer.Option("--project", metavar="DIR", help="The folder that the hosts are opened on.")
]
_HEADER = Annotated[
    list[str] | None, typer.Option("--header", metavar="'NAME: VALUE'", help="For add: send this header.")
]
_ENV = Annotated[
    list[str] | None, typer.Option("--env", metavar="KEY=VALUE", help="For add: set this variable.")
]
_TYPE = Annotated[str | None, typer.Option("--type", metavar="TYPE", help="For add with a URL: http or sse.")]
_RECORD = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="For trace: record into this file.")
]


class _Asked(NamedTuple):
    """What the options say."""

    machine: Machine
    project: Path
    output: Output
    config: str | None
    host: str | None
    scope: str | None
    command: Sequence[str] | None
    url: str | None
    header: list[str]
    env: list[str]
    cwd: str | None
    type: str | None
    record: str | None
    all: bool


@reporting
def command(  # noqa: PLR0917 - the parser passes them by name
    ctx: typer.Context,
    action: _ACTION = "list",
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The server's name.")] = None,
    config: _CONFIG = None,
    host: _HOST = None,
    scope: _SCOPE = None,
    project: _PROJECT = ".",
    url: Annotated[str | None, typer.Option("--url", help="For add: a server behind a URL.")] = None,
    header: _HEADER = None,
    env: _ENV = None,
    cwd: Annotated[str | None, typer.Option("--cwd", metavar="DIR", help="For add: run it there.")] = None,
    type: _TYPE = None,
    record: _RECORD = None,
    all: Annotated[bool, typer.Option("--all", help="For path: also where there is no file yet.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print results as JSON.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by `reporting`
) -> None:
    """Show what each host would start and what is wrong with its files, or change one of them.

    A file that is changed keeps its comments and its layout, and a copy of it as it was is kept beside it.
    """
    if action not in _ACTIONS:
        raise UsageError(f"config does not know {action!r}", fix=f"It knows {', '.join(_ACTIONS)}")
    if host is not None:
        host_for(host)
    if scope is not None and scope not in _SCOPES:
        raise UsageError(f"--scope {scope!r} is none of {', '.join(_SCOPES)}")
    needs_name = action not in ("list", "path")
    if needs_name != (name is not None):
        raise UsageError(f"config {action} takes {'the name of a server' if needs_name else 'no name'}")
    if ctx.obj is not None and action != "add":
        raise UsageError("a command behind '--' goes with config add")
    asked = _Asked(
        machine=this_machine(),
        project=Path(project).absolute(),
        output=Output(as_json=json),
        config=config,
        host=host,
        scope=scope,
        command=ctx.obj,
        url=url,
        header=header or [],
        env=env or [],
        cwd=cwd,
        type=type,
        record=record,
        all=all,
    )
    raise typer.Exit(_ACTIONS[action](asked, name or ""))


def _read(asked: _Asked) -> tuple[list[ConfigFile], list[ConfigProblem]]:
    files, across = read_configured(asked.machine, asked.project, config=asked.config, host=asked.host)
    if asked.scope is not None:
        files = [file for file in files if file.source.scope == asked.scope]
    return files, across


# -- showing -------------------------------------------------------------------------------------------------


def _list(asked: _Asked, _: str) -> int:
    files, across = _read(asked)
    problems = [*(one for file in files for one in file.problems), *across]
    code = FAILED if any(one.severity == "error" for one in problems) else DONE
    if asked.output.as_json:
        documents = [document_of_file(file, asked.machine.environment) for file in files]
        asked.output.give({"files": documents, "problems": across})
        return code
    lines = [_summary(files, problems)]
    for file in files:
        if file.entries or file.problems:
            lines += _file_lines(file, [one for one in across if one.file == file.source.file], asked.machine)
    asked.output.say("\n".join(lines))
    return code


def _summary(files: Sequence[ConfigFile], problems: Sequence[ConfigProblem]) -> str:
    servers = sum(len(file.entries) for file in files)
    if not servers and not problems:
        looked = f" in {_plural(len(files), 'file')}" if files else ": no host's file was found"
        return f"no server is configured{looked}"
    hosts = len({file.source.host for file in files if file.entries})
    counts = Counter(one.severity for one in problems)
    found = [_plural(counts[weight], weight) for weight in ("error", "warning") if counts[weight]]
    return (
        f"{_plural(servers, 'server')} of {_plural(hosts, 'host')}, {' and '.join(found) or 'nothing wrong'}"
    )


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _heading(source: Source) -> str:
    return safe_line(f"{HOSTS[source.host].title} ({source.scope}) {source.file}")


def _file_lines(file: ConfigFile, across: Sequence[ConfigProblem], machine: Machine) -> list[str]:
    lines = ["", _heading(file.source)]
    width = min(max((len(safe_line(entry.name)) for entry in file.entries), default=0), 30)
    for entry in file.entries:
        text = (
            "(comes with the host)"
            if entry.kind == "builtin"
            else target_text(launch_for(entry, machine.environment))
        )
        off = "  (disabled)" if entry.is_disabled else ""
        lines.append(f"  {safe_line(entry.name):<{width}}  {text}{off}")
    return [*lines, *problem_lines([*file.problems, *across])]


def _show(asked: _Asked, name: str) -> int:
    files, across = _read(asked)
    found = [(file, entry) for file in files for entry in file.entries if entry.name == name]
    if not found:
        names = sorted({entry.name for entry in used_entries(files)})
        raise UsageError(f"no server {name!r} is configured", fix=f"There is {', '.join(names) or 'none'}")
    problems = [one for file, _ in found for one in file.problems if one.server == name]
    problems += [one for one in across if one.server == name]
    documents = [document_of(entry, launch_for(entry, asked.machine.environment)) for _, entry in found]
    if asked.output.as_json:
        asked.output.give({"servers": documents, "problems": problems})
    else:
        lines: list[str] = []
        for (file, entry), document in zip(found, documents, strict=True):
            lines += _server_lines(file, document, target_text(launch_for(entry, asked.machine.environment)))
        asked.output.say("\n".join([*lines, *problem_lines(problems)]))
    return FAILED if any(one.severity == "error" for one in problems) else DONE


def _server_lines(file: ConfigFile, document: dict[str, Any], text: str) -> list[str]:
    off = " (disabled)" if "disabled" in document else ""
    lines = [f"{safe_line(document['name'])}: {text}{off}"]
    lines.append(f"  {_heading(file.source)}, line {document['line']}, column {document['column']}")
    if "cwd" in document:
        lines.append(safe_line(f"  in {document['cwd']}"))
    for kind in ("env", "headers"):
        for key, value in document.get(kind, {}).items():
            lines.append(safe_line(f"  {kind} {key}={value}"))
    return lines


def _path(asked: _Asked, _: str) -> int:
    sources = _sources(asked) if asked.config is None else [_source_of(asked)]
    rows = [(source, Path(source.file).is_file()) for source in sources]
    rows = [row for row in rows if row[1] or asked.all]
    if asked.output.as_json:
        keys = ("host", "scope", "file")
        documents = [{key: getattr(one, key) for key in keys} | {"exists": there} for one, there in rows]
        asked.output.give(documents)
    elif rows:
        asked.output.say("\n".join(f"{_heading(one)}{'' if there else '  (no file)'}" for one, there in rows))
    else:
        asked.output.note("no file was found; --all shows where they would be")
    return DONE


# -- changing ------------------------------------------------------------------------------------------------


def _sources(asked: _Asked) -> list[Source]:
    return [
        source
        for source in places_for(asked.machine, asked.project)
        if asked.host in (None, source.host) and asked.scope in (None, source.scope)
    ]


def _source_of(asked: _Asked) -> Source:
    """The file that ``--config`` names."""
    assert asked.config is not None  # noqa: S101 - asked by whoever calls
    file = read_configured(asked.machine, None, config=asked.config, host=asked.host)[0][0]
    host = file.source.host or choose_host(asked.config, None)
    return Source(file=asked.config, host=host, scope="file")


def _change(asked: _Asked, source: Source, change: Callable[[str], str], what: str) -> int:
    backup = change_file(Path(source.file), change)
    if asked.output.as_json:
        asked.output.give({"file": source.file, "host": source.host, "backup": backup and str(backup)})
    else:
        asked.output.say(safe_line(f"{what} {source.file}"))
        if backup is not None:
            asked.output.note(safe_line(f"as it was: {backup}"))
    if source.host != "plain":
        asked.output.note(f"{HOSTS[source.host].title} may have to be started anew to notice")
    return DONE


def _add(asked: _Asked, name: str) -> int:
    if (asked.command is None) == (asked.url is None):
        raise UsageError("a server to add has a command behind '--', or --url")
    if asked.command is not None and (not asked.command or asked.header or asked.type):
        raise UsageError("behind '--' stands a command; --header and --type go with --url")
    if asked.url is not None and (asked.env or asked.cwd):
        raise UsageError("--env and --cwd go with a command")
    kind: Kind = "stdio" if asked.command else "sse" if asked.type == "sse" else "http"
    if asked.type not in (None, "http", "sse"):
        raise UsageError(f"--type {asked.type!r} is neither http nor sse")
    source = _source_to_add_to(asked)
    launch = Launch(
        command=tuple(asked.command or ()),
        env=parse_pairs(asked.env, "--env"),
        cwd=asked.cwd,
        url=asked.url,
        headers=parse_headers(asked.header),
    )
    values = entry_values(HOSTS[source.host], name, launch, kind)
    return _change(asked, source, lambda text: add_server(text, source, name, values), f"added {name} to")


def _source_to_add_to(asked: _Asked) -> Source:
    if asked.config is not None:
        if Path(asked.config).is_file():
            return _source_of(asked)
        return Source(file=asked.config, host=asked.host or choose_host(asked.config, None), scope="file")
    if asked.host is None:
        raise UsageError(
            "which host is it for?", fix=f"Add --host with one of {', '.join(HOSTS)}, or --config FILE"
        )
    scope = asked.scope or ("project" if asked.host == "plain" else "user")
    fitting = [one for one in places_for(asked.machine, asked.project) if one.host == asked.host]
    sources = [one for one in fitting if one.scope == scope]
    if not sources:
        raise UsageError(f"{HOSTS[asked.host].title} has no file for --scope {scope}")
    # Of several files the one that is there; of VS Code's two the one that is for servers alone.
    existing = [one for one in sources if Path(one.file).is_file() and one.at != ("mcp", "servers")]
    return existing[0] if existing else sources[-1] if asked.host == "vscode" else sources[0]


def _source_with(asked: _Asked, name: str) -> Source:
    """The one file that has a server of this name."""
    if asked.config is not None:
        return _source_of(asked)
    files, _ = _read(asked)
    found = [file for file in files if any(entry.name == name for entry in file.entries)]
    if len(found) == 1:
        return found[0].source
    if found:
        lines = [
            f"\n  --host {one.source.host} --scope {one.source.scope}  {one.source.file}" for one in found
        ]
        raise UsageError(f"{name!r} stands in {len(found)} files:{''.join(lines)}", fix="Say which one")
    broken = next((file for file in files if not file.is_readable and not file.entries), None)
    if broken is not None:
        one = broken.problems[0]
        raise UsageError(
            f"no server {name!r} was found, and {one.file}, line {one.line}, column {one.column}, "
            f"cannot be read: {one.message}",
            fix=f"{one.fix}. Nothing was changed",
        )
    names = sorted({entry.name for entry in used_entries(files)})
    raise UsageError(f"no server {name!r} is configured", fix=f"There is {', '.join(names) or 'none'}")


def _remove(asked: _Asked, name: str) -> int:
    source = _source_with(asked, name)
    return _change(asked, source, lambda text: remove_server(text, source, name), f"removed {name} from")


def _trace(asked: _Asked, name: str) -> int:
    source = _source_with(asked, name)
    output = str(Path(asked.record).absolute()) if asked.record else _recording_for(source, name)
    recorder = _recorder()
    code = _change(
        asked,
        source,
        lambda text: trace_server(text, source, name, recorder, output),
        f"{name} is recorded from its next start on, into {output}:",
    )
    asked.output.note(f"mesero config untrace {name} --host {source.host} takes that back")
    return code


def _untrace(asked: _Asked, name: str) -> int:
    source = _source_with(asked, name)
    return _change(asked, source, lambda text: untrace_server(text, source, name), f"{name} is as it was in")


def _recorder() -> list[str]:
    """The words that start this very mesero, for a host that has another PATH than we."""
    beside = shutil.which("mesero", path=str(Path(sys.executable).parent))
    return [beside] if beside else [sys.executable, "-m", "mesero"]


def _recording_for(source: Source, name: str) -> str:
    folder = os.environ.get("MESERO_STATE_DIR")
    if not folder:
        import platformdirs

        folder = platformdirs.user_state_dir("mesero", appauthor=False)
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{source.host}-{name}")[:80]
    return str(Path(folder) / "traces" / f"{label}.jsonl")


_ACTIONS: dict[str, Callable[[_Asked, str], int]] = {
    "list": _list,
    "show": _show,
    "path": _path,
    "add": _add,
    "remove": _remove,
    "trace": _trace,
    "untrace": _untrace,
}
