"""What becomes of a connection on which nothing happens: whether it lasts, and whether the server grows."""

from __future__ import annotations

import asyncio
import time

from mesero.doctor.processes import find_memory_of
from mesero.doctor.sheet import Sheet
from mesero.doctor.visit import Visit
from mesero.errors import MeseroError

__all__ = ["check_staying"]

_SAMPLE_S = 0.5
_GROWTH_BYTES = 50 * 2**20


async def check_staying(sheet: Sheet, visit: Visit, watch_s: float) -> None:
    """Stay connected for a time, then ask something.

    Args:
        sheet: Takes what is seen.
        visit: The connection.
        watch_s: How long, in seconds.
    """
    with sheet.check("staying") as check:
        if watch_s <= 0:
            check.skip("not asked for (--watch SECONDS)")
            return
        start = time.monotonic()
        pid = visit.pid
        first = last = find_memory_of(pid) if pid is not None else None
        while (stayed_s := time.monotonic() - start) < watch_s:
            await asyncio.sleep(min(_SAMPLE_S, watch_s - stayed_s))
            if pid is not None and visit.pid != pid:
                stayed_s = time.monotonic() - start
                check.fail(f"the server ended after {stayed_s:.1f} s")
                words = " | ".join(visit.stderr[-3:])
                said = f"; its last words on stderr: {words}" if words else ""
                sheet.diagnose(
                    "WATCH-1", f"nothing was asked of it, and it ended after {stayed_s:.1f} s{said}"
                )
                return
            last = (find_memory_of(pid) or last) if pid is not None else None
        if first is not None and last is not None:
            check.say(f"its memory went from {first / 2**20:.0f} to {last / 2**20:.0f} MiB")
            if last - first > _GROWTH_BYTES:
                check.warn("that is a growth without work")
                sheet.diagnose("WATCH-2", f"it grew by {(last - first) / 2**20:.0f} MiB in {watch_s:g} s")
        harmless = visit.harmless
        answer = await visit.ask(harmless)
        if isinstance(answer, MeseroError):
            check.fail(str(answer))
            sheet.diagnose("WATCH-3", f"after {watch_s:g} s without a message, {harmless} failed: {answer}")
        else:
            check.say(f"after {watch_s:g} s it answers")
