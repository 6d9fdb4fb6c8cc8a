"""What calling tools brings to light: those that the user names, and with --deep those marked read-only.

A tool that fails (``isError``) is fine: made-up arguments may well be nonsense. What is looked for is a call
that is never answered, breaks the connection, or gets its text wrong, and a server that cannot take a no.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from mesero.doctor.limits import Limits
from mesero.doctor.mojibake import ASCII_TEXT, FOREIGN_TEXT, find_garbled, speaks_of_encoding
from mesero.doctor.processes import is_on_stdin_of
from mesero.doctor.questions import SamplingRefusedError
from mesero.doctor.samples import find_text_place, sample_of
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.doctor.visit import Called, Visit
from mesero.errors import (
    CallTimeoutError,
    InputNeededError,
    MeseroError,
    MissingClientCapabilityError,
    RpcError,
    TransportError,
)
from mesero.jsonrpc import encode_value
from mesero.trace.format import Header, HttpLine, Line, MessageLine

__all__ = ["CallableTool", "CallsSeen", "check_calls"]

_MOST: Final = 5
_SHOWN_CHARS: Final = 120
_LEAST_S: Final = 0.2
_TRACEBACK: Final = re.compile(
    r"Traceback \(most recent call last\)|^[ \t]+at .+:\d+:\d+\)?$|^[ \t]+at [\w.$]+\(.*\)$|"
    r"\bgoroutine \d+ \[",
    re.MULTILINE,
)
_INTERNAL: Final = frozenset({-32603, -32000})
_NO_TEXT_CODES: Final = frozenset({-32700, -32600, *_INTERNAL})


class CallableTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that may be called, and how. ``is_made_up``: nobody gave these arguments, so others will do."""

    name: str
    arguments: dict[str, Any]
    schema: Any
    is_made_up: bool


class CallsSeen(msgspec.Struct):
    """What the calls came to.

    Attributes:
        good: A tool that answered, for more calls of it.
        is_over: Whether the server is gone or answers nothing any more, so that nothing else can be asked.
    """

    good: CallableTool | None = None
    is_over: bool = False


async def check_calls(
    sheet: Sheet,
    visit: Visit,
    tools: Sequence[Any],
    limits: Limits,
    *,
    calls: Mapping[str, dict[str, Any] | None],
    lines: Sequence[Header | Line],
) -> CallsSeen:
    """Call tools, one after the other, until the time for it is over.

    Args:
        sheet: Takes what is seen.
        visit: The connection.
        tools: The tools that the server listed.
        limits: How long things may take.
        calls: The tools that the user named, with their arguments; None for made-up ones.
        lines: The recording.
    """
    with sheet.check("calls") as check:
        if not limits.may_call:
            check.skip("not asked for (--call TOOL, or --deep for tools marked read-only)")
            return CallsSeen()
        chosen = _choose(check, tools, calls, is_deep=limits.is_deep)
        if not chosen:
            if not check.evidence:
                check.skip("no tool is marked read-only (--call TOOL calls others)")
            return CallsSeen()
        calling = _Calling(sheet, check, visit, limits, lines)
        for each in chosen:
            await calling.call(each)
            if calling.seen.is_over:
                break
        await calling.call_with_texts()
        return calling.seen


def _choose(
    check: OpenCheck, tools: Sequence[Any], calls: Mapping[str, dict[str, Any] | None], *, is_deep: bool
) -> list[CallableTool]:
    """The tools that may be called: those that are named, then those that say that they change nothing."""
    listed = {tool.name: tool for tool in tools}
    names = [name for name in calls if name in listed]
    for name in calls.keys() - listed.keys():
        check.warn(f"there is no tool {name!r}, only: {', '.join(sorted(listed)) or 'none'}")
    if is_deep:
        harmless = [tool.name for tool in tools if _is_read_only(tool) and tool.name not in calls]
        names += harmless[:_MOST]
    chosen = []
    for name in names:
        schema = listed[name].input_schema
        given = calls.get(name)
        sample = sample_of(schema)
        if given is None and sample.problem:
            check.say(
                f"{name!r} is not called: no arguments could be made up ({sample.problem}); "
                f"give some: --call '{name} {{…}}'"
            )
            continue
        arguments = sample.arguments if given is None else given
        chosen.append(CallableTool(name=name, arguments=arguments, schema=schema, is_made_up=given is None))
    return chosen


def _is_read_only(tool: Any) -> bool:
    """What the server claims; the user said that it may be trusted."""
    return tool.annotations is not UNSET and tool.annotations.read_only_hint is True


