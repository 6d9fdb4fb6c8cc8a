import json
import sys
from pathlib import Path

import pytest

from mesero.host.files import BACKUP
from tests.cli.programs import invoke

CURSOR = """\
{
  // mine
  "mcpServers": {
    "notes": {
      "command": "npx", // from the registry
      "args": ["-y", "notes"]
    },
    "far": {"url": "https://example.com/mcp?key=c0ffee00", "headers": {"X-A": "b"}, "disabled": true}
  }
}
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A user of their own, on a project of their own."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "APPDATA", "MESERO_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr("mesero.host.places.sys.platform", "linux")
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return folder


@pytest.fixture
def cursor(home):
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(CURSOR)
    return path


def run(*words, code=0):
    result = invoke(["config", *words])
    assert result.exit_code == code, result.output
    return result


def test_the_first_line_says_how_many_there_are_and_what_is_wrong(cursor):
    lines = run().stdout.splitlines()
    assert lines[0] == "2 servers of 1 host, 1 warning"
    assert lines[2] == f"Cursor (user) {cursor}"
    assert lines[3] == "  notes  npx -y notes"
    assert lines[4].startswith("  far    https://example.com/mcp?key=<redacted")
    assert lines[4].endswith("(disabled)")
    assert lines[5].startswith("  2:3 warning comments: ")
    assert "c0ffee00" not in run("list").stdout


def test_an_error_ends_with_a_code_of_its_own(cursor):
    cursor.write_text(CURSOR.replace('"npx"', "5"))
    lines = run(code=1).stdout.splitlines()
    assert lines[0] == "2 servers of 1 host, 1 error and 1 warning"
    assert run("show", "far").stdout
    run("show", "notes", code=1)


def test_without_a_file_there_is_nothing(home):
    assert run().stdout == "no server is configured: no host's file was found\n"
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text("{}")
    assert run().stdout == "no server is configured in 1 file\n"


def test_a_file_without_servers_is_left_out_and_servers_of_the_host_itself_have_no_command(home):
    path = home / ".config" / "goose" / "config.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("extensions:\n  developer: {type: builtin, enabled: true}\n")
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{}")
    assert run().stdout.splitlines() == [
        "1 server of 1 host, nothing wrong",
        "",
        f"Goose (user) {path}",
        "  developer  (comes with the host)",
    ]


def test_names_in_two_files_are_said_below_the_file_that_loses(cursor):
    Path(".cursor").mkdir()
    Path(".cursor/mcp.json").write_text('{"mcpServers": {"notes": {"command": "uvx"}}}')
    assert "  4:5 warning duplicate-across-files: 'notes'" in run().stdout
    assert run("list", "--scope", "project").stdout.splitlines()[0] == "1 server of 1 host, 1 warning"
    shown = run("show", "notes").stdout.splitlines()
    assert [line for line in shown if line.startswith("notes: ")] == ["notes: npx -y notes", "notes: uvx"]


def test_json_has_the_same(cursor):
    document = json.loads(run("--json").stdout)
    (file,) = document["files"]
    assert [one["name"] for one in file["servers"]] == ["notes", "far"]
    assert [one["code"] for one in file["problems"]] == ["comments", "secret-in-url"]
    (server,) = json.loads(run("show", "notes", "--json").stdout)["servers"]
    assert (server["command"], server["line"], server["file"]) == (["npx", "-y", "notes"], 4, str(cursor))


def test_one_server_is_shown_whole(cursor):
    text = CURSOR.replace('"disabled": true', '"cwd": "/x"').replace(
        '["-y", "notes"]', '["-y", "notes"], "cwd": "/d", "env": {"MODE": "fast"}'
    )
    cursor.write_text(text)
    assert run("show", "notes").stdout.splitlines()[:4] == [
        "notes: npx -y notes",
        f"  Cursor (user) {cursor}, line 4, column 5",
        "  in /d",
        "  env MODE=fast",
    ]
    assert "  headers X-A=" in run("show", "far").stdout
    cursor.write_text(CURSOR)
    assert run("show", "far").stdout.splitlines()[0].endswith(" (disabled)")
    assert "There is far, notes" in run("show", "other", code=2).stderr


def test_a_named_file_is_read_instead_of_the_hosts_own(cursor, tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"servers": {"n": {"command": "npx"}}}')
    assert f"VS Code (file) {path}" in run("--config", str(path)).stdout
    assert "wrong-key" in run("--config", str(path), "--host", "cursor", code=1).stdout
    assert "there is no file" in run("--config", "nowhere.json", code=2).stderr


def test_the_files_are_listed_where_they_are_or_would_be(cursor):
    assert run("path").stdout == f"Cursor (user) {cursor}\n"
    lines = run("path", "--all", "--host", "cursor").stdout.splitlines()
    assert lines == [
        f"Cursor (user) {cursor}",
        f"Cursor (project) {Path('.cursor/mcp.json').absolute()}  (no file)",
    ]
    assert json.loads(run("path", "--json").stdout) == [
        {"host": "cursor", "scope": "user", "file": str(cursor), "exists": True}
    ]
    assert "--all shows" in run("path", "--host", "zed").stderr
    assert run("path", "--config", str(cursor)).stdout == f"Cursor (file) {cursor}\n"


# -- changing ------------------------------------------------------------------------------------------------


def test_a_command_is_added_and_taken_out_again(cursor):
    result = run("add", "new", "--host", "cursor", "--env", "A=b", "--cwd", "/d", "--", "uvx", "new")
    assert result.stdout == f"added new to {cursor}\n"
    assert f"as it was: {cursor}{BACKUP}" in result.stderr
    assert "Cursor may have to be started anew" in result.stderr
    assert Path(f"{cursor}{BACKUP}").read_text() == CURSOR
    assert "// from the registry" in cursor.read_text()
    assert "  env A=b" in run("show", "new").stdout
    assert run("remove", "new").stdout == f"removed new from {cursor}\n"
    assert cursor.read_text() == CURSOR


@pytest.mark.parametrize(
    "host", ["claude-code", "codex", "gemini", "goose", "opencode", "vscode", "windsurf", "zed"]
)
def test_a_url_is_added_for_each_host_that_takes_one(host):
    result = run("add", "far", "--host", host, "--url", "https://example.com/mcp", "--header", "X-A: b")
    assert result.stdout.startswith("added far to ")
    assert "as it was" not in result.stderr
    shown = run("show", "far").stdout.splitlines()
    assert shown[0] == "far: https://example.com/mcp"


def test_the_file_of_a_project_can_be_meant(home):
    run("add", "n", "--host", "vscode", "--scope", "project", "--", "npx")
    assert json.loads(Path(".vscode/mcp.json").read_text()) == {
        "servers": {"n": {"type": "stdio", "command": "npx", "args": []}}
    }
    run("add", "n", "--host", "claude-code", "--scope", "local", "--", "npx")
    local = json.loads((home / ".claude.json").read_text())["projects"][str(Path.cwd())]
    assert local == {"mcpServers": {"n": {"command": "npx", "args": []}}}
    run("add", "n", "--host", "plain", "--", "npx")
    assert Path("mcp.json").is_file()


def test_of_the_files_of_a_host_the_one_that_is_there_is_added_to(home):
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").write_text("{} // mine\n")
    run("add", "n", "--host", "opencode", "--", "npx")
    assert "// mine" in (folder / "opencode.jsonc").read_text()
    (home / ".config" / "Code" / "User").mkdir(parents=True)
    (home / ".config" / "Code" / "User" / "settings.json").write_text("{}")
    run("add", "n", "--host", "vscode", "--", "npx")
    assert (home / ".config" / "Code" / "User" / "mcp.json").is_file()


def test_a_named_file_is_changed_by_the_rules_of_whose_it_is(tmp_path):
    path = tmp_path / "new.json"
    assert json.loads(run("add", "n", "--config", str(path), "--json", "--", "npx").stdout) == {
        "file": str(path),
        "host": "plain",
        "backup": None,
    }
    assert "mcpServers" in path.read_text()
    run("add", "m", "--config", str(path), "--url", "https://x.org", "--type", "sse")
    changed = json.loads(run("remove", "n", "--config", str(path), "--json").stdout)
    assert changed["backup"] == f"{path}{BACKUP}"
    assert list(json.loads(path.read_text())["mcpServers"]) == ["m"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["frob"], "config does not know 'frob'"),
        (["show"], "config show takes the name of a server"),
        (["list", "x"], "config list takes no name"),
        (["--host", "emacs"], "no host 'emacs'"),
        (["--scope", "world"], "--scope 'world' is none of"),
        (["list", "--", "x"], "goes with config add"),
        (["add", "n", "--host", "cursor"], "a command behind '--', or --url"),
        (["add", "n", "--host", "cursor", "--url", "u", "--", "x"], "a command behind '--', or --url"),
        (["add", "n", "--host", "cursor", "--"], "behind '--' stands a command"),
        (["add", "n", "--host", "cursor", "--header", "A: b", "--", "x"], "go with --url"),
        (["add", "n", "--host", "cursor", "--env", "A=b", "--url", "u"], "go with a command"),
        (["add", "n", "--host", "cursor", "--type", "x", "--url", "u"], "neither http nor sse"),
        (["add", "n", "--", "x"], "which host is it for?"),
        (["add", "n", "--host", "windsurf", "--scope", "project", "--", "x"], "no file for --scope project"),
        (["add", "n", "--host", "claude-desktop", "--url", "https://x"], "starts commands only"),
        (["remove", "n"], "no server 'n' is configured"),
    ],
)
def test_what_cannot_be_done_is_a_usage_error(words, why):
    assert why in run(*words, code=2).stderr


def test_a_file_that_cannot_be_parsed_is_not_changed(cursor):
    broken = CURSOR.replace("},\n", "}\n")
    cursor.write_text(broken)
    result = run("add", "n", "--host", "cursor", "--", "npx", code=2)
    assert "line 7, column 6: a comma is missing. Write it here. Nothing was changed" in result.stderr
    result = run("remove", "notes", code=2)
    assert "line 7, column 6" in result.stderr
    assert cursor.read_text() == broken
    assert not Path(f"{cursor}{BACKUP}").exists()


def test_which_of_several_files_is_meant_has_to_be_said(cursor, home):
    run("add", "notes", "--host", "gemini", "--", "npx")
    result = run("remove", "notes", code=2)
    assert "'notes' stands in 2 files" in result.stderr
    assert "--host gemini --scope user" in result.stderr
    run("remove", "notes", "--host", "gemini")


def test_the_recorder_is_put_in_front_of_a_server_and_taken_out(cursor, home, monkeypatch):
    monkeypatch.setenv("MESERO_STATE_DIR", str(home / "state"))
    result = run("trace", "notes")
    output = str(home / "state" / "traces" / "cursor-notes.jsonl")
    assert result.stdout == f"notes is recorded from its next start on, into {output}: {cursor}\n"
    assert "mesero config untrace notes --host cursor takes that back" in result.stderr
    (server,) = json.loads(run("show", "notes", "--json").stdout)["servers"]
    words = server["command"]
    assert words[words.index("trace") :] == ["trace", "-o", output, "--", "npx", "-y", "notes"]
    assert Path(words[0]).is_absolute()
    assert server["traced"] is True
    assert "is traced already" in run("trace", "notes", code=2).stderr
    assert run("untrace", "notes").stdout == f"notes is as it was in {cursor}\n"
    assert cursor.read_text() == CURSOR
    assert "is not traced" in run("untrace", "notes", code=2).stderr
    assert "starts no command" in run("trace", "far", code=2).stderr


def test_the_recording_goes_where_it_is_told_to_and_else_to_the_user_s_state(cursor, home, monkeypatch):
    monkeypatch.setattr("mesero.cli.commands.config.shutil.which", lambda *_, **__: None)
    run("trace", "notes", "-o", "n.jsonl")
    (server,) = json.loads(run("show", "notes", "--json").stdout)["servers"]
    assert server["command"][:3] == [sys.executable, "-m", "mesero"]
    assert str(Path("n.jsonl").absolute()) in server["command"]
    run("untrace", "notes")
    monkeypatch.setattr("mesero.cli.commands.config.shutil.which", lambda *_, **__: "/bin/mesero")
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "xdg"))
    assert str(home / "xdg" / "mesero" / "traces") in run("trace", "notes").stdout
