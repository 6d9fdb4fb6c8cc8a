"""The rivals' virtual environments under `.bench/`: made once, made again when a pin changes.

The versions are those of requirements-peers.txt; what both need besides (uvicorn's fast parts, the command
line of mcp) has the pins of requirements-dev.txt, so that all HTTP servers run on the same uvicorn.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".bench"
BESIDE = ("uvicorn", "httptools", "uvloop")
EXTRAS = {"mcp": "mcp[cli]", "fastmcp": "fastmcp"}


def read_pins(path: Path) -> dict[str, str]:
    """Name → version of every exact pin in a requirements file."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;]+)", path.read_text(), re.MULTILINE)
    return {name.lower(): version for name, version in found}


def requirements_of(rival: str) -> list[str]:
    peers, dev = read_pins(ROOT / "requirements-peers.txt"), read_pins(ROOT / "requirements-dev.txt")
    return [f"{EXTRAS[rival]}=={peers[rival]}", *(f"{name}=={dev[name]}" for name in BESIDE if name in dev)]


def prepare(rival: str) -> Path:
    """The Python of the rival's environment, which is set up unless its stamp says that it is.

    Raises:
        subprocess.CalledProcessError: pip could not install it; its own words are on stderr.

    """
    place = PLACE / rival
    python, stamp = place / "bin" / "python", place / "stamp"
    wanted = "\n".join(requirements_of(rival))
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    PLACE.mkdir(exist_ok=True)
    # The folder ignores itself, whatever the repository's own list says.
    (PLACE / ".gitignore").write_text("*\n")
    print(f"setting up .bench/{rival}: {wanted.replace(chr(10), ', ')}", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *wanted.splitlines()], check=True, stdout=sys.stderr)
    stamp.write_text(wanted)
    return python
