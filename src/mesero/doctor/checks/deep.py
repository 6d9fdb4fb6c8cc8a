"""What is done for whoever asked for it (--deep): requests that are legal and rare, then odd ones.

Here are the legal ones: a text as an id, a method that does not exist, a revision that does not exist,
headers that contradict the body, two requests at once. What no client should send goes over a connection of
its own, so that it harms nothing else: see `mesero.doctor.checks.odd` and `mesero.doctor.checks.midcall`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from mesero.doctor.checks.calls import CallsSeen
from mesero.doctor.checks.midcall import check_midcall, check_overlap
from mesero.doctor.checks.odd import check_oddly, check_without_handshake
from mesero.doctor.checks.staying import check_staying
from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.doctor.visit import Answer, Visit
from mesero.errors import MeseroError, TransportError
from mesero.jsonrpc import ErrorResponse, ResultResponse

__all__ = ["check_deeply", "check_more"]

_NO_METHOD = "mesero/no-such-method"
_NO_REVISION = "2099-01-01"


async def check_more(
    sheet: Sheet,
    visit: Visit,
    limits: Limits,
    seen: CallsSeen,
    *,
    recording: Recording,
    another: Callable[..., Visit],
) -> None:
    """What is done only when it was asked for.

    Args:
        sheet: Takes what is seen.
        visit: The connection.
        limits: How long things may take.
        seen: What calling tools came to.
        recording: What passed.
        another: Makes one more connection to the same server, which the audit does not judge.
    """
    with sheet.check("deep") as check:
        if not limits.is_deep:
            check.skip("not asked for (--deep)")
        elif seen.is_over:
            check.skip("the server is gone, or answers nothing any more")
        elif await check_deeply(sheet, check, visit):
            tool = seen.good
            if tool is not None:
                await check_overlap(sheet, check, visit, tool, limits)
            parts = [check_oddly(sheet, check, another, tool=tool, limits=limits, recording=recording)]
            if visit.facts.era == "legacy":
                parts.append(check_without_handshake(check, another, limits))
            if tool is not None:
                parts.append(check_midcall(sheet, check, another, tool, recording))
            await _do_in_time(check, visit, limits, parts)
    if seen.is_over:
        with sheet.check("staying") as check:
            check.skip("the server is gone, or answers nothing any more")
        return
    await check_staying(sheet, visit, limits.watch_s)


async def _do_in_time(
    check: OpenCheck, visit: Visit, limits: Limits, parts: Sequence[Coroutine[Any, Any, None]]
) -> None:
    """Do one after the other, as long as there is time: each starts a server, and some take long for that."""
    reserve_s = 2 * limits.close_s + limits.odd_s
    try:
        async with asyncio.timeout(max(0.0, visit.left_s - reserve_s)):
            for part in parts:
                await part
    except TimeoutError:
        check.say("there was no time for the rest (--timeout SECONDS)")
    finally:
        for part in parts:
            part.close()


async def check_deeply(sheet: Sheet, check: OpenCheck, visit: Visit) -> bool:
    """Send the legal ones, one after the other; whether all of them were answered.

    Args:
        sheet: Takes what is seen.
        check: Takes it in words.
        visit: The connection.
    """
    harmless = visit.harmless
    answer = await visit.ask(harmless, id_="mesero-1")
    if not _is_answered(sheet, check, answer, "DEEP-1", f"{harmless} with the id 'mesero-1'"):
        return False
    answer = await visit.ask(_NO_METHOD)
    if not _is_answered(sheet, check, answer, "DEEP-2", f"the unknown method {_NO_METHOD}"):
        return False
    if isinstance(answer, ResultResponse):
        check.warn(f"{_NO_METHOD} was answered with a result")
        sheet.diagnose("DEEP-2", f"{_NO_METHOD} was answered with a result")
    answers = await asyncio.gather(visit.ask(harmless), visit.ask(harmless))
    what = f"one of two {harmless} that were sent at once"
    if not all(_is_answered(sheet, check, each, "DEEP-4", what) for each in answers):
        return False
    if visit.facts.era == "modern":
        await _contradict(sheet, check, visit)
    return True


def _is_answered(sheet: Sheet, check: OpenCheck, answer: Answer, code: str, what: str) -> bool:
    if not isinstance(answer, MeseroError):
        said = f"error {answer.code}" if isinstance(answer, ErrorResponse) else "a result"
        check.say(f"{what}: {said}")
        return True
    check.fail(f"{what}: {answer}")
    ended = "ended the connection" if isinstance(answer, TransportError) else "was not answered"
    sheet.diagnose(code, f"{what} {ended}: {answer}")
    return False


async def _contradict(sheet: Sheet, check: OpenCheck, visit: Visit) -> None:
    """A server must look at the revision, and at headers that say something else than the body."""
    answer = await visit.ask("server/discover", revision=_NO_REVISION)
    if isinstance(answer, ResultResponse):
        check.warn(f"a request of revision {_NO_REVISION} was answered with a result")
        sheet.diagnose("DEEP-3", f"it answered a request of revision {_NO_REVISION} with a result")
    if not visit.client.transport.mirrors_headers:
        return
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
    answer = await visit.ask("server/discover", headers={"Mcp-Method": "tools/list"})
    if isinstance(answer, ResultResponse):
        check.warn("a request whose Mcp-Method contradicts its body was run")
        sheet.diagnose("DEEP-5", "Mcp-Method said tools/list, the body server/discover, and the body was run")
