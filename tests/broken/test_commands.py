"""Each broken server of this folder that is a command: the right diagnosis comes first, and no wrong one."""

import shutil
import sys

import pytest

from mesero.doctor import examine
from tests.broken.examining import HANGING_S, HERE, QUICK_S, check, codes_of, command_of
from tests.transports.children import is_alive, until

# Server, the codes in the order in which they may be named: the first must be there, others need not.
CASES = [
    ("P00_old", []),
    ("P00_now", []),
    ("P03", ["EXIT-8"]),
    ("P05_key", ["EXIT-2"]),
    ("P05_key_of_many", ["EXIT-2"]),
    ("P05_usage", ["EXIT-3"]),
    ("P05_sdk", ["EXIT-10"]),
    ("P05_crash", ["CLOSED-4"]),
    ("P05_module", ["EXIT-1"]),
    ("P05_quiet", ["CLOSED-4"]),
    ("P05_package", ["EXIT-9"]),
    ("P05_port", ["EXIT-7"]),
    ("P05_engine", ["EXIT-6"]),
    ("P05_nowhere", ["EXIT-4"]),
    ("P06", ["CLOSED-4"]),
    ("P12", ["FRAME-001"]),
    ("P13_bytes", []),
    ("P20", []),
    ("P32", []),
    ("P40", []),
    ("P58", []),
    ("P110", []),
    ("P121", ["VERSION-2"]),
    ("P126", ["ERA-003"]),
    ("P15", ["CLOSED-5"]),
    ("P17_pretty", ["FRAME-004"]),
    ("P17_glued", ["FRAME-005"]),
    ("P18", []),
    ("P24", ["SHUTDOWN-1"]),
    ("P27", ["CLOSED-7"]),
    ("P37", ["CAP-1"]),
    ("P39", ["PING-1"]),
    ("P44", ["ID-007"]),
    ("P47", ["FRAME-003"]),
    ("P50", ["ENV-002"]),
    ("P51", ["TOOLS-2"]),
    ("P53", ["LIST-007"]),
    ("P54", ["MODEL-1"]),
    ("P57", ["TOOLS-2"]),
    ("P61_spaces", ["MODEL-2"]),
    ("P61_long", ["MODEL-2"]),
    ("P111", []),
    ("P112", []),
    ("P115", ["RES-001"]),
    ("P116", ["CACHE-001"]),
    ("P128", ["ID-008"]),
    ("P129", ["FRAME-008"]),
    ("P134", ["EXIT-5"]),
]
HANGING = [
    ("P13_utf16", ["STREAM-3"]),
    ("P19", ["STREAM-4"]),
    ("P16_waits", ["STREAM-2"]),
    ("P16_writes", ["START-1"]),
    ("P22", ["STREAM-1"]),
    ("P22_deaf", ["START-4"]),
    ("serves_http", ["LAUNCH-11"]),
    ("silent_of_trouble", ["START-4"]),
    ("floods_stdout", ["FRAME-001"]),
    ("echoes", ["STREAM-5"]),
]


@pytest.mark.parametrize(("name", "expected"), CASES)
async def test_a_broken_command_is_diagnosed(name, expected):
    report = await examine(command_of(name), timeout_s=QUICK_S)

    check(report, expected)


@pytest.mark.parametrize(("name", "expected"), HANGING)
async def test_a_hanging_command_is_diagnosed_within_the_limit(name, expected):
    report = await examine(command_of(name), timeout_s=HANGING_S)

    check(report, expected)
    assert report.took_s < HANGING_S + 1


async def test_a_variable_that_nobody_filled_in_is_named():
    command = command_of("P04")

    report = await examine(command, env={"API_KEY": "${NOPE}"}, timeout_s=QUICK_S)

    check(report, ["LAUNCH-6"])
    assert report.diagnoses[0].severity == "broken"
    assert "${NOPE}" in report.diagnoses[0].cause


async def test_a_secret_is_told_neither_by_the_report_nor_by_the_recording(tmp_path):
    command = command_of("P109")
    trace = tmp_path / "visit.jsonl"

    report = await examine(command, env={"API_KEY": "canary-0123456789"}, timeout_s=QUICK_S, trace=trace)

    assert report.verdict == "broken"
    assert "canary" not in repr(report)
    assert "canary" not in trace.read_text()


async def test_a_variable_is_not_blamed_for_what_says_its_own_reason():
    command = command_of("P04_module")

    report = await examine(command, env={"API_KEY": "${NOPE}"}, timeout_s=QUICK_S)

    assert codes_of(report) == ["EXIT-1", "LAUNCH-6"]


