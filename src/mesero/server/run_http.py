"""A server on HTTP by itself: uvicorn runs it, with httptools and uvloop where they are installed.

Its end is bounded: subscriptions end in good order, what runs may finish for a while, the rest is cancelled.
uvicorn is imported only here, and only when somebody serves.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import math
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TYPE_CHECKING, Any

from mesero.errors import UsageError
from mesero.server.http import HttpApp
from mesero.transports.corked import CorkedTransport

if TYPE_CHECKING:
    import uvicorn

    from mesero.server.server import Server

__all__ = ["open_http", "run_http"]

_BACKLOG = 2048
_MAX_QUIET_BYTES = 1024 * 1024
"""How much may come without a head that is complete, a piece of a body, or the end of a request, in bytes."""
# Longer than clients keep idle connections, so that none is closed while a request is on its way to it.
_IDLE_S = 75


def run_http(server: Server, *, host: str = "127.0.0.1", port: int = 8000, **options: Any) -> None:
    """Serve until SIGINT or SIGTERM; a second one ends at once. Says on stderr where it listens.

    Args:
        server: The server.
        host: The address to listen on. Other machines reach it only with another one than that of loopback.
        port: The port; 0 for one that is free.
        options: See `open_http`.

    Raises:
        UsageError: the address cannot be listened on, or uvicorn is not installed.
    """
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve_until_told(server, host=host, port=port, **options))


async def _serve_until_told(server: Server, **options: Any) -> None:
    stop = asyncio.Event()
    with _signals_call(stop.set):
        async with open_http(server, **options) as url:
            server.log(f"{server.info.name} listening on {url}")
            await stop.wait()


@contextlib.contextmanager
def _signals_call(function: Callable[[], None]) -> Any:
    """While it lasts, the first signal to end calls a function; the second one does what signals do."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def hear() -> None:
        function()
        for number in numbers:
            loop.remove_signal_handler(number)

    # Not from other threads than the main one, and not on Windows: there KeyboardInterrupt ends it.
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        for number in numbers:
            loop.add_signal_handler(number, hear)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            for number in numbers:
                loop.remove_signal_handler(number)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


@contextlib.asynccontextmanager
async def open_http(
    server: Server,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    path: str = "/mcp",
    allowed_hosts: Iterable[str] = (),
    finish_wait_s: float = 5.0,
    **options: Any,
) -> AsyncIterator[str]:
    """Serve over HTTP within an ``async with``; gives the endpoint's URL.

    Args:
        server: The server.
        host: The address to listen on; it is an allowed host.
        port: The port; 0 for one that is free.
        path: The endpoint's path.
        allowed_hosts: See `mesero.server.http.HttpApp`.
        finish_wait_s: How long requests may go on once the end has begun, in seconds; then cancelled.
        options: More options of `mesero.server.http.HttpApp`.

    Raises:
        UsageError: the address cannot be listened on, or uvicorn is not installed.
    """
    if importlib.util.find_spec("uvicorn") is None:
        raise UsageError(
            "serving over HTTP needs uvicorn, which is not installed", fix="pip install 'mesero[server]'"
        )
    app = HttpApp(server, path=path, allowed_hosts=(_bracketed(host), *allowed_hosts), **options)
    listener = _open_listener(host, port)
    running = _build_uvicorn(app, finish_wait_s)
    task = asyncio.get_running_loop().create_task(running.serve([listener]))
    try:
        yield f"http://{_bracketed(host)}:{listener.getsockname()[1]}{path}"
    finally:
        running.should_exit = True
        await asyncio.shield(task)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _open_listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if not 0 <= port <= 65535:
        raise UsageError(f"{port} is no port: ports are 0 (one that is free) to 65535")
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {_bracketed(host)}:{port}: {error}",
            fix="Choose another port (0 takes one that is free) or another host",
        ) from None


def _build_uvicorn(app: HttpApp, finish_wait_s: float) -> uvicorn.Server:
    import uvicorn

    class Uvicorn(uvicorn.Server):
        """uvicorn that leaves signals alone and whose end is that of the application."""

        def capture_signals(self) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]  # a generator there
            return contextlib.nullcontext()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.end_streams()
            asyncio.get_running_loop().call_later(finish_wait_s, app.cancel_open)
            await super().shutdown(sockets)
            await app.aclose()
            for connection in list(self.server_state.connections):
                # Somebody who does not read what was sent; nothing more can be done for them.
                connection.transport.abort()

    config = uvicorn.Config(
        app,
        http=_corked_protocol(),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=math.ceil(finish_wait_s) + 1,
    )
    return Uvicorn(config)


def _corked_protocol() -> Any:
    """The HTTP protocol of uvicorn (the faster one that is installed), writing each response in one piece."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class Corked(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # which class it is turns out at run time
        def connection_made(self, transport: Any) -> None:
            super().connection_made(CorkedTransport(transport, asyncio.get_running_loop()))

    return _bounded(Corked) if hasattr(Corked, "on_headers_complete") else Corked


def _bounded(protocol: Any) -> Any:
    """A protocol of httptools that ends connections whose bytes lead to nothing.

    It keeps request lines, header lines and trailers of any length, and takes ever longer for each piece: one
    client could stop the whole server. The application's own limits hold once they are complete.
    """

    class Bounded(protocol):  # type: ignore[misc]  # which class it is turns out at run time
        _quiet_bytes = 0

        def data_received(self, data: bytes) -> None:
            self._quiet_bytes += len(data)
            super().data_received(data)
            if self._quiet_bytes > _MAX_QUIET_BYTES and not self.transport.is_closing():
                self.send_400_response("The request has more header lines than any server takes.")

        def on_headers_complete(self) -> None:
            self._quiet_bytes = 0
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            self._quiet_bytes = 0
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._quiet_bytes = 0
            super().on_message_complete()

    return Bounded
