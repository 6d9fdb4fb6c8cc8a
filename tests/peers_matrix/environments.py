"""The peers' environments under `.peers/`: made once, made again when their lock changes.

A Python environment is made of `locks/<name>.txt`, where everything is pinned; the one called `npm` of
npm/package-lock.json.
Whatever cannot be installed is left out, with the reason, so that the rest is met all the same.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PLACE = HERE.parents[1] / ".peers"
NPM = "npm"
INSTALL_TIMEOUT_S = 300


@dataclass(frozen=True)
class Environment:
    """Where an environment's programs are, or why it is not there."""

    name: str
    problem: str | None = None

    @property
    def folder(self) -> Path:
        return PLACE / self.name

    @property
    def words(self) -> dict[str, str]:
        """What the placeholders of a command stand for."""
        npm = PLACE / NPM
        return {
            "python": str(self.folder / "bin" / "python"),
            "node": str(npm / "node_modules" / ".bin" / "node"),
            "npm": str(npm),
            "peers": str(HERE / "peers"),
        }


def prepare(names: set[str], *, at_once: int) -> dict[str, Environment]:
    """Every environment of these names."""
    PLACE.mkdir(exist_ok=True)
    # The folder ignores itself, whatever the repository's own list says.
    (PLACE / ".gitignore").write_text("*\n")
    with ThreadPoolExecutor(at_once) as pool:
        made = pool.map(_prepare_one, sorted(names))
        return {environment.name: environment for environment in made}


def _prepare_one(name: str) -> Environment:
    folder, lock = PLACE / name, _lock_of(name)
    wanted = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()
    stamp = folder / "stamp"
    if stamp.exists() and stamp.read_text() == wanted:
        return Environment(name)
    print(f"setting up .peers/{name} ...", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        _install_npm(folder) if name == NPM else _install_python(folder, lock)
    except (OSError, subprocess.SubprocessError) as error:
        return Environment(name, problem=_reason_of(error))
    stamp.write_text(wanted)
    return Environment(name)


def _lock_of(name: str) -> Path:
    return HERE / "npm" / "package-lock.json" if name == NPM else HERE / "locks" / f"{name}.txt"


def _install_python(folder: Path, lock: Path) -> None:
    # Our own pip installs into it: a pip for each of them would take longer than the peers themselves.
    _run([sys.executable, "-m", "venv", "--without-pip", str(folder)], cwd=HERE)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        str(folder / "bin" / "python"),
    ]
    _run([*pip, "install", "--quiet", "--requirement", str(lock)], cwd=HERE)


def _install_npm(folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "npm" / name, folder)
    _run(["npm", "ci", "--omit=dev", "--no-audit", "--no-fund", "--no-update-notifier"], cwd=folder)


def _run(command: list[str], *, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S)


def _reason_of(error: Exception) -> str:
    said = str(getattr(error, "stderr", "") or error).strip().splitlines()
    errors = [line for line in said if "error" in line.lower()]
    return (errors or said or [type(error).__name__])[-1][:200]
