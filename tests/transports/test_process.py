"""A server process: how it starts, what is inherited, how it ends, and that nothing is left of it."""

import asyncio
import os
import subprocess
import sys
import time

import pytest

from mesero.errors import LaunchError
from mesero.transports.process import inherited_environment, spawn
from tests.transports.children import is_alive, open_descriptors, script_command, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="looks at processes the POSIX way")


class Owner:
    """Writes down what a process does."""

    def __init__(self):
        self.stdout = b""
        self.stderr = []
        self.changes = 0
        self.ends = 0

    def receive_bytes(self, data):
        self.stdout += data

    def take_stderr_line(self, line):
        self.stderr.append(line)

    def process_changed(self, process):
        self.changes += 1

    def process_ended(self, process):
        self.ends += 1


@pytest.fixture
async def started():
    processes = []

    async def start(command, *, env=None, cwd=None):
        owner = Owner()
        process = await spawn(
            owner, command, environment=inherited_environment(env), cwd=cwd, where="a server"
        )
        processes.append(process)
        return process, owner

    yield start
    for process in processes:
        await process.end(wait_s=0, term_wait_s=0)


async def ended(process):
    await asyncio.wait_for(asyncio.shield(process.ended), 10)


async def test_no_secret_is_inherited_and_env_is_added(tmp_path, started, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    command = script_command(tmp_path, "write(json.dumps(dict(os.environ)))")
    process, owner = await started(command, env={"API_KEY": "given"})
    await ended(process)
    assert b"s3cret" not in owner.stdout
    assert b'"API_KEY": "given"' in owner.stdout
    assert b'"PATH"' in owner.stdout


def test_env_wins_over_what_is_inherited(monkeypatch):
    monkeypatch.setenv("LANG", "C")
    assert inherited_environment({"LANG": "de_DE"})["LANG"] == "de_DE"


async def test_no_shell_reads_the_arguments(tmp_path, started):
    command = script_command(tmp_path, "write(json.dumps(sys.argv[1:]))")
    process, owner = await started([*command, "$HOME; rm -rf *", "a b"])
    await ended(process)
    assert owner.stdout == b'["$HOME; rm -rf *", "a b"]'


async def test_it_runs_in_the_folder_that_was_given(tmp_path, started):
    (tmp_path / "elsewhere").mkdir()
    command = script_command(tmp_path, "write(os.getcwd())")
    process, owner = await started(command, cwd=tmp_path / "elsewhere")
    await ended(process)
    assert owner.stdout.endswith(b"elsewhere")


async def test_a_relative_program_is_looked_for_from_the_working_directory(tmp_path, started):
    program = tmp_path / "server"
    program.write_text("#!/bin/sh\necho started\n")
    program.chmod(0o755)
    process, owner = await started(["./server"], cwd=tmp_path)
    await ended(process)
    assert owner.stdout == b"started\n"


async def test_a_program_in_the_own_working_directory_is_found(started, tmp_path, monkeypatch):
    (tmp_path / "own-server").write_text("#!/bin/sh\necho started\n")
    (tmp_path / "own-server").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    process, owner = await started(["./own-server"])
    await ended(process)
    assert owner.stdout == b"started\n"


async def test_an_unknown_program_is_named_with_the_path_it_was_looked_for_in(started):
    with pytest.raises(LaunchError, match=r"'no-such-program' was not found.*PATH='[^']+'"):
        await started(["no-such-program"])


async def test_a_whole_command_line_as_one_item_is_explained(started):
    with pytest.raises(LaunchError, match="are items of their own"):
        await started(["uvx some-server"])


async def test_a_file_that_does_not_exist_is_named(started, tmp_path):
    with pytest.raises(LaunchError, match="nothing-here' does not exist"):
        await started([str(tmp_path / "nothing-here")])


async def test_a_file_that_is_not_executable_is_told_so(started, tmp_path):
    (tmp_path / "server").write_text("#!/bin/sh\n")
    with pytest.raises(LaunchError, match=r"is not executable.*chmod"):
        await started([str(tmp_path / "server")])


async def test_a_script_without_an_interpreter_is_told_so(started, tmp_path):
    (tmp_path / "server").write_text("print(1)\n")
    (tmp_path / "server").chmod(0o755)
    with pytest.raises(LaunchError, match="first line like #!"):
        await started([str(tmp_path / "server")])


async def test_a_program_that_the_system_refuses_is_told_without_advice(started, tmp_path):
    with pytest.raises(LaunchError, match=r"could not be started: Argument list too long$"):
        await started([sys.executable, "x" * 10_000_000])


async def test_a_working_directory_that_does_not_exist_is_named(started, tmp_path):
    with pytest.raises(LaunchError, match=r"working directory .*gone' does not exist"):
        await started([sys.executable], cwd=tmp_path / "gone")


async def test_its_exit_code_tells_how_it_ended(tmp_path, started):
    process, owner = await started(script_command(tmp_path, "sys.exit(3)"))
    await ended(process)
    assert process.exit_code == 3
    assert process.describe_end() == "exited with code 3"
    assert owner.ends == 1


async def test_a_signal_that_ended_it_has_its_name(tmp_path, started):
    process, _ = await started(script_command(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)"))
    await ended(process)
    assert process.describe_end() == "was ended by signal 9 (SIGKILL)"


async def test_a_signal_without_a_name_has_its_number(tmp_path, started):
    process, _ = await started(script_command(tmp_path, "os.kill(os.getpid(), 40)"))
    await ended(process)
    assert process.describe_end() == "was ended by signal 40"


async def test_what_it_wrote_before_its_end_is_read_first(tmp_path, started):
    body = "write('last'); sys.stderr.write('words'); sys.stderr.flush(); os._exit(1)"
    process, owner = await started(script_command(tmp_path, body))
    await ended(process)
    assert owner.stdout == b"last"
    assert owner.stderr == [b"words"]


async def test_closing_stdin_ends_a_server_in_good_order(tmp_path, started):
    process, _ = await started(script_command(tmp_path, "sys.stdin.read(); sys.exit(7)"))
    await process.end(wait_s=10, term_wait_s=10)
    assert process.exit_code == 7


async def test_a_server_that_ignores_the_end_of_stdin_is_sent_sigterm(tmp_path, started):
    process, owner = await started(script_command(tmp_path, "write('up'); time.sleep(60)"))
    await until(lambda: owner.stdout)
    await process.end(wait_s=0.05, term_wait_s=10)
    assert process.exit_code == -15


async def test_a_server_that_ignores_sigterm_too_is_killed(tmp_path, started):
    body = "signal.signal(signal.SIGTERM, signal.SIG_IGN); write('up'); ignore_everything()"
    process, owner = await started(script_command(tmp_path, body))
    await until(lambda: owner.stdout)
    await process.end(wait_s=0.05, term_wait_s=0.05)
    assert process.exit_code == -9


async def test_the_end_is_quick_when_the_server_is_gone_already(tmp_path, started):
    process, _ = await started(script_command(tmp_path, ""))
    await ended(process)
    before = time.monotonic()
    await process.end(wait_s=30, term_wait_s=30)
    assert time.monotonic() - before < 5


async def test_ending_twice_is_the_same_as_once(tmp_path, started):
    process, _ = await started(script_command(tmp_path, "sys.stdin.read()"))
    await asyncio.gather(process.end(wait_s=10, term_wait_s=1), process.end(wait_s=10, term_wait_s=1))
    await process.end(wait_s=10, term_wait_s=1)
    assert process.exit_code == 0


async def test_a_grandchild_does_not_outlive_a_server_that_was_ended(tmp_path, started):
    process, owner = await started(
        script_command(tmp_path, "write(f'{start_grandchild()}\\n'); sys.stdin.read()")
    )
    await until(lambda: b"\n" in owner.stdout)
    await process.end(wait_s=10, term_wait_s=1)
    await until(lambda: not is_alive(int(owner.stdout)))


async def test_a_grandchild_does_not_outlive_a_server_that_died(tmp_path, started):
    process, owner = await started(script_command(tmp_path, "write(f'{start_grandchild()}\\n'); os._exit(1)"))
    await ended(process)
    assert process.exit_code == 1
    await until(lambda: not is_alive(int(owner.stdout)))


async def test_a_cancelled_end_kills_at_once(tmp_path, started):
    body = "write(f'{start_grandchild()}\\n'); ignore_everything()"
    process, owner = await started(script_command(tmp_path, body))
    await until(lambda: b"\n" in owner.stdout)
    ending = asyncio.create_task(process.end(wait_s=60, term_wait_s=60))
    await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait({ending})
    await until(lambda: not is_alive(process.pid) and not is_alive(int(owner.stdout)))


async def test_a_server_that_closes_stdout_and_lives_on_has_ended_for_us(tmp_path, started):
    process, _ = await started(script_command(tmp_path, "os.close(1); time.sleep(60)"))
    await ended(process)
    assert process.describe_end() == "closed its stdout but still runs"
    assert process.is_fading


async def test_a_server_that_closes_stdin_has_ended_for_us(tmp_path, started):
    process, _ = await started(script_command(tmp_path, "os.close(0); time.sleep(60)"))
    await ended(process)
    assert process.describe_end() == "closed its stdin but still runs"


async def test_a_server_that_exits_after_it_had_ended_for_us_takes_its_group_with_it(tmp_path, started):
    body = """
        pid = start_grandchild()
        sys.stderr.write(f"{pid}\\n")
        sys.stderr.flush()
        os.close(1)
        time.sleep(0.8)
    """
    process, owner = await started(script_command(tmp_path, body))
    await until(lambda: process.exit_code is not None)
    await until(lambda: not is_alive(int(owner.stderr[0])))


async def test_a_server_may_close_its_stderr(tmp_path, started):
    process, owner = await started(script_command(tmp_path, "os.close(2); write('up'); sys.stdin.read()"))
    await until(lambda: owner.stdout)
    assert not process.is_fading


async def test_stderr_comes_line_by_line_and_long_lines_are_cut(tmp_path, started):
    body = "sys.stderr.write('one\\r\\ntwo\\n' + 'x' * 100_000 + '\\nrest'); sys.stderr.flush()"
    process, owner = await started(script_command(tmp_path, body))
    await ended(process)
    assert owner.stderr[:2] == [b"one", b"two"]
    assert owner.stderr[-1] == b"rest"
    assert all(len(line) <= 4096 for line in owner.stderr)


async def test_a_server_that_does_not_read_is_full_until_it_reads(tmp_path, started):
    # Blocked first, so that a signal that comes before it is waited for is not lost.
    body = (
        "usr1 = {signal.SIGUSR1}; signal.pthread_sigmask(signal.SIG_BLOCK, usr1); write('up'); "
        "signal.sigwait(usr1); sys.stdin.read()"
    )
    process, owner = await started(script_command(tmp_path, body))
    await until(lambda: owner.stdout)
    process.write(b"x" * 8_000_000)
    assert process.is_full
    waiting = asyncio.create_task(process.wait_for_room())
    await asyncio.sleep(0)
    assert not waiting.done()
    os.kill(process.pid, 10)
    await asyncio.wait_for(waiting, 10)
    assert not process.is_full


async def test_who_waits_for_room_is_told_when_the_server_ends(tmp_path, started):
    process, owner = await started(script_command(tmp_path, "write('up'); time.sleep(60)"))
    await until(lambda: owner.stdout)
    process.write(b"x" * 8_000_000)
    waiting = asyncio.create_task(process.wait_for_room())
    await process.end(wait_s=0, term_wait_s=10)
    await asyncio.wait_for(waiting, 10)


async def test_writing_after_the_end_is_let_pass(tmp_path, started):
    process, _ = await started(script_command(tmp_path, ""))
    await ended(process)
    process.write(b"nobody reads this")
    await process.wait_for_room()


async def test_a_cancelled_start_leaves_nothing(tmp_path):
    command = script_command(
        tmp_path, f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    )
    starting = asyncio.create_task(
        spawn(Owner(), command, environment=inherited_environment(), cwd=None, where="a server")
    )
    await asyncio.sleep(0)
    starting.cancel()
    await asyncio.wait({starting})
    assert starting.cancelled()
    pid = (tmp_path / "pid").read_text() if (tmp_path / "pid").exists() else ""
    await until(lambda: not pid or not is_alive(int(pid)))


async def test_no_descriptor_is_left(tmp_path, started):
    command = script_command(tmp_path, "sys.stdin.read()")
    process, _ = await started(command)
    await process.end(wait_s=10, term_wait_s=1)
    before = open_descriptors()
    for _ in range(5):
        process, _ = await started(command)
        await process.end(wait_s=10, term_wait_s=1)
    assert open_descriptors() <= before


def test_what_still_runs_when_the_interpreter_exits_is_killed(tmp_path):
    server = script_command(tmp_path, "write(f'{os.getpid()} {start_grandchild()}\\n'); ignore_everything()")
    program = tmp_path / "host.py"
    program.write_text(f"""
import asyncio, os, sys
from mesero.transports.process import inherited_environment, spawn

class Owner:
    def receive_bytes(self, data):
        sys.stdout.write(data.decode())
        sys.stdout.flush()
        asyncio.get_running_loop().stop()
    def take_stderr_line(self, line): pass
    def process_changed(self, process): pass
    def process_ended(self, process): pass

loop = asyncio.new_event_loop()
loop.create_task(spawn(Owner(), {server!r}, environment=inherited_environment(), cwd=None, where=""))
loop.run_forever()
""")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, timeout=60, check=False)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    asyncio.run(until(lambda: not any(is_alive(pid) for pid in pids)))


@pytest.mark.parametrize(("word", "name"), [("a\0b", "A"), ("a", "A=B")])
async def test_what_no_system_can_pass_on_is_told(word, name):
    with pytest.raises(LaunchError, match=r"could not be started: (embedded null byte|illegal environment)"):
        await spawn(
            Owner(),
            [sys.executable, word],
            environment=inherited_environment({name: "c"}),
            cwd=None,
            where="a server",
        )
