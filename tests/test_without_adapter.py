"""The folder of the older revisions is deleted in a copy of the package, and what is newer works there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Whole files that speak of nothing older.
NEWER = [
    "tests/modern",
    *(f"tests/client/test_{name}.py" for name in ("calling", "listening", "lists", "methods")),
    *(f"tests/server/test_{name}.py" for name in ("context", "operations", "rounds", "serve", "tools")),
]

IMPORT_ALL = """
import importlib, pkgutil, mesero
for module in pkgutil.walk_packages(mesero.__path__, "mesero."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(mesero.__path__[0])
"""

SHAKE_HANDS = """
import asyncio, mesero
from mesero.testing import scripted_server

async def main():
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").error(-32601, "Method not found")
    try:
        await mesero.Client.connect(server)
    except mesero.NoCommonRevisionError as error:
        print(error)

asyncio.run(main())
"""


@pytest.fixture
def run(tmp_path):
    """Run a Python in a copy of the repository without the folder; its output, if it ends well."""
    for folder in ("src", "tests", "bench"):
        shutil.copytree(
            ROOT / folder,
            tmp_path / folder,
            ignore=shutil.ignore_patterns("__pycache__", "node_modules", ".results"),
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.rmtree(tmp_path / "src" / "mesero" / "legacy")
    # No coverage of a copy, and nothing of the run that this one is part of.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST"))}
    env = {**kept, "PYTHONPATH": str(tmp_path / "src")}

    def start(*arguments):
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=110, check=False
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
        return done.stdout

    return start


def test_every_other_module_can_be_imported(run, tmp_path):
    assert run("-c", IMPORT_ALL).strip() == str(tmp_path / "src" / "mesero")


def test_a_server_that_needs_the_handshake_is_told_apart_and_named(run):
    assert "we speak 2026-07-28" in run("-c", SHAKE_HANDS)


def test_what_is_newer_passes_its_tests(run):
    output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *NEWER)

    assert " passed" in output
    assert " failed" not in output
