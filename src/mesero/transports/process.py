"""One server process: its start without a shell, its pipes, its end and that of everything it started.

The process leads a group of its own. Its end is: stdin closed → wait → SIGTERM → SIGKILL, to the whole group;
whatever interrupts that, the group is killed. Groups that live when the interpreter exits are killed then.
Knows no message: bytes go to the owner as they come.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from mesero.errors import LaunchError

__all__ = ["ProcessOwner", "ServerProcess", "inherited_environment", "spawn"]

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

_STDERR_LINE_BYTES = 4096
_PIPE_BYTES = 1024 * 1024
"""So much may wait to be written before the pipe counts as full, in bytes."""
_GRACE_S = 0.5
"""How long the rest of an ending (exit code, last bytes of the pipes) may take, in seconds."""

_running_groups: set[int] = set()


def inherited_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a server process: a safe inherited set plus ``extra``."""
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    environment.update(extra or {})
    return environment


class ProcessOwner(Protocol):
    """Who is told what a process does."""

    def receive_bytes(self, data: bytes) -> None:
        """It wrote to stdout."""

    def take_stderr_line(self, line: bytes) -> None:
        """It wrote a line to stderr."""

    def process_changed(self, process: ServerProcess) -> None:
        """It began or ceased to be full, or began to end."""

    def process_ended(self, process: ServerProcess) -> None:
        """No answer can come from it any more."""


def _write_nowhere(data: bytes) -> None:
    """For a process that is not there yet, or reads no more: what it is told is lost with it."""


