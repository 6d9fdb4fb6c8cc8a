"""A server's command with us in front of it: bytes pass as they are, and are recorded on the way.

The host starts the shim in place of the server; the shim starts the server. Both directions and stderr are
copied in pieces as they come, by a thread each that waits in ``read`` and ``write`` alone, so that a slow
reader slows its writer as without us. Signals are passed on; exit code and deadly signal are the server's.
When the server ends, its group is killed and we end; when the host is gone, the server is ended; when we are
killed, the process that writes the recording ends the server (see `mesero.trace.scribe`).

Nothing here looks into the bytes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from mesero.errors import LaunchError
from mesero.trace.scribe import Scribe, ScribeSettings

__all__ = ["Shim", "end_like", "run_shim"]

_SIGNAL_WAIT_S = 0.2
"""How long a signal may wait to be passed on, at the worst, in seconds."""
_CHUNK_BYTES = 64 * 1024
_GRACE_S = 0.5
"""How long what the server started may hold its pipes after its end, in seconds."""
_END_WAIT_S = 2.0
"""How long the server may take at each step of its end when the host is gone, in seconds."""
_STUCK_S = 10.0
"""How long a host may leave what a dead server said unread, in seconds."""
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH")


def run_shim(
    command: Sequence[str], *, to: str, raw: bool = False, live: bool = False, complain: Callable[[str], None]
) -> int:
    """Be the server for whoever started us, until it ends.

    Args:
        command: The server's program and its arguments.
        to: The file to record into.
        raw: Record secrets as they are.
        live: Print a line for each message on stderr.
        complain: Takes what is wrong with the recording, a sentence each.

    Returns:
        The exit code; negative for the number of the signal that ended the server.

    Raises:
        LaunchError: the server cannot be started.
    """
    settings = ScribeSettings(
        path=to,
        name=Path(command[0]).name,
        transport="stdio",
        target=shlex.join(command),
        raw=raw,
        live=live,
    )
    scribe = Scribe(settings, complain)
    try:
        return Shim(command, scribe).run()
    finally:
        scribe.close()


class Shim:
    """One run of a server behind our stdin, stdout and stderr.

    Args:
        command: The server's program and its arguments.
        scribe: Is told what passes.
    """

    def __init__(self, command: Sequence[str], scribe: Scribe) -> None:
        self._command = list(command)
        self._scribe = scribe
        self._process: subprocess.Popen[bytes] | None = None
        self._signals: list[int] = []
        self._heard: dict[int, Any] = {}
        self._has_ended = threading.Event()
        self._host_reads = True
        self._passed = 0

    def run(self) -> int:
        """Start the server, and pass everything on until it has ended; see `run_shim`."""
        self._forward_signals()
        process = self._start()
        pumps = [
            self._pump(self._copy_to_host, process.stdout),
            self._pump(self._copy_stderr, process.stderr),
        ]
        self._pump(self._copy_to_server, process.stdin)
        self._scribe.start()
        threading.Thread(target=self._wait_for_end, args=(process,), daemon=True).start()
        # Signals are heard between two waits: one that comes in the moment before a wait begins would
        # otherwise be passed on when the server has ended.
        while not self._has_ended.wait(_SIGNAL_WAIT_S):
            pass
        code = process.wait()
        self._drain(pumps)
        self._scribe.tell("exit", code)
        self._leave_signals()
        return code

    def _wait_for_end(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        self._has_ended.set()

    def _start(self) -> subprocess.Popen[bytes]:
        program = shutil.which(self._command[0]) or self._command[0]
        try:
            process = subprocess.Popen(  # noqa: S603  (to run what the user names is the purpose)
                [program, *self._command[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                # A group of its own, so that its end reaches what it started too.
                start_new_session=sys.platform != "win32",
            )
        except OSError as error:
            problem = _launch_error_for(self._command[0], error)
            self._tell_of_start(0)
            self._scribe.tell("note", str(problem))
            self._scribe.start()
            raise problem from None
        self._process = process
        self._tell_of_start(process.pid)
        for number in self._signals:
            process.send_signal(number)
        return process

    def _tell_of_start(self, pid: int) -> None:
        from mesero.trace.sensitive import is_secret_name

        # All that we were started with is the server's; only what looks secret is of interest in its value.
        # (PWD is no password.)
        secret = {name for name in os.environ if is_secret_name(name)} - {"PWD", "OLDPWD"}
        env = {name: value if name in secret else "" for name, value in os.environ.items()}
        try:
            cwd = str(Path.cwd())
        except OSError:
            cwd = ""
        self._scribe.tell("spawn", self._command, cwd, env, pid)

    # -- bytes -------------------------------------------------------------------------------------------

    def _pump(self, copy: Callable[[Any], None], pipe: Any) -> threading.Thread:
        thread = threading.Thread(target=copy, args=(pipe,), name=copy.__name__, daemon=True)
        thread.start()
        return thread

    def _copy_to_server(self, pipe: Any) -> None:
        is_taken = self._copy(0, pipe.fileno(), ("chunk", "c2s"))
        self._scribe.tell("end", "c2s")
        if is_taken:
            pipe.close()
            self._end_without_host()
        else:
            # The server reads no more: whoever writes to it must find out as without us.
            _let_go(0, os.O_RDONLY)
            with contextlib.suppress(OSError):
                pipe.close()

    def _copy_to_host(self, pipe: Any) -> None:
        self._host_reads = self._copy(pipe.fileno(), 1, ("chunk", "s2c"))
        if not self._host_reads:
            self._scribe.tell("note", "the host closed its end of the server's stdout")
        self._scribe.tell("end", "s2c")
        self._host_reads = False
        _let_go(1, os.O_WRONLY)
        pipe.close()

    def _copy_stderr(self, pipe: Any) -> None:
        # A host that does not want it must not make the server fail on it.
        number = pipe.fileno()
        if not self._copy(number, 2, ("stderr",)):
            null = os.open(os.devnull, os.O_WRONLY)
            self._copy(number, null, ("stderr",))
            os.close(null)
        pipe.close()

    def _copy(self, source: int, target: int, event: tuple[str, ...]) -> bool:
        """Copy until the source ends; whether the target took everything."""
        tell = self._scribe.tell
        while True:
            try:
                data = _read_some(source)
            except OSError:
                data = b""
            if not data:
                return True
            # Before it is passed on, or its answer could be recorded first.
            tell(*event, data, bulk=len(data))
            try:
                _write_all(target, data)
            except OSError:
                return False
            self._passed += len(data)

    # -- the end -----------------------------------------------------------------------------------------

    def _drain(self, pumps: list[threading.Thread]) -> None:
        """The server has exited: pass on what it still said."""
        for pump in pumps:
            pump.join(_GRACE_S)
        # What the server started holds the pipes perhaps, and must not outlive it in any case.
        self._signal_group("SIGKILL")
        passed = -1
        while any(pump.is_alive() for pump in pumps) and passed != self._passed:
            passed = self._passed
            for pump in pumps:
                pump.join(_STUCK_S)

    def _end_without_host(self) -> None:
        """The host closed stdin. While it reads, the server may take its time; if it is gone, it may not."""
        if not self._wait_for_host():
            return
        for name in ("SIGTERM", "SIGKILL"):
            if self._has_ended.wait(_END_WAIT_S):
                return
            self._scribe.tell("note", f"the host is gone and the server still runs: {name} sent")
            self._signal_group(name)

    def _wait_for_host(self) -> bool:
        """Wait until nobody reads our stdout any more; False where that cannot be told."""
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(1, 0)
        while self._host_reads:
            if poll.poll(1000) or self._has_ended.is_set():
                return not self._has_ended.is_set()
        return True

    def _signal_group(self, name: str) -> None:
        process = self._process
        if process is None or sys.platform == "win32":
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, getattr(signal, name))

    # -- signals -----------------------------------------------------------------------------------------

    def _forward_signals(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for name in _FORWARDED:
            number = getattr(signal, name, None)
            # What is ignored already is meant to be ignored by the server too, and it inherits that.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._heard[number] = signal.signal(number, self._take_signal)

    def _leave_signals(self) -> None:
        """There is nobody left to pass them on to: from now on they are for us."""
        for number, before in self._heard.items():
            signal.signal(number, before)

    def _take_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._process is None:
            self._signals.append(number)
        elif not self._has_ended.is_set():
            with contextlib.suppress(OSError):
                os.kill(self._process.pid, number)


def _read_some(source: int) -> bytes:
    while True:
        try:
            return os.read(source, _CHUNK_BYTES)
        except BlockingIOError:
            # Some hosts give pipes that do not block.
            select.select([source], [], [])


def _write_all(target: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except BlockingIOError:
            select.select([], [target], [])


def _let_go(number: int, flags: int) -> None:
    """Close one of our own streams; its number stays taken, or the next file that is opened would get it."""
    with contextlib.suppress(OSError):
        null = os.open(os.devnull, flags)
        os.dup2(null, number)
        os.close(null)


def _launch_error_for(program: str, error: OSError) -> LaunchError:
    if error.errno == errno.ENOENT:
        fix = "It was looked for in PATH; its absolute path would do too"
        if " " in program:
            fix = "The program and each of its arguments are words of their own behind '--'"
        return LaunchError(f"the program {program!r} was not found", fix=fix)
    fix = ""
    if error.errno == errno.ENOEXEC:
        fix = "A script needs a first line like #!/usr/bin/env python3, or its interpreter as the program"
    elif error.errno == errno.EACCES:
        fix = "Try: chmod +x"
    return LaunchError(f"{program!r} could not be started: {error.strerror or error}", fix=fix)


def end_like(code: int) -> int:
    """End this process by the signal that ended the server, or give the exit code to end with."""
    if code >= 0:
        _let_go_of_stderr()
        return code
    number = -code
    if sys.platform != "win32":
        import resource

        with contextlib.suppress(OSError, ValueError):
            # The dump of memory would be ours, not the server's.
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return 128 + number


def _let_go_of_stderr() -> None:
    """Nobody may read stderr any more; what cannot be written there must not change the exit code."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)
