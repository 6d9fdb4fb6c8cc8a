"""One server as a configuration file names it, and what its host starts or connects to for it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from mesero.host.hosts import HOSTS, HostRules, Kind
from mesero.host.nodes import Member
from mesero.host.variables import expanded

__all__ = ["Launch", "ServerEntry", "entry_of", "launch_for"]

_OF_PROJECT = re.compile(r"(?:(.*)[\\/])?\.[^\\/]+[\\/][^\\/]+")
"""A file in a folder of the project's whose name begins with a dot."""
_LAST = re.compile(r"[\\/]")


class ServerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in a file under one name, whoever's file it is; nothing is expanded.

    Attributes:
        kind: How it is reached; None where the entry does not say.
        command, args: The program and its arguments; an entry with a URL has none.
        env: Variables that are set for it.
        variables: Headers whose values are taken from variables: the text before the value, and the variable.
        file, line, column: Where its name stands, lines and columns from 1.
        is_disabled: The host is told not to start it.
        raw: The entry as plain data.
    """

    name: str
    host: str
    scope: str
    file: str
    line: int
    column: int
    kind: Kind | None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = {}
    variables: Mapping[str, tuple[str, str]] = {}
    is_disabled: bool = False
    raw: Any = None


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """What a host does for an entry: the words of a command, or a URL with headers."""

    command: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = {}


def entry_of(
    member: Member, rules: HostRules, *, scope: str, file: str, line: int, column: int
) -> ServerEntry:
    """The server that a member of a file describes; what has the wrong shape is left out.

    Args:
        member: Its name and what stands there.
        rules: The rules of the host whose file it is.
        scope: For whom the file holds.
        file: The file.
        line: Where the name stands, from 1.
        column: The same.
    """
    value = member.node.value if isinstance(member.node.value, dict) else {}
    command, args, env = _command_of(value, rules)
    url = next((found for name in rules.urls if (found := _text(value.get(name)))), None)
    return ServerEntry(
        name=member.key,
        host=rules.name,
        scope=scope,
        file=file,
        line=line,
        column=column,
        kind=_kind_of(value, rules, command),
        command=command,
        args=args,
        env=env,
        cwd=_text(value.get(rules.cwd)),
        url=None if command else url,
        headers=_texts(value.get(rules.headers)),
        variables=_variables_of(value) if rules.name == "codex" else {},
        is_disabled=value.get("disabled") is True or value.get("enabled") is False,
        raw=member.node.value,
    )


def _command_of(
    value: Mapping[str, Any], rules: HostRules
) -> tuple[str | None, tuple[str, ...], dict[str, str]]:
    command, args, env = value.get(rules.command), value.get(rules.args), value.get(rules.env)
    if isinstance(command, dict):  # an older form of Zed's: all in one object
        whole: dict[str, Any] = command
        command, args, env = whole.get("path"), whole.get("args"), whole.get("env", env)
    if not rules.args and isinstance(command, list):
        words_given: list[Any] = command
        command, args = next(iter(words_given), None), words_given[1:]
    words = tuple(str(word) for word in args) if isinstance(args, list) else ()
    return _text(command), words, _texts(env)


def _kind_of(value: Mapping[str, Any], rules: HostRules, command: str | None) -> Kind | None:
    if (
        rules.name == "zed"
        and command is None
        and ("settings" in value or value.get("source") == "extension")
    ):
        return "builtin"  # an extension of the editor's starts it, and only its settings stand here
    written = value.get("type", value.get("transport"))
    if isinstance(written, str) and written in rules.types:
        return rules.types[written]
    if command is not None:
        return "stdio"
    for name, kind in rules.urls.items():
        if _text(value.get(name)):
            return kind or "http"
    return None


def _variables_of(value: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    found = {name: ("", variable) for name, variable in _texts(value.get("env_http_headers")).items()}
    bearer = _text(value.get("bearer_token_env_var"))
    return found | ({"Authorization": ("Bearer ", bearer)} if bearer else {})


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(key): str(item) for key, item in value.items() if isinstance(item, str | int | float)}


def _folder_of(entry: ServerEntry, environment: Mapping[str, str]) -> str | None:
    """The folder that the host is opened on: that of the project's file, else the one we are in."""
    found = None if entry.scope == "user" else _OF_PROJECT.fullmatch(entry.file)
    return (found and found[1]) or environment.get("PWD") or None


def launch_for(entry: ServerEntry, environment: Mapping[str, str]) -> Launch:
    """What the entry's host does for it: variables followed by the rules of that host, and no others.

    Args:
        entry: The server.
        environment: The variables that the host was started with.
    """
    rules = HOSTS[entry.host]

    def find(name: str) -> str | None:
        if name == "userHome":
            return environment.get("HOME") or environment.get("USERPROFILE")
        if name.startswith("workspaceFolder"):
            folder = _folder_of(entry, environment)
            return folder if folder is None or name == "workspaceFolder" else _LAST.split(folder)[-1]
        return "/" if name in ("pathSeparator", "/") else environment.get(name)

    def follow(text: str, field: str) -> str:
        if rules.expands and field not in rules.expands:
            return text
        return expanded(text, rules.forms, find)

    if entry.command is not None:
        return Launch(
            command=(follow(entry.command, "command"), *(follow(word, "args") for word in entry.args)),
            env={name: follow(value, "env") for name, value in entry.env.items()},
            cwd=None if entry.cwd is None else follow(entry.cwd, "cwd"),
        )
    headers = {name: follow(value, "headers") for name, value in entry.headers.items()}
    for name, (before, variable) in entry.variables.items():
        if variable in environment:
            headers[name] = f"{before}{environment[variable]}"
    field = "uri" if "uri" in rules.urls else "url"
    return Launch(url=None if entry.url is None else follow(entry.url, field), headers=headers)
