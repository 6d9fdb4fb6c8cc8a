"""stdio, the client's side: a server as a child process that is started again when it died.

The process itself is `mesero.transports.process`; here is what its life means for calls. Its stderr is always
drained and its tail kept. A server that does not read is not written to without end: a new exchange waits for
room in `open`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shlex
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from mesero.errors import DisconnectedError, LaunchError, MeseroError, UsageError
from mesero.jsonrpc import MAX_MESSAGE_BYTES
from mesero.transports import Observer
from mesero.transports.process import ServerProcess, inherited_environment, spawn
from mesero.transports.stream import StreamTransport

__all__ = ["StdioTransport"]

_STDERR_LINES = 50
_MAX_STARTS = 5
_STARTS_WINDOW_S = 60.0
_REAP_WAIT_S = 0.2

_log = logging.getLogger("mesero")


_MAY_BE_SECRET = re.compile(
    r"key|token|secret|pass|pwd|cred|auth|bearer|@|sk-|gh\w_|glpat-|xox|eyj|hf_|--p", re.IGNORECASE
)
"""What all commands have that have a secret in them; most have nothing of it, and cost no closer look."""


def _shown(command: Sequence[str]) -> str:
    """The command as errors and logs show it: without the secrets in it; equal ones stay equal."""
    text = shlex.join(command)
    if _MAY_BE_SECRET.search(text) is None:
        return text
    from mesero.trace.sensitive import placeholder_for, secret_spans

    for start, end in reversed(secret_spans(text)):
        text = text[:start] + placeholder_for(text[start:end]) + text[end:]
    return text


class StdioTransport(StreamTransport):
    """One server process, started again when it is needed after it ended.

    Args:
        command: The program and its arguments; never a shell line.
        env: Variables added to the inherited safe set.
        cwd: The working directory, by default ours.
        close_wait_s: How long each step of closing waits (stdin closed, SIGTERM), in seconds.
        on_stderr: Called with each line of the server's stderr.
        max_bytes: The longest message accepted, in bytes.
        observer: Sees every message.

    Attributes:
        command: The program and its arguments.
        cwd: The working directory, None for ours.
        on_exit: Called with the id of a process that exited, before the rest of its group is ended.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
    """

    kind = "stdio"

    def __init__(
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
        if isinstance(command, (str, bytes)) or not command:
            raise UsageError(
                "a command is a list of the program and its arguments, for example ['uvx', 'some-server']"
            )
        self.command = tuple(str(part) for part in command)
        super().__init__(_shown(self.command), max_bytes=max_bytes, observer=observer)
        self._env = dict(env or {})
        self.cwd = cwd
        self._close_wait_s = close_wait_s
        self._on_stderr = on_stderr
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._process: ServerProcess | None = None
        self._last_exit: ServerProcess | None = None
        self._starts: deque[float] = deque(maxlen=_MAX_STARTS)
        self._opening = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None
        self.on_exit: Callable[[int], None] | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the running server, or None."""
        return self._process.pid if self._process is not None and self._is_up else None

    @property
    def exit_code(self) -> int | None:
        """How the last process ended, None while it runs. Negative: the signal that ended it."""
        return None if self._process is None else self._process.exit_code

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines of the server's stderr, oldest first."""
        return tuple(self._stderr)

    # -- starting --------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Start the server, or start it again after it ended; wait while it does not read.

        Raises:
            LaunchError: the program was not found, could not be run, or ended too often in a minute.
            ClosedError: the transport was closed.
        """
        while not self.is_open:
            if self._is_closed:
                raise self._gone_error()
            async with self._opening:
                # Whoever waited for the lock finds the process that the first one started.
                process = await self._running_process()
            if process is not None:
                await process.wait_for_room()

    async def _running_process(self) -> ServerProcess | None:
        """The process that takes requests, started if need be; None when it is too late for that."""
        old = self._process
        if self._is_closed or (old is not None and self._is_up and not old.is_fading):
            return old
        if old is not None:
            # Its open calls fail with its own death before the next one comes up.
            await asyncio.wait({old.ended})
            await old.end(wait_s=_REAP_WAIT_S, term_wait_s=self._close_wait_s)
            self._tell_exit(old)
        self._check_starts()
        self._stderr.clear()
        self._process = None
        self._process = process = await self._spawn()
        if process.is_fading:
            await asyncio.wait({process.ended})
            raise self._death_of(process)
        self._send = process.write
        self.begin()
        return process

    async def _spawn(self) -> ServerProcess:
        try:
            return await spawn(
                self,
                self.command,
                environment=inherited_environment(self._env),
                cwd=self.cwd,
                where=self.target,
                on_start=None if self._watch is None else self._tell_start,
                on_exit=self._leave_group,
            )
        except LaunchError as error:
            self._tell_start(None)
            if self._watch is not None:
                self._watch.note(str(error))
            raise

    def _tell_start(self, pid: int | None) -> None:
        if self._watch is not None:
            cwd = None if self.cwd is None else os.fspath(self.cwd)
            self._watch.spawn(self.command, cwd=cwd, env=self._env, pid=pid)

    def _leave_group(self, pid: int) -> None:
        if self.on_exit is not None:
            self.on_exit(pid)

    def _tell_exit(self, process: ServerProcess) -> None:
        """Once for each process, as soon as its exit code is known."""
        if self._watch is not None and process.exit_code is not None and process is not self._last_exit:
            self._last_exit = process
            self._watch.exit(process.exit_code)

    def forgive_start(self) -> None:
        """Do not count the last start: that it ended was the fault of what it was sent."""
        if self._starts:
            self._starts.pop()

    def _check_starts(self) -> None:
        now = time.monotonic()
        if len(self._starts) == _MAX_STARTS and now - self._starts[0] < _STARTS_WINDOW_S:
            wait_s = _STARTS_WINDOW_S - (now - self._starts[0])
            last = " | ".join(self.stderr_tail[-3:]) or "nothing"
            raise LaunchError(
                f"the server ended {_MAX_STARTS} times within {_STARTS_WINDOW_S:g} s, the last time with "
                f"code {self.exit_code}, and is not started again for {wait_s:.0f} s; "
                f"its last words on stderr: {last}",
                where=self.target,
            )
        self._starts.append(now)

    # -- while it runs ---------------------------------------------------------------------------------------

    def take_stderr_line(self, line: bytes) -> None:
        """Keep one line of stderr, and show it to whoever wants it."""
        if self._watch is not None:
            self._watch.stderr(line)
        text = line.decode("utf-8", "backslashreplace")
        self._stderr.append(text)
        self.receive_stderr_line(line)
        if self._on_stderr is not None:
            try:
                self._on_stderr(text)
            except Exception:  # noqa: BLE001  (what only listens must not break what it listens to)
                _log.exception("on_stderr failed")

    def process_changed(self, process: ServerProcess) -> None:
        """Whether a request can be given to it has changed."""
        if process is self._process:
            self._send = process.write
            self.is_open = self._is_up and not (process.is_full or process.is_fading or self._is_closed)

    def process_ended(self, process: ServerProcess) -> None:
        """No answer can come from it any more."""
        if process is self._process and self._is_up:
            self.end(self._death_of(process))
        if self._watch is not None:
            self._watch.eof("s2c")
        self._tell_exit(process)

    def _death_of(self, process: ServerProcess) -> DisconnectedError:
        return DisconnectedError(
            f"the server {process.describe_end()}",
            where=self.target,
            exit_code=process.exit_code,
            stderr_tail=self.stderr_tail[-10:],
            last_message=self._last_message,
            noise=self.noise.lines[-5:],
        )

    def _gone_error(self) -> MeseroError:
        if self._is_closed or self._process is None:
            return super()._gone_error()
        return self._death_of(self._process)

    def evidence(self) -> tuple[str, ...]:
        """See `StreamTransport.evidence`; with the last words on stderr."""
        stderr = (f"its last line on stderr: {self._stderr[-1]!r}",) if self._stderr else ()
        return (*super().evidence(), *stderr)

    # -- ending ----------------------------------------------------------------------------------------------

    async def aclose(self) -> None:
        """Close stdin, wait, SIGTERM, SIGKILL. From any task, any number of times.

        A cancelled call goes on closing. https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown
        """
        self.mark_closed()
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    def mark_closed(self) -> None:
        """See `StreamTransport.mark_closed`; who waits for room learns it too."""
        super().mark_closed()
        if self._process is not None:
            self._process.resume_writing()

    async def _close(self) -> None:
        async with self._opening:
            self._flush()
            self._is_up = False
            if self._process is not None:
                if self._watch is not None and not self._process.ended.done():
                    self._watch.eof("c2s")
                await self._process.end(wait_s=self._close_wait_s, term_wait_s=self._close_wait_s)
                self._tell_exit(self._process)
