"""Draw docs/pictures/doctor.svg: what `mesero doctor` prints on a terminal, for a user with four servers.

    python scripts/draw_doctor_picture.py [--out FILE]

Nothing in it is made up: the servers are written into a home of their own, `mesero doctor --yes` runs on a
terminal of 100 columns, and what it printed is drawn. Needs a system with pseudo-terminals.
"""

from __future__ import annotations

import argparse
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

OUT = Path(__file__).parents[1] / "docs" / "pictures" / "doctor.svg"
COLUMNS = 100
HOME = "/home/ana"

TRACKER = """\
import os, sys
if "TRACKER_TOKEN" not in os.environ:
    sys.exit("error: TRACKER_TOKEN is not set")
"""
WEATHER = """\
import mesero

print("Weather server ready!", flush=True)
server = mesero.Server("weather", version="2.1.0")


@server.tool
def forecast(city: str) -> str:
    return f"Sun over {city}"


server.run()
"""


def write_home(home: Path) -> None:
    """A user who has Cursor and Claude Desktop, and uv where only the shell finds it."""
    uvx = home / ".local/bin/uvx"
    uvx.parent.mkdir(parents=True)
    uvx.write_text("#!/bin/sh\n")
    uvx.chmod(0o755)
    for name, text in (("tracker.py", TRACKER), ("weather.py", WEATHER)):
        (home / name).write_text(text)

    def python(*words: str) -> dict[str, object]:
        return {"command": sys.executable, "args": list(words)}

    cursor = {"notes": python("-m", "mesero.demo"), "tracker": python(str(home / "tracker.py"))}
    desktop = {
        "files": {"command": "uvx", "args": ["files-mcp"]},
        "notes": cursor["notes"],
        "weather": python(str(home / "weather.py")),
    }
    for place, servers in (
        (".cursor/mcp.json", cursor),
        (".config/Claude/claude_desktop_config.json", desktop),
    ):
        (home / place).parent.mkdir(parents=True)
        (home / place).write_text(json.dumps({"mcpServers": servers}, indent=2))


def run_doctor(home: Path) -> str:
    """What it prints on a terminal."""
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        [sys.executable, "-m", "mesero", "doctor", "--yes"],
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=home,
    )
    os.close(terminal)
    printed = b""
    try:
        while more := os.read(reader, 65_536):
            printed += more
    except OSError:  # that the other end is closed is an error on Linux
        process.wait(60)
    os.close(reader)
    return printed.decode().replace("\r\n", "\n")


def draw(printed: str) -> str:
    """A terminal window with that in it."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"\x1b[32m$\x1b[0m mesero doctor --yes\n{printed.rstrip()}\n"))
    picture = console.export_svg(title="", theme=MONOKAI, unique_id="doctor")
    # Fonts of other sites are not loaded, and nothing depends on one: every text has its length.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    return picture.replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas") + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        write_home(home)
        printed = run_doctor(home).replace(str(home), HOME)
    options.out.write_text(draw(printed))


if __name__ == "__main__":
    main()
