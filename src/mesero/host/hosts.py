"""The hosts that are known, as data: how each writes a server down, what it expands, what it refuses. Pure.

Facts from the hosts' own documentation and issue trackers, as of late 2026. A host that is not here reads a
plain ``mcpServers`` file, or is near enough to one that does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from mesero.errors import UsageError
from mesero.host.variables import Form

__all__ = ["HOSTS", "SERVER_KEYS", "HostRules", "Kind", "choose_host", "host_for"]

Kind = Literal["stdio", "http", "sse", "builtin"]
"""How a server is reached; ``builtin`` is one that the host brings along."""

_TYPES: Final[Mapping[str, Kind]] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "sse": "sse",
}


class HostRules(msgspec.Struct, frozen=True, kw_only=True):
    """How one host writes a server down.

    Attributes:
        at: Where the servers may stand, as paths of member names; the first is where we write.
        args: The member with the arguments; empty where they follow the program in ``command``.
        urls: The members that hold a URL, and what kind of server each means (None: ``type`` says it).
        types: The words that ``type`` takes.
        type_needed: For which servers ``type`` must be written.
        comments, trailing_commas: Whether the host reads a file with them; None where nobody says.
        forms: The references to variables that it follows, in ``expands`` (empty: everywhere).
        tool_prefix: What a tool's name is prefixed with, ``%s`` for the server's name.
        has_remote: Whether a URL may be written at all.
        reads_shell: Whether servers get the PATH of the user's shell: those that a terminal starts do, and
            editors that ask the shell for it.
    """

    name: str
    title: str
    format: Literal["json", "toml", "yaml"] = "json"
    at: tuple[tuple[str, ...], ...] = (("mcpServers",),)
    command: str = "command"
    args: str = "args"
    env: str = "env"
    cwd: str = "cwd"
    urls: Mapping[str, Kind | None] = msgspec.field(default_factory=lambda: {"url": None})
    headers: str = "headers"
    types: Mapping[str, Kind] = msgspec.field(default_factory=lambda: _TYPES)
    type_needed: Literal["never", "url", "always"] = "never"
    comments: bool | None = None
    trailing_commas: bool | None = None
    forms: frozenset[Form] = frozenset()
    expands: tuple[str, ...] = ()
    tool_prefix: str = ""
    has_remote: bool = True
    reads_shell: bool = True

    def type_for(self, kind: Kind) -> str:
        """The word for a kind of server."""
        return next(word for word, meant in self.types.items() if meant == kind)

    def url_for(self, kind: Kind) -> str:
        """The member that holds the URL of a kind of server."""
        return next((name for name, meant in self.urls.items() if meant == kind), next(iter(self.urls)))


def _forms(*names: Form) -> frozenset[Form]:
    return frozenset(names)


_ALL = (
    HostRules(
        name="claude-desktop",
        title="Claude Desktop",
        comments=False,
        trailing_commas=False,
        has_remote=False,
        reads_shell=False,
    ),
    HostRules(
        name="claude-code",
        title="Claude Code",
        types={"stdio": "stdio", "http": "http", "streamable-http": "http", "sse": "sse"},
        type_needed="url",
        comments=False,
        trailing_commas=False,
        forms=_forms("braces"),
        tool_prefix="mcp__%s__",
    ),
    HostRules(name="cursor", title="Cursor", forms=_forms("env", "named")),
    HostRules(
        name="vscode",
        title="VS Code",
        at=(("servers",), ("mcp", "servers")),
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
        comments=True,
        trailing_commas=True,
        forms=_forms("env", "input", "named"),
    ),
    HostRules(
        name="windsurf",
        title="Windsurf",
        urls={"serverUrl": None, "url": None},
        forms=_forms("env"),
    ),
    HostRules(
        name="codex",
        title="Codex",
        format="toml",
        at=(("mcp_servers",),),
        headers="http_headers",
        urls={"url": "http"},
        types={"stdio": "stdio", "http": "http", "streamable_http": "http"},
        comments=True,
        trailing_commas=True,
        tool_prefix="mcp__%s__",
    ),
    HostRules(
        name="gemini",
        title="Gemini CLI",
        urls={"httpUrl": "http", "url": "sse"},
        comments=True,
        trailing_commas=False,
        forms=_forms("braces", "bare"),
        tool_prefix="mcp_%s_",
    ),
    HostRules(
        name="zed",
        title="Zed",
        at=(("context_servers",),),
        comments=True,
        trailing_commas=True,
    ),
    HostRules(
        name="opencode",
        title="OpenCode",
        at=(("mcp",), ("mcp", "servers")),
        args="",
        env="environment",
        types={"local": "stdio", "remote": "http"},
        type_needed="always",
        comments=True,
        trailing_commas=True,
        forms=_forms("curly"),
        tool_prefix="%s_",
    ),
    HostRules(
        name="goose",
        title="Goose",
        format="yaml",
        at=(("extensions",),),
        command="cmd",
        env="envs",
        urls={"uri": None},
        types={
            "stdio": "stdio",
            "streamable_http": "http",
            "sse": "sse",
            "builtin": "builtin",
            "platform": "builtin",
            "frontend": "builtin",
            "inline_python": "builtin",
        },
        type_needed="always",
        comments=True,
        trailing_commas=True,
        forms=_forms("braces", "bare"),
        expands=("headers", "uri"),
        tool_prefix="%s__",
    ),
    HostRules(name="plain", title="a plain file"),
)

HOSTS: Final[Mapping[str, HostRules]] = {rules.name: rules for rules in _ALL}
"""The hosts by name, in the order in which they are listed."""

SERVER_KEYS: Final[Mapping[str, str]] = {
    "mcpServers": "most hosts",
    "servers": "VS Code",
    "mcp_servers": "Codex",
    "context_servers": "Zed",
    "mcp": "OpenCode",
    "extensions": "Goose",
}
"""What the member with the servers is called, and by whom."""


def host_for(name: str) -> HostRules:
    """The rules of a host.

    Raises:
        UsageError: nobody of that name is known.
    """
    if name not in HOSTS:
        raise UsageError(f"no host {name!r} is known", fix=f"It is one of {', '.join(HOSTS)}")
    return HOSTS[name]


# The first row that fits: what the path of a file ends with, in lower case and with forward slashes.
_FILES: Final = (
    ("claude_desktop_config.json", "claude-desktop"),
    (".mcp.json", "claude-code"),
    (".claude.json", "claude-code"),
    (".cursor/mcp.json", "cursor"),
    (".vscode/mcp.json", "vscode"),
    (".vscode/settings.json", "vscode"),
    ("code/user/mcp.json", "vscode"),
    ("code/user/settings.json", "vscode"),
    ("mcp_config.json", "windsurf"),
    (".gemini/settings.json", "gemini"),
    ("zed/settings.json", "zed"),
    ("opencode.json", "opencode"),
    ("opencode.jsonc", "opencode"),
    (".toml", "codex"),
)


def choose_host(path: str, root: Any) -> str:
    """Whose file this is, by its path and else by what is in it.

    Args:
        path: Where it was found.
        root: Its data; None where it could not be parsed.
    """
    where = f"/{path}".replace("\\", "/").lower()
    for ending, name in _FILES:
        # A name that begins with a dot is a whole name, or a suffix.
        if where.endswith(ending if ending.startswith(".toml") else f"/{ending}"):
            return name
    keys = root if isinstance(root, dict) else {}
    if where.endswith((".yaml", ".yml")):
        return "goose" if "mcpServers" not in keys else "plain"
    if "mcpServers" in keys:
        return "plain"
    by_key = {"servers": "vscode", "context_servers": "zed", "mcp": "opencode"}
    return next((name for key, name in by_key.items() if isinstance(keys.get(key), dict)), "plain")
