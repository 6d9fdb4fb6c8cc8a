"""stdio, the client's side: a server as a child process, its life and its death.

The child is started without a shell, in a process group of its own. Its stderr is always drained and its tail kept.
Closing is: stdin closed → wait → SIGTERM → SIGKILL, to the whole group; nothing survives `aclose`, a cancelled task or
the interpreter's exit.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shlex
import shutil
import signal
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from mesero.errors import DisconnectedError, LaunchError, UsageError
from mesero.jsonrpc import MAX_MESSAGE_BYTES
from mesero.transports import Observer
from mesero.transports.stream import StreamTransport

__all__ = ["StdioTransport", "inherited_environment"]

_INHERITED = (
    "APPDATA",
    "COMSPEC",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
)
"""Variables that a server process gets without being asked: no secret is usually kept in them."""

_STDERR_LINES = 50
_STDERR_LINE_BYTES = 4096
_MAX_RESTARTS = 5
_RESTART_WINDOW_S = 60.0

_alive: weakref.WeakSet[StdioTransport] = weakref.WeakSet()


def inherited_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a server process: a safe inherited set plus ``extra``."""
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    environment.update(extra or {})
    return environment


class _ChildProtocol(asyncio.SubprocessProtocol):
    """Hands the child's bytes and its end to the transport that started it."""

    def __init__(self, owner: StdioTransport) -> None:
        self._owner = owner
        self._stderr_rest = b""
        self.exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.stdout_closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.may_write = asyncio.Event()
        self.may_write.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._owner.receive_bytes(data)
            return
        *lines, self._stderr_rest = (self._stderr_rest + data).split(b"\n")
        for line in lines:
            self._owner.take_stderr_line(line.rstrip(b"\r"))
        if len(self._stderr_rest) > _STDERR_LINE_BYTES:
            self._owner.take_stderr_line(self._stderr_rest)
            self._stderr_rest = b""

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc  # The reason is always the same: the other end is closed.
        if fd == 1 and not self.stdout_closed.done():
            self.stdout_closed.set_result(None)
            self._owner.stdout_ended(self)
        elif fd == 2 and self._stderr_rest:
            self._owner.take_stderr_line(self._stderr_rest)
            self._stderr_rest = b""

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)
        self._owner.process_ended(self)

    def pause_writing(self) -> None:
        self.may_write.clear()

    def resume_writing(self) -> None:
        self.may_write.set()


