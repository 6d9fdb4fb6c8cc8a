import json
import os
import stat

import pytest

from mesero.errors import UsageError
from mesero.host import files
from mesero.host.files import BACKUP, change_file, read_all, read_file
from mesero.host.places import Machine
from mesero.host.problems import Source

SERVER = '{"mcpServers": {"notes": {"command": "npx"}}}'


@pytest.fixture
def machine(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return Machine(home)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_file_that_is_not_there_is_none_and_an_empty_one_has_no_servers(tmp_path):
    path = tmp_path / "mcp.json"
    source = Source(file=str(path), host="cursor")
    assert read_file(source) is None
    path.write_text(" \n")
    assert read_file(source).problems == ()
    assert [one.code for one in read_file(source, is_asked_for=True).problems] == ["syntax"]


def test_what_cannot_be_read_is_a_problem_of_the_file(tmp_path, monkeypatch):
    source = Source(file=str(tmp_path), host="cursor")
    (problem,) = read_file(source).problems
    assert problem.code == "syntax"
    assert "it cannot be read: Is a directory" in problem.message
    path = write(tmp_path / "x.json", SERVER)
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    (problem,) = read_file(Source(file=str(path), host="cursor")).problems
    assert f"the file has {len(SERVER)} bytes" in problem.message


def test_every_file_of_a_machine_is_read_and_compared(machine, tmp_path):
    project = tmp_path / "project"
    write(machine.home / ".cursor" / "mcp.json", SERVER)
    write(project / ".cursor" / "mcp.json", SERVER)
    write(machine.home / ".gemini" / "settings.json", "{")
    found, across = read_all(machine, project)
    assert [(one.source.host, one.source.scope) for one in found] == [
        ("cursor", "user"),
        ("gemini", "user"),
        ("cursor", "project"),
    ]
    assert [one.code for one in across] == ["duplicate-across-files"]
    assert [one.source.scope for one in read_all(machine)[0]] == ["user", "user"]
    assert [one.source.host for one in read_all(machine, project, hosts=["gemini"])[0]] == ["gemini"]


def test_a_part_of_a_large_file_is_read(machine, tmp_path):
    servers = {"mcpServers": {"n": {"command": "x"}}}
    text = json.dumps({"projects": {str(tmp_path): servers}, "mcpServers": {}})
    write(machine.home / ".claude.json", text)
    found, _ = read_all(machine, tmp_path)
    assert [(one.source.scope, len(one.entries)) for one in found] == [("user", 0), ("local", 1)]


def test_a_change_keeps_the_file_as_it_was_beside_it_and_its_permissions(tmp_path):
    path = write(tmp_path / "mcp.json", SERVER)
    path.chmod(0o640)
    backup = change_file(path, lambda text: text + "\n")
    assert path.read_text() == SERVER + "\n"
    assert backup == tmp_path / f"mcp.json{BACKUP}"
    assert backup.read_text() == SERVER
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(backup.stat().st_mode) == 0o640
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mcp.json", f"mcp.json{BACKUP}"]


def test_a_file_that_is_made_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "a" / "b" / "mcp.json"
    assert change_file(path, lambda text: text + "{}") is None
    assert path.read_text() == "{}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_line_ends_and_a_mark_stay(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_bytes(b"\xef\xbb\xbf{\r\n}\r\n")
    change_file(path, lambda text: text)
    assert path.read_bytes() == b"\xef\xbb\xbf{\r\n}\r\n"


def test_a_link_is_followed(tmp_path):
    path = write(tmp_path / "dotfiles" / "mcp.json", "{}")
    link = tmp_path / "mcp.json"
    link.symlink_to(path)
    change_file(link, lambda _: "[]")
    assert link.is_symlink()
    assert path.read_text() == "[]"


def test_whoever_changed_the_file_meanwhile_is_not_overwritten(tmp_path):
    path = write(tmp_path / "mcp.json", "{}")

    def change(text):
        path.write_text("by somebody else")
        return text

    with pytest.raises(UsageError, match="changed by somebody else"):
        change_file(path, change)
    assert path.read_text() == "by somebody else"


def test_what_a_change_raises_leaves_the_file_alone(tmp_path):
    path = write(tmp_path / "mcp.json", "{}")

    def refuse(_):
        raise UsageError("no")

    with pytest.raises(UsageError, match="no"):
        change_file(path, refuse)
    assert [one.name for one in tmp_path.iterdir()] == ["mcp.json"]


def test_what_cannot_be_read_or_written_is_a_usage_error(tmp_path, monkeypatch):
    path = tmp_path / "mcp.json"
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"no UTF-8.*Nothing was changed"):
        change_file(path, str)
    with pytest.raises(UsageError, match="cannot be changed"):
        change_file(tmp_path / "other.json", lambda _: "\ud800")

    def fail(*_):
        raise OSError(28, "No space left on device")

    path.write_text("{}")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UsageError, match="No space left"):
        change_file(path, lambda _: "[]")
    assert path.read_text() == "{}"
    assert [one.name for one in tmp_path.iterdir()] == ["mcp.json"]
