"""Once connected: the lists, read to their end and the tools once more, and ping. Tools are never called."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from mesero.client.lists import collect_pages
from mesero.doctor.checks.tools import losses_of
from mesero.doctor.refusals import REFUSALS, Listed
from mesero.doctor.report import Severity
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.doctor.visit import Visit
from mesero.errors import MeseroError, ProtocolError, TransportError
from mesero.jsonrpc import ResultResponse, decode_value
from mesero.trace.format import Header, Line, MessageLine
from mesero.types import PaginatedResult, ServerCapabilities

__all__ = ["check_errors", "check_lists"]

_KINDS: Final = (
    ("tools", "tools", "tools/list", "tools", "name"),
    ("resources", "resources", "resources/list", "resources", "uri"),
    ("resources", "templates", "resources/templates/list", "resource_templates", "uri_template"),
    ("prompts", "prompts", "prompts/list", "prompts", "name"),
)
"""(capability, noun, method, member of the result, what tells its entries apart)."""
_UNKNOWN: Final = -32601
_QUICK_S: Final = 1.0
"""A page that takes longer is not read a second time."""
_PATIENCE_S: Final = 2.0
"""So long a server may think about a list that it does not announce."""
_GRACE_S: Final = 0.5
"""So long a notification may take that explains a change."""
_CHANGED: Final = "notifications/tools/list_changed"
_SHOWN: Final = 3


class _Reading:
    """What was read of a list: its pages, and how long the first one took, in seconds."""

    def __init__(self) -> None:
        self.pages: list[list[Any]] = []
        self.took_s = 0.0

    @property
    def entries(self) -> list[Any]:
        return [each for page in self.pages for each in page]

    async def read(self, visit: Visit, method: str, field: str) -> None:
        """Read all pages, past every cache.

        Raises:
            MeseroError: the list cannot be had, or does not end.
        """
        await collect_pages(lambda params: self.read_page(visit, method, field, params), method, field)

    async def read_page(
        self, visit: Visit, method: str, field: str, params: Mapping[str, Any] | None = None
    ) -> Any:
        """Read one page."""
        start = time.monotonic()
        page = await visit.client.request(method, params)
        if not self.pages:
            self.took_s = time.monotonic() - start
        if not isinstance(page, PaginatedResult):
            raise ProtocolError(f"{method} was answered with something else than a list")
        self.pages.append(list(getattr(page, field)))
        return page


def _said_by(error: MeseroError) -> str:
    """What an error says beside the place, which the report names already."""
    code = getattr(error, "code", None)
    return f"{error.what} ({code})" if isinstance(code, int) and str(code) not in error.what else error.what


class _Passed:
    """What passes from now on, as it is recorded."""

    def __init__(self, lines: Sequence[Header | Line]) -> None:
        self._lines = lines
        self._since = len(lines)

    async def has_change(self, visit: Visit) -> bool:
        """Whether the server says that its list changed. In the modern era nobody asked it to."""
        deadline = time.monotonic() + _GRACE_S
        while True:
            for line in self._lines[self._since :]:
                if isinstance(line, MessageLine) and line.dir == "s2c" and _CHANGED in line.raw:
                    return True
            if visit.facts.era == "modern" or time.monotonic() > deadline:
                return False
            await asyncio.sleep(0.05)


async def check_lists(
    sheet: Sheet, visit: Visit, lines: Sequence[Header | Line] = ()
) -> tuple[list[Any], list[str]]:
    """Read every list to its end, and the first page of tools once more.

    Args:
        sheet: Takes what is seen.
        visit: The connection.
        lines: What passed, while it is recorded: there a server can have said that its list changed.

    Returns:
        The tools, and what went wrong with lists.
    """
    capabilities = visit.facts.capabilities or ServerCapabilities()
    passed = _Passed(lines)
    tools: list[Any] = []
    failures: list[str] = []
    hidden: list[str] = []
    with sheet.check("lists") as check:
        for capability, noun, method, field, key in _KINDS:
            if getattr(capabilities, capability) is UNSET:
                hidden += [noun] if noun == capability else []
                continue
            reading = await _try_reading(visit, method, field)
            if isinstance(reading, MeseroError):
                if noun == "templates" and getattr(reading, "code", None) == _UNKNOWN:
                    continue
                text = f"{method} failed: {_said_by(reading)}"
                check.fail(text)
                failures.append(text)
                continue
            check.say(f"{noun}: {len(reading.entries)}")
            _judge_pages(sheet, check, reading.pages, noun, key)
            if noun == "tools":
                tools = reading.entries
                failures += await _read_again(sheet, check, visit, reading, passed)
        for noun in hidden:
            if not await _ask_unannounced(sheet, check, visit, noun):
                break
    return tools, failures


async def _try_reading(
    visit: Visit, method: str, field: str, *, is_whole: bool = True
) -> _Reading | MeseroError:
    reading = _Reading()
    read = reading.read if is_whole else reading.read_page
    error = await visit.try_call(lambda: read(visit, method, field))
    return error if isinstance(error, MeseroError) else reading


# -- pages ---------------------------------------------------------------------------------------------------


def _judge_pages(sheet: Sheet, check: OpenCheck, pages: Sequence[Sequence[Any]], noun: str, key: str) -> None:
    """What is on which page. How pages are cut is the server's choice.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
    """
    empty = [number for number, page in enumerate(pages[:-1], 1) if not page]
    if empty:
        text = f"page {empty[0]} of {len(pages)} of {noun} is empty, and names a next one"
        check.warn(text)
        sheet.diagnose("LIST-5", text)
    places: dict[str, list[int]] = {}
    for number, page in enumerate(pages, 1):
        for entry in page:
            places.setdefault(getattr(entry, key), []).append(number)
    twice = [
        f"{noun}: {name!r} is on {_pages_in_words(found)}" for name, found in places.items() if len(found) > 1
    ]
    for text in twice[:_SHOWN]:
        check.warn(text)
    # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
    listed = [
        Listed(tool.name, tool.input_schema, page=number)
        for number, page in enumerate(pages if noun == "tools" else ())
        for tool in page
    ]
    if twice:
        losses = _losses_by("LIST-4", listed)
        more = f" (and {len(twice) - 1} more)" if len(twice) > 1 else ""
        severity: Severity = "degraded" if losses else "note"
        sheet.diagnose("LIST-4", f"{twice[0]}{more}{losses}", severity=severity, evidence=twice[:_SHOWN])
    losses = _losses_by("LIST-6", listed)
    if losses:
        later = sum(map(len, pages[1:]))
        check.warn(f"{later} of {len(listed)} tools are not on the first page")
        sheet.diagnose("LIST-6", f"{later} of {len(listed)} tools are not on the first page{losses}")


def _pages_in_words(numbers: Sequence[int]) -> str:
    if len(set(numbers)) == 1:
        return f"page {numbers[0]} {len(numbers)} times"
    *others, last = sorted(set(numbers))
    return f"page {', '.join(map(str, others))} and page {last}"


def _losses_by(code: str, tools: Sequence[Listed]) -> str:
    """Who refuses a list like this, and what is lost, as the end of a sentence; empty when nobody does."""
    refusals = [each for each in REFUSALS if each.code == code and any(each.kind.find(tools, None))]
    return f". {losses_of(refusals)}" if refusals else ""


# -- a second look -------------------------------------------------------------------------------------------


async def _read_again(
    sheet: Sheet, check: OpenCheck, visit: Visit, before: _Reading, passed: _Passed
) -> list[str]:
    """Read the first page once more, if that is cheap, and compare; what went wrong with that.

    "Servers SHOULD return tools in a deterministic order"
    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#capabilities
    """
    if not before.pages[0]:
        return []
    if before.took_s > _QUICK_S:
        check.say(f"tools were not read a second time: the first took {before.took_s:.1f} s")
        return []
    _, _, method, field, _ = _KINDS[0]
    again = await _try_reading(visit, method, field, is_whole=False)
    if isinstance(again, MeseroError):
        text = f"tools, read a second time: {_said_by(again)}"
        check.fail(text)
        return [text]
    found = _find_difference(before.pages[0], again.pages[0])
    if found is None:
        return []
    text, severity, fix = found
    if await passed.has_change(visit):
        check.say(f"{text}, as the server announced")
    else:
        check.warn(text)
        sheet.diagnose("LIST-3", text, severity=severity, fix=fix)
    return []


def _find_difference(before: Sequence[Any], after: Sequence[Any]) -> tuple[str, Severity, str] | None:
    """What differs between two readings, in words; how grave it is; what to do, where that is special."""
    if before == after:
        return None
    was, now = [each.name for each in before], [each.name for each in after]
    gone, fresh = Counter(was) - Counter(now), Counter(now) - Counter(was)
    if gone or fresh:
        parts = [
            f"{sum(names.values())} {verb}: {', '.join(map(repr, list(names)[:_SHOWN]))}"
            for verb, names in (("went", gone), ("came", fresh))
            if names
        ]
        return (
            f"between two readings, one right after the other, tools changed: {'; '.join(parts)}",
            "degraded",
            "",
        )
    old = {each.name: each for each in before}
    for number, tool in enumerate(after):
        changed = [
            field
            for field in tool.__struct_fields__
            if getattr(tool, field) != getattr(old[tool.name], field)
        ]
        if changed:
            text = f"the tool {tool.name!r} was read twice, and differs in: {', '.join(changed)}"
            fix = "Leave out of descriptions and schemas what changes by itself, such as times and counters."
            return text, "note", fix
        if was[number] != tool.name:
            text = (
                f"the same {len(now)} tools came in another order when they were read again: "
                f"{tool.name!r} was number {was.index(tool.name)}, and is number {number}"
            )
            return text, "note", "Sort the list, by name for example."
    return None


# -- what was not announced ----------------------------------------------------------------------------------


async def _ask_unannounced(sheet: Sheet, check: OpenCheck, visit: Visit, noun: str) -> bool:
    """Ask for a list although it is not announced: some servers have it all the same.

    Returns:
        Whether there was an answer at all.
    """
    try:
        async with asyncio.timeout(None if noun == "tools" else _PATIENCE_S):
            answer = await visit.ask(f"{noun}/list")
    except TimeoutError:
        check.say(f"{noun}: none announced, and no answer to {noun}/list within {_PATIENCE_S:g} s")
        return False
    result = decode_value(answer.result) if isinstance(answer, ResultResponse) else None
    entries = result.get(noun) if isinstance(result, dict) else None
    count = len(entries) if isinstance(entries, list) else 0
    if not count:
        check.say(f"{noun}: none announced")
        return not isinstance(answer, MeseroError)
    check.warn(f"{noun}: {count}, which were not announced")
    code = "CAP-1" if noun == "tools" else "CAP-2"
    sheet.diagnose(code, f"the server has {count} {noun}, and its capabilities do not name `{noun}`")
    return True


# -- errors --------------------------------------------------------------------------------------------------


async def check_errors(sheet: Sheet, visit: Visit) -> None:
    """Whether ping is answered, where there is one."""
    with sheet.check("ping") as check:
        if visit.facts.era == "modern":
            check.skip("there is no ping in this revision")
            return
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
        answer = await visit.ask("ping")
        if isinstance(answer, ResultResponse):
            check.say("ping is answered")
            return
        if isinstance(answer, TransportError):
            check.skip(f"there is nobody to ask: {answer.what}")
            return
        said = str(answer) if isinstance(answer, MeseroError) else f"{answer.code} {answer.message}"
        check.fail(said)
        sheet.diagnose("PING-1", f"ping was answered with: {said}")
