"""The matrix is well formed and its parts judge rightly; `make peers` does the meeting itself."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.peers_matrix import run

# As the script imports it: by its own folder.
environments = sys.modules[run.prepare.__module__]
MATRIX = tomllib.loads((run.HERE / "matrix.toml").read_text())
CELLS = run.read_cells(MATRIX)
LOCKS = sorted((run.HERE / "locks").glob("*.txt"))


def test_every_peer_has_a_way_a_lock_and_an_own_name():
    for side in ("server", "client"):
        names = [peer["name"] for peer in MATRIX[side]]
        assert len(names) == len(set(names))
        assert {cell.peer["name"] for cell in CELLS if cell.side == side} == set(names)
    for cell in CELLS:
        assert environments._lock_of(cell.peer["environment"]).exists()


def test_every_lock_belongs_to_a_peer():
    assert {lock.stem for lock in LOCKS} | {run.NPM} == {cell.peer["environment"] for cell in CELLS}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_pins_every_package_to_one_version(lock):
    lines = lock.read_text().splitlines()

    assert lines
    assert not [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)]


def test_the_npm_lock_pins_exact_versions_and_names_no_registry():
    wanted = json.loads((run.HERE / "npm" / "package.json").read_bytes())["dependencies"]
    locked = json.loads((run.HERE / "npm" / "package-lock.json").read_bytes())["packages"]

    assert not [path for path, package in locked.items() if "resolved" in package]
    for name, version in wanted.items():
        assert locked[f"node_modules/{name}"]["version"] == version.rpartition("@")[2]


def test_every_word_of_a_command_can_be_filled_in():
    words = {**environments.Environment("npm").words, "root": "/root"}
    for peer in (*MATRIX["server"], *MATRIX["client"]):
        for command in (*peer.get("commands", {}).values(), peer.get("command", [])):
            assert not [word for word in command if "{" in word.format(**words)]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only where /proc tells of processes")
@pytest.mark.parametrize("place", ["environment", "command line"])
def test_a_process_that_bears_the_mark_is_found_until_it_ends(place, monkeypatch):
    monkeypatch.setattr(run, "SURVIVAL_WAIT_S", 0.0)
    mark = f"mark-of-{os.getpid()}-{place.split()[0]}"
    words = [mark] if place == "command line" else []
    env = {**os.environ, "MESERO_PEERS_CELL": mark} if place == "environment" else dict(os.environ)
    program = "print(flush=True); input()"
    command = [sys.executable, "-c", program, *words]
    process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()

    assert program in run.find_survivor(mark)
    process.communicate(b"\n", timeout=30)
    assert run.find_survivor(mark) is None


def test_the_last_words_are_the_last_that_name_an_error(tmp_path):
    log = tmp_path / "log"
    log.write_text("  | ValueError: first\n    | anyio.ClosedResourceError: why\n    +------\nNode.js v24\n")

    assert run.last_words(log) == "anyio.ClosedResourceError: why"
    log.write_text("one\ntwo\n\n")
    assert run.last_words(log) == "two"


def test_what_cannot_be_installed_is_left_out_by_name(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(environments, "PLACE", tmp_path)

    def fail(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr(environments, "_run", fail)

    assert run.main(["--only", "client mcp 1.2.1"]) == 1
    out = capsys.readouterr().out
    assert "left out: the client mcp 1.2.1, which cannot be installed: no network" in out
    assert "0/0 cells" in out


def test_a_matrix_tells_what_went_wrong_below_its_row(capsys):
    peer = {"name": "other", "environment": "npm"}
    cells = [run.Cell("server", peer, "stdio"), run.Cell("server", peer, "sse")]
    run.print_matrix(cells, {0: run.Outcome(revision="2025-11-25"), 1: run.Outcome(problem="it died")})

    out = capsys.readouterr().out
    assert re.search(r"other +2025-11-25 +- +- +NO", out)
    assert "sse: it died" in out
