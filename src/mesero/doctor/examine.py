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
    trace: Path | None = None,
    home: Path | None = None,
    watch: Callable[[Check], None] | None = None,
) -> Report:
    """Find out what is wrong with a server, whose fault it is, and what to do.

    Args:
        target: A command as a list, or a URL.
        env: For a command: variables that are set for it.
        cwd: For a command: its working directory.
        headers: For a URL: headers that are sent along.
        timeout_s: For everything, in seconds.
        watch_s: How long to stay connected and watch, in seconds, on top of that.
        is_deep: Send odd requests, too: see `mesero.doctor.checks.deep`.
        trace: A file to record in.
        home: The user's home; found out by default.
        watch: Called with each check that is over.
    """
    start = time.monotonic()
    limits = Limits(timeout_s, watch_s, is_deep)
    recording = Recording(trace)
    examination: Any
    if isinstance(target, str):
        examination = _url_examination(target, headers or {}, recording, limits, watch)
    else:
        sheet = Sheet(LOCAL_CHECKS, secrets=secrets_in(env or {}), watch=watch)
        examination = LocalExamination(
            sheet,
            target,
            env=env or {},
            cwd=cwd,
            recording=recording,
            limits=limits,
            home=home or Path.home(),
        )
    sheet = examination.sheet
    try:
        async with asyncio.timeout(timeout_s + watch_s):
            await examination.run()
    except TimeoutError:
        if not sheet.is_broken:
            sheet.diagnose(
                "TIME-1", f"it was not done within {timeout_s:g} s; what was not reached is marked"
            )
    finally:
        recording.close()
    shown = _shown_url(target) if isinstance(target, str) else shlex.join(target)
    return _report_of(shown, sheet, examination.visit, took_s=time.monotonic() - start)


def _url_examination(
    url: str,
    headers: Mapping[str, str],
    recording: Recording,
    limits: Limits,
    watch: Callable[[Check], None] | None,
) -> Any:
    # Only URLs are worth the time that this import takes.
    from mesero.doctor.remote import REMOTE_CHECKS, RemoteExamination, secrets_of_url

    secrets = [*secrets_in(headers), *secrets_of_url(url)]
    sheet = Sheet(REMOTE_CHECKS, secrets=secrets, watch=watch)
    return RemoteExamination(sheet, url, headers=headers, recording=recording, limits=limits)


def _shown_url(url: str) -> str:
    from mesero.doctor.remote import shown_target

    return shown_target(url)


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
