"""Bytes out as they are, and what comes back as it came: for looking at a server without a client in between.

Nothing is judged here; a line that is no message is passed on like any other.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, NamedTuple

from mesero.cli.targets import Target, load_server
from mesero.errors import MeseroError, RpcError
from mesero.framing import EventFramer, LineFramer, TooLong
from mesero.jsonrpc import ErrorResponse, Request, ResultResponse, decode_message, decode_value, find_id
from mesero.modern.client import mirrored_headers
from mesero.modern.methods import METHODS
from mesero.transports.memory import MemoryTransport
from mesero.transports.stdio import StdioTransport
from mesero.types import PROTOCOL_VERSION_KEY

__all__ = ["RawAnswer", "RawSettings", "headers_for", "is_answer_to", "send_raw"]


class RawSettings(NamedTuple):
    """How to send: seconds to wait, headers (URLs), variables, directory and stderr (commands)."""

    wait_s: float
    headers: Mapping[str, str] = {}
    mirrors: bool = True
    env: Mapping[str, str] = {}
    cwd: str | None = None
    on_stderr: Callable[[str], None] | None = None


class RawAnswer(NamedTuple):
    """One thing that came back: a line, an event, a body; or, with a status, the head of an HTTP answer."""

    raw: bytes
    status: int = 0
    reason: str = ""
    headers: tuple[tuple[str, str], ...] = ()


def is_answer_to(raw: bytes, sent: bytes) -> bool:
    """Whether nothing more is to be expected after this: it answers the id that was sent, or none at all."""
    try:
        message = decode_message(raw)
    except RpcError:
        return False
    if isinstance(message, ErrorResponse) and message.id is None:
        return True
    return isinstance(message, ResultResponse | ErrorResponse) and message.id == find_id(sent)


def headers_for(raw: bytes, given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers that mirror a valid request; none for anything else, and none that were given."""
    try:
        message = decode_message(raw)
        params = decode_value(message.params or b"{}") if isinstance(message, Request) else None
    except RpcError:
        return ()
    if not isinstance(message, Request) or not isinstance(params, dict):
        return ()
    meta = params.get("_meta")
    revision = meta.get(PROTOCOL_VERSION_KEY) if isinstance(meta, dict) else None
    if not isinstance(revision, str):
        return ()
    spec = METHODS.get(message.method)
    name = params.get(spec.name_field) if spec is not None and spec.name_field else None
    mirrored = mirrored_headers(revision, message.method, name if isinstance(name, str) else None)
    ours = {one.lower() for one in given}
    return tuple(pair for pair in mirrored if pair[0].lower() not in ours)


def send_raw(target: Target, raw: bytes, settings: RawSettings) -> AsyncIterator[RawAnswer]:
    """Send bytes, and yield what comes back until it is answered, the wait is over, or the connection ends.

    Raises:
        MeseroError: nothing could be sent, or the connection ended before anything came.
    """
    return (
        _over_http(target.value, raw, settings)
        if target.kind == "url"
        else _over_stream(target, raw, settings)
    )


class _Lines:
    """What a stream transport read, line by line, unjudged; the error that ended it comes last."""

    def __init__(self) -> None:
        self._framer = LineFramer()
        self.queue: asyncio.Queue[bytes | MeseroError] = asyncio.Queue()

    def take(self, data: bytes) -> None:
        for frame in self._framer.receive(data):
            self.queue.put_nowait(frame.beginning if isinstance(frame, TooLong) else frame)

    def end(self, error: MeseroError) -> None:
        rest = self._framer.receive_eof()
        if rest:
            self.queue.put_nowait(rest)
        self.queue.put_nowait(error)


class _RawStdio(StdioTransport):
    def __init__(self, command: Any, **settings: Any) -> None:
        super().__init__(command, **settings)
        self.lines = _Lines()

    def receive_bytes(self, data: bytes) -> None:
        self.lines.take(data)

    def end(self, error: MeseroError) -> None:
        super().end(error)
        self.lines.end(error)

    def put(self, data: bytes) -> None:
        """Write as it is: `notify` would mend what is to be sent broken."""
        self._send(data)


class _RawMemory(MemoryTransport):
    def __init__(self, connect: Any) -> None:
        super().__init__(connect)
        self.lines = _Lines()

    def receive_bytes(self, data: bytes) -> None:
        self.lines.take(data)

    def put(self, data: bytes) -> None:
        """Write as it is."""
        self._send(data)


def _raw_transport_for(target: Target, settings: RawSettings) -> _RawStdio | _RawMemory:
    if target.kind == "command":
        return _RawStdio(target.value, env=settings.env, cwd=settings.cwd, on_stderr=settings.on_stderr)
    server = load_server(target.value)
    return _RawMemory(lambda send, _hang_up: server.connect(send))


async def _over_stream(target: Target, raw: bytes, settings: RawSettings) -> AsyncIterator[RawAnswer]:
    transport = _raw_transport_for(target, settings)
    try:
        await transport.open()
        transport.put(raw if raw.endswith(b"\n") else raw + b"\n")
        last_moment = time.monotonic() + settings.wait_s
        has_answer = False
        while True:
            try:
                async with asyncio.timeout(max(0.0, last_moment - time.monotonic())):
                    line = await transport.lines.queue.get()
            except TimeoutError:
                return
            if isinstance(line, MeseroError):
                if has_answer:
                    return
                raise line
            has_answer = True
            yield RawAnswer(line)
            if is_answer_to(line, raw):
                return
    finally:
        await transport.aclose()


async def _over_http(url: str, raw: bytes, settings: RawSettings) -> AsyncIterator[RawAnswer]:
    from mesero.transports.http_link import HttpLink

    link = HttpLink(
        url,
        headers=settings.headers,
        connect_timeout_s=settings.wait_s,
        max_bytes=0,
        observer=None,
        allow_plain_http=False,
        authorize=None,
        tls=None,
    )
    try:
        mirrored = headers_for(raw, settings.headers) if settings.mirrors else ()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(settings.wait_s):
                response = await link.post(raw, mirrored)
                yield RawAnswer(b"", response.status, response.reason or "", tuple(response.headers.items()))
                async for part in _parts_of(response):
                    yield RawAnswer(part)
                    if is_answer_to(part, raw):
                        return
    finally:
        await link.aclose()


async def _parts_of(response: Any) -> AsyncIterator[bytes]:
    """The events of a stream, one by one; any other body in one piece."""
    if not response.content_type.startswith("text/event-stream"):
        body = await response.read()
        if body:
            yield body
        return
    framer = EventFramer()
    while not response.content.at_eof():
        for event in framer.receive(await response.content.readany()):
            yield event.beginning if isinstance(event, TooLong) else event.data
