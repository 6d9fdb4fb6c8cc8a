import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.programs import invoke, run
from tests.peers.conftest import sdk_python  # noqa: F401 - a fixture
from tests.peers.test_sdk_client import run as run_sdk

PEERS = Path(__file__).parents[2] / "peers"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "nothing to trace"),
        (["--"], "no command behind '--'"),
        (["http://x/mcp"], "--listen 127.0.0.1:9000"),
        (["python", "--listen", "127.0.0.1:0"], "no URL"),
        (["http://x/mcp", "--", "python"], "do not go with a command"),
        (["--listen", "127.0.0.1:0", "--", "python"], "do not go with a command"),
        (["http://127.0.0.1:9/mcp", "--listen", "127.0.0.1:0", "--bearer-env", "NOT_SET_AT_ALL"], "not set"),
        (["http://127.0.0.1:9/mcp", "--listen", "0.0.0.0:0"], "other machines"),
    ],
)
def test_what_does_not_fit_is_a_usage_error(words, text):
    result = invoke(["trace", "-o", os.devnull, *words])
    assert result.exit_code == 2
    assert text in result.stderr


def test_without_a_file_it_makes_one_in_the_users_folder_and_says_where(tmp_path):
    env = {**os.environ, "MESERO_STATE_DIR": str(tmp_path)}
    done = run(["trace", "--", sys.executable, "-c", "print('hi')"], env=env)
    assert (done.returncode, done.stdout) == (0, "hi\n")
    (path,) = (tmp_path / "traces").iterdir()
    assert f"recording to {path}" in done.stderr
    assert path.stat().st_mode & 0o777 == 0o600
    assert '"text"' in path.read_text()


def test_the_users_folder_is_where_the_system_has_it(tmp_path):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "MESERO_"))}
    done = run(["trace", "--", "true"], env={**env, "HOME": str(tmp_path)})
    assert done.returncode == 0
    assert len(list(tmp_path.rglob("traces/*-true-*.jsonl"))) == 1


def test_a_server_behind_it_is_the_same_to_our_client(tmp_path):
    path = tmp_path / "t.jsonl"
    shim = [sys.executable, "-m", "mesero", "trace", "-o", str(path)]
    listed = run(["list", "--json", "--", *shim, "--", sys.executable, "-m", "mesero.demo"])
    assert listed.returncode == 0
    assert "notes_add" in listed.stdout
    audited = run(["audit", str(path), "--severity", "info"])
    assert audited.stdout.startswith("no findings in ")
    assert audited.returncode == 0


async def test_the_sdks_client_runs_through_it_unchanged(tmp_path, sdk_python):  # noqa: F811 - the fixture
    path = tmp_path / "t.jsonl"
    shim = (sys.executable, "-m", "mesero", "trace", "-o", str(path))
    got = await run_sdk(sdk_python, *shim, "--", sys.executable, str(PEERS / "our_server.py"))
    assert got["revision"] == "2026-07-28"
    assert got["add"]["structuredContent"] == 3
    assert got["listen"]["has_grown"]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    methods = {json.loads(line["raw"]).get("method") for line in lines[1:] if line["kind"] == "message"}
    assert {"server/discover", "tools/call", "subscriptions/listen", "notifications/progress"} <= methods
    assert lines[-1]["kind"] == "exit"


def test_the_handshake_era_passes_too(tmp_path):
    path = tmp_path / "t.jsonl"
    program = """
import asyncio, sys, mesero
async def main():
    async with mesero.Client(sys.argv[1:], era="2025-06-18") as client:
        print((await client.call_tool("notes_search", {"query": ""})).is_error)
asyncio.run(main())
"""
    shim = [sys.executable, "-m", "mesero", "trace", "-o", str(path), "--"]
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", program, *shim, sys.executable, "-m", "mesero.demo"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "False\n"
    assert "initialize" in path.read_text()
