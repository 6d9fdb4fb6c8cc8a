import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mesero.cli.commands.doctor import calls_from, exit_code_of
from mesero.doctor import Diagnosis, Report
from mesero.errors import UsageError

BROKEN = Path(__file__).parents[2] / "broken"


def run(*words):
    return subprocess.run(
        [sys.executable, "-m", "mesero", "doctor", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_first_line_is_the_answer():
    done = run("--", sys.executable, str(BROKEN / "P05_key.py"))

    first = done.stdout.splitlines()[0]
    assert first.startswith("BROKEN: The server lacks a setting")
    assert "GITHUB_TOKEN" in first
    assert done.returncode == 3


def test_a_healthy_server_ends_with_zero():
    done = run("--", sys.executable, "-m", "mesero.demo")

    assert done.stdout.startswith("OK: notes")
    assert done.returncode == 0


def test_the_document_has_the_same():
    done = run("--json", "--", sys.executable, str(BROKEN / "P24.py"))

    report = json.loads(done.stdout)
    assert report.keys() >= {"target", "verdict", "server", "era", "revision", "checks", "diagnoses"}
    assert report["verdict"] == "degraded"
    assert report["diagnoses"][0]["code"] == "SHUTDOWN-1"
    assert done.returncode == 1


def test_a_python_file_is_examined_as_the_program_that_it_is(tmp_path):
    file = tmp_path / "notes.py"
    file.write_text("import mesero\nserver = mesero.Server('notes')\n")

    done = run(str(file))

    assert done.stdout.startswith("OK: notes")
    assert "mesero serve" in done.stdout


# -- configuration files -------------------------------------------------------------------------------------

DEMO = {"command": sys.executable, "args": ["-m", "mesero.demo"]}
KEYLESS = {"command": sys.executable, "args": [str(BROKEN / "P05_key.py")]}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A user who has two hosts, and stands in an empty project."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    (home / ".cursor").mkdir(parents=True)
    (home / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": {"notes": DEMO, "keyless": KEYLESS}}))
    (home / ".codeium/windsurf").mkdir(parents=True)
    (home / ".codeium/windsurf/mcp_config.json").write_text(json.dumps({"mcpServers": {"notes": DEMO}}))
    monkeypatch.setenv("HOME", str(home))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return home


def test_alone_it_examines_every_server_of_every_host(machine):
    done = run("--yes")

    lines = done.stdout.splitlines()
    assert lines[0].startswith("BROKEN: 2 servers: 1 broken, 1 in order")
    assert any(line.startswith("BROKEN: keyless (Cursor): The server lacks a setting") for line in lines)
    assert any(line.startswith("OK: notes (Cursor, Windsurf): notes") for line in lines)
    assert done.returncode == 1


def test_alone_it_starts_nothing_unasked(machine):
    done = run()

    assert done.stdout == ""
    assert "keyless (Cursor): " in done.stderr
    assert "nothing was started" in done.stderr
    assert done.returncode == 2


def test_it_asks_on_a_terminal(machine):
    pid, terminal = pty.fork()
    if pid == 0:
        words = ["-m", "mesero", "doctor", "--host", "windsurf"]
        os.execv(sys.executable, [sys.executable, *words])
    shown = ""
    while "Go on? [y/N]" not in shown:
        shown += os.read(terminal, 4096).decode()
    os.write(terminal, b"y\n")
    with contextlib.suppress(OSError):  # the other end is closed
        while more := os.read(terminal, 4096):
            shown += more.decode()
    os.close(terminal)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert "1 server: 1 in order" in shown
    assert "\x1b[32mOK:" in shown


def test_the_document_of_many_servers_has_a_report_for_each(machine):
    document = json.loads(run("--yes", "--json").stdout)

    assert document["verdict"] == "broken"
    notes, keyless = document["servers"]
    assert [one["host"] for one in notes["entries"]] == ["cursor", "windsurf"]
    assert (notes["verdict"], keyless["verdict"]) == ("ok", "broken")
    assert keyless["diagnoses"][0]["code"] == "EXIT-2"


def test_a_file_is_examined_by_its_name(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"servers": {"notes": ' + json.dumps(DEMO) + "}, // mine\n}")

    done = run("--yes", str(file))

    assert done.stdout.startswith("OK: 1 server: 1 in order")
    assert run("--yes", "--config", str(file)).stdout.startswith("OK: 1 server")
    assert done.returncode == 0


def test_a_named_server_shows_its_place_in_the_file_first(machine):
    done = run("cursor:notes")

    assert done.stdout.startswith("OK: notes")
    assert f"config          0.00 s  Cursor (user): {machine}/.cursor/mcp.json, line 1" in done.stdout


def test_a_file_without_servers_is_said_to_have_none(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {}}')

    done = run(str(file))

    assert done.returncode == 2
    assert "no server is configured" in done.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--env", "A=b"), "--env is for one server"),
        (("--call", "add"), "--call is for one server"),
        (("--host", "cursor", "notes"), "HOST:NAME"),
        (("--host", "nobody"), "no host 'nobody'"),
        (("--timeout", "0"), "above 0"),
        (("--watch", "-1"), "number of seconds"),
        (("notes", "more"), "one word too many"),
        (("nowhere.json",), "there is no file"),
        (("visit.jsonl",), "mesero audit visit.jsonl"),
        (("note",), "Did you mean notes?"),
    ],
)
def test_what_does_not_go_together_is_said(machine, words, expected):
    done = run(*words)

    assert done.returncode == 2
    assert expected in done.stderr


@pytest.mark.parametrize(
    ("entry", "fix"),
    [
        ({**DEMO, "env": {"K": "${input:key}"}}, "--env NAME=VALUE"),
        ({"url": "https://example.com", "headers": {"K": "${input:key}"}}, "--header"),
        ({"command": "${input:key}"}, "behind '--'"),
    ],
)
def test_what_a_host_asks_its_user_for_must_be_given(tmp_path, entry, fix):
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"servers": {"notes": entry}, "inputs": [{"id": "key"}]}))

    done = run("--config", str(file), "notes")

    assert done.returncode == 2
    assert "VS Code asks its user for key" in done.stderr
    assert fix in done.stderr