class StdioTransport(StreamTransport):
    """One server process.

    Args:
        command: The program and its arguments; never a shell line.
        env: Variables added to the inherited safe set.
        cwd: The working directory, by default ours.
        close_wait_s: How long each step of closing waits (stdin closed, SIGTERM), in seconds.
        on_stderr: Called with each line of the server's stderr.
        max_bytes: The longest message accepted, in bytes.
        observer: Sees every message.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
    """

    kind = "stdio"

    def __init__(  # noqa: PLR0913  (what a process needs to be started is that much; all keyword-only)
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        close_wait_s: float = 2.0,
        on_stderr: Callable[[str], None] | None = None,
        max_bytes: int = MAX_MESSAGE_BYTES,
        observer: Observer | None = None,
    ) -> None:
        if isinstance(command, str) or not command:
            raise UsageError("a command is a list of the program and its arguments, for example ['uvx', 'some-server']")
        self.command = tuple(str(part) for part in command)
        super().__init__(shlex.join(self.command), max_bytes=max_bytes, observer=observer)
        self._env = dict(env or {})
        self._cwd = cwd
        self._close_wait_s = close_wait_s
        self._on_stderr = on_stderr
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._child: asyncio.SubprocessTransport | None = None
        self._protocol: _ChildProtocol | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._starts: deque[float] = deque(maxlen=_MAX_RESTARTS)
        self._opening: asyncio.Lock = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None
        self._end_timer: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the running server, or None."""
        return self._child.get_pid() if self._child is not None and self._is_up else None

    @property
    def exit_code(self) -> int | None:
        """How the last process ended, None while it runs. Negative: the signal that ended it."""
        return self._child.get_returncode() if self._child is not None else None

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines of the server's stderr, oldest first."""
        return tuple(self._stderr)

    # -- starting --------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Start the server, or start it again after it ended.

        Raises:
            LaunchError: the program was not found, could not be run, or ended too often in a minute.
            ClosedError: the transport was closed.
        """
        async with self._opening:
            if self._is_closed:
                raise self._gone_error()
            if self._is_up:
                return
            self._check_restarts()
            await self._start()

    def _check_restarts(self) -> None:
        now = time.monotonic()
        if len(self._starts) == _MAX_RESTARTS and now - self._starts[0] < _RESTART_WINDOW_S:
            raise LaunchError(
                f"the server ended {_MAX_RESTARTS} times in {_RESTART_WINDOW_S:g} s and is not started again "
                f"(last exit code {self.exit_code}, last stderr: {' | '.join(self.stderr_tail[-3:]) or 'nothing'})",
                where=self.target,
            )
        self._starts.append(now)

    async def _start(self) -> None:
        environment = inherited_environment(self._env)
        program = shutil.which(self.command[0], path=environment.get("PATH"))
        if program is None:
            raise LaunchError(
                f"the program {self.command[0]!r} was not found",
                where=self.target,
                fix=f"It was looked for in PATH={environment.get('PATH', '')!r}",
            )
        await self._reap()
        try:
            child, protocol = await asyncio.get_running_loop().subprocess_exec(
                lambda: _ChildProtocol(self),
                program,
                *self.command[1:],
                env=environment,
                cwd=self._cwd,
                # A group of its own, so that closing reaches the children of the server too.
                start_new_session=sys.platform != "win32",
            )
        except OSError as error:
            raise LaunchError(f"could not be started: {error.strerror or error}", where=self.target) from None
        self._child = child
        self._protocol = protocol
        self._stdin = cast("asyncio.WriteTransport", child.get_pipe_transport(0))
        _alive.add(self)
        self.begin()

    async def _reap(self) -> None:
        """Make sure that nothing of an earlier process is left before the next one starts."""
        if self._child is not None and self._protocol is not None:
            await self._end_child(self._child, self._protocol, first_wait_s=0.2)

    # -- while it runs ---------------------------------------------------------------------------------------------

    def _send(self, data: bytes) -> None:
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(data)

    def take_stderr_line(self, line: bytes) -> None:
        """Keep one line of stderr, and show it to whoever wants it."""
        text = line[:_STDERR_LINE_BYTES].decode("utf-8", "backslashreplace")
        self._stderr.append(text)
        self.receive_stderr_line(line)
        if self._on_stderr is not None:
            self._on_stderr(text)

    def stdout_ended(self, protocol: _ChildProtocol) -> None:
        """Its stdout is closed: no answer can come any more. Its exit code follows within a moment."""
        if protocol is self._protocol and self._is_up:
            self._end_timer = asyncio.get_running_loop().call_later(0.5, self._finish, protocol)

    def process_ended(self, protocol: _ChildProtocol) -> None:
        """It exited. What it wrote before may still be in the pipe: that is read first."""
        if protocol is not self._protocol:
            return
        if protocol.stdout_closed.done():
            self._finish(protocol)
        elif self._is_up:
            # A grandchild may hold the pipe open for ever; the wait for the rest is short.
            self._end_timer = asyncio.get_running_loop().call_later(0.5, self._finish, protocol)

    def _finish(self, protocol: _ChildProtocol) -> None:
        if protocol is not self._protocol or not self._is_up:
            return
        if self._end_timer is not None:
            self._end_timer.cancel()
            self._end_timer = None
        self.end(self._death())

    def _death(self) -> DisconnectedError:
        code = self.exit_code
        if code is None:
            what = "the server closed its stdout but still runs"
        elif code < 0:
            what = f"the server was ended by signal {_signal_name(-code)}"
        else:
            what = f"the server exited with code {code}"
        return DisconnectedError(
            what,
            where=self.target,
            exit_code=code,
            stderr_tail=self.stderr_tail[-10:],
            last_message=self._last_message,
            noise=self.noise.lines[-5:],
        )

    def _gone_error(self) -> Any:
        if self._is_closed or self._child is None:
            return super()._gone_error()
        return self._death()

    # -- ending ----------------------------------------------------------------------------------------------------

    async def aclose(self) -> None:
        """Close stdin, wait, SIGTERM, SIGKILL. From any task, any number of times; a cancelled call goes on closing.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown
        """
        self.mark_closed()
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        async with self._opening:
            if self._child is None or self._protocol is None:
                return
            self._flush()
            await self._end_child(self._child, self._protocol, first_wait_s=self._close_wait_s)
            self._is_up = False
            _alive.discard(self)

    async def _end_child(
        self, child: asyncio.SubprocessTransport, protocol: _ChildProtocol, *, first_wait_s: float
    ) -> None:
        stdin = cast("asyncio.WriteTransport | None", child.get_pipe_transport(0))
        if stdin is not None:
            stdin.close()
        if not await _is_done_within(protocol.exited, first_wait_s):
            _signal_group(child, "SIGTERM")
            if not await _is_done_within(protocol.exited, self._close_wait_s):
                _signal_group(child, "SIGKILL")
                await _is_done_within(protocol.exited, 5.0)
        # What the server itself started is in its group, and must not outlive it.
        _signal_group(child, "SIGKILL")
        child.close()

    def kill_now(self) -> None:
        """For the interpreter's exit: no loop, no waiting."""
        if self._child is not None:
            _signal_group(self._child, "SIGKILL")


async def _is_done_within(future: asyncio.Future[None], wait_s: float) -> bool:
    done, _ = await asyncio.wait({future}, timeout=wait_s)
    return bool(done)


def _signal_name(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def _signal_group(child: asyncio.SubprocessTransport, name: str) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            if child.get_returncode() is None:
                child.kill()
            return
        os.killpg(child.get_pid(), getattr(signal, name))


@atexit.register
def _kill_survivors() -> None:
    for transport in list(_alive):
        transport.kill_now()
