"""The processes that a server started, as far as the system tells.

Read from /proc, where there is one; elsewhere nothing is known, and nothing is claimed. A process is named by
its id and its start, so that an id that was given away again is not taken for the old one.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import NamedTuple

__all__ = ["ProcessFacts", "alive_of", "descendants_of", "end_all", "find_memory_of"]

_PROC = Path("/proc")


class ProcessFacts(NamedTuple):
    """One process: its id, when it started (in the system's ticks), its short name and its command line."""

    pid: int
    start: int
    name: str
    command: str


def _read(pid: int) -> tuple[int, ProcessFacts] | None:
    """The parent of a process, and the process; None when it is gone or only waits to be collected."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
        command = (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    if fields[0] in ("Z", "X"):
        return None
    return int(fields[1]), ProcessFacts(pid, int(fields[19]), name, command.strip()[:200])


def descendants_of(pid: int) -> list[ProcessFacts]:
    """The processes that a process started, and those that they started."""
    children: dict[int, list[ProcessFacts]] = {}
    with contextlib.suppress(OSError):
        for entry in _PROC.iterdir():
            found = _read(int(entry.name)) if entry.name.isdigit() else None
            if found is not None:
                children.setdefault(found[0], []).append(found[1])
    kin: list[ProcessFacts] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        kin += below
        waiting += [each.pid for each in below]
    return kin


def alive_of(processes: list[ProcessFacts]) -> list[ProcessFacts]:
    """Those that still run."""
    return [each for each in processes if (now := _read(each.pid)) is not None and now[1].start == each.start]


def find_memory_of(pid: int) -> int | None:
    """How much memory a process has of its own, in bytes; None where nobody tells."""
    try:
        return int((_PROC / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def end_all(processes: list[ProcessFacts]) -> None:
    """Kill what is left of them."""
    for each in alive_of(processes):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(each.pid, signal.SIGKILL)
