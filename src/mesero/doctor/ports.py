"""Who listens at a port of this machine, as far as the system tells: read from /proc, where there is one."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from mesero.doctor.processes import ProcessFacts, facts_of

__all__ = ["find_listener", "find_port"]

_PROC: Final = Path("/proc")
_LISTENING: Final = "0A"
"""https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html"""
_TAKEN: Final = re.compile(r"EADDRINUSE|address already in use", re.IGNORECASE)
_PORT: Final = re.compile(r"(?:port[ =]+|:|', |\", )(\d{2,5})\b", re.IGNORECASE)


def find_port(lines: Sequence[str]) -> int | None:
    """The port that a message about a taken one names; the last such message counts."""
    for line in reversed(lines):
        if _TAKEN.search(line):
            found = [int(number) for number in _PORT.findall(line) if 0 < int(number) < 65_536]
            if found:
                return found[-1]
    return None


def find_listener(port: int) -> ProcessFacts | None:
    """The process that listens at a port, or None where nobody does or nothing can be known.

    Args:
        port: The port, of any address of this machine.
    """
    sockets = {f"socket:[{inode}]" for inode in _inodes_at(port)}
    if not sockets:
        return None
    with contextlib.suppress(OSError):
        for entry in _PROC.iterdir():
            if entry.name.isdigit() and _holds(entry, sockets):
                return facts_of(int(entry.name))
    return None


def _inodes_at(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for row in (_PROC / "net" / table).read_text().splitlines()[1:]:
                fields = row.split()
                if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]


def _holds(process: Path, sockets: set[str]) -> bool:
    # Of other users' processes nothing is told.
    with contextlib.suppress(OSError):
        for number in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                if str(number.readlink()) in sockets:
                    return True
    return False
