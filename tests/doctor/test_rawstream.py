import asyncio
import sys
import time

from mesero.doctor.processes import facts_of
from mesero.doctor.rawstream import FRAMED_HELLO, PLAIN_HELLO, find_answer
from tests.transports.children import until

ECHO = "import sys; sys.stdout.write(sys.stdin.read()); sys.stdout.flush()"


async def ask(program, said=PLAIN_HELLO, *, is_closing, wait_s=10.0):
    command = [sys.executable, "-c", program]
    return await find_answer(command, said, env={}, cwd=None, wait_s=wait_s, is_closing=is_closing)


async def test_what_comes_when_stdin_is_closed_is_heard():
    assert await ask(ECHO, FRAMED_HELLO, is_closing=True) == FRAMED_HELLO


async def test_silence_is_no_answer():
    assert await ask(ECHO, is_closing=False, wait_s=0.5) is None


async def test_a_program_that_is_not_there_is_no_answer():
    assert await find_answer(["/no/such"], b"", env={}, cwd=None, wait_s=1, is_closing=True) is None


STAYS = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(60)
"""


async def test_what_left_the_process_and_holds_its_pipes_does_not_stay(tmp_path):
    left = tmp_path / "pid"
    command = [sys.executable, "-c", STAYS, str(left)]
    start = time.monotonic()

    asking = find_answer(command, b"", env={}, cwd=None, wait_s=30, is_closing=False)
    task = asyncio.create_task(asking)
    await until(lambda: left.exists() and left.read_text())
    task.cancel()
    await asyncio.wait({task})

    assert time.monotonic() - start < 20
    assert facts_of(int(left.read_text())) is None
