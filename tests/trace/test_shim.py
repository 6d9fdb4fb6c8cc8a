"""The shim: what passes is the same as without it, and everything ends when it should."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mesero.errors import LaunchError
from mesero.trace.format import EofLine, ExitLine, MessageLine, NoteLine, SpawnLine, StderrLine, TextLine
from mesero.trace.reader import TraceReader, open_file
from mesero.trace.scribe import Scribe, ScribeSettings
from mesero.trace.shim import Shim, end_like

CANARY = "canary-5eCr3t-value"
WITHIN_S = 30

ECHO = "import os\nwhile data := os.read(0, 65536):\n    os.write(1, data)"


class Running:
    """A shim in front of a Python program; `host` is our side of it."""

    def __init__(self, path, program, *arguments, options=(), **settings):
        self.path = path
        self.command = [sys.executable, "-c", program, *arguments]
        self.host = subprocess.Popen(
            [sys.executable, "-m", "mesero", "trace", "-o", str(path), *options, "--", *self.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            **settings,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.host.poll() is None:
            self.host.kill()
        self.host.wait(WITHIN_S)
        for pipe in (self.host.stdin, self.host.stdout, self.host.stderr):
            with contextlib.suppress(OSError):
                pipe.close()

    def read(self, count):
        """Exactly so many bytes of what the server said."""
        data = b""
        while len(data) < count:
            assert select.select([self.host.stdout], [], [], WITHIN_S)[0], data
            more = os.read(self.host.stdout.fileno(), count - len(data))
            assert more, data
            data += more
        return data

    def finish(self, data=None):
        """Close the host's side; exit code, stdout and stderr."""
        out, err = self.host.communicate(data, timeout=WITHIN_S)
        return self.host.returncode, out, err


def lines_of(path, *kinds):
    with TraceReader(open_file(path)) as trace:
        lines = list(trace)
        assert trace.problems.kept == []
    return [line for line in lines if isinstance(line, kinds)] if kinds else lines


def wait_until(condition, what):
    last_moment = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < last_moment, f"never: {what}"
        threading.Event().wait(0.02)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trace.jsonl"


def test_any_bytes_pass_unchanged_in_both_directions(path):
    garbage = bytes(range(256)) * 700 + b"\n\r\n\x00no end"
    with Running(path, ECHO) as shim:
        code, out, _ = shim.finish(garbage)
    assert (code, out) == (0, garbage)
    assert b"\xff" not in path.read_bytes()


def test_a_message_passes_while_both_sides_stay_open(path):
    with Running(path, ECHO) as shim:
        message = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
        shim.host.stdin.write(message[:10])
        assert shim.read(10) == message[:10]
        shim.host.stdin.write(message[10:])
        assert shim.read(len(message) - 10) == message[10:]
        shim.finish()
    found = lines_of(path, MessageLine)
    assert [(line.dir, line.raw.encode() + b"\n") for line in found] == [("c2s", message), ("s2c", message)]


def test_the_recording_has_start_streams_and_end(path):
    with Running(path, "import sys; print('hello', file=sys.stderr); sys.exit(7)") as shim:
        command = shim.command
        code, out, err = shim.finish()
    assert (code, out) == (7, b"")
    assert b"hello\n" in err
    assert b"recording to" in err
    spawn, *rest = lines_of(path)
    assert isinstance(spawn, SpawnLine)
    assert spawn.command == tuple(command)
    assert spawn.cwd == str(Path.cwd())
    assert "PATH" in spawn.env
    assert any(isinstance(line, StderrLine) and line.raw == "hello" for line in rest)
    assert {line.dir for line in rest if isinstance(line, EofLine)} >= {"s2c"}
    assert rest[-1].code == 7
    assert all(line.t >= 0 for line in rest)


def test_five_megabytes_in_one_message_pass_and_are_recorded(path):
    message = b'{"jsonrpc":"2.0","id":1,"result":{"text":"' + b"x" * 5_000_000 + b'"}}\n'
    with Running(path, ECHO) as shim:
        code, out, _ = shim.finish(message)
    assert (code, out == message) == (0, True)
    wait_until(lambda: len(lines_of(path, ExitLine)) == 1, "the recording is whole")
    assert [line.raw.encode() + b"\n" == message for line in lines_of(path, MessageLine)] == [True, True]


