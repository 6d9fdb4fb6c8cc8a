"""stdio, the server's side: this process's own stdin and stdout.

stdout belongs to the protocol: the real one is kept aside under another descriptor, and descriptor 1 becomes
stderr, so that ``print``, C libraries and child processes cannot write into the messages. Children do not
inherit stdin either.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from mesero.server.stream import StreamConnection

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["own_stdio", "run_stdio", "serve_stdio"]

_CHUNK_BYTES = 256 * 1024
_EOF_WAIT_S = 5.0
"""How long what is in flight may take after stdin ended: a client that pipes requests in still reads."""
_SIGNAL_WAIT_S = 0.5
"""How long it may take after SIGTERM or SIGINT."""


@contextlib.contextmanager
def own_stdio() -> Iterator[tuple[int, int]]:
    """Take stdin and stdout for the protocol; yields their descriptors and gives both back at the end."""
    _open_standard_descriptors()
    python_stdout = sys.stdout
    if python_stdout is not None:
        python_stdout.flush()
    stdin, stdout = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    # One buffer for both, so that lines keep their order.
    sys.stdout = sys.stderr or python_stdout
    try:
        yield stdin, stdout
    finally:
        # What was printed meanwhile must not come out after stdout was given back.
        if sys.stdout is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
        sys.stdout = python_stdout
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.close(stdin)
        os.close(stdout)


def _open_standard_descriptors() -> None:
    """Some hosts start servers without a stderr: the next file that was opened would take its number."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # The lowest free number is this one.


def run_stdio(server: Server) -> None:
    """Serve until stdin ends; see `mesero.server.Server.run`."""
    with own_stdio() as (stdin, stdout), contextlib.suppress(KeyboardInterrupt):
        _run_loop(serve_stdio(server, stdin, stdout))


def _run_loop(main: Coroutine[Any, Any, None]) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