async def test_an_installer_at_work_is_told_from_a_slow_server(tmp_path):
    installer = tmp_path / "npm"
    shutil.copy(shutil.which("sleep"), installer)
    command = command_of("P07", str(installer))

    report = await examine(command, timeout_s=HANGING_S)

    check(report, ["LAUNCH-9"])


async def test_a_container_without_stdin_is_named(tmp_path):
    docker = tmp_path / "docker"
    docker.write_text(f"#!{sys.executable}\nimport runpy\nrunpy.run_path({str(HERE / 'P10.py')!r})\n")
    docker.chmod(0o755)

    report = await examine([str(docker), "run", "--rm", "image"], timeout_s=QUICK_S)

    check(report, ["CLOSED-2"])


async def test_a_process_that_outlives_its_server_is_named_and_ended():
    report = await examine(command_of("P11"), timeout_s=QUICK_S)

    check(report, ["SHUTDOWN-2"])
    pid = int(report.diagnoses[0].cause.partition("(pid ")[2].partition(")")[0])
    await until(lambda: not is_alive(pid))


@pytest.mark.parametrize("program", ["npx", "uvx"])
async def test_a_program_that_a_version_manager_hides_is_found(program, tmp_path, monkeypatch):
    """P01"""
    place = tmp_path / ".nvm/versions/node/v22.1.0/bin" / program
    place.parent.mkdir(parents=True)
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    report = await examine([program, "-y", "server"], timeout_s=QUICK_S, home=tmp_path)

    check(report, ["LAUNCH-1"])
    assert str(place) in report.diagnoses[0].fix


async def test_a_program_that_is_nowhere_is_said_to_be_missing(tmp_path):
    report = await examine(["no-such-program-here"], timeout_s=QUICK_S, home=tmp_path)

    check(report, ["LAUNCH-2"])


async def test_a_path_in_env_that_lacks_the_usual_folders_is_blamed(tmp_path):
    report = await examine(["sh"], env={"PATH": str(tmp_path)}, timeout_s=QUICK_S, home=tmp_path)

    check(report, ["LAUNCH-7"])


async def test_a_cmd_shim_is_named(tmp_path, monkeypatch):
    (tmp_path / "npx-here.cmd").write_text("@echo off")
    monkeypatch.setenv("PATH", str(tmp_path))

    report = await examine(["npx-here"], timeout_s=QUICK_S, home=tmp_path)

    check(report, ["LAUNCH-8"])


async def test_a_command_line_in_one_word_is_named(tmp_path):
    report = await examine(["npx -y some-server"], timeout_s=QUICK_S, home=tmp_path)

    check(report, ["LAUNCH-4"])
    assert '"args": ["-y", "some-server"]' in report.diagnoses[0].fix


async def test_a_file_that_may_not_be_run_is_named(tmp_path):
    script = tmp_path / "server.sh"
    script.write_text("exit")

    check(await examine([str(script)], timeout_s=QUICK_S), ["LAUNCH-3"])


async def test_a_folder_that_does_not_exist_is_named(tmp_path):
    report = await examine([sys.executable], cwd=str(tmp_path / "nowhere"), timeout_s=QUICK_S)

    check(report, ["LAUNCH-5"])


async def test_the_variable_that_is_missing_is_in_what_can_be_pasted():
    report = await examine([sys.executable, str(HERE / "P05_key_of_many.py")], timeout_s=QUICK_S)

    assert report.diagnoses[0].fix.startswith('"env": {"NOTES_ACCESS_TOKEN": "…"}')
    assert "Error: No access token was provided." in report.diagnoses[0].evidence


async def test_of_a_crash_the_error_is_quoted_and_nobody_is_blamed_yet():
    report = await examine([sys.executable, str(HERE / "P05_crash.py")], timeout_s=QUICK_S)

    [found] = report.diagnoses
    assert found.cause.endswith("and said: Error: the folder /srv/data is locked")
    assert found.blame == "unknown"
    assert found.evidence[0] == "failed"


async def test_a_banner_on_stdout_of_a_server_for_http_is_not_the_answer():
    command = [sys.executable, str(HERE / "serves_http.py"), "stdout"]

    report = await examine(command, timeout_s=HANGING_S)

    check(report, ["LAUNCH-11"])
    assert '"url": "http://127.0.0.1:8123/mcp"' in report.diagnoses[0].fix


async def test_what_a_silent_server_says_of_its_trouble_is_in_the_first_line_and_nobody_is_blamed_yet():
    report = await examine([sys.executable, str(HERE / "silent_of_trouble.py")], timeout_s=HANGING_S)

    [found] = report.diagnoses
    assert found.cause.endswith("ERROR | model:download - Could not download, sleeping")
    assert found.blame == "unknown"
    assert found.fix.startswith("See to what it says on stderr.")
