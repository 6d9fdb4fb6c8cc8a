"""Many servers at once: those that the hosts of a machine would start, each examined for itself.

    overview = await mesero.doctor.examine_all(mesero.host.configured.configured_servers(...))

One that is broken or hangs takes nothing from the others: each has the whole time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from mesero.doctor.checks.config import diagnosis_of
from mesero.doctor.examine import examine
from mesero.doctor.report import SEVERITIES, VERDICTS, Diagnosis, Report, Verdict, verdict_for
from mesero.doctor.sheet import Watch
from mesero.host.configs import ConfigFile
from mesero.host.configured import ConfiguredServer
from mesero.host.entries import ServerEntry

__all__ = ["Overview", "Patient", "examine_all", "patients_of"]

_AT_ONCE = 4


class Patient(msgspec.Struct, frozen=True, kw_only=True):
    """One server, however many hosts have it.

    Attributes:
        servers: The entries that mean the same thing; never empty.
        report: What was found; None where it was not examined.
        skipped: Why not, in words.
    """

    servers: tuple[ConfiguredServer, ...]
    report: Report | None = None
    skipped: str = ""

    @property
    def entry(self) -> ServerEntry:
        """The first of them."""
        return self.servers[0].entry

    @property
    def name(self) -> str:
        """What the first of them is called."""
        return self.entry.name


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """All of them, in the order of the files.

    Attributes:
        verdict: The worst one.
        patients: The servers.
        diagnoses: What is wrong with files as a whole, the weightiest first; of servers each has its own.
        took_s: In seconds.
    """

    verdict: Verdict
    patients: tuple[Patient, ...]
    diagnoses: tuple[Diagnosis, ...] = ()
    took_s: float = 0.0


def patients_of(servers: Sequence[ConfiguredServer]) -> list[Patient]:
    """Servers that are configured, the same ones together, and those that cannot be examined with the reason.

    What differs between two entries of the same server is the file: only those are put together whose files
    have nothing against them.
    """
    groups: list[list[ConfiguredServer]] = []
    for one in servers:
        group = next((group for group in groups if _is_same(group[0], one)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return [Patient(servers=tuple(group), skipped=_reason_against(group[0])) for group in groups]


def _is_same(one: ConfiguredServer, other: ConfiguredServer) -> bool:
    return (
        one.entry.name == other.entry.name
        and one.launch == other.launch
        and one.entry.is_disabled == other.entry.is_disabled
        and not any(problem.severity != "info" for problem in (*one.problems, *other.problems))
    )


def _reason_against(server: ConfiguredServer) -> str:
    if server.entry.kind == "builtin":
        return "it comes with the host, or with an extension of it"
    if server.entry.is_disabled:
        return "it is switched off"
    if server.inputs:
        return f"its host asks the user for {' and '.join(server.inputs)}"
    return ""


async def examine_all(
    servers: Sequence[ConfiguredServer],
    *,
    files: Sequence[ConfigFile] = (),
    timeout_s: float = 30.0,
    at_once: int = _AT_ONCE,
    watch: Callable[[Patient], Watch | None] = lambda _: None,
    on_cancelled: Callable[[Overview], None] | None = None,
    **settings: Any,
) -> Overview:
    """Examine servers side by side.

    Args:
        servers: As they are configured.
        files: The files that they are from: what is wrong with a file as a whole is told once, and its
            servers are examined all the same.
        timeout_s: For each of them, in seconds.
        at_once: How many at the same time: programs that start take the machine's time from each other.
        watch: Who is told how the examination of one goes on.
        on_cancelled: Called with what was seen until then when all of it is cancelled.
        settings: See `examine`.
    """
    start = time.monotonic()
    places = asyncio.Semaphore(at_once)
    general = [one for file in files for one in file.problems if one.server is None]
    own = [
        replace(one, problems=tuple(each for each in one.problems if each not in general)) for one in servers
    ]
    patients = patients_of(own)

    async def look_at(number: int) -> None:
        def keep(report: Report) -> None:
            patients[number] = Patient(servers=patients[number].servers, report=report)

        async with places:
            eyes = watch(patients[number])
            given = {"timeout_s": timeout_s, "on_cancelled": keep, **settings}
            keep(await _examine_one(patients[number], watch=eyes, **given))

    try:
        async with asyncio.TaskGroup() as group:
            for number, patient in enumerate(patients):
                if not patient.skipped:
                    group.create_task(look_at(number))
    except asyncio.CancelledError:
        if on_cancelled is not None:
            on_cancelled(_overview_of(patients, files, since=start))
        raise
    return _overview_of(patients, files, since=start)


def _overview_of(patients: Sequence[Patient], files: Sequence[ConfigFile], *, since: float) -> Overview:
    diagnoses = _diagnoses_of(files)
    return Overview(
        verdict=_worst_of(patients, diagnoses),
        patients=tuple(each if each.report or each.skipped else _unseen(each) for each in patients),
        diagnoses=diagnoses,
        took_s=round(time.monotonic() - since, 3),
    )


def _unseen(patient: Patient) -> Patient:
    return Patient(servers=patient.servers, skipped="the examination was interrupted")


def _diagnoses_of(files: Sequence[ConfigFile]) -> tuple[Diagnosis, ...]:
    found = []
    for file in files:
        count = len(file.entries)
        lost = "" if file.is_readable or not count else f", and so none of its {count} servers"
        lost = lost.replace(" none of its 1 servers", " not its server")
        for problem in file.problems:
            if problem.server is None and problem.severity != "info":
                each = diagnosis_of(problem)
                found.append(replace(each, cause=each.cause + (lost if each.severity == "broken" else "")))
    return tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity)))


def _worst_of(patients: Sequence[Patient], diagnoses: Sequence[Diagnosis]) -> Verdict:
    found = [
        *(patient.report.verdict for patient in patients if patient.report is not None),
        verdict_for(tuple(diagnoses), is_connected=True),
    ]
    return min(found, key=VERDICTS.index)


async def _examine_one(patient: Patient, **settings: Any) -> Report:
    server = patient.servers[0]
    launch = server.launch
    return await examine(
        list(launch.command) or launch.url or [],
        env=launch.env,
        cwd=launch.cwd,
        headers=launch.headers,
        server=server,
        **settings,
    )