class _Calling:
    """The calls of one examination, and what they show."""

    def __init__(
        self, sheet: Sheet, check: OpenCheck, visit: Visit, limits: Limits, lines: Sequence[Header | Line]
    ) -> None:
        self.seen = CallsSeen()
        self._sheet = sheet
        self._check = check
        self._visit = visit
        self._limits = limits
        self._lines = lines
        self._good: list[CallableTool] = []
        now = asyncio.get_running_loop().time()
        reserve_s = 2 * limits.close_s + limits.odd_s
        self._end = now + max(0.0, min(limits.calls_s, visit.left_s - reserve_s))

    @property
    def _limit_s(self) -> float:
        """For the next call."""
        return min(self._limits.call_s, self._end - asyncio.get_running_loop().time())

    def _has_time_for(self, what: str) -> bool:
        if self._limit_s >= min(_LEAST_S, self._limits.call_s):
            return True
        self._check.say(f"{what}: no time is left for it (--timeout SECONDS)")
        return False

    # -- one call --------------------------------------------------------------------------------------------

    async def call(self, tool: CallableTool) -> None:
        """Call a tool, and again where its question can be turned down in another way."""
        called = await self._call(tool, tool.arguments)
        if called is None:
            return
        if called.result is not None:
            self._good.append(tool)
            self.seen.good = self.seen.good or tool
        has_form = any(each.startswith("elicitation/") for each in called.asked)
        if has_form and called.error is None and self._limits.is_deep:
            self._visit.questions.action = "cancel"
            await self._call(tool, tool.arguments)
            self._visit.questions.action = "decline"

    async def _call(self, tool: CallableTool, arguments: dict[str, Any]) -> Called | None:
        """One call, judged; None when there is no time for it."""
        what = f"{tool.name!r} with {json.dumps(arguments, ensure_ascii=False)[:_SHOWN_CHARS]}"
        if not self._has_time_for(what):
            return None
        kin = await asyncio.to_thread(self._visit.find_kin)
        called = await self._visit.call(tool.name, arguments, limit_s=self._limit_s)
        for question in called.asked[:_MOST]:
            self._check.say(f"{tool.name!r} asked {question}{self._stream_of(question)}")
        if len(called.asked) > _MOST:
            self._check.say(f"{tool.name!r} asked {len(called.asked)} times in all")
        if called.result is not None:
            self._check.say(f"{what}: {_outcome_of(called)}")
            return called
        await self._explain(called, what, {each.pid for each in kin})
        return called

    async def _explain(self, called: Called, what: str, kin: set[int]) -> None:
        """Why there is no result."""
        error, check = called.error, self._check
        if isinstance(error, CallTimeoutError):
            await self._explain_silence(called, what, kin)
        elif isinstance(error, TransportError):
            self.seen.is_over = True
            check.fail(f"{what}: {error.what}")
            if called.asked:
                self._sheet.diagnose("CALL-5", f"after {called.asked[-1]}, {error.what}", severity="broken")
            elif self._visit.client.transport.kind != "stdio":
                # What a process leaves behind is the audit's to judge.
                self._sheet.diagnose("CALL-7", f"{what}: {error.what}")
        elif isinstance(error, InputNeededError) and called.asked:
            check.warn(f"{what}: {error.what}")
            self._sheet.diagnose(
                "CALL-5", f"{called.name!r} asked {len(called.asked)} times, and each time it was turned down"
            )
        elif isinstance(error, SamplingRefusedError):
            check.say(f"{what}: it ends here, since it needs a model")
        elif isinstance(error, MissingClientCapabilityError):
            needed = error.data.get("requiredCapabilities") if isinstance(error.data, Mapping) else None
            check.say(f"{what}: it needs a client that can {json.dumps(needed)}, which the doctor cannot")
        elif isinstance(error, RpcError):
            check.say(f"{what}: refused with {error.code}: {error.message[:_SHOWN_CHARS]}")
            self._look_for_traceback(called.name, error)
        else:
            check.warn(f"{what}: {error}")

    def _look_for_traceback(self, name: str, error: RpcError) -> None:
        said = f"{error.message}\n{error.data if isinstance(error.data, str) else json.dumps(error.data)}"
        if error.code in _INTERNAL and _TRACEBACK.search(said.replace("\\n", "\n")):
            self._check.warn("that has a traceback in it")
            self._sheet.diagnose("CALL-6", f"{name!r} answered {error.code} with a traceback in it")

    async def _explain_silence(self, called: Called, what: str, kin: set[int]) -> None:
        """A call without an answer: is it the tool, the server, or what the tool started?"""
        check, sheet, visit = self._check, self._sheet, self._visit
        check.fail(f"{what}: no answer in {called.took_s:.1f} s")
        started = [each for each in await asyncio.to_thread(visit.find_kin) if each.pid not in kin]
        pid = visit.pid
        holding = [each for each in started if pid is not None and is_on_stdin_of(each, pid)]
        harmless = visit.harmless
        answer = await visit.ask(harmless, limit_s=self._limits.odd_s)
        is_answering = not isinstance(answer, MeseroError)
        for each in started:
            check.say(f"meanwhile it runs {each.command or each.name} (pid {each.pid})")
        self.seen.is_over = not is_answering
        if isinstance(answer, TransportError):
            check.say(f"then {harmless} failed: {answer.what}")
            return
        check.say(f"meanwhile {harmless} is {'answered' if is_answering else 'not answered either'}")
        took = f"{called.name!r} had no answer in {called.took_s:.1f} s"
        if called.asked:
            sheet.diagnose("CALL-5", f"after {called.asked[-1]}, {took}")
        elif holding:
            one = holding[0]
            sheet.diagnose(
                "CALL-2", f"{took}, and {one.command or one.name} (pid {one.pid}) reads the same stdin"
            )
        elif not is_answering:
            sheet.diagnose("CALL-4", f"{took}, and {harmless} had none either")
        elif called.reports:
            sheet.diagnose("CALL-3", f"{took}; it reported progress {called.reports} times", severity="note")
        else:
            sheet.diagnose(
                "CALL-3",
                f"{took}, while other requests were answered; it was asked for progress (progressToken) and "
                "reported none",
            )

    def _stream_of(self, question: str) -> str:
        """Whether a question came on the stream that a client opens by itself, which some never do.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
        """
        method = question.partition(" ")[0].rstrip(":")
        asked_by_get = {
            line.http.exchange
            for line in self._lines
            if isinstance(line, HttpLine) and line.dir == "c2s" and line.http.method == "GET"
        }
        for line in reversed(self._lines):
            if isinstance(line, MessageLine) and line.dir == "s2c" and f'"{method}"' in line.raw:
                on_get = line.http is not UNSET and line.http.exchange in asked_by_get
                return " (on the GET stream: clients that open none never hear it)" if on_get else ""
        return ""

    # -- texts -----------------------------------------------------------------------------------------------

    async def call_with_texts(self) -> None:
        """Call one tool with plain text and with text beyond ASCII: both must come through."""
        for tool in self._good if not self.seen.is_over else ():
            place = find_text_place(tool.schema, tool.arguments, FOREIGN_TEXT) if tool.is_made_up else None
            if place is not None:
                await self._compare(tool, place)
                return

    async def _compare(self, tool: CallableTool, place: str) -> None:
        what = f"{tool.name!r} with text beyond ASCII in {place!r}"
        if not self._has_time_for(what):
            return
        plain = await self._visit.call(
            tool.name, {**tool.arguments, place: ASCII_TEXT}, limit_s=self._limit_s
        )
        if plain.result is None or not self._has_time_for(what):
            self._check.say(f"{what}: not tried, since plain text is not taken either")
            return
        foreign = await self._visit.call(
            tool.name, {**tool.arguments, place: FOREIGN_TEXT}, limit_s=max(_LEAST_S, self._limit_s)
        )
        error = foreign.error
        if isinstance(error, TransportError | CallTimeoutError):
            self.seen.is_over = True
            self._check.fail(f"{what}: {error.what if isinstance(error, TransportError) else 'no answer'}")
            words = " | ".join(self._visit.stderr[-3:])
            if "can't encode" in words or "UnicodeEncodeError" in words:
                return  # It read the text well, and died writing: the audit knows that.
            self._tell_code_page(f"{what}: {error.what}" + (f" ({words})" if words else ""), "broken")
            return
        wrong = _difference_of(plain, foreign)
        if wrong:
            self._check.warn(f"{what}: {wrong}")
            self._tell_code_page(f"{what}: {wrong}; plain text comes through", "degraded")
        else:
            self._check.say(f"{what}: as plain text")

    def _tell_code_page(self, cause: str, severity: Any) -> None:
        is_process = self._visit.client.transport.kind == "stdio"
        fix = "" if is_process else "Read the body as UTF-8, whatever the encoding of the server's system is."
        self._sheet.diagnose("CALL-1", cause, fix=fix, severity=severity)


