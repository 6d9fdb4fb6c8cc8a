"""Each broken server of this folder that does not end as it should; and that nothing is ever left."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mesero.doctor import examine
from mesero.doctor.processes import descendants_of
from tests.broken.examining import QUICK_S, check, command_of
from tests.transports.children import is_alive, until

ENDINGS = [
    ("P23_group", ["SHUTDOWN-2"]),
    ("P23_again", ["SHUTDOWN-3"]),
    ("P23_children", []),
]


@pytest.mark.parametrize(("name", "expected"), ENDINGS)
async def test_how_a_server_ends_is_diagnosed(name, expected):
    report = await examine(command_of(name), timeout_s=QUICK_S)

    check(report, expected)
    for pid in re.findall(r"\(pid (\d+)\)", " ".join(each.cause for each in report.diagnoses)):
        await until(lambda pid=pid: not is_alive(int(pid)))


async def test_a_server_that_only_a_kill_ends_is_named_with_what_it_started():
    report = await examine(command_of("stubborn"), timeout_s=10)

    check(report, ["SHUTDOWN-1", "SHUTDOWN-2"])
    pids = re.findall(r"\(pid (\d+)\)", report.diagnoses[0].cause)
    assert len(pids) == 3
    assert "signal 9" in report.diagnoses[0].cause
    for pid in pids:
        await until(lambda pid=pid: not is_alive(int(pid)))


STAGES = {"connect": "connection", "call": "calls", "shutdown": "shutdown"}
"""Where the server stays, and the check that is under way then."""


async def family_at(sign, of):
    """The processes of the server, once it is where it is to be interrupted."""
    await until(sign.exists)
    kin = [each.pid for each in descendants_of(of)]
    assert len(kin) == 3
    return kin


@pytest.fixture
def _interruptible():
    """Where the tests run in the background of a shell, they and their children ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize("stage", STAGES)
async def test_an_interrupt_leaves_nothing_and_tells_what_was_seen(stage, tmp_path):
    sign = tmp_path / "sign"
    options = ["--call", "echo"] if stage == "call" else []
    words = [sys.executable, "-m", "mesero", "doctor", "--json", *options, "--"]
    process = subprocess.Popen(  # noqa: ASYNC220 - its output is read in a thread
        [*words, *command_of("stubborn", stage, str(sign))], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    kin = await family_at(sign, process.pid)

    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    out, err = await asyncio.to_thread(process.communicate, timeout=20)

    assert process.returncode == 130, err
    # Far less than a server gets that ends by itself.
    assert time.monotonic() - start < 3
    assert b"interrupted" in err
    report = json.loads(out)
    assert report["checks"][0]["status"] == "ok"
    assert next(each for each in report["checks"] if each["name"] == STAGES[stage])["status"] == "failed"
    for pid in kin:
        await until(lambda pid=pid: not is_alive(int(pid)))


@pytest.mark.parametrize("stage", STAGES)
async def test_an_examination_that_is_cancelled_leaves_nothing(stage, tmp_path):
    sign = tmp_path / "sign"
    calls = {"echo": None} if stage == "call" else None
    seen = []
    task = asyncio.create_task(
        examine(command_of("stubborn", stage, str(sign)), calls=calls, on_cancelled=seen.append)
    )
    await until(sign.exists)
    kin = [pid for pid in map(int, family_of(sign)) if pid != os.getpid()]

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert len(kin) == 3
    for pid in kin:
        await until(lambda pid=pid: not is_alive(int(pid)))
    assert [each.verdict for each in seen] == ["unknown"]


def family_of(sign):
    """The server that has this sign among its words, and what it started."""
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if str(sign).encode() in words:
            return [entry.name, *(each.pid for each in descendants_of(int(entry.name)))]
    return []
