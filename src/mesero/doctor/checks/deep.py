"""Odd but legal requests, for whoever asked for them: what servers get wrong only then. Tools are not called.

A text as an id, a method that does not exist, a revision that does not exist, headers that contradict the
body, two requests at once.
"""

from __future__ import annotations

import asyncio

from mesero.doctor.checks.staying import check_staying
from mesero.doctor.limits import Limits
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.doctor.visit import Visit
from mesero.errors import MeseroError, TransportError
from mesero.jsonrpc import ErrorResponse, ResultResponse

__all__ = ["check_deeply", "check_more"]

_NO_METHOD = "mesero/no-such-method"
_NO_REVISION = "2099-01-01"


async def check_more(sheet: Sheet, visit: Visit, limits: Limits) -> None:
    """What is done only when it was asked for."""
    if limits.is_deep:
        await check_deeply(sheet, visit)
    else:
        with sheet.check("deep") as check:
            check.skip("not asked for (--deep)")
    await check_staying(sheet, visit, limits.watch_s)


async def check_deeply(sheet: Sheet, visit: Visit) -> None:
    """Send them, one after the other; a server that has ended is not asked any more.

    Args:
        sheet: Takes what is seen.
        visit: The connection.
    """
    is_stateless = visit.facts.era == "modern"
    harmless = "server/discover" if is_stateless else "ping"
    with sheet.check("deep") as check:
        answer = await visit.ask(harmless, id_="mesero-1")
        if not _is_answered(sheet, check, answer, "DEEP-1", f"{harmless} with the id 'mesero-1'"):
            return
        answer = await visit.ask(_NO_METHOD)
        if not _is_answered(sheet, check, answer, "DEEP-2", f"the unknown method {_NO_METHOD}"):
            return
        if isinstance(answer, ResultResponse):
            check.warn(f"{_NO_METHOD} was answered with a result")
            sheet.diagnose("DEEP-2", f"{_NO_METHOD} was answered with a result")
        answers = await asyncio.gather(visit.ask(harmless), visit.ask(harmless))
        what = f"one of two {harmless} that were sent at once"
        if all(_is_answered(sheet, check, each, "DEEP-4", what) for each in answers) and is_stateless:
            await _contradict(sheet, check, visit)


def _is_answered(
    sheet: Sheet, check: OpenCheck, answer: ResultResponse | ErrorResponse | MeseroError, code: str, what: str
) -> bool:
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
    answer = await visit.ask("server/discover", header_method="tools/list")
    if isinstance(answer, ResultResponse):
        check.warn("a request whose Mcp-Method contradicts its body was run")
        sheet.diagnose("DEEP-5", "Mcp-Method said tools/list, the body server/discover, and the body was run")