def test_a_reader_that_is_slow_slows_the_server_and_loses_nothing(path):
    program = "import os\nfor n in range(200):\n    os.write(1, b'%07d\\n' % n * 2000)"
    with Running(path, program) as shim:
        pid = lines_when(path, SpawnLine)[0].pid
        # 3.2 MB do not fit into the pipes: the server is held up until somebody reads.
        data = shim.read(1)
        assert is_running(pid)
        rest = shim.finish()[1]
    assert data + rest == b"".join(b"%07d\n" % n * 2000 for n in range(200))


def lines_when(path, *kinds):
    """The lines of these kinds, once there are some."""
    found = []

    def is_there():
        if path.exists():
            with TraceReader(open_file(path)) as trace:
                found[:] = [line for line in trace if isinstance(line, kinds)]
        return found

    wait_until(is_there, "the line")
    return found


def test_the_signal_that_ends_the_server_ends_the_shim(path):
    with Running(path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)") as shim:
        assert shim.finish()[0] == -signal.SIGKILL
    assert lines_of(path, ExitLine)[0].signal == signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_are_passed_on(path, number):
    program = f"""
import os, signal, sys, time
def hear(number, frame):
    os.write(1, b"heard %d" % number)
    sys.exit(3)
signal.signal({int(number)}, hear)
os.write(1, b"ready")
while True:  # A single long wait would miss a signal that comes just before it.
    time.sleep(0.05)
"""
    with Running(path, program) as shim:
        assert shim.read(5) == b"ready"
        shim.host.send_signal(number)
        assert shim.finish()[:2] == (3, b"heard %d" % number)


def test_a_server_that_exits_leaves_none_of_its_children(path):
    program = "import subprocess; print(subprocess.Popen(['sleep', '600']).pid, flush=True)"
    with Running(path, program) as shim:
        code, out, _ = shim.finish()
    assert code == 0
    wait_until(lambda: not is_running(int(out)), "its child is gone")


STUBBORN = """
import os, signal, subprocess, sys
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "600"])
os.write(1, b"%d %d\\n" % (os.getpid(), child.pid))
while True:
    signal.pause()
"""


def pids_of(shim):
    line = b""
    while not line.endswith(b"\n"):
        line += shim.read(1)
    return [int(word) for word in line.split()]


def test_killing_the_shim_ends_the_server_and_its_children(path):
    with Running(path, STUBBORN) as shim:
        pids = pids_of(shim)
        assert all(map(is_running, pids))
        # From here on the process beside knows what to end.
        wait_until(lambda: path.exists() and b'"spawn"' in path.read_bytes(), "the start is recorded")
        os.killpg(shim.host.pid, signal.SIGKILL)
        wait_until(lambda: not any(map(is_running, pids)), "server and child are gone")
    assert "was killed" in lines_of(path, NoteLine)[-1].text


def test_a_host_that_is_gone_takes_a_stubborn_server_with_it(path):
    with Running(path, STUBBORN) as shim:
        pids = pids_of(shim)
        shim.host.stdin.close()
        shim.host.stdout.close()
        assert shim.host.wait(WITHIN_S) == -signal.SIGKILL
        wait_until(lambda: not any(map(is_running, pids)), "server and child are gone")


def test_a_host_that_only_closes_stdin_waits_for_as_long_as_the_server_needs(path):
    program = "import os, time; os.read(0, 1); time.sleep(2.5); os.write(1, b'late')"
    with Running(path, program) as shim:
        shim.host.stdin.close()
        assert shim.read(4) == b"late"
        assert shim.host.wait(WITHIN_S) == 0


def test_a_server_that_closes_its_stdout_is_seen_to_by_the_host(path):
    with Running(path, "import os; os.close(1); os.read(0, 1)") as shim:
        assert select.select([shim.host.stdout], [], [], WITHIN_S)[0]
        assert os.read(shim.host.stdout.fileno(), 1) == b""
        assert shim.finish()[0] == 0


def test_a_server_that_reads_no_more_is_noticed_by_the_host(path):
    with Running(path, "import os, signal; os.close(0); os.write(1, b'x'); signal.pause()") as shim:
        assert shim.read(1) == b"x"

        def is_refused():
            try:
                shim.host.stdin.write(b"x")
            except BrokenPipeError:
                return True
            return False

        wait_until(is_refused, "the host is told")
        shim.host.terminate()


