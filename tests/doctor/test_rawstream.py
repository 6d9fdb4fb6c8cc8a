import sys

from mesero.doctor.rawstream import FRAMED_HELLO, PLAIN_HELLO, find_answer

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
