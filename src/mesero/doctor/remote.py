"""The examination of a server at a URL: from its name to its sign-in."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, unquote_plus, urlsplit

from yarl import URL

from mesero.doctor.addresses import join_url, split_url
from mesero.doctor.checks.authorization import check_authorization
from mesero.doctor.checks.browsers import check_browsers
from mesero.doctor.checks.calls import CallsSeen, check_calls
from mesero.doctor.checks.deep import check_more
from mesero.doctor.checks.endpoint import check_endpoint, diagnose_refusal
from mesero.doctor.checks.idling import hold_idle
from mesero.doctor.checks.launch import check_environment
from mesero.doctor.checks.limiting import check_limits, find_limit
from mesero.doctor.checks.methods import check_methods
from mesero.doctor.checks.network import check_network
from mesero.doctor.checks.protocol import check_errors, check_lists
from mesero.doctor.checks.rules import check_rules
from mesero.doctor.checks.sessions import check_sessions, find_loss, has_session_in
from mesero.doctor.checks.streams import (
    Held,
    Listening,
    check_streams,
    diagnose_silence,
    find_way_to_listen,
)
from mesero.doctor.checks.tools import check_tools
from mesero.doctor.fetched import Fetched, Streamed
from mesero.doctor.fetching import POST_HEADERS, Fetcher, initialize_request
from mesero.doctor.judging import judge
from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet, hide_all
from mesero.doctor.visit import Visit
from mesero.errors import UsageError
from mesero.trace.recorder import LinkRecorder
from mesero.transports.http_addresses import check_url, has_same_origin, shown_url

__all__ = ["REMOTE_CHECKS", "RemoteExamination", "secrets_of_url", "shown_target"]

REMOTE_CHECKS: Final = (
    *("environment", "proxy", "dns", "tcp", "tls", "http", "connection", "neighbours", "methods"),
    *("lists", "tools", "ping", "calls", "deep", "staying", "streams", "sessions", "origin", "cors"),
    *("authorization", "limits", "rules"),
)
"""The checks of a URL, in their order."""

_AUTHORIZATION: Final = (401, 403)
_MIN_SECRET: Final = 6
_LONG_VALUE: Final = 20
_MANY_DIGITS: Final = 4
_SECRET_NAME: Final = re.compile(r"key|token|secret|auth|passw|pwd|sig|cred|session|code", re.IGNORECASE)


def secrets_of_url(url: str) -> list[str]:
    """What of a URL is not shown: credentials, keys in the query, and what looks like a key in the path."""
    parts = split_url(url)
    found = [each for part in (parts.username, parts.password) if part for each in (part, unquote(part))]
    for name, _, value in (pair.partition("=") for pair in parts.query.split("&")):
        if _SECRET_NAME.search(name) or len(value) >= _LONG_VALUE:
            found += [value, unquote_plus(value)]
    found += [each for each in parts.path.split("/") if _is_random(each)]
    return list(dict.fromkeys(each for each in found if len(each) >= _MIN_SECRET))


def _is_random(segment: str) -> bool:
    """Whether a part of a path looks like a key: long, and no words."""
    digits = sum(char.isdigit() for char in segment)
    return len(segment) >= _LONG_VALUE and digits >= _MANY_DIGITS and digits < len(segment)


def shown_target(url: str) -> str:
    """The URL for a report: without credentials, and without what looks like some."""
    try:
        shown = shown_url(URL(url))
    except ValueError:
        shown = url.partition("?")[0].rpartition("@")[2]
    return hide_all(shown, secrets_of_url(url))


class RemoteExamination:
    """One URL, looked at once.

    Args:
        sheet: Takes what is seen.
        url: The URL.
        headers: What is sent along, credentials included: to this URL and nowhere else.
        recording: What passes is kept there.
        limits: How long things may take.
        name: The one by which it is configured, where it is.
        calls: Tools that may be called, with their arguments; None for made-up ones.

    Attributes:
        sheet: What was seen so far.
        shown: What the report calls it.
        visit: The connection, once there was one.
    """

    def __init__(
        self,
        sheet: Sheet,
        url: str,
        *,
        headers: Mapping[str, str],
        recording: Recording,
        limits: Limits,
        calls: Mapping[str, dict[str, Any] | None],
        name: str | None = None,
    ) -> None:
        self.sheet = sheet
        self._name = name
        self._url = url
        self._headers = headers
        # Without credentials nobody on the way can read anything that they could not ask for themselves.
        self._may_be_plain = not headers
        self._recording = recording
        self._limits = limits
        self._calls = calls
        self.shown = shown_target(url)
        self.visit: Visit | None = None

    async def run(self) -> None:
        """Look at everything that can be reached."""
        sheet = self.sheet
        check_environment(sheet, [self._url], self._headers)
        if not self._may_be_asked():
            return
        if not await check_network(sheet, self._url, timeout_s=self._limits.request_s):
            return
        async with Fetcher(timeout_s=self._limits.request_s, server=self._url) as fetcher:
            seen = await check_endpoint(sheet, fetcher, self._url, self._headers)
            if seen.is_timeout or seen.status in (*_AUTHORIZATION, 407, 429):
                await self._look_at_refusal(fetcher, seen)
                if sheet.is_broken:
                    return
            if seen.is_silent_stream and await self._is_silent_to_all(fetcher):
                await self._look_for_stream(fetcher, seen)
                return
            await self._visit(fetcher, seen)

    def _may_be_asked(self) -> bool:
        """Whether the client takes the URL; else a diagnosis says why not."""
        try:
            check_url(self._url, allow_plain_http=self._may_be_plain)
        except UsageError as error:
            self.sheet.diagnose("NET-10", error.what, fix=f"{error.fix}.")
            return False
        return True

    async def _look_at_refusal(self, fetcher: Fetcher, seen: Fetched) -> None:
        """The first answer says that there is no way in: why?"""
        sheet = self.sheet
        await check_authorization(sheet, fetcher, seen, self._headers)
        if sheet.has("LAUNCH-6"):
            sheet.escalate("LAUNCH-6")
        elif not sheet.is_broken:
            await self._diagnose_answer(fetcher, seen, is_connected=False)
        if seen.status == 401 and sheet.is_broken:
            # A page cannot even sign in where it may not read the refusal.
            await check_browsers(sheet, fetcher, self._url, has_session=False, is_protected=True)

    async def _diagnose_answer(self, fetcher: Fetcher, seen: Fetched, *, is_connected: bool) -> None:
        await diagnose_refusal(self.sheet, fetcher, seen, is_connected=is_connected)
        if self.sheet.has("AUTH-10"):
            await check_authorization(self.sheet, fetcher, seen, self._headers)

    async def _visit(self, fetcher: Fetcher, seen: Fetched) -> None:
        sheet = self.sheet
        trace = self._recording.link(urlsplit(self._url).hostname or "", "http", self._url)
        self.visit = visit = self._visit_with(trace)
        held = Held()
        way: Listening | str = "not reached"
        failures: list[str] = []
        try:
            with sheet.check("connection") as check:
                is_connected = await visit.connect()
                visit.tell(check)
            await self._diagnose_answer(fetcher, seen, is_connected=is_connected)
            if not is_connected:
                await self._find_cause(fetcher, visit, seen)
                return
            if visit.client.transport.kind == "sse":
                sheet.diagnose("HTTP-4", f"{seen}, and GET begins a stream with an endpoint event")
            tools, failures = await check_lists(sheet, visit, self._recording.lines)
            check_tools(sheet, tools, server_name=self._name)
            await check_errors(sheet, visit)
            called = await check_calls(
                sheet, visit, tools, self._limits, calls=self._calls, lines=self._recording.lines
            )
            if find_limit(self._recording.judged):
                fetcher.leave_alone()
            url = self._followed(seen)
            way = await find_way_to_listen(fetcher, visit, url, self._headers)
            held = await self._stay(fetcher, visit, url, way, called)
        finally:
            await visit.aclose()
        await self._look_behind(fetcher, visit, seen, way=way, held=held)
        is_explained = any(sheet.has(code) for code in ("SESSION-1", "SESSION-2", "SESSION-4"))
        check_limits(sheet, self._recording.judged, fetcher.limited)
        is_explained |= sheet.has("HTTP-8")
        check_rules(
            sheet,
            self._recording,
            [] if is_explained else failures,
            has_session=visit.facts.era == "legacy",
        )

    def _visit_with(self, trace: LinkRecorder, **settings: Any) -> Visit:
        settings |= {"headers": self._headers, "allow_plain_http": self._may_be_plain}
        return Visit(self._url, trace, self._limits, **settings)

    def _another(self, **settings: Any) -> Visit:
        """One more connection, for what the audit shall not judge."""
        name = f"{urlsplit(self._url).hostname} (odd requests)"
        return self._visit_with(self._recording.link(name, "http", self._url, is_judged=False), **settings)

    def _followed(self, seen: Fetched) -> str:
        """The URL that the client came to: where a redirect within the origin leads that keeps the method."""
        to = join_url(seen.url, seen.headers.get("location", "")) if seen.status in (307, 308) else ""
        try:
            return to if to and has_same_origin(URL(to), URL(self._url)) else self._url
        except ValueError:
            return self._url

    async def _stay(
        self, fetcher: Fetcher, visit: Visit, url: str, way: Listening | str, called: CallsSeen
    ) -> Held:
        """What is done only when it was asked for; meanwhile a stream and a bare connection are held open."""
        watch_s = self._limits.watch_s
        more = check_more(
            self.sheet, visit, self._limits, called, recording=self._recording, another=self._another
        )
        if watch_s <= 0:
            await more
            return Held()
        loop = asyncio.get_running_loop()
        idle = loop.create_task(hold_idle(url, for_s=watch_s))
        stream = loop.create_task(_hold_stream(fetcher, url, way, watch_s))
        try:
            await more
            return Held(await stream, await idle)
        finally:
            for task in (stream, idle):
                task.cancel()
            await asyncio.wait({stream, idle})

    async def _look_behind(
        self,
        fetcher: Fetcher,
        visit: Visit,
        seen: Fetched,
        *,
        way: Listening | str,
        held: Held,
    ) -> None:
        """What single requests show of a server that a client can use."""
        sheet, url = self.sheet, self._followed(seen)
        is_old = visit.client.transport.kind == "sse"
        is_legacy = visit.facts.era == "legacy"
        if not is_old:
            await check_methods(sheet, fetcher, url, self._headers, limit_s=self._limits.request_s)
        else:
            with sheet.check("methods") as check:
                check.skip("the transport is one stream and posts")
        await check_streams(
            sheet, fetcher, url, way, usual_s=seen.head_s, limit_s=self._limits.request_s, held=held
        )
        has_session = has_session_in(self._recording.lines)
        if has_session:
            loss = find_loss(self._recording.judged)
            await check_sessions(sheet, fetcher, url, self._headers, loss=loss)
        else:
            with sheet.check("sessions") as check:
                check.skip("the server gave no session id")
        await check_browsers(
            sheet, fetcher, url, is_legacy=is_legacy, has_session=has_session, is_old_stream=is_old
        )
        await check_authorization(sheet, fetcher, seen, self._headers)

    async def _find_cause(self, fetcher: Fetcher, visit: Visit, seen: Fetched) -> None:
        """Why there is no connection, where the first answer alone did not tell."""
        sheet = self.sheet
        if sheet.is_broken:
            return
        await self._look_closer(fetcher, seen)
        if any(each.severity == "broken" for each in sheet.diagnoses):
            return
        judgement = judge(self._recording.judged, is_connected=False, file=self._recording.file)
        found = [*judgement.causes, *judgement.faults]
        if found:
            sheet.add(found[0])
        elif visit.error is not None:
            error = visit.error
            sheet.diagnose("CONNECT-1", error.what, blame=error.blame, fix=error.fix)

    async def _look_closer(self, fetcher: Fetcher, seen: Fetched) -> None:
        """What only the whole of the attempt shows, or one more request: streams, sessions, limits."""
        sheet, lines = self.sheet, self._recording.lines
        if seen.status in (404, 405):
            await self._look_for_stream(fetcher, seen)
        loss = find_loss(lines)
        if loss is not None and loss.good > 1:
            await check_sessions(sheet, fetcher, self._url, self._headers, loss=loss)
        elif loss is not None:
            said = f"initialize gave a session id, and the next request got {loss.status} for it"
            sheet.diagnose("SESSION-2", said)
        check_limits(sheet, lines, fetcher.limited, is_connected=False)

    async def _is_silent_to_all(self, fetcher: Fetcher) -> bool:
        """Whether ``initialize`` is not answered either: the client would wait as long, and learn no more."""
        own, body = initialize_request()
        seen = await fetcher.fetch("POST", self._url, headers={**own, **self._headers}, body=body)
        return seen.is_timeout or seen.is_silent_stream

    async def _look_for_stream(self, fetcher: Fetcher, seen: Fetched) -> None:
        """Whether a stream begins, and what is due on it does not come."""
        with self.sheet.check("streams") as check:
            if seen.is_silent_stream:
                stream = Streamed(head=seen, end_s=seen.took_s)
                diagnose_silence(self.sheet, check, stream, "a message, which must be answered,")
                self.sheet.escalate("SSE-1")
                return
            stream = await fetcher.hold(
                "GET",
                self._url,
                headers={**self._headers, "Accept": POST_HEADERS["Accept"]},
                for_s=self._limits.probe_s,
                until=b"endpoint",
            )
            if stream.head.kind == "text/event-stream" and not stream.pieces:
                what = "GET of the old HTTP+SSE transport, which must begin with an endpoint event,"
                diagnose_silence(self.sheet, check, stream, what)
            else:
                check.skip("GET begins no stream")
        if self.sheet.has("SSE-1"):
            self.sheet.escalate("SSE-1")


async def _hold_stream(fetcher: Fetcher, url: str, way: Listening | str, for_s: float) -> Streamed | None:
    if isinstance(way, str):
        return None
    return await fetcher.hold(way.method, url, headers=way.headers, body=way.body, for_s=for_s)
