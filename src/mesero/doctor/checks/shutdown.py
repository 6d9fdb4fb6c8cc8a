"""How a server process ends: at the end of its stdin, and with all that it started."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec

from mesero.doctor.processes import ProcessFacts, alive_of
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.doctor.visit import Visit
from mesero.trace.format import EofLine, ExitLine, Header, Line
from mesero.transports.stdio import StdioTransport

__all__ = ["Ending", "check_shutdown", "close_watched", "names_of"]

_GRACE_S = 0.4
"""What ends with its parent may take a moment longer, in seconds."""
_LOOK_S = 0.02


class Ending(msgspec.Struct, kw_only=True):
    """How a process ended.

    Attributes:
        pid: Its id.
        signal: The signal that ended it, None where it exited by itself.
        took_s: How long after its stdin was closed, in seconds.
        kin: What it had started, and what ran when it was told to end.
        left: What of that went on after it.
        fresh: What it started while it ended, and what went on after it.
    """

    pid: int
    signal: int | None = None
    took_s: float = 0.0
    kin: list[ProcessFacts] = []
    left: list[ProcessFacts] = []
    fresh: list[ProcessFacts] = []


def names_of(processes: Sequence[ProcessFacts]) -> str:
    """What they are called, for people."""
    return ", ".join(f"{each.name} (pid {each.pid})" for each in processes)


async def close_watched(visit: Visit, lines: Sequence[Header | Line]) -> Ending | None:
    """Close a connection, and watch what becomes of its process; nothing is left afterwards.

    None where there is no process.

    Args:
        visit: The connection.
        lines: The recording, which grows while it is closed.
    """
    pid = visit.pid
    if pid is None:
        await visit.aclose()
        visit.end_kin()
        return None
    ending = Ending(pid=pid, kin=await asyncio.to_thread(visit.find_kin))
    survivors: list[ProcessFacts] = []

    def look(_: int) -> None:
        # The rest of its group is ended right after this, so that it cannot be seen later.
        end = time.monotonic() + _GRACE_S
        survivors[:] = _alive_in(visit, ending.kin)
        while survivors and time.monotonic() < end:
            time.sleep(_LOOK_S)
            survivors[:] = _alive_in(visit, ending.kin)

    before = len(lines)
    if isinstance(visit.client.transport, StdioTransport):
        visit.client.transport.on_exit = look
    await visit.aclose()
    gone = next((line for line in lines[before:] if isinstance(line, ExitLine)), None)
    closed = next((line for line in lines[before:] if isinstance(line, EofLine) and line.dir == "c2s"), None)
    if gone is not None and closed is not None:
        ending.took_s = gone.t - closed.t
    if gone is not None and isinstance(gone.signal, int):
        ending.signal = gone.signal
    late = await asyncio.to_thread(_alive_in, visit, ending.kin)
    for each in dict.fromkeys((*survivors, *late)):
        (ending.left if each in ending.kin else ending.fresh).append(each)
    visit.end_kin()
    return ending


def _alive_in(visit: Visit, kin: list[ProcessFacts]) -> list[ProcessFacts]:
    return list(dict.fromkeys((*alive_of(kin), *visit.find_kin())))


async def check_shutdown(
    sheet: Sheet, visit: Visit, lines: Sequence[Header | Line], *, is_hung: bool = False
) -> None:
    """Close the connection, and see what happens; nothing is left afterwards, one way or the other.

    Args:
        sheet: Takes what is seen.
        visit: The connection.
        lines: The recording, which grows while it is closed.
        is_hung: Whether a call is known to hang: it keeps the process from ending, too.
    """
    ending: Ending | None = None
    with sheet.check("shutdown") as check:
        ending = await close_watched(visit, lines)
        if ending is None:
            check.skip("the server is gone already")
        else:
            _tell_end(sheet, check, ending, is_hung=is_hung)
    with sheet.check("survivors") as check:
        if ending is None:
            check.skip("the server is gone already")
            return
        if not ending.left and not ending.fresh:
            check.say("nothing was left")
            return
        names = names_of([*ending.left, *ending.fresh])
        check.warn(f"still running afterwards, ended now: {names}")
        if ending.left:
            sheet.diagnose(
                "SHUTDOWN-2", f"when the server had ended, these still ran: {names_of(ending.left)}"
            )
        if ending.fresh:
            sheet.diagnose(
                "SHUTDOWN-3",
                f"while it ended, the server (pid {ending.pid}) started {names_of(ending.fresh)}",
            )


def _tell_end(sheet: Sheet, check: OpenCheck, ending: Ending, *, is_hung: bool) -> None:
    if ending.signal is None:
        check.say(f"exited {ending.took_s:.2f} s after its stdin was closed")
        return
    seen = f"ended by signal {ending.signal}, {ending.took_s:.1f} s after its stdin was closed"
    if is_hung:
        check.say(f"{seen}; the call that hangs may have kept it")
        return
    check.warn(seen)
    names = names_of(ending.kin)
    more = f"; it had started {names}" if names else ""
    went_on = f"went on for {ending.took_s:.1f} s, until signal {ending.signal} ended it"
    sheet.diagnose("SHUTDOWN-1", f"its stdin was closed, and it (pid {ending.pid}) {went_on}{more}")
