"""One request and everything that answers it: time-outs, progress, log messages, the response.

What both kinds of caller share: they differ in what goes into a request and what its result means. The end of
a wait is always told: a time-out cancels on the wire, a lost connection raises.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from mesero.client.facts import Progress
from mesero.errors import CallTimeoutError, ProtocolError, UsageError, rpc_error_for
from mesero.extensions import MethodSpec
from mesero.jsonrpc import ErrorResponse, Notification, ResultResponse, decode_value
from mesero.modern.headers import HeaderMark
from mesero.modern.methods import CANCELLED, LOG_MESSAGE, PROGRESS
from mesero.transports import Exchange, Received, Transport
from mesero.types import LoggingMessageParams, ProgressParams

__all__ = ["LogFunction", "OpenCall", "ProgressFunction", "Requester"]

ProgressFunction = Callable[[Progress], Awaitable[None] | None]
LogFunction = Callable[[LoggingMessageParams], Awaitable[None] | None]

_log = logging.getLogger("mesero")


class OpenCall(msgspec.Struct, eq=False):
    """The clock of one request that is under way. All times are those of the loop, in seconds."""

    clock: asyncio.Timeout
    limit_s: float
    last_moment: float
    on_progress: ProgressFunction | None
    exchange: Exchange | None = None
    paused_at: float | None = None

    def extend(self) -> None:
        """It was heard of: the limit begins again, up to the last moment."""
        if self.paused_at is None and not self.clock.expired():
            now = asyncio.get_running_loop().time()
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#timeouts
            self.clock.reschedule(min(now + self.limit_s, self.last_moment))

    def pause(self) -> None:
        """Stop the clock: it waits for a person."""
        if self.paused_at is None and not self.clock.expired():
            self.paused_at = asyncio.get_running_loop().time()
            self.clock.reschedule(None)

    def resume(self) -> None:
        """Let the clock run again; the time since `pause` does not count."""
        if self.paused_at is not None:
            self.last_moment += asyncio.get_running_loop().time() - self.paused_at
            self.paused_at = None
            self.extend()


class Requester(ABC):
    """Sends requests over one transport and waits for what answers them.

    Args:
        transport: Where to.
        timeout_s: How long a request may take without a sign of progress, in seconds.
        total_timeout_s: How long it may take with progress, in seconds.
        on_log: Takes the server's log messages.

    Attributes:
        last_id: The id of the last request. Whoever takes over the transport goes on behind it.
        is_closed: Whether new requests are refused.
    """

    _open_calls: set[OpenCall] | None = None
    """Those under way, for a subclass that has to reach them; None when nobody has."""

    def __init__(
        self, transport: Transport, *, timeout_s: float, total_timeout_s: float, on_log: LogFunction | None
    ) -> None:
        self.transport = transport
        self._timeout_s = timeout_s
        self._total_timeout_s = total_timeout_s
        self._on_log = on_log
        self.last_id = 0
        self.is_closed = False
        self._loop: asyncio.AbstractEventLoop | None = None

    @abstractmethod
    async def start(
        self,
        spec: MethodSpec,
        params: dict[str, Any],
        *,
        marks: Iterable[HeaderMark] = (),
        wants_progress: bool = False,
        meta: Mapping[str, Any] | None = None,
    ) -> Exchange:
        """Send one request and hand back its exchange.

        Raises:
            ClosedError: the client is closed.
            TransportError: the server cannot be reached or started again.
        """

    async def _round(  # noqa: PLR0917  (one caller, on the hot path)
        self,
        spec: MethodSpec,
        params: dict[str, Any],
        marks: Iterable[HeaderMark],
        timeout_s: float | None,
        on_progress: ProgressFunction | None,
        meta: Mapping[str, Any] | None,
    ) -> Raw:
        """One request and its response; notifications in between go to whom they concern."""
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self.stay_in(loop)
        clock = asyncio.timeout(limit_s)
        call = OpenCall(clock, limit_s, loop.time() + max(limit_s, self._total_timeout_s), on_progress)
        if self._open_calls is not None:
            self._open_calls.add(call)
        heard = 0
        exchange: Exchange | None = None
        reason = "the caller gave up"
        try:
            async with clock:
                exchange = call.exchange = await self.start(
                    spec, params, marks=marks, wants_progress=on_progress is not None, meta=meta
                )
                while True:
                    received = await exchange.receive()
                    message = received.message
                    if isinstance(message, ResultResponse):
                        return message.result
                    if isinstance(message, ErrorResponse):
                        raise self._error_from(spec.name, message, received)
                    heard += 1
                    if isinstance(message, Notification):
                        await self._take(message, call)
        except TimeoutError:
            if not clock.expired():
                raise  # Somebody else's, for example of a callback.
            reason = "timed out"
            if loop.time() >= call.last_moment:
                limit_s = max(limit_s, self._total_timeout_s)
            raise self._timeout_error(spec, params, limit_s, heard) from None
        finally:
            if self._open_calls is not None:
                self._open_calls.discard(call)
            if exchange is not None and not exchange.is_over:
                await exchange.close(reason)

    def stay_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Belong to this event loop from now on.

        An answer wakes up the loop that the transport was opened in: who calls from another would wait for
        nothing.

        Raises:
            UsageError: it belongs to another one.
        """
        if self._loop is not None and self._loop is not loop:
            raise UsageError(
                "this client belongs to another event loop: an asyncio.run that is over, or another thread",
                fix="Connect and call within the same asyncio.run; from other threads use"
                " asyncio.run_coroutine_threadsafe",
            )
        self._loop = loop

    def _error_from(self, method: str, message: ErrorResponse, _received: Received) -> Exception:
        data = None if message.data is UNSET else decode_value(message.data)
        where = f"{self.transport.target}: {method} (id {message.id!r})"
        return rpc_error_for(message.code, message.message, data, where=where)

    def _timeout_error(
        self, spec: MethodSpec, params: Mapping[str, Any], limit_s: float, heard: int
    ) -> CallTimeoutError:
        name = params.get(spec.name_field) if spec.name_field else None
        # Streams know of things that may explain the silence.
        evidence: tuple[str, ...] = getattr(self.transport, "evidence", tuple)()
        since = [f"{heard} notifications" if heard else "nothing", *evidence]
        return CallTimeoutError(
            f"{spec.name} {name!r}" if name else spec.name,
            timeout_s=limit_s,
            since="; ".join(since),
            where=self.transport.target,
        )

    async def _take(self, message: Notification, call: OpenCall) -> None:
        """Pass a notification on that belongs to a request."""
        if message.method == PROGRESS:
            await self._take_progress(message, call)
        elif message.method == CANCELLED:
            # "Servers MUST NOT send notifications/cancelled for any other purpose" than to end a
            # subscription. Who does will hardly answer: waiting would be for nothing.
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
            raise ProtocolError(
                "the server cancelled a request of ours, which it may not do; nothing else answered it",
                where=self.transport.target,
                excerpt=bytes(message.params or b""),
            )
        else:
            await self.take_log(message)

    async def _take_progress(self, message: Notification, call: OpenCall) -> None:
        try:
            params = msgspec.json.decode(message.params or b"{}", type=ProgressParams)
        except msgspec.MsgspecError:
            pass  # A malformed notification is dropped: it still shows that the server works.
        else:
            if call.on_progress is not None:
                total = None if params.total is UNSET else params.total
                text = None if params.message is UNSET else params.message
                await _maybe_await(call.on_progress(Progress(params.progress, total, text)))
        call.extend()

    async def take_log(self, message: Notification) -> None:
        """Pass a log message on, if it is one that somebody wants; what they do with it cannot fail here."""
        if message.method != LOG_MESSAGE or self._on_log is None:
            return
        try:
            params = msgspec.json.decode(message.params or b"{}", type=LoggingMessageParams)
        except msgspec.MsgspecError:
            return
        try:
            await _maybe_await(self._on_log(params))
        except Exception:  # noqa: BLE001  (what becomes of a log line is no matter of the connection)
            _log.exception("on_log failed")


async def _maybe_await(value: Any) -> None:
    if inspect.isawaitable(value):
        await value
