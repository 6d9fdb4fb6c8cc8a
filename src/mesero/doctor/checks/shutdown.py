"""How a server process ends: at the end of its stdin, and with all that it started."""

from __future__ import annotations

from collections.abc import Sequence

from mesero.doctor.processes import alive_of, descendants_of, end_all
from mesero.doctor.sheet import Sheet
from mesero.doctor.visit import Visit
from mesero.trace.format import EofLine, ExitLine, Header, Line

__all__ = ["check_shutdown"]


async def check_shutdown(sheet: Sheet, visit: Visit, lines: Sequence[Header | Line]) -> None:
    """Close the connection, and see what happens; nothing is left afterwards, one way or the other.

    Args:
        sheet: Takes what is seen.
        visit: The connection.
        lines: The recording, which grows while it is closed.
    """
    pid = visit.pid
    if pid is None:
        for name in ("shutdown", "survivors"):
            with sheet.check(name) as check:
                check.skip("the server is gone already")
        await visit.aclose()
        return
    kin = descendants_of(pid)
    with sheet.check("shutdown") as check:
        before = len(lines)
        await visit.aclose()
        end = next((line for line in lines[before:] if isinstance(line, ExitLine)), None)
        closed = next(
            (line for line in lines[before:] if isinstance(line, EofLine) and line.dir == "c2s"), None
        )
        took_s = end.t - closed.t if end is not None and closed is not None else 0.0
        if end is not None and isinstance(end.signal, int):
            check.warn(f"ended by signal {end.signal}, {took_s:.1f} s after its stdin was closed")
            sheet.diagnose(
                "SHUTDOWN-1", f"its stdin was closed, and it went on until signal {end.signal} ended it"
            )
        else:
            check.say(f"exited {took_s:.2f} s after its stdin was closed")
    with sheet.check("survivors") as check:
        left = alive_of(kin)
        end_all(left)
        if not left:
            check.say("nothing was left")
            return
        names = ", ".join(f"{each.name} (pid {each.pid})" for each in left)
        check.warn(f"still running afterwards, ended now: {names}")
        sheet.diagnose("SHUTDOWN-2", f"when the server had ended, these still ran: {names}")
