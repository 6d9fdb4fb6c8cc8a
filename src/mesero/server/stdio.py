"""stdio, the server's side: this process's own stdin and stdout.

stdout belongs to the protocol: the real one is kept aside under another descriptor, and descriptor 1 becomes stderr, so
that ``print``, C libraries and child processes cannot write into the messages. Children do not inherit stdin either.

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
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from mesero.server.stream import StreamConnection

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["own_stdio", "run_stdio", "serve_stdio"]

_CHUNK = 256 * 1024
_FINISH_WAIT_S = 5.0


@contextlib.contextmanager
def own_stdio() -> Iterator[tuple[int, int]]:
    """Take stdin and stdout for the protocol; yields their descriptors and gives both back at the end."""
    sys.stdout.flush()
    stdin, stdout = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    python_stdout = sys.stdout
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    sys.stdout = sys.stderr
    try:
        yield stdin, stdout
    finally:
        sys.stdout = python_stdout
        with contextlib.suppress(OSError):
            os.dup2(stdin, 0)
            os.dup2(stdout, 1)
        os.close(stdin)
        os.close(stdout)


def run_stdio(server: Server) -> None:
    """Serve until stdin ends; see `mesero.server.Server.run`."""
    with own_stdio() as (stdin, stdout), contextlib.suppress(KeyboardInterrupt):
        _run_loop(serve_stdio(server, stdin, stdout))


def _run_loop(main: object) -> None:
    try:
        import uvloop  # noqa: PLC0415  (used where it is installed)
    except ImportError:
        asyncio.run(main)  # type: ignore[arg-type]  # a coroutine, typed as object for both runners
    else:
        uvloop.run(main)  # type: ignore[arg-type]  # a coroutine, typed as object for both runners


class _Reader(asyncio.Protocol):
    """Bytes of stdin into the connection."""

    def __init__(self, connection: StreamConnection, ended: asyncio.Event) -> None:
        self._connection = connection
        self._ended = ended

    def data_received(self, data: bytes) -> None:
        self._connection.receive_bytes(data)

    def eof_received(self) -> bool:
        self._ended.set()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._ended.set()


class _Writer(asyncio.Protocol):
    """Room on stdout, told to the connection; and the end of stdout, told to the server."""

    def __init__(self, gone: asyncio.Event) -> None:
        self._gone = gone
        self.connection: StreamConnection | None = None
        self.reader: asyncio.ReadTransport | None = None

    def pause_writing(self) -> None:
        # A client that does not read its answers is not read from either.
        if self.connection is not None:
            self.connection.pause_writing()
        if self.reader is not None:
            self.reader.pause_reading()

    def resume_writing(self) -> None:
        if self.connection is not None:
            self.connection.resume_writing()
        if self.reader is not None:
            self.reader.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._gone.set()


async def serve_stdio(server: Server, stdin: int, stdout: int) -> None:
    """Serve on two descriptors until the input ends, the output breaks, or SIGTERM or SIGINT arrives."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for name in ("SIGINT", "SIGTERM"):
        # Not from other threads than the main one, and not on Windows.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(getattr(signal, name), ended.set)
    writer = _Writer(ended)
    send, close_output = await _open_output(writer, stdout)
    connection = server.connect(send)
    writer.connection = connection
    close_input = await _open_input(connection, writer, stdin, ended)
    try:
        await ended.wait()
        # "Servers SHOULD exit promptly when their standard input is closed."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown
        connection.receive_eof()
        server.end_subscriptions()
        await connection.finish(_FINISH_WAIT_S)
    finally:
        close_input()
        await close_output()
        server.threads.close()


def _is_pollable(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


async def _open_output(writer: _Writer, stdout: int):  # type: ignore[no-untyped-def]  # noqa: ANN202  (two closures; see the two returns)
    loop = asyncio.get_running_loop()
    if not _is_pollable(stdout):

        def write_blocking(data: bytes) -> None:
            view = memoryview(data)
            while view:
                view = view[os.write(stdout, view) :]

        async def nothing_to_close() -> None:
            return None

        return write_blocking, nothing_to_close
    pipe = os.fdopen(os.dup(stdout), "wb", buffering=0)
    transport, _ = await loop.connect_write_pipe(lambda: writer, pipe)
    output = cast("asyncio.WriteTransport", transport)

    async def close() -> None:
        for _ in range(500):
            if output.is_closing() or not output.get_write_buffer_size():
                break
            await asyncio.sleep(0.01)
        output.close()

    return output.write, close


async def _open_input(connection: StreamConnection, writer: _Writer, stdin: int, ended: asyncio.Event):  # type: ignore[no-untyped-def]  # noqa: ANN202  (a closure; see the two returns)
    loop = asyncio.get_running_loop()
    if _is_pollable(stdin):
        pipe = os.fdopen(os.dup(stdin), "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: _Reader(connection, ended), pipe)
        writer.reader = transport
        return transport.close

    def read_in_thread() -> None:
        # A file or a terminal: nothing to poll, so a thread reads it.
        while data := os.read(stdin, _CHUNK):
            loop.call_soon_threadsafe(connection.receive_bytes, data)
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read_in_thread, daemon=True, name="mesero stdin").start()
    return lambda: None