def _difference_of(plain: Called, foreign: Called) -> str:
    """What went wrong with text beyond ASCII only; empty when nothing did."""
    error = foreign.error
    if isinstance(error, RpcError):
        is_about_text = error.code in _NO_TEXT_CODES or speaks_of_encoding(error.message)
        return f"refused with {error.code} {error.message[:_SHOWN_CHARS]}" if is_about_text else ""
    if foreign.result is None or plain.result is None:
        return ""
    said = _text_in(foreign.result)
    if foreign.result.is_error and not plain.result.is_error and speaks_of_encoding(said):
        return f"it failed: {said[:_SHOWN_CHARS]}"
    garbled = find_garbled(_text_in(plain.result), said)
    return f"it came back as {garbled!r}" if garbled else ""


def _text_in(result: Any) -> str:
    """All text of a result, unescaped."""
    structured = getattr(result, "structured_content", UNSET)
    more = "" if structured is UNSET else json.dumps(structured, ensure_ascii=False)
    return f"{getattr(result, 'text', '')}\n{more}"


def _outcome_of(called: Called) -> str:
    result = called.result
    size = len(encode_value(result))
    progress = f", {called.reports} reports of progress" if called.reports else ""
    failed = ", isError" if getattr(result, "is_error", False) else ""
    return f"a result of {size:,} bytes in {called.took_s:.2f} s{progress}{failed}"
