"""The processes that a server started, as far as the system tells.

Read from /proc, where there is one; elsewhere nothing is known, and nothing is claimed. A process is named by
its id and its start, so that an id that was given away again is not taken for the old one.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import signal
from pathlib import Path
from typing import Final, NamedTuple

from mesero.doctor.programs import secrets_in_words
from mesero.doctor.sheet import hide_all

__all__ = [
    "MARK",
    "ProcessFacts",
    "alive_of",
    "descendants_of",
    "end_all",
    "end_marked",
    "facts_of",
    "find_memory_of",
    "fresh_mark",
    "is_on_stdin_of",
    "marked_with",
]

MARK: Final = "MESERO_DOCTOR_VISIT"
"""The variable that everything has which a server under examination starts."""
_PROC = Path("/proc")
_ROUNDS = 10
_SHOWN_CHARS = 200
_given_marks: set[str] = set()


class ProcessFacts(NamedTuple):
    """One process: its id, when it started (in the system's ticks), its short name, and the beginning of its
    command line without what looks like a secret.

    Id and start make it the same one: the rest changes when it becomes another program.
    """

    pid: int
    start: int
    name: str
    command: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProcessFacts) and self[:2] == other[:2]

    def __ne__(self, other: object) -> bool:
        return not self == other  # that of tuples compares all of it

    def __hash__(self) -> int:
        return hash(self[:2])


def _read(pid: int) -> tuple[int, ProcessFacts] | None:
    """The parent of a process, and the process; None when it is gone or only waits to be collected."""
    try:
        # The system cuts a name after 15 bytes, in the middle of a character if need be.
        text = (_PROC / str(pid) / "stat").read_bytes().decode(errors="replace")
        words = (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    if fields[0] in ("Z", "X"):
        return None
    command = hide_all(" ".join(words), secrets_in_words(words)).strip()[:_SHOWN_CHARS]
    return int(fields[1]), ProcessFacts(pid, int(fields[19]), name, command)


def facts_of(pid: int) -> ProcessFacts | None:
    """What there is to know of a process; None when it is gone."""
    found = _read(pid)
    return None if found is None else found[1]


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


def is_on_stdin_of(process: ProcessFacts, pid: int) -> bool:
    """Whether a process reads from the same place as another one."""
    try:
        return (_PROC / str(process.pid) / "fd/0").readlink() == (_PROC / str(pid) / "fd/0").readlink()
    except OSError:
        return False


def end_all(processes: list[ProcessFacts]) -> None:
    """Kill what is left of them."""
    for each in alive_of(processes):
        _send_signal(each, "SIGKILL")


def _send_signal(process: ProcessFacts, name: str) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, getattr(signal, name))


# -- marks ---------------------------------------------------------------------------------------------------


def fresh_mark() -> str:
    """A value for `MARK` that nothing has yet."""
    mark = secrets.token_hex(8)
    _given_marks.add(mark)
    return mark


def marked_with(mark: str) -> list[ProcessFacts]:
    """The processes that run with this mark, however far they went from whoever started them."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    with contextlib.suppress(OSError):
        for entry in _PROC.iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                # Those of other users cannot be read, and are none of ours.
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    facts = _read(int(entry.name))
                    found += [facts[1]] if facts is not None else []
    return found


def end_marked(mark: str) -> None:
    """Kill all that runs with this mark, also what starts itself again meanwhile."""
    for _ in range(_ROUNDS):
        found = marked_with(mark)
        if not found:
            break
        # Two that start each other again must both stand still first.
        for name in ("SIGSTOP", "SIGKILL"):
            for each in alive_of(found):
                _send_signal(each, name)
    _given_marks.discard(mark)


@atexit.register
def _end_survivors() -> None:
    """For whoever was interrupted twice, and never came to the end of an examination."""
    for mark in list(_given_marks):
        end_marked(mark)
