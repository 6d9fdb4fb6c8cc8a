"""Configured servers on the command line: found by name, and printed without the secrets that files hold."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mesero.cli.printing import safe_line
from mesero.errors import UsageError
from mesero.host.configs import ConfigFile
from mesero.host.configured import ConfiguredServer, configured_servers
from mesero.host.edits import is_traced
from mesero.host.entries import Launch, ServerEntry, launch_for
from mesero.host.files import read_all, read_file
from mesero.host.hosts import HOSTS
from mesero.host.places import Machine
from mesero.host.problems import ConfigProblem, Source
from mesero.trace.sensitive import (
    Span,
    is_secret_header,
    is_secret_name,
    placeholder_for,
    secret_spans,
    spans_in_words,
)

__all__ = [
    "document_of",
    "document_of_file",
    "find_server",
    "hidden_words",
    "problem_lines",
    "read_configured",
    "target_text",
]


def read_configured(
    machine: Machine, project: Path | None, *, config: str | None = None, host: str | None = None
) -> tuple[list[ConfigFile], list[ConfigProblem]]:
    """The files that a command is about: one that is named, or those of the hosts on a machine.

    Args:
        machine: Whose files.
        project: The folder that the hosts are opened on.
        config: One file instead.
        host: Only this host's; with ``config``, by whose rules the file is read.

    Raises:
        UsageError: the file that is named does not exist.
    """
    if config is None:
        return read_all(machine, project, hosts=[host] if host else [])
    source = Source(file=config, host=host or "", scope="file")
    file = read_file(source, environment=machine.environment, is_asked_for=True)
    if file is None:
        raise UsageError(f"there is no file {config!r}")
    return [file], []


def find_server(
    word: str, machine: Machine, project: Path | None, config: str | None = None
) -> ConfiguredServer | None:
    """The server that a word names, ``NAME`` or ``HOST:NAME``.

    Raises:
        UsageError: several hosts mean different things by it, it cannot be started, or there is none of that
            name in the file that ``config`` names.
    """
    host, _, name = word.partition(":")
    if host not in HOSTS:
        host, name = "", word
    files, across = read_configured(machine, project, config=config, host=host or None)
    servers = configured_servers(files, across, machine.environment)
    fitting = [one for one in servers if one.entry.name == name]
    if not fitting:
        if config is not None or host:
            entries = [one.entry for one in servers]
            raise _nobody(name, entries, config or f"the files of {HOSTS[host].title}")
        _check_slip(name, [one.entry.name for one in servers])
        return None
    if any(one.launch != fitting[0].launch for one in fitting):
        lines = [f"\n  {one.entry.host}:{name}  {target_text(one.launch)}" for one in fitting]
        raise UsageError(
            f"{name!r} means different servers:{''.join(lines)}", fix=f"Write {fitting[0].entry.host}:{name}"
        )
    found = fitting[0]
    if not found.launch.command and found.launch.url is None:
        raise UsageError(
            f"{name!r} in {found.entry.file}, line {found.entry.line}, has neither a command nor a URL",
            fix=f"mesero config show {name}",
        )
    return found


def _check_slip(name: str, names: Sequence[str]) -> None:
    """What is nearly a server's name was meant to be one."""
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.8)
    if close:
        raise UsageError(f"no server {name!r} is configured", fix=f"Did you mean {close[0]}?")


def _nobody(name: str, entries: Sequence[ServerEntry], where: str) -> UsageError:
    names = sorted({entry.name for entry in entries})
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    fix = f"Did you mean {close[0]}?" if close else f"There is {', '.join(names[:20]) or 'none'}"
    return UsageError(f"no server {name!r} in {where}", fix=fix)


# -- printing ------------------------------------------------------------------------------------------------


def _hidden(text: str) -> str:
    return _with_placeholders(text, secret_spans(text))


def _with_placeholders(text: str, spans: Sequence[Span]) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], placeholder_for(text[start:end])]
        done = end
    return "".join([*parts, text[done:]])


def hidden_words(words: Sequence[str]) -> list[str]:
    """The words of a command with placeholders for secrets, also behind options such as ``--token``."""
    return [_with_placeholders(word, spans) for word, spans in spans_in_words(words)]


def _hidden_env(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: placeholder_for(value) if is_secret_name(name) else _hidden(value)
        for name, value in env.items()
    }


def _hidden_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: placeholder_for(value) if is_secret_header(name, is_request=True) else _hidden(value)
        for name, value in headers.items()
    }


def target_text(launch: Launch) -> str:
    """A command line or a URL, for people."""
    if launch.command:
        return safe_line(shlex.join(hidden_words(launch.command)))
    return safe_line(_hidden(launch.url)) if launch.url else "(nothing)"


def document_of(entry: ServerEntry, launch: Launch) -> dict[str, Any]:
    """A server as one JSON object: what its host does for it, without secrets."""
    found: dict[str, Any] = {
        "name": entry.name,
        "host": entry.host,
        "scope": entry.scope,
        "file": entry.file,
        "line": entry.line,
        "column": entry.column,
        "kind": entry.kind,
        "command": hidden_words(launch.command) or None,
        "cwd": launch.cwd,
        "env": _hidden_env(launch.env) or None,
        "url": None if launch.url is None else _hidden(launch.url),
        "headers": _hidden_headers(launch.headers) or None,
        "disabled": entry.is_disabled or None,
        "traced": is_traced(launch.command) or None,
    }
    return {key: value for key, value in found.items() if value is not None or key == "kind"}


def document_of_file(file: ConfigFile, environment: Mapping[str, str]) -> dict[str, Any]:
    """A file as one JSON object."""
    return {
        "file": file.source.file,
        "host": file.source.host,
        "scope": file.source.scope,
        "readable": file.is_readable,
        "servers": [document_of(one, launch_for(one, environment)) for one in file.entries],
        "problems": list(file.problems),
    }


def problem_lines(problems: Sequence[ConfigProblem], *, indent: str = "  ") -> Iterator[str]:
    """Problems for people: place, weight and code, what is wrong, and below it what to do."""
    for one in problems:
        yield safe_line(f"{indent}{one.line}:{one.column} {one.severity} {one.code}: {one.message}")
        if one.fix:
            yield safe_line(f"{indent}    {one.fix}")
