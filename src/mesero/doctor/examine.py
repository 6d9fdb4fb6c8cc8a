"""One examination: a target in, a report out, within its time, and with nothing left behind.

Whatever happens, there is a report: of what was reached until the time was over, too.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mesero.doctor.checks.config import check_config, settle_config
from mesero.doctor.limits import Limits
from mesero.doctor.local import LOCAL_CHECKS, LocalExamination
from mesero.doctor.programs import secrets_in, secrets_in_words
from mesero.doctor.recording import Recording
from mesero.doctor.report import Report, verdict_for
from mesero.doctor.sheet import Sheet, Watch
from mesero.doctor.visit import Visit
from mesero.errors import MeseroError, UsageError
from mesero.host.configured import ConfiguredServer
from mesero.types import Implementation

__all__ = ["examine"]

_FRAMES = 3


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
    name: str | None = None,
    server: ConfiguredServer | None = None,
    watch: Watch | None = None,
    on_cancelled: Callable[[Report], None] | None = None,
) -> Report:
    """Find out what is wrong with a server, whose fault it is, and what to do.

    Args:
        target: A command as a list, or a URL; empty where ``server`` has neither, which is a diagnosis.
        env: For a command: variables that are set for it.
        cwd: For a command: its working directory.
        headers: For a URL: headers that are sent along.
        timeout_s: For everything, in seconds.
        watch_s: How long to stay connected and watch on top of that, in seconds.
        is_deep: Send odd requests, too, and call tools that are marked read-only: see
            `mesero.doctor.checks.deep`.
        calls: Tools that may be called, several times if need be: their arguments by their names, None for
            arguments that are made up by the tool's schema.
        trace: A file to record in.
        home: The user's home.
        name: What the server is called in a configuration: hosts put it before the names of its tools.
        server: Where the target comes from, if it is from a configuration file.
        watch: Told of each check.
        on_cancelled: Called with what was seen until then when it is cancelled. Nothing is left then, either.

    Raises:
        UsageError: there is neither a target nor a server.
    """
    if server is None and not target:
        raise UsageError("there is nothing to examine", fix="Give a command or a URL")
    start = time.monotonic()
    limits = Limits(timeout_s, watch_s, is_deep, may_call=is_deep or bool(calls))
    recording = Recording(trace)
    called = server.entry.name if name is None and server is not None else name
    settings = {"recording": recording, "limits": limits, "calls": calls or {}, "name": called}
    own = {"env": env or {}, "cwd": cwd, "home": home or Path.home()}
    settings |= {"headers": headers or {}} if isinstance(target, str) else own
    examination = _examination_for(target, server, watch, settings)
    try:
        await _run_within(limits, examination, server)
    except asyncio.CancelledError:
        if on_cancelled is not None:
            on_cancelled(_report_of(examination, since=start, is_cancelled=True))
        raise
    finally:
        recording.close()
    settle_config(examination.sheet)
    return _report_of(examination, since=start)


def _examination_for(
    target: Any, server: ConfiguredServer | None, watch: Watch | None, settings: Mapping[str, Any]
) -> Any:
    """What examines this kind of target, with the settings that it wants."""
    names = () if server is None else ("config",)
    secrets = secrets_in({**settings.get("env", {}), **settings.get("headers", {})})
    if not isinstance(target, str):
        sheet = Sheet((*names, *LOCAL_CHECKS), secrets=[*secrets, *secrets_in_words(target)], watch=watch)
        return LocalExamination(sheet, target, **settings)
    # Only URLs are worth the time that this import takes.
    from mesero.doctor.remote import REMOTE_CHECKS, RemoteExamination, secrets_of_url

    secrets += secrets_of_url(target)
    return RemoteExamination(
        Sheet((*names, *REMOTE_CHECKS), secrets=secrets, watch=watch), target, **settings
    )


async def _run_within(limits: Limits, examination: Any, server: ConfiguredServer | None) -> None:
    sheet: Sheet = examination.sheet
    deadline = asyncio.timeout(limits.total_s + limits.watch_s)
    try:
        async with deadline:
            # An entry of a file may name nothing at all, which has been said then.
            if (server is None or check_config(sheet, server)) and examination.shown:
                await examination.run()
    except Exception as error:  # noqa: BLE001 - what was seen until then must not be lost with it
        if not deadline.expired():
            _tell_failure(sheet, error)
            return
        if not sheet.is_broken and isinstance(examination, LocalExamination):
            examination.tell_unfinished()
        if not sheet.is_broken:
            total_s = limits.total_s
            sheet.diagnose("TIME-1", f"it was not done within {total_s:g} s; what was not reached is marked")


def _tell_failure(sheet: Sheet, error: Exception) -> None:
    """The examination itself failed: what was asked for cannot be done, or the doctor has a mistake."""
    if isinstance(error, MeseroError):
        sheet.diagnose("CONNECT-1", error.what, blame=error.blame, fix=error.fix)
        return
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    sheet.diagnose(
        "DOCTOR-1",
        f"{type(error).__name__}: {error}",
        evidence=[f"{Path(each.filename).name}, line {each.lineno}, in {each.name}" for each in frames],
    )


def _report_of(examination: Any, *, since: float, is_cancelled: bool = False) -> Report:
    sheet: Sheet = examination.sheet
    visit: Visit | None = examination.visit
    is_connected = visit is not None and visit.is_connected
    facts = visit.facts if visit is not None and is_connected else None
    verdict = verdict_for(sheet.diagnoses, is_connected=is_connected)
    return Report(
        target=sheet.hide(examination.shown),
        verdict="unknown" if is_cancelled and not sheet.diagnoses else verdict,
        server=_hidden_info(sheet, facts.info) if facts is not None else None,
        era=facts.era if facts is not None else None,
        revision=facts.revision if facts is not None else None,
        checks=sheet.checks,
        diagnoses=sheet.diagnoses,
        took_s=round(time.monotonic() - since, 3),
    )


def _hidden_info(sheet: Sheet, info: Implementation | None) -> Implementation | None:
    """What a server says of itself, where it may repeat what it was given."""
    if info is None:
        return None
    texts = {name: value for name in info.__struct_fields__ if isinstance(value := getattr(info, name), str)}
    return replace(info, **{name: sheet.hide(text) for name, text in texts.items()})
