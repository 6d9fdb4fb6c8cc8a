"""Checks of how an entry is written: its members, their names and their types. Pure.

Each finds what its host will not read, or will read as something else, and says what to write.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final

from mesero.host.hosts import HostRules
from mesero.host.nodes import Member, Node
from mesero.host.problems import Report

__all__ = ["check_shape"]

# What people call a member, by what it is.
_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "command": ("command", "cmd", "exec", "executable"),
    "args": ("args", "arg", "arguments", "params", "argv"),
    "env": ("env", "envs", "environment", "environmentVariables", "environment_variables"),
    "cwd": ("cwd", "workingDirectory", "working_directory", "workdir"),
    "url": ("url", "serverUrl", "server_url", "serverURL", "httpUrl", "uri", "endpoint", "URL"),
    "headers": ("headers", "header", "http_headers", "requestHeaders", "httpHeaders"),
}
_OTHERS: Final = frozenset(
    {
        *("type", "transport", "name", "title", "description", "version", "disabled", "enabled", "required"),
        *("timeout", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "startup", "trust"),
        *("alwaysAllow", "autoApprove", "disabledTools", "disabled_tools", "enabled_tools", "includeTools"),
        *("excludeTools", "available_tools", "tools", "env_keys", "env_vars", "env_http_headers", "envFile"),
        *("bearer_token_env_var", "oauth", "auth", "authProviderType", "headersHelper", "scopes", "source"),
        *("settings", "bundled", "display_name", "code", "dev", "gallery", "sandbox", "sandboxEnabled"),
        "remote",
    }
)
_LAUNCHERS: Final = frozenset(
    {
        *("npx", "npm", "node", "bun", "bunx", "deno", "pnpm", "yarn", "uv", "uvx", "python", "python3"),
        *("pipx", "docker", "podman", "java", "dotnet", "go", "cargo", "mesero"),
    }
)
_URL = re.compile(r"(?:https?|wss?|sse)://", re.IGNORECASE)


def check_shape(report: Report, member: Member, rules: HostRules) -> None:
    """Report everything that is wrong with the way one server is written."""
    node = member.node
    if not isinstance(node.value, dict):
        report.add(
            "entry-not-object",
            node.start,
            f"{member.key!r} is {_named(node.value)}, not an object",
            f'Write {{"{rules.command}": "…"}} in its place',
            server=member.key,
        )
        return
    shape = _Shape(report, member, rules)
    shape.check_names()
    shape.check_command()
    shape.check_texts(rules.env, "env")
    shape.check_texts(rules.headers, "headers")
    shape.check_target()
    shape.check_type()


class _Shape:
    """One entry, and where to report what is wrong with it."""

    def __init__(self, report: Report, member: Member, rules: HostRules) -> None:
        self.report, self.rules = report, rules
        self.name, self.node = member.key, member.node
        self.at = member.start
        self.value: dict[str, Any] = member.node.value

    def add(self, code: str, at: int, message: str, fix: str, *, is_warning: bool = False) -> None:
        severity = "warning" if is_warning else "error"
        self.report.add(code, at, f"{self.name!r}: {message}", fix, severity=severity, server=self.name)  # type: ignore[arg-type]  # one of two literals

    def own_names(self, meaning: str) -> tuple[str, ...]:
        """What the host calls it; empty where it has no such member."""
        if meaning == "url":
            return tuple(self.rules.urls) if self.rules.has_remote else ()
        name = str(getattr(self.rules, meaning))
        return (name,) if name else ()

    def is_builtin(self) -> bool:
        kind = self.value.get("type")
        return isinstance(kind, str) and self.rules.types.get(kind) == "builtin"

    def check_names(self) -> None:
        """Members that the host does not read: other hosts' names, and slips of the finger."""
        for first, again in self.node.repeated():
            line = self.report.document.place(first.start).line
            self.add(
                "duplicate-member",
                again.start,
                f"{again.key!r} stands here twice, first in line {line}; only this one counts",
                "Leave one of them out",
                is_warning=True,
            )
        known = {name for meaning in _ALIASES for name in self.own_names(meaning)} | _OTHERS
        for member in self.node.members:
            if member.key not in known:
                self.check_name(member, known)

    def check_name(self, member: Member, known: set[str]) -> None:
        meaning = next((key for key, names in _ALIASES.items() if member.key in names), None)
        title = self.rules.title
        if meaning == "url" and not self.rules.has_remote:
            self.check_no_remote(member.start)
        elif meaning == "args" and not self.rules.args and isinstance(self.value.get("command"), str):
            return  # the command is no list, which is told with the whole of it
        elif meaning == "args" and not self.rules.args:
            self.add(
                "wrong-member",
                member.start,
                f"{title} reads no {member.key!r}",
                f"Put the arguments behind the program: {self.all_in_one()}",
            )
        elif meaning is not None and (own := self.own_names(meaning)):
            self.add(
                "wrong-member",
                member.start,
                f"{title} reads no {member.key!r}",
                f"Rename it to {' or '.join(map(repr, own))}",
            )
        elif member.key == "bearer_token":
            self.add(
                "wrong-member",
                member.start,
                f"{title} takes no token in this file",
                'Put the token into a variable and write bearer_token_env_var = "ITS_NAME"',
            )
        elif close := difflib.get_close_matches(member.key, sorted(known), n=1, cutoff=0.8):
            self.add(
                "unknown-member",
                member.start,
                f"{title} reads no {member.key!r}",
                f"Did you mean {close[0]!r}?",
                is_warning=True,
            )

    def all_in_one(self) -> str:
        command, args = self.value.get("command", "…"), self.value.get("args")
        words = command if isinstance(command, list) else ["npx", "…"]
        if isinstance(command, str):
            words = _words_of(command)
        more = args if isinstance(args, list) else _words_of(args) if isinstance(args, str) else []
        return f'"command": {json.dumps([*words, *more], ensure_ascii=False)}'

    def check_no_remote(self, at: int) -> None:
        self.add(
            "remote-not-supported",
            at,
            f"{self.rules.title} starts commands only: a URL in this file is not read",
            "Add it in the settings under Connectors, or start a bridge here: "
            '"command": "npx", "args": ["-y", "mcp-remote", "URL"]',
        )

    def check_command(self) -> None:
        """The program, and its arguments."""
        node = self.node.find(self.rules.command)
        if node is None:
            return
        value = node.value
        if not self.rules.args:
            self.check_list(node)
            return
        if isinstance(value, dict) and self.rules.name == "zed":
            return
        if isinstance(value, list):
            first, *rest = [str(word) for word in value] or [""]
            self.add(
                "command-is-list",
                node.start,
                f"{self.rules.command!r} is a list",
                f'Write "{self.rules.command}": {json.dumps(first)}, "{self.rules.args}": {json.dumps(rest)}',
            )
        elif not isinstance(value, str) or not value.strip():
            self.add(
                "command-not-string",
                node.start,
                f"{self.rules.command!r} is {_named(value)}, not the name of a program",
                f'Write "{self.rules.command}": "npx", for example',
            )
        else:
            self.check_program(node, value)
        self.check_args()

    def check_list(self, node: Node) -> None:
        if not isinstance(node.value, list):
            self.add(
                "command-not-list",
                node.start,
                f"{self.rules.command!r} is {_named(node.value)}; {self.rules.title} wants a list",
                f"Write {self.all_in_one()}",
            )
            return
        if not node.value:
            self.add("command-not-string", node.start, "the command is empty", 'Write ["npx", "…"]')
        self.check_words(node)

    def check_program(self, node: Node, value: str) -> None:
        if _URL.match(value):
            name = next(iter(self.rules.urls))
            fix = (
                f'Write "{name}": {json.dumps(value)} instead' if self.rules.has_remote else "Start a bridge"
            )
            self.add("url-in-command", node.start, "the command is a URL", fix)
            return
        words = _words_of(value)
        if len(words) < 2 or not _is_launcher(words[0]):
            return
        self.add(
            "command-with-arguments",
            node.start,
            f"{value!r} is taken for the name of one program, blanks included",
            f'Write "{self.rules.command}": {json.dumps(words[0])}, and put '
            f"{', '.join(map(json.dumps, words[1:]))} at the beginning of {self.rules.args!r}",
        )

    def check_args(self) -> None:
        node = self.node.find(self.rules.args)
        if node is None:
            return
        if isinstance(node.value, list):
            self.check_words(node)
            return
        words = _words_of(node.value) if isinstance(node.value, str) else []
        self.add(
            "args-not-list",
            node.start,
            f"{self.rules.args!r} is {_named(node.value)}, not a list",
            f'Write "{self.rules.args}": {json.dumps(words)}',
        )

    def check_words(self, node: Node) -> None:
        for item in node.items:
            if not isinstance(item.value, str):
                self.add(
                    "arg-not-string",
                    item.start,
                    f"the argument {json.dumps(item.value, default=str)} is {_named(item.value)}, not text",
                    f"Write it in quotes: {json.dumps(_plain(item.value))}",
                )

    def check_texts(self, name: str, meaning: str) -> None:
        """An object of texts: the environment, or the headers."""
        node = self.node.find(name)
        if node is None:
            return
        if not isinstance(node.value, dict):
            self.add(
                f"{meaning}-not-object",
                node.start,
                f"{name!r} is {_named(node.value)}, not an object",
                f'Write "{name}": {{"NAME": "value"}}',
            )
            return
        for member in node.members:
            if not isinstance(member.node.value, str):
                self.add(
                    f"{meaning}-value-not-string",
                    member.node.start,
                    f"{member.key!r} in {name!r} is {_named(member.node.value)}, not text",
                    f"Write it in quotes: {json.dumps(_plain(member.node.value))}",
                )

    def check_target(self) -> None:
        """There is either a command or a URL."""
        if self.is_builtin() or "settings" in self.value:
            return
        own = [name for name in self.own_names("url") if name in self.value]
        has_command = self.rules.command in self.value
        if has_command and own:
            self.add(
                "command-and-url",
                self.at,
                f"there are both {self.rules.command!r} and {own[0]!r}",
                "Leave one of them out",
            )
        any_name = {alias for key in ("command", "url") for alias in _ALIASES[key]}
        if not has_command and not own and not any_name & self.value.keys():
            wanted = [self.rules.command, *self.own_names("url")]
            self.add(
                "no-command-or-url",
                self.at,
                f"there is no {' and no '.join(map(repr, wanted))}",
                f"Write one of them, or take {self.name!r} out",
            )

    def check_type(self) -> None:
        """``type`` says what the entry is, where the host asks for it."""
        words = ", ".join(map(repr, self.rules.types))
        key = "transport" if "transport" in self.value and "type" not in self.value else "type"
        written = self.node.find(key)
        url = next((name for name in self.own_names("url") if name in self.value), None)
        if written is None:
            self.check_type_missing(url)
        elif not isinstance(written.value, str) or written.value not in self.rules.types:
            self.add(
                "type-unknown",
                written.start,
                f"{self.rules.title} knows no {key} {json.dumps(written.value, default=str)}",
                f"Write one of {words}",
            )
        else:
            kind = self.rules.types[written.value]
            has_command = self.rules.command in self.value
            if (kind == "stdio" and url and not has_command) or (kind in ("http", "sse") and has_command):
                right = self.rules.type_for("stdio" if has_command else "http")
                self.add(
                    "type-contradicts",
                    written.start,
                    f"{key} says {written.value!r}, but there is {'a command' if has_command else 'a URL'}",
                    f'Write "{key}": "{right}"',
                )

    def check_type_missing(self, url: str | None) -> None:
        has_command = self.rules.command in self.value
        is_needed = self.rules.type_needed == "always" and (url or has_command)
        if is_needed or (self.rules.type_needed == "url" and url and not has_command):
            right = self.rules.type_for("stdio" if has_command else "http")
            self.add(
                "type-missing",
                self.at,
                f"{self.rules.title} wants to be told the type",
                f'Add "type": "{right}"',
            )


def _is_launcher(word: str) -> bool:
    name = re.split(r"[\\/]", word)[-1].lower()
    name = re.sub(r"\.(?:exe|cmd|bat|ps1)$", "", name)
    return name in _LAUNCHERS or re.fullmatch(r"python3?(?:\.\d+)?", name) is not None


def _words_of(text: str) -> list[str]:
    try:
        return shlex.split(text, posix="\\" not in text)
    except ValueError:
        return text.split()


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _named(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    kinds = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}
    return kinds.get(type(value), "a date")