class ServerProcess(asyncio.SubprocessProtocol):
    """A running process and what is left of it. Made by `spawn`."""

    def __init__(
        self,
        owner: ProcessOwner,
        on_start: Callable[[int], None] | None = None,
        on_exit: Callable[[int], None] | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self._owner = owner
        self._on_start = on_start
        self._on_exit = on_exit
        self._transport: asyncio.SubprocessTransport | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._stderr_rest = b""
        self._open_pipes = {1, 2}
        self._exited: asyncio.Future[None] = loop.create_future()
        self._disconnected: asyncio.Future[None] = loop.create_future()
        self._room: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_group_killed = False
        self.ended: asyncio.Future[None] = loop.create_future()
        """Done when no answer can come any more."""
        self.write: Callable[[bytes], None] = _write_nowhere
        """Puts bytes on its stdin without blocking; what it does not read any more is lost."""
        self.is_fading = False
        """Whether it exited, or closed a pipe that it is reached by: no request can be given to it any
        more."""

    # -- what it is ------------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return cast("asyncio.SubprocessTransport", self._transport).get_pid()

    @property
    def exit_code(self) -> int | None:
        """How it ended, None while it runs. Negative: the signal that ended it."""
        return None if self._transport is None else self._transport.get_returncode()

    @property
    def is_full(self) -> bool:
        """Whether it does not read what was written already."""
        return self._room is not None

    def describe_end(self) -> str:
        """How it ended, as the predicate of a sentence."""
        code = self.exit_code
        if code is None:
            return f"closed its {'stdin' if 1 in self._open_pipes else 'stdout'} but still runs"
        if code < 0:
            return f"was ended by signal {_signal_name(-code)}"
        return f"exited with code {code}"

    # -- what asyncio tells ----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.BaseProtocol`."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._stdin = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self._stdin.set_write_buffer_limits(high=_PIPE_BYTES)
        self.write = self._stdin.write
        if sys.platform != "win32":
            _running_groups.add(self.pid)
        if self._on_start is not None:
            self._on_start(self.pid)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """See `asyncio.SubprocessProtocol`."""
        if fd == 1:
            self._owner.receive_bytes(data)
            return
        *lines, self._stderr_rest = (self._stderr_rest + data).split(b"\n")
        for line in lines:
            self._owner.take_stderr_line(line[:_STDERR_LINE_BYTES].rstrip(b"\r"))
        if len(self._stderr_rest) > _STDERR_LINE_BYTES:
            self._flush_stderr()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """See `asyncio.SubprocessProtocol`."""
        del exc  # The reason is always the same: the other end is closed.
        self._open_pipes.discard(fd)
        if fd == 2:
            self._flush_stderr()
            if not self.is_fading:
                return  # A server may do without.
        self._fade()

    def process_exited(self) -> None:
        """See `asyncio.SubprocessProtocol`."""
        if not self._exited.done():
            self._exited.set_result(None)
            if self._on_exit is not None:
                self._on_exit(self.pid)
        if self.ended.done():
            self._kill_group()
        self._fade()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        del exc
        if not self._disconnected.done():
            self._disconnected.set_result(None)

    def pause_writing(self) -> None:
        """See `asyncio.BaseProtocol`."""
        if self._room is None:
            self._room = asyncio.get_running_loop().create_future()
            self._owner.process_changed(self)

    def resume_writing(self) -> None:
        """See `asyncio.BaseProtocol`."""
        room, self._room = self._room, None
        if room is not None:
            room.set_result(None)
            self._owner.process_changed(self)

    def _flush_stderr(self) -> None:
        line, self._stderr_rest = self._stderr_rest, b""
        if line:
            self._owner.take_stderr_line(line[:_STDERR_LINE_BYTES])

    def _fade(self) -> None:
        """One sign of the end came. The others follow within a moment, and their news makes the error
        better.
        """
        if self.ended.done():
            return
        if not self.is_fading:
            self.is_fading = True
            self.write = _write_nowhere
            self._owner.process_changed(self)
        if self._exited.done() and not self._open_pipes:
            self._finish()
        elif self._timer is None:
            # What the server started may hold the pipes open for ever, and it may go on without them.
            self._timer = asyncio.get_running_loop().call_later(_GRACE_S, self._finish)

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self.ended.done():
            self.ended.set_result(None)
            if self._exited.done():
                # Before its id can be given to another process.
                self._kill_group()
            self._owner.process_ended(self)

    # -- what it is told -------------------------------------------------------------------------------------

    async def wait_for_room(self) -> None:
        """Wait until it reads again, or ends."""
        if self._room is not None:
            await asyncio.wait({self._room, self.ended}, return_when=asyncio.FIRST_COMPLETED)

    async def end(self, *, wait_s: float, term_wait_s: float) -> None:
        """End it and everything that it started; returns when nothing of it is left.

        Args:
            wait_s: How long it may take to exit when its stdin is closed, in seconds.
            term_wait_s: How long it may take after SIGTERM, in seconds.
        """
        try:
            if self._stdin is not None:
                self._stdin.close()
            if not await self._is_gone_within(wait_s):
                _signal_group(self.pid, "SIGTERM")
                if not await self._is_gone_within(term_wait_s):
                    self._kill_group()
                    await self._is_gone_within(5.0)
        finally:
            # Also when the wait was cancelled. What the server itself started must not outlive it.
            self._kill_group()
            self._finish()
            if self._transport is not None:
                self._transport.close()
        await asyncio.wait({self._disconnected}, timeout=1.0)

    async def _is_gone_within(self, wait_s: float) -> bool:
        await asyncio.wait({self._exited}, timeout=wait_s)
        return self._exited.done()

    def _kill_group(self) -> None:
        if not self._is_group_killed:
            self._is_group_killed = True
            _signal_group(self.pid, "SIGKILL")
            _running_groups.discard(self.pid)


def _signal_name(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def _signal_group(pid: int, name: str) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)  # Which ends it at once there.
        else:
            os.killpg(pid, getattr(signal, name))


@atexit.register
def _kill_survivors() -> None:
    for pid in list(_running_groups):
        _signal_group(pid, "SIGKILL")
    _running_groups.clear()


# -- starting ------------------------------------------------------------------------------------------------


async def spawn(
    owner: ProcessOwner,
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    cwd: str | os.PathLike[str] | None,
    where: str,
    on_start: Callable[[int], None] | None = None,
    on_exit: Callable[[int], None] | None = None,
) -> ServerProcess:
    """Start a server process.

    Args:
        owner: Is told what the process does.
        command: The program and its arguments; never a shell line.
        environment: All of its variables.
        cwd: Its working directory, None for ours.
        where: What to call it in errors.
        on_start: Called with its id before anything else of it is told.
        on_exit: Called with its id when it exited, before the rest of its group is ended.

    Raises:
        LaunchError: it was not found or could not be run.
    """
    if cwd is not None and not Path(cwd).is_dir():  # noqa: ASYNC240  (one look, no reading)
        raise LaunchError(f"the working directory {os.fspath(cwd)!r} does not exist", where=where)
    program = _find_program(command[0], environment.get("PATH"), cwd, where)
    try:
        _, process = await asyncio.get_running_loop().subprocess_exec(
            lambda: ServerProcess(owner, on_start, on_exit),
            program,
            *command[1:],
            env=environment,
            cwd=cwd,
            # A group of its own, so that the end reaches the children of the server too.
            start_new_session=sys.platform != "win32",
        )
    except OSError as error:
        raise LaunchError(
            f"{program!r} could not be started: {error.strerror or error}",
            where=where,
            fix=_advice_for(error),
        ) from None
    except ValueError as error:
        # A NUL in an argument, a "=" in the name of a variable: no system can pass that on.
        raise LaunchError(f"{program!r} could not be started: {error}", where=where) from None
    return process


def _find_program(name: str, path: str | None, cwd: str | os.PathLike[str] | None, where: str) -> str:
    # A name with a folder in it is looked for from the working directory of the server, as the system does.
    place = Path(cwd or "", name) if Path(name).name != name else None
    # Absolute, since "./server" without its dot would be looked for in PATH.
    program = shutil.which(name if place is None else place.absolute(), path=path)
    if program is not None:
        return str(Path(program).absolute())
    if place is not None:
        if place.is_file():
            raise LaunchError(f"{str(place)!r} is not executable", where=where, fix="Try: chmod +x")
        raise LaunchError(f"the program {str(place)!r} does not exist", where=where)
    fix = f"It was looked for in PATH={path or ''!r}; its absolute path would do too"
    if " " in name:
        fix = "The program and each of its arguments are items of their own: ['uvx', 'some-server']"
    raise LaunchError(f"the program {name!r} was not found", where=where, fix=fix)


def _advice_for(error: OSError) -> str:
    if "Exec format" in (error.strerror or ""):
        return "A script needs a first line like #!/usr/bin/env python3, or its interpreter as the program"
    return ""
