import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mesero.cli.commands.doctor import calls_from, exit_code_of, lines_of
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


def test_a_python_file_is_no_target():
    done = run("notes.py")

    assert done.returncode == 2
    assert "mesero serve notes.py" in done.stderr


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


def test_what_a_server_sends_is_made_safe():
    assert "\x1b" not in "\n".join(lines_of(report_with("NET-1")))


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
        'notes.add {"title": "tea", "body": "green"}',
        "--",
        sys.executable,
        "-m",
        "mesero.demo",
    )

    report = json.loads(done.stdout)
    assert "'notes.add'" in next(each for each in report["checks"] if each["name"] == "calls")["evidence"][0]
    assert done.returncode == 0
