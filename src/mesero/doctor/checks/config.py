"""Before anything is started: what stands in the configuration file, as its host reads it.

The file is judged by `mesero.host`; here its problems become diagnoses, since to a user of that host they are
as good a reason for a missing server as any other.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from mesero.audit.findings import Blame
from mesero.doctor.report import Diagnosis, Severity
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.doctor.texts import TEXTS
from mesero.host.configured import ConfiguredServer
from mesero.host.hosts import HOSTS
from mesero.host.problems import CODES, ConfigProblem
from mesero.transports.process import inherited_environment

__all__ = ["check_config", "diagnosis_of", "settle_config", "severity_of"]

_SAME: Final = {
    "variable-not-expanded": "LAUNCH-6",
    "variable-unset": "LAUNCH-6",
    "command-with-arguments": "LAUNCH-4",
}
"""What a look at the command finds out as well, and is told once."""
_HARMLESS: Final = frozenset(
    {
        *("secret-in-clear", "secret-in-url", "url-not-encrypted", "duplicate-across-files"),
        *("name-too-long", "name-characters", "unknown-member"),
    }
)
"""Warnings that keep no server from working."""
_EXPLAINS: Final = {
    "tilde-not-expanded": ("LAUNCH-2", "LAUNCH-5", "EXIT-4"),
    "placeholder": ("EXIT-2", "EXIT-4", "LAUNCH-2", "NET-1", "AUTH-2", "AUTH-9", "S401-3"),
}
"""A mistake in the file → what follows from it."""
_BLAME: Final[Blame] = "client"


def severity_of(problem: ConfigProblem) -> Severity:
    """How much a problem of a file matters to whoever wants to use the server."""
    if _SAME.get(problem.code) == "LAUNCH-6":
        return "degraded"
    if problem.severity == "error":
        return "broken"
    return "note" if problem.severity == "info" or problem.code in _HARMLESS else "degraded"


def diagnosis_of(problem: ConfigProblem) -> Diagnosis:
    """A problem of a file as a diagnosis: its code is that of `mesero config list`."""
    code = _SAME.get(problem.code, problem.code)
    return Diagnosis(
        code=code,
        severity=severity_of(problem),
        phase="launch",
        title=TEXTS[code].title if code in TEXTS else _title_for(code),
        cause=f"{problem.file}, line {problem.line}, column {problem.column}: {problem.message}",
        blame=_BLAME,
        fix=problem.fix,
    )


def _title_for(code: str) -> str:
    """What kind of mistake it is; what follows from it depends on the host, and is in the cause."""
    return CODES[code].partition(":")[0].rstrip(".")


def check_config(sheet: Sheet, server: ConfiguredServer) -> bool:
    """Take over what is wrong with a server's file; whether the entry says what is to be started.

    Args:
        sheet: Takes what is seen.
        server: The server.
    """
    entry = server.entry
    with sheet.check("config") as check:
        check.say(f"{HOSTS[entry.host].title} ({entry.scope}): {entry.file}, line {entry.line}")
        if entry.is_disabled:
            check.warn("the host is told not to start it")
            sheet.diagnose("CONFIG-1", f"{entry.name!r} is switched off in {entry.file}, line {entry.line}")
        for problem in server.problems:
            if problem.severity == "info":
                continue
            text = f"{problem.line}:{problem.column} {problem.severity} {problem.code}: {problem.message}"
            (check.fail if severity_of(problem) == "broken" else check.warn)(text)
            sheet.add(diagnosis_of(problem))
        _check_target(sheet, check, server)
        _check_path(sheet, check, server)
    # What a garbled entry happens to start is not what was meant, and says nothing.
    return not any(one.server is not None and severity_of(one) == "broken" for one in server.problems)


def _check_target(sheet: Sheet, check: OpenCheck, server: ConfiguredServer) -> None:
    """There must be something to start or to connect to, whatever the file's own checks made of the entry."""
    entry, launch = server.entry, server.launch
    if launch.command or launch.url or sheet.is_broken:
        return
    text = f"{entry.name!r} in {entry.file}, line {entry.line}, has neither a command nor a URL"
    check.fail(text)
    sheet.diagnose("CONFIG-3", text)


def _check_path(sheet: Sheet, check: OpenCheck, server: ConfiguredServer) -> None:
    """Hosts with a window do not read a shell's startup files: what only those put on PATH is not found."""
    launch, rules = server.launch, HOSTS[server.entry.host]
    if rules.reads_shell or not launch.command or os.name == "nt" or "PATH" in launch.env:
        return
    name = launch.command[0]
    found = shutil.which(name, path=inherited_environment(launch.env).get("PATH"))
    if Path(name).name != name or found is None or not Path(found).is_relative_to(Path.home()):
        return
    check.say(f"`{name}` is {found}, a folder that may be on your shell's PATH only")
    sheet.diagnose(
        "CONFIG-2",
        f"`{name}` is {found}, and {rules.title} does not read what your shell puts on PATH",
        fix=f'"command": "{found}"',
    )


def settle_config(sheet: Sheet) -> None:
    """Once all is seen: a mistake in the file that explains what came after it stands in its place."""
    for code, effects in _EXPLAINS.items():
        if sheet.has(code) and any(map(sheet.has, effects)):
            sheet.escalate(code)
            sheet.drop(effects)
