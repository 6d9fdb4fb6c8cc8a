"""Commands that do not come to serving, or come late."""

import os
import shutil
import socket
import sys

import pytest

from mesero.doctor import examine
from tests.broken.examining import HANGING_S, HERE, QUICK_S, check, command_of

QUESTIONS = [
    ("stderr", "Ok to proceed? (y) ", "-y"),
    ("stdout", "Do you want to continue? [Y/n] ", "--yes"),
    ("stderr", "ann@example.com's password: ", "BatchMode"),
    ("stderr", "Enter passphrase for key '/home/ann/.ssh/id_ed25519': ", "BatchMode"),
    (
        "stderr",
        "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
        "ssh knows the host",
    ),
]


@pytest.mark.parametrize(("stream", "question", "fix"), QUESTIONS)
async def test_a_command_that_asks_a_person_is_named(stream, question, fix):
    report = await examine(command_of("prompting", stream, question), timeout_s=HANGING_S)

    check(report, ["LAUNCH-10"])
    assert question.strip() in report.diagnoses[0].cause
    assert fix in report.diagnoses[0].fix


@pytest.mark.parametrize(("program", "expected"), [("python", ["START-3"]), ("npx", ["START-2"])])
async def test_a_slow_start_is_told_from_an_installation(program, expected, tmp_path, monkeypatch):
    """P09, and P07 where it succeeds in the end."""
    # What counts as slow is 10 s, which no test waits for.
    monkeypatch.setattr("mesero.audit.causes.process._SLOW_START_S", 1.0)
    script = tmp_path / program
    script.write_text(f"#!/bin/sh\nexec {sys.executable} {HERE / 'slow_start.py'}\n")
    script.chmod(0o755)

    report = await examine([str(script)], timeout_s=QUICK_S)

    check(report, expected)


async def test_an_installation_that_does_not_end_is_to_be_done_outside_of_the_host(tmp_path):
    """P08: killed at the limit, it begins from nothing the next time."""
    installer = tmp_path / "npm"
    shutil.copy(shutil.which("sleep"), installer)

    report = await examine(command_of("P08", str(installer), str(tmp_path / "cache")), timeout_s=HANGING_S)

    check(report, ["LAUNCH-9"])
    assert "point `command` at the installed program" in report.diagnoses[0].fix
    assert not (tmp_path / "cache").exists()


async def test_the_holder_of_a_port_that_is_taken_is_named():
    """P101"""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        report = await examine(command_of("P101", str(port)), timeout_s=QUICK_S)

    check(report, ["EXIT-7"])
    assert f"port {port} is held by" in report.diagnoses[0].cause
    assert f"(pid {os.getpid()})" in report.diagnoses[0].cause


async def test_an_examination_that_its_limit_ends_says_so():
    report = await examine(command_of("P53_slow"), timeout_s=2.0)

    assert [each.code for each in report.diagnoses] == ["TIME-1"]
    assert report.checks[-1].status == "not reached"
    assert report.took_s < 3


async def test_a_server_that_a_pause_makes_deaf_is_named():
    """P86, as far as a process can show it."""
    report = await examine(command_of("P86_quiet"), timeout_s=6.0, watch_s=1.2)

    assert report.diagnoses[0].code == "WATCH-3"
    assert "after 1.2 s without a message" in report.diagnoses[0].cause


@pytest.mark.parametrize("is_elsewhere", [True, False])
async def test_the_interpreter_of_a_script_that_is_not_on_the_path_is_named(is_elsewhere, tmp_path):
    """P01, one step later: the program is found, and what its first line wants is not."""
    name = "no-such-interpreter"
    script = tmp_path / "server"
    script.write_text(f"#!/usr/bin/env {name}\n")
    script.chmod(0o755)
    interpreter = tmp_path / ".local/bin" / name
    if is_elsewhere:
        interpreter.parent.mkdir(parents=True)
        interpreter.write_text("#!/bin/sh\n")
        interpreter.chmod(0o755)

    report = await examine([str(script)], home=tmp_path, timeout_s=QUICK_S)

    check(report, ["LAUNCH-1" if is_elsewhere else "LAUNCH-2"])
    assert f"`{name}` is " in report.diagnoses[0].cause
    assert (f'"env": {{"PATH": "{interpreter.parent}:' in report.diagnoses[0].fix) == is_elsewhere


@pytest.mark.parametrize(("program", "fix"), [("sh", '"args": ["-c", "COMMAND"]'), ("true", None)])
async def test_a_launcher_with_nothing_to_launch_is_told_at_once(program, fix):
    report = await examine([program], timeout_s=QUICK_S)

    check(report, ["LAUNCH-12" if fix else "CLOSED-4"])
    assert fix is None or fix in report.diagnoses[0].fix


async def test_a_mistake_of_the_doctor_takes_nothing_of_what_it_saw(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("a mistake")

    monkeypatch.setattr("mesero.doctor.local.check_tools", fail)

    report = await examine(command_of("P00_old"), timeout_s=QUICK_S)

    check(report, ["DOCTOR-1"])
    assert report.diagnoses[0].cause == "RuntimeError: a mistake"
    assert report.verdict == "degraded"
    assert [each.status for each in report.checks[:5]] == ["ok"] * 5
