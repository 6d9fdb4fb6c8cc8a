"""One examination: a target in, a report out, within its time, and with nothing left behind.

Whatever happens, there is a report: of what was reached until the time was over, too.
"""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mesero.doctor.limits import Limits
from mesero.doctor.local import LOCAL_CHECKS, LocalExamination
from mesero.doctor.programs import secrets_in
from mesero.doctor.recording import Recording
from mesero.doctor.report import Check, Report, verdict_for
from mesero.doctor.sheet import Sheet
from mesero.doctor.visit import Visit

__all__ = ["examine"]


async def examine(
    target: Any,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
    watch_s: float = 0.0,
    is_deep: bool = False,
    calls: Mapping[str, dict[str, Any] | None] | None = None,
    trace: Path | None = None,
    home: Path | None = None,
    watch: Callable[[Check], None] | None = None,
    on_cancelled: Callable[[Report], None] | None = None,
) -> Report:
    """Find out what is wrong with a server, whose fault it is, and what to do.

    Args:
        target: A command as a list, or a URL.
        env: For a command: variables that are set for it.
        cwd: For a command: its working directory.
        headers: For a URL: headers that are sent along.
        timeout_s: For everything, in seconds.
        watch_s: How long to stay connected and watch, in seconds, on top of that.
        is_deep: Send odd requests, too, and call tools that are marked read-only: see
            `mesero.doctor.checks.deep`.
        calls: Tools that may be called, several times if need be: their arguments by their names, None for
            arguments that are made up by the tool's schema.
        trace: A file to record in.
        home: The user's home; found out by default.
        watch: Called with each check that is over.
        on_cancelled: Called with what was seen until then when the examination is cancelled. Nothing that was
            started is left then, either.
    """
    start = time.monotonic()
    named = calls or {}
    limits = Limits(timeout_s, watch_s, is_deep, may_call=is_deep or bool(named))
    recording = Recording(trace)
    settings: dict[str, Any] = {"recording": recording, "limits": limits, "calls": named}
    if isinstance(target, str):
        examination = _url_examination(target, headers or {}, watch, settings)
    else:
        sheet = Sheet(LOCAL_CHECKS, secrets=secrets_in(env or {}), watch=watch)
        home = home or Path.home()
        examination = LocalExamination(sheet, target, env=env or {}, cwd=cwd, home=home, **settings)

    def report() -> Report:
        shown = target if isinstance(target, str) else shlex.join(target)
        return _report_of(shown, examination.sheet, examination.visit, took_s=time.monotonic() - start)

    try:
        await _run_within(examination, timeout_s, watch_s)
    except asyncio.CancelledError:
        if on_cancelled is not None:
            seen = report()
            on_cancelled(seen if seen.diagnoses else replace(seen, verdict="unknown"))
        raise
    finally:
        recording.close()
    return report()


async def _run_within(examination: Any, timeout_s: float, watch_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s + watch_s):
            await examination.run()
    except TimeoutError:
        sheet = examination.sheet
        if not sheet.is_broken:
            sheet.diagnose(
                "TIME-1", f"it was not done within {timeout_s:g} s; what was not reached is marked"
            )


def _url_examination(
    url: str,
    headers: Mapping[str, str],
    watch: Callable[[Check], None] | None,
    settings: Mapping[str, Any],
) -> Any:
    # Only URLs are worth the time that this import takes.
    from mesero.doctor.remote import REMOTE_CHECKS, RemoteExamination

    sheet = Sheet(REMOTE_CHECKS, secrets=secrets_in(headers), watch=watch)
    return RemoteExamination(sheet, url, headers=headers, **settings)


def _report_of(target: str, sheet: Sheet, visit: Visit | None, *, took_s: float) -> Report:
    is_connected = visit is not None and visit.is_connected
    facts = visit.facts if visit is not None and is_connected else None
    diagnoses = sheet.diagnoses
    return Report(
        target=target,
        verdict=verdict_for(diagnoses, is_connected=is_connected),
        server=facts.info if facts is not None else None,
        era=facts.era if facts is not None else None,
        revision=facts.revision if facts is not None else None,
        checks=sheet.checks,
        diagnoses=diagnoses,
        took_s=round(took_s, 3),
    )