def test_a_value_that_a_host_would_ask_for_can_be_given(tmp_path):
    file = tmp_path / "mcp.json"
    entry = {**DEMO, "env": {"K": "${input:key}"}}
    file.write_text(json.dumps({"servers": {"notes": entry}, "inputs": [{"id": "key"}]}))

    assert run("--config", str(file), "--env", "K=value", "notes").returncode == 0


def test_nothing_survives_an_interrupt(tmp_path):
    script = tmp_path / "server.py"
    script.write_text(
        f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "mesero", "doctor", "--", sys.executable, str(script)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 20
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        assert process.poll() is None

    process.send_signal(signal.SIGINT)

    assert process.wait(20) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def report_with(code, phase="launch", *, verdict="broken"):
    found = Diagnosis(
        code=code, severity="broken", phase=phase, title="T", cause="a \x1b[31mcause", blame="server", fix="f"
    )
    return Report(target="x", verdict=verdict, diagnoses=(found,))


@pytest.mark.parametrize(
    ("code", "phase", "expected"),
    [
        ("AUTH-1", "operation", 5),
        ("START-4", "launch", 6),
        ("NET-1", "launch", 3),
        ("HTTP-6", "select era", 3),
        ("ID-007", "operation", 4),
    ],
)
def test_the_exit_code_follows_from_the_first_diagnosis(code, phase, expected):
    assert exit_code_of(report_with(code, phase)) == expected


def test_the_tools_to_call_come_with_arguments_or_without():
    assert calls_from(None) == {}
    assert calls_from(["add", 'sum {"a": 1}', 'a b{"c":{}}']) == {
        "add": None,
        "sum": {"a": 1},
        "a b": {"c": {}},
    }


@pytest.mark.parametrize("word", ["add {a: 1}", '{"a": 1}', " "])
def test_what_names_no_tool_or_has_no_json_is_refused(word):
    with pytest.raises(UsageError):
        calls_from([word])


def test_a_tool_is_called_when_it_is_asked_for():
    done = run(
        "--json",
        "--call",
        'notes_add {"title": "tea", "body": "green"}',
        "--",
        sys.executable,
        "-m",
        "mesero.demo",
    )

    report = json.loads(done.stdout)
    assert "'notes_add'" in next(each for each in report["checks"] if each["name"] == "calls")["evidence"][0]
    assert done.returncode == 0


@pytest.mark.parametrize("option", ["--show-wire", "--era=modern", "--accept", "--stderr"])
def test_an_option_that_means_nothing_here_is_refused(option):
    done = run(option, "--", sys.executable)

    assert done.returncode == 2
    assert "No such option" in done.stderr


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["sh", "-y", "notes"], "mesero doctor -- sh -y notes"),
        (["sh -c notes"], "mesero doctor -- sh -c notes"),
        (["localhost:3000/mcp"], "mesero doctor http://localhost:3000/mcp"),
        (["127.0.0.1:3000"], "mesero doctor http://127.0.0.1:3000"),
    ],
)
def test_what_is_nearly_a_target_is_answered_with_the_whole_line(words, fix):
    done = run(*words)

    assert fix in done.stderr
    assert done.returncode == 2


def test_a_name_that_may_be_in_a_file_that_nobody_can_read_is_answered_with_the_file(tmp_path):
    file = tmp_path / ".cursor/mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"notes": {"command": "npx" "args": []}}}')

    done = subprocess.run(
        [sys.executable, "-m", "mesero", "doctor", "notes"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": ""},
    )

    assert f"mesero doctor {file}" in done.stderr
    assert done.returncode == 2
