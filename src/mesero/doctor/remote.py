"""The examination of a server at a URL: from its name to its sign-in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from mesero.doctor.checks.authorization import check_authorization
from mesero.doctor.checks.browsers import check_browsers
from mesero.doctor.checks.calls import check_calls
from mesero.doctor.checks.deep import check_more
from mesero.doctor.checks.endpoint import check_endpoint, diagnose_refusal
from mesero.doctor.checks.launch import check_environment
from mesero.doctor.checks.network import check_network, is_loopback
from mesero.doctor.checks.protocol import check_errors, check_lists
from mesero.doctor.checks.rules import check_rules
from mesero.doctor.checks.sessions import check_sessions, has_session_in, is_forgotten_in
from mesero.doctor.checks.tools import check_tools
from mesero.doctor.fetching import Fetched, Fetcher
from mesero.doctor.judging import judge
from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet
from mesero.doctor.visit import Visit
from mesero.trace.recorder import LinkRecorder

__all__ = ["REMOTE_CHECKS", "RemoteExamination"]

REMOTE_CHECKS: Final = (
    *(
        "environment",
        "dns",
        "tcp",
        "tls",
        "http",
        "connection",
        "neighbours",
        "lists",
        "tools",
        "ping",
        "calls",
        "deep",
        "staying",
    ),
    *("sessions", "origin", "cors", "authorization", "rules"),
)
"""The checks of a URL, in their order."""

_AUTHORIZATION: Final = (401, 403, 407)


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
        self._recording = recording
        self._limits = limits
        self._calls = calls
        self.visit: Visit | None = None

    async def run(self) -> None:
        """Look at everything that can be reached."""
        sheet = self.sheet
        check_environment(sheet, [self._url], self._headers)
        if not await check_network(sheet, self._url, timeout_s=self._limits.request_s):
            return
        async with Fetcher(timeout_s=self._limits.request_s) as fetcher:
            seen = await check_endpoint(sheet, fetcher, self._url, self._headers)
            if seen.is_timeout or seen.status in _AUTHORIZATION:
                await check_authorization(sheet, fetcher, seen, self._headers)
                if sheet.has("LAUNCH-6"):
                    sheet.escalate("LAUNCH-6")
                elif not sheet.is_broken:
                    await diagnose_refusal(sheet, fetcher, seen, is_connected=False)
                if sheet.is_broken:
                    return
            await self._visit(fetcher, seen)

    async def _visit(self, fetcher: Fetcher, seen: Fetched) -> None:
        sheet = self.sheet
        trace = self._recording.link(urlsplit(self._url).hostname or "", "http", self._url)
        self.visit = visit = self._visit_with(trace)
        try:
            with sheet.check("connection") as check:
                is_connected = await visit.connect()
                visit.tell(check)
            await diagnose_refusal(sheet, fetcher, seen, is_connected=is_connected)
            if not is_connected:
                self._find_cause(visit)
                return
            if visit.client.transport.kind == "sse":
                sheet.diagnose("HTTP-4", f"{seen}, and GET begins a stream with an endpoint event")
            tools, failures = await check_lists(sheet, visit, self._recording.lines)
            check_tools(sheet, tools, server_name=self._name)
            await check_errors(sheet, visit)
            called = await check_calls(
                sheet, visit, tools, self._limits, calls=self._calls, lines=self._recording.lines
            )
            await check_more(
                sheet, visit, self._limits, called, recording=self._recording, another=self._another
            )
        finally:
            await visit.aclose()
        has_session = has_session_in(self._recording.lines)
        revision = visit.facts.revision
        await check_sessions(
            sheet, fetcher, self._url, self._headers, revision=revision, has_session=has_session
        )
        is_legacy = visit.facts.era == "legacy"
        await check_browsers(sheet, fetcher, self._url, is_legacy=is_legacy, has_session=has_session)
        await check_authorization(sheet, fetcher, seen, self._headers)
        check_rules(sheet, self._recording, failures, has_session=visit.facts.era == "legacy")

    def _visit_with(self, trace: LinkRecorder, **settings: Any) -> Visit:
        # Without credentials nobody on the way can read anything that they could not ask for themselves.
        may_be_plain = not self._headers or is_loopback(urlsplit(self._url).hostname or "")
        settings |= {"headers": self._headers, "allow_plain_http": may_be_plain}
        return Visit(self._url, trace, self._limits, **settings)

    def _another(self, **settings: Any) -> Visit:
        """One more connection, for what the audit shall not judge."""
        name = f"{urlsplit(self._url).hostname} (odd requests)"
        return self._visit_with(self._recording.link(name, "http", self._url, is_judged=False), **settings)

    def _find_cause(self, visit: Visit) -> None:
        """Why there is no connection, where the first answer alone did not tell."""
        if self.sheet.is_broken:
            return
        if is_forgotten_in(self._recording.lines):
            self.sheet.diagnose(
                "SESSION-2", "initialize gave a session id, and the next request got 404 for it"
            )
            return
        judgement = judge(self._recording.lines, is_connected=False)
        found = [*judgement.causes, *judgement.faults]
        if found:
            self.sheet.add(found[0])
        elif visit.error is not None:
            error = visit.error
            self.sheet.diagnose("CONNECT-1", error.what, blame=error.blame, fix=error.fix)
