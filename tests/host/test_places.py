import os
import sys
from pathlib import Path

import pytest

from mesero.host.hosts import HOSTS
from mesero.host.places import Machine, places_for, this_machine

HOME = Path("/home/me")
PROJECT = Path("/projects/p")


def files_of(machine, project=None):
    return {(one.host, one.scope, one.file) for one in places_for(machine, project)}


def test_on_linux_settings_are_below_the_config_folder():
    found = files_of(Machine(HOME))
    assert ("claude-desktop", "user", "/home/me/.config/Claude/claude_desktop_config.json") in found
    assert ("vscode", "user", "/home/me/.config/Code/User/mcp.json") in found
    assert ("zed", "user", "/home/me/.config/zed/settings.json") in found
    assert ("goose", "user", "/home/me/.config/goose/config.yaml") in found
    assert ("codex", "user", "/home/me/.codex/config.toml") in found
    assert ("cursor", "user", "/home/me/.cursor/mcp.json") in found
    assert ("windsurf", "user", "/home/me/.codeium/windsurf/mcp_config.json") in found
    assert ("gemini", "user", "/home/me/.gemini/settings.json") in found
    assert ("opencode", "user", "/home/me/.config/opencode/opencode.jsonc") in found
    assert ("claude-code", "user", "/home/me/.claude.json") in found


def test_on_macos_programs_with_windows_have_a_folder_of_their_own():
    found = files_of(Machine(HOME, "macos"))
    library = "/home/me/Library/Application Support"
    assert ("claude-desktop", "user", f"{library}/Claude/claude_desktop_config.json") in found
    assert ("vscode", "user", f"{library}/Code/User/mcp.json") in found
    assert ("zed", "user", "/home/me/.config/zed/settings.json") in found


def test_on_windows_they_are_where_a_variable_says():
    found = files_of(Machine(HOME, "windows", {"APPDATA": "/roaming"}))
    assert ("claude-desktop", "user", "/roaming/Claude/claude_desktop_config.json") in found
    assert ("goose", "user", "/roaming/Block/goose/config/config.yaml") in found
    assert ("zed", "user", "/roaming/Zed/settings.json") in found
    without = files_of(Machine(HOME, "windows"))
    assert ("vscode", "user", "/home/me/AppData/Roaming/Code/User/mcp.json") in without


def test_variables_move_folders():
    found = files_of(Machine(HOME, "linux", {"XDG_CONFIG_HOME": "/cfg", "CODEX_HOME": "/codex"}))
    assert ("codex", "user", "/codex/config.toml") in found
    assert ("zed", "user", "/cfg/zed/settings.json") in found
    assert ("opencode", "user", "/cfg/opencode/opencode.json") in found


def test_a_project_has_files_of_its_own_and_a_part_of_a_file_of_the_user():
    found = places_for(Machine(HOME), PROJECT)
    files = {(one.host, one.scope, one.file) for one in found}
    assert ("claude-code", "project", "/projects/p/.mcp.json") in files
    assert ("vscode", "project", "/projects/p/.vscode/mcp.json") in files
    assert ("plain", "project", "/projects/p/mcp.json") in files
    (local,) = (one for one in found if one.scope == "local")
    assert (local.file, local.at) == ("/home/me/.claude.json", ("projects", "/projects/p", "mcpServers"))
    assert not any(one.scope == "project" for one in places_for(Machine(HOME)))


def test_every_host_has_a_place_and_every_place_a_host():
    assert {one.host for one in places_for(Machine(HOME), PROJECT)} == set(HOSTS)


@pytest.mark.parametrize(
    ("name", "system", "platform"),
    [("posix", "linux", "linux"), ("posix", "darwin", "macos"), ("nt", "win32", "windows")],
)
def test_this_machine_is_that_of_the_process(monkeypatch, name, system, platform):
    monkeypatch.setattr(Path, "home", lambda: HOME)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("mesero.host.places.os", type("os", (), {"name": name, "environ": os.environ}))
    machine = this_machine()
    assert (machine.home, machine.platform) == (HOME, platform)
    assert machine.environment["PATH"] == os.environ["PATH"]


def test_in_the_home_folder_a_file_is_the_users_alone():
    home = Path("/home/u")

    places = places_for(Machine(home), home)

    assert [one.scope for one in places if one.file == "/home/u/.cursor/mcp.json"] == ["user"]
    assert [one.scope for one in places if one.file == "/home/u/.claude.json"] == ["user", "local"]
