"""One examination: a target in, a report out, within its time, and with nothing left behind.

Whatever happens, there is a report: of what was reached until the time was over, too.
"""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mesero.doctor.checks.config import check_config, settle_config
from mesero.doctor.limits import Limits
from mesero.doctor.local import LOCAL_CHECKS, LocalExamination
from mesero.doctor.programs import secrets_in, secrets_in_words
from mesero.doctor.recording import Recording
from mesero.doctor.report import Report, verdict_for
from mesero.doctor.sheet import Sheet, Watch
from mesero.doctor.visit import Visit
from mesero.host.configured import ConfiguredServer

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
    name: str | None = None,
    server: ConfiguredServer | None = None,
    watch: Watch | None = None,
) -> Report:
    """Find out what is wrong with a server, whose fault it is, and what to do.

    Args:
        target: A command as a list, or a URL; may be empty where ``server`` has neither.
        env: For a command: variables that are set for it.
        cwd: For a command: its working directory.
        headers: For a URL: headers that are sent along.
        timeout_s: For everything, in seconds.
        watch_s: How long to stay connected and watch, in seconds, on top of that.
        is_deep: Send odd requests, too: see `mesero.doctor.checks.deep`.
        trace: A file to record in.
        home: The user's home; found out by default.
        name: The one by which the server is configured: hosts put it before the names of its tools. By
            default that of ``server``.
        server: Where the target comes from, if it is from a configuration file.
        watch: Told of each check.
    """
    start = time.monotonic()
    limits = Limits(timeout_s, watch_s, is_deep)
    recording = Recording(trace)
    name = server.entry.name if name is None and server is not None else name
    shared: dict[str, Any] = {"recording": recording, "limits": limits, "name": name}
    secrets = [*secrets_in(env or {}), *secrets_in(headers or {})]
    examination: Any
    if isinstance(target, str):
        # Only URLs are worth the time that this import takes.
        from mesero.doctor.remote import REMOTE_CHECKS, RemoteExamination

        sheet = _sheet_for(REMOTE_CHECKS, server, [*secrets, *secrets_in_words([target])], watch)
        examination = RemoteExamination(sheet, target, headers=headers or {}, **shared)
    else:
        sheet = _sheet_for(LOCAL_CHECKS, server, [*secrets, *secrets_in_words(target)], watch)
        home = home or Path.home()
        examination = LocalExamination(sheet, target, env=env or {}, cwd=cwd, home=home, **shared)
    is_clear = server is None or check_config(sheet, server)
    try:
        if is_clear:
            await _run_within(limits, examination)
    finally:
        recording.close()
    settle_config(sheet)
    shown = target if isinstance(target, str) else shlex.join(target)
    return _report_of(sheet.hide(shown), sheet, examination.visit, took_s=time.monotonic() - start)


async def _run_within(limits: Limits, examination: Any) -> None:
    sheet: Sheet = examination.sheet
    try:
        async with asyncio.timeout(limits.total_s + limits.watch_s):
            await examination.run()
    except TimeoutError:
        if not sheet.is_broken:
            total_s = limits.total_s
            sheet.diagnose("TIME-1", f"it was not done within {total_s:g} s; what was not reached is marked")


def _sheet_for(
    checks: tuple[str, ...], server: ConfiguredServer | None, secrets: list[str], watch: Watch | None
) -> Sheet:
    before = () if server is None else ("config",)
    return Sheet((*before, *checks), secrets=secrets, watch=watch)


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