def test_a_host_that_reads_no_more_is_noticed_by_the_server(path):
    program = """
import os, sys
os.read(0, 1)
try:
    while True:
        os.write(1, b"x" * 4096)
except BrokenPipeError:
    os._exit(9)
"""
    with Running(path, program) as shim:
        shim.host.stdout.close()
        shim.host.stdin.write(b"x")
        assert shim.host.wait(WITHIN_S) == 9


def test_nobody_who_reads_stderr_is_no_reason_to_fail(path):
    program = "import os\nfor n in range(100): os.write(2, b'x' * 4096)\nos.write(1, b'done')"
    with Running(path, program) as shim:
        shim.host.stderr.close()
        assert shim.read(4) == b"done"
        assert shim.host.wait(WITHIN_S) == 0


@pytest.mark.parametrize("is_blocking", [True, False])
def test_pipes_that_do_not_block_lose_nothing(tmp_path, is_blocking):
    ours, theirs = os.pipe()
    os.set_blocking(theirs, is_blocking)
    command = [sys.executable, "-c", "print('x' * 500_000)"]
    shim = subprocess.Popen(
        [sys.executable, "-m", "mesero", "trace", "-o", str(tmp_path / "t"), "--", *command],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    with os.fdopen(ours, "rb") as file:
        assert len(file.read()) == 500_001
    assert shim.wait(WITHIN_S) == 0


def test_secrets_are_in_no_output(path):
    program = f"""
import os, sys
print("token={CANARY}", file=sys.stderr)
os.write(1, os.read(0, 65536))
"""
    message = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"password":"%s"}}\n' % CANARY.encode()
    env = {**os.environ, "SOME_API_KEY": CANARY}
    with Running(path, program, f"--api-key={CANARY}", options=["--live"], env=env) as shim:
        code, out, err = shim.finish(message)
    assert (code, out) == (0, message)
    # The server's own stderr passes as it is; everything else is ours.
    assert err.replace(f"token={CANARY}\n".encode(), b"").count(CANARY.encode()) == 0
    assert CANARY not in path.read_text()


def test_raw_recording_keeps_them(path):
    message = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"password":"%s"}}\n' % CANARY.encode()
    with Running(path, ECHO, options=["--raw"]) as shim:
        shim.finish(message)
    assert CANARY in path.read_text()


def test_live_prints_a_line_for_each_message(path):
    with Running(path, ECHO, options=["--live"]) as shim:
        _, _, err = shim.finish(b'{"jsonrpc":"2.0","id":"a\\u001b[31m","method":"ping"}\n')
    assert "ping" in err.decode()
    assert "findings" in err.decode()
    assert "\x1b" not in err.decode()


def test_a_recording_that_cannot_be_written_is_said_once_and_harms_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with Running(tmp_path / "file" / "trace.jsonl", ECHO) as shim:
        message = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 50
        code, out, err = shim.finish(message)
    assert (code, out) == (0, message)
    assert err.decode().count("the recording ends here") == 1


def test_a_program_that_is_not_there_is_recorded_and_said(path):
    host = subprocess.run(
        [sys.executable, "-m", "mesero", "trace", "-o", str(path), "--", "no-such-program", CANARY],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert host.returncode == 3
    assert "'no-such-program' was not found" in host.stderr
    spawn, note = lines_of(path)
    assert isinstance(spawn.command, tuple)
    assert not isinstance(spawn.pid, int)
    assert "not found" in note.text


def test_what_cannot_be_run_is_told_apart(tmp_path):
    program = tmp_path / "program"
    program.write_text("no program")

    def launch(name):
        settings = ScribeSettings(path=str(tmp_path / "t"), name="x", transport="stdio", target="x")
        scribe = Scribe(settings, print)
        try:
            with pytest.raises(LaunchError) as caught:
                Shim([name], scribe).run()
        finally:
            scribe.close()
        return str(caught.value)

    # Signals belong to the main thread, and to a process of its own.
    found = []
    names = [str(program), "a b", str(program)]
    for name in names:
        thread = threading.Thread(target=lambda name=name: found.append(launch(name)))
        thread.start()
        thread.join(WITHIN_S)
        program.chmod(0o755)
    assert "chmod +x" in found[0]
    assert "words of their own" in found[1]
    assert "#!/usr/bin/env" in found[2]


def test_an_exit_code_is_given_back_as_it_is():
    assert end_like(7) == 7
    assert end_like(0) == 0


def test_bytes_that_are_no_messages_are_text(path):
    with Running(path, "print('Server ready')") as shim:
        shim.finish()
    assert [line.raw for line in lines_of(path, TextLine)] == ["Server ready"]
