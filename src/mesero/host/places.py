"""Where each host keeps its files, on each platform, for the user and for a project.

Home, platform and environment are parameters: nothing here looks at this machine unless it is told to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from mesero.host.problems import Source

__all__ = ["Machine", "Platform", "places_for", "this_machine"]

Platform = Literal["linux", "macos", "windows"]


class Machine(msgspec.Struct, frozen=True):
    """Whose files are meant: the home folder, the platform, and the variables that move folders."""

    home: Path
    platform: Platform = "linux"
    environment: Mapping[str, str] = {}


def this_machine() -> Machine:
    """The user who runs this process."""
    platform: Platform = "windows" if os.name == "nt" else "macos" if sys.platform == "darwin" else "linux"
    return Machine(Path.home(), platform, dict(os.environ))


class _Folders(NamedTuple):
    """Where programs keep their settings: those with windows, and those of the shell."""

    apps: Path
    config: Path


def _folders_of(machine: Machine) -> _Folders:
    home, given = machine.home, machine.environment
    if machine.platform == "windows":
        roaming = Path(given.get("APPDATA") or home / "AppData" / "Roaming")
        return _Folders(roaming, roaming)
    config = Path(given.get("XDG_CONFIG_HOME") or home / ".config")
    if machine.platform == "macos":
        return _Folders(home / "Library" / "Application Support", config)
    return _Folders(config, config)


def places_for(machine: Machine, project: Path | None = None) -> list[Source]:
    """Every place that a host looks at, whether there is a file or not, in the order of the listing.

    Of a host's places the later one wins where both name a server.

    Args:
        machine: Whose files.
        project: The folder that the hosts are opened on; None leaves the files of projects out.
    """
    found = _user_places(machine)
    if project is not None:
        # In the home folder a file of the user's is no second one of the project's.
        users = {(host, file) for host, _, file, _ in found}
        found += [
            row
            for row in _project_places(machine, project)
            if row[1] == "local" or (row[0], row[2]) not in users
        ]
    return [Source(file=str(file), host=host, scope=scope, at=at) for host, scope, file, at in found]


_Row = tuple[str, str, Path, tuple[str, ...]]


def _user_places(machine: Machine) -> list[_Row]:
    home, given = machine.home, machine.environment
    apps, config = _folders_of(machine)
    is_windows = machine.platform == "windows"
    codex = Path(given.get("CODEX_HOME") or home / ".codex")
    goose = apps / "Block" / "goose" / "config" if is_windows else config / "goose"
    opencode = Path(given.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    zed = apps / "Zed" if is_windows else config / "zed"
    code = apps / "Code" / "User"
    return [
        ("claude-desktop", "user", apps / "Claude" / "claude_desktop_config.json", ()),
        ("claude-code", "user", home / ".claude.json", ("mcpServers",)),
        ("cursor", "user", home / ".cursor" / "mcp.json", ()),
        ("vscode", "user", code / "settings.json", ("mcp", "servers")),
        ("vscode", "user", code / "mcp.json", ("servers",)),
        ("windsurf", "user", home / ".codeium" / "windsurf" / "mcp_config.json", ()),
        ("codex", "user", codex / "config.toml", ()),
        ("gemini", "user", home / ".gemini" / "settings.json", ()),
        ("zed", "user", zed / "settings.json", ()),
        ("opencode", "user", opencode / "opencode.json", ()),
        ("opencode", "user", opencode / "opencode.jsonc", ()),
        ("goose", "user", goose / "config.yaml", ()),
    ]


def _project_places(machine: Machine, project: Path) -> list[_Row]:
    return [
        ("claude-code", "project", project / ".mcp.json", ()),
        ("claude-code", "local", machine.home / ".claude.json", ("projects", str(project), "mcpServers")),
        ("cursor", "project", project / ".cursor" / "mcp.json", ()),
        ("vscode", "project", project / ".vscode" / "settings.json", ("mcp", "servers")),
        ("vscode", "project", project / ".vscode" / "mcp.json", ("servers",)),
        ("codex", "project", project / ".codex" / "config.toml", ()),
        ("gemini", "project", project / ".gemini" / "settings.json", ()),
        ("zed", "project", project / ".zed" / "settings.json", ()),
        ("opencode", "project", project / "opencode.json", ()),
        ("opencode", "project", project / "opencode.jsonc", ()),
        ("plain", "project", project / "mcp.json", ()),
    ]
