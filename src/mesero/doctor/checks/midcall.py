"""What becomes of calls that overlap, are cancelled, or are still open when the connection ends.

Only tools that may be called are used for it, and only those that answered when they were called alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from mesero.doctor.checks.calls import CallableTool
from mesero.doctor.checks.shutdown import Ending, close_watched, names_of
from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.doctor.visit import Visit
from mesero.errors import CallTimeoutError, MeseroError, TransportError

__all__ = ["check_midcall", "check_overlap"]

_OPEN_S = 0.05
"""How long a call is open before it is given up or its connection is closed, in seconds."""


async def check_overlap(
    sheet: Sheet, check: OpenCheck, visit: Visit, tool: CallableTool, limits: Limits
) -> None:
    """Call a tool twice at once: both calls must be answered.

    Args:
        sheet: Takes what is seen.
        check: Takes it in words.
        visit: The connection.
        tool: The tool.
        limits: How long things may take.
    """
    limit_s = min(limits.call_s, max(limits.odd_s, visit.left_s / 3))
    first, second = await asyncio.gather(
        visit.call(tool.name, tool.arguments, limit_s=limit_s),
        visit.call(tool.name, tool.arguments, limit_s=limit_s),
    )
    lost = [each for each in (first, second) if isinstance(each.error, CallTimeoutError | TransportError)]
    if not lost:
        check.say(f"two calls of {tool.name!r} at once: both are answered")
        return
    ended = "neither call was" if len(lost) == 2 else "one of them was not"
    cause = f"{tool.name!r} was called twice at once, and {ended} answered in {limit_s:.1f} s; alone it is"
    check.fail(cause)
    sheet.diagnose("DEEP-4", cause)


async def check_midcall(
    sheet: Sheet, check: OpenCheck, another: Callable[..., Visit], tool: CallableTool, recording: Recording
) -> None:
    """Give calls up: one by a cancellation, one by the end of the connection.

    Args:
        sheet: Takes what is seen.
        check: Takes it in words.
        another: Makes a connection.
        tool: The tool.
        recording: What passed.
    """
    if not await _cancel(sheet, check, another, tool):
        return
    visit = another()
    async with visit.ending():
        if not await visit.connect():
            check.say(f"no call was left open: {visit.error}")
            return
        is_process = visit.pid is not None
        call = _call_of(visit, tool)
        await asyncio.wait({call}, timeout=_OPEN_S)
        is_open = not call.done()
        ending = await close_watched(visit, recording.lines)
        await asyncio.wait({call})
        if is_process and ending is not None:
            _tell(sheet, check, ending, tool, is_open=is_open)


def _call_of(visit: Visit, tool: CallableTool) -> asyncio.Task[object]:
    params = {"name": tool.name, "arguments": tool.arguments}
    return asyncio.create_task(visit.ask("tools/call", params=params))


async def _cancel(sheet: Sheet, check: OpenCheck, another: Callable[..., Visit], tool: CallableTool) -> bool:
    """Cancel a call as soon as it was sent; whether the server lives on.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#timing-considerations
    """
    visit = another()
    async with visit.ending():
        if not await visit.connect():
            check.say(f"no call was cancelled: {visit.error}")
            return False
        call = _call_of(visit, tool)
        # Over HTTP the request needs a moment to leave.
        await asyncio.wait({call}, timeout=0.0 if visit.pid is not None else _OPEN_S)
        call.cancel()
        await asyncio.wait({call})
        harmless = visit.harmless
        for _ in range(2):
            answer = await visit.ask(harmless)
            if isinstance(answer, MeseroError):
                ended = answer.what if isinstance(answer, TransportError) else "it answered nothing any more"
                check.fail(f"after a call of {tool.name!r} was cancelled: {ended}")
                sheet.diagnose("DEEP-7", f"after a call of {tool.name!r} was cancelled, {ended}")
                return False
        check.say(f"a call of {tool.name!r} was cancelled: the server goes on")
        return True


def _tell(sheet: Sheet, check: OpenCheck, ending: Ending, tool: CallableTool, *, is_open: bool) -> None:
    what = f"the connection was closed in a call of {tool.name!r}"
    if not is_open:
        what = f"the connection was closed right after a call of {tool.name!r}"
    left = [*ending.left, *ending.fresh]
    if left:
        cause = f"{what}, and these went on: {names_of(left)}"
        check.warn(cause)
        sheet.diagnose("DEEP-8", cause, severity="degraded")
    elif ending.signal is not None:
        cause = f"{what}, and it took signal {ending.signal} to end the server, {ending.took_s:.1f} s later"
        check.warn(cause)
        # Most hosts end what does not end by itself; what ignores even that stays for ever with some.
        sheet.diagnose("DEEP-8", cause, severity="degraded" if ending.signal == 9 else "note")
    else:
        check.say(f"{what}: the server ended {ending.took_s:.2f} s later")