class _Ending:
    """Why and how fast to end: set by the end of stdin, by signals, and by a stdout that broke."""

    def __init__(self) -> None:
        self.has_come = asyncio.Event()
        self.is_urgent = asyncio.Event()
        self.wait_s = _EOF_WAIT_S

    def end_input(self) -> None:
        self.has_come.set()

    def end_by_signal(self) -> None:
        """The first one asks; the second one, or one after the end of stdin, insists."""
        if self.has_come.is_set():
            self.is_urgent.set()
        self.wait_s = _SIGNAL_WAIT_S
        self.has_come.set()

    def end_output(self) -> None:
        """Nobody reads any more."""
        self.is_urgent.set()
        self.has_come.set()

    async def wait_for(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for work, unless the end becomes urgent."""
        tasks = {asyncio.ensure_future(work), asyncio.ensure_future(self.is_urgent.wait())}
        _, unfinished = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in unfinished:
            task.cancel()
        await asyncio.wait(tasks)


async def serve_stdio(server: Server, stdin: int, stdout: int) -> None:
    """Serve on two descriptors until the input ends, the output breaks, or SIGTERM or SIGINT arrives."""
    ending = _Ending()
    with _keeping_mode(stdin), _keeping_mode(stdout):
        await _serve_until(server, stdin, stdout, ending)


async def _serve_until(server: Server, stdin: int, stdout: int, ending: _Ending) -> None:
    for name in ("SIGINT", "SIGTERM"):
        # Not from other threads than the main one, and not on Windows.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), ending.end_by_signal)
    output = await _open_output(stdout, ending)
    connection = server.connect(output.send, transport="stdio")
    close_input = await _open_input(connection, output, stdin, ending)
    try:
        await ending.has_come.wait()
        # "Servers SHOULD exit promptly when their standard input is closed."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown
        connection.receive_eof()
        server.end_subscriptions()
        await ending.wait_for(connection.finish(ending.wait_s))
        await connection.aclose()
        await ending.wait_for(output.drain(ending.wait_s))
    finally:
        close_input()
        output.close()
        server.threads.close()


def _is_pollable(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextlib.contextmanager
def _keeping_mode(descriptor: int) -> Iterator[None]:
    """The event loop makes a pipe non-blocking for everybody who has it: undone at the end."""
    is_blocking = os.get_blocking(descriptor)
    try:
        yield
    finally:
        os.set_blocking(descriptor, is_blocking)


# -- out -----------------------------------------------------------------------------------------------------


class _Output(Protocol):
    reader: asyncio.ReadTransport | None
    """The input, which is not read from while the client does not read."""
    connection: StreamConnection | None

    @property
    def send(self) -> Callable[[bytes], None]: ...
    async def drain(self, wait_s: float) -> None: ...
    def close(self) -> None: ...


async def _open_output(stdout: int, ending: _Ending) -> _Output:
    if not _is_pollable(stdout):
        return _FileOutput(stdout, ending)
    output = _PipeOutput(ending)
    pipe = os.fdopen(os.dup(stdout), "wb", buffering=0)
    await asyncio.get_running_loop().connect_write_pipe(lambda: output, pipe)
    return output


class _FileOutput:
    """A file or a terminal: written to directly."""

    def __init__(self, stdout: int, ending: _Ending) -> None:
        self._stdout = stdout
        self._ending = ending
        self.reader: asyncio.ReadTransport | None = None
        self.connection: StreamConnection | None = None

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._stdout, view) :]
        except OSError:
            self._ending.end_output()

    async def drain(self, wait_s: float) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """It is not ours."""


class _PipeOutput(asyncio.Protocol):
    """A pipe or socket: what does not fit waits, and whoever makes more of it as well."""

    transport: asyncio.WriteTransport
    send: Callable[[bytes], None]

    def __init__(self, ending: _Ending) -> None:
        self._ending = ending
        self._has_room = asyncio.Event()
        self.reader: asyncio.ReadTransport | None = None
        self.connection: StreamConnection | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.WriteTransport", transport)
        self.send = self.transport.write

    def pause_writing(self) -> None:
        # A client that does not read its answers is not read from either.
        self._has_room.clear()
        if self.connection is not None:
            self.connection.pause_writing()
        if self.reader is not None and not self.reader.is_closing():
            self.reader.pause_reading()

    def resume_writing(self) -> None:
        self._has_room.set()
        if self.connection is not None:
            self.connection.resume_writing()
        if self.reader is not None and not self.reader.is_closing():
            self.reader.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._has_room.set()
        self._ending.end_output()

    async def drain(self, wait_s: float) -> None:
        self.transport.set_write_buffer_limits(high=0)
        if self.transport.get_write_buffer_size() and not self.transport.is_closing():
            self._has_room.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._has_room.wait(), wait_s)

    def close(self) -> None:
        self.transport.close()


# -- in ------------------------------------------------------------------------------------------------------


class _PipeInput(asyncio.Protocol):
    """Bytes of stdin into the connection."""

    def __init__(self, connection: StreamConnection, ending: _Ending) -> None:
        self._connection = connection
        self._ending = ending

    def data_received(self, data: bytes) -> None:
        self._connection.receive_bytes(data)

    def eof_received(self) -> bool:
        self._ending.end_input()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._ending.end_input()


async def _open_input(connection: StreamConnection, output: _Output, stdin: int, ending: _Ending) -> Any:
    """Begin to read; gives back the function that ends it."""
    output.connection = connection
    loop = asyncio.get_running_loop()
    if _is_pollable(stdin):
        pipe = os.fdopen(os.dup(stdin), "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: _PipeInput(connection, ending), pipe)
        output.reader = transport
        return transport.close

    def take(data: bytes, room: Future[None]) -> None:
        connection.receive_bytes(data)
        drained = loop.create_task(connection.drain())
        drained.add_done_callback(lambda _: room.set_result(None))

    def read_in_thread(source: BinaryIO) -> None:
        # A file or a terminal: nothing to poll, so a thread reads it, one chunk after the other.
        with source, contextlib.suppress(RuntimeError):  # The loop is closed: nobody wants more.
            with contextlib.suppress(OSError):
                while data := source.read(_CHUNK_BYTES):
                    room = Future[None]()
                    loop.call_soon_threadsafe(take, data, room)
                    room.result()
            loop.call_soon_threadsafe(ending.end_input)

    # A descriptor of its own: the thread may outlive the one that it was given.
    source = os.fdopen(os.dup(stdin), "rb", buffering=0)
    threading.Thread(target=read_in_thread, args=(source,), daemon=True, name="mesero stdin").start()
    return lambda: None
