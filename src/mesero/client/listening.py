"""`subscriptions/listen`, the client's side: an async iterator of changes.

Every step (opening, waiting, opening again) runs in a task of the subscription's own. So `aclose` can end
it from any task, and a reader who stops waiting loses nothing that came meanwhile.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self

import msgspec

from mesero.errors import ClosedError, MeseroError, ProtocolError, RpcError, TransportError, rpc_error_for
from mesero.jsonrpc import ErrorResponse, Notification, ResultResponse, decode_value
from mesero.modern.methods import (
    ACKNOWLEDGED,
    CANCELLED,
    PROMPTS_CHANGED,
    RESOURCE_UPDATED,
    RESOURCES_CHANGED,
    TOOLS_CHANGED,
)
from mesero.transports import Exchange, Received

__all__ = ["Listening", "ServerChange"]

_MAX_ATTEMPTS = 6
_FIRST_WAIT_S = 0.2
_LAST_MESSAGE_WAIT_S = 0.5

_RECONNECTED = "reconnected"

_KINDS = {
    TOOLS_CHANGED: "tools",
    PROMPTS_CHANGED: "prompts",
    RESOURCES_CHANGED: "resources",
    RESOURCE_UPDATED: "resource",
}


class ServerChange(msgspec.Struct, frozen=True):
    """Something changed at the server.

    ``kind`` is ``tools``, ``prompts``, ``resources``, ``resource`` (with its ``uri``), ``reconnected`` (the
    stream was lost and is back: anything may have changed meanwhile), or the method of an extension's
    notification.
    """

    kind: str
    uri: str | None = None
    params: Mapping[str, Any] = {}


class Listening:
    """An open subscription: ``async for change in client.listen(tools=True): …``.

    It ends when the server ends it in good order, when the client is closed, or by `aclose`. A lost stream
    is opened again, unless ``reconnect=False``. Cancelling a task that waits for a change ends the
    subscription, except inside ``async with client.listen(…) as changes``: there the next wait goes on
    where the last one stopped.

    Attributes:
        honoured: The part of the filter that the server agreed to, None until it has said so.
    """

    def __init__(
        self,
        open_exchange: Callable[[], Awaitable[Exchange]],
        *,
        where: str,
        acknowledge_s: float,
        reconnect: bool,
        on_notification: Callable[[Notification], None],
        on_gap: Callable[[], None],
    ) -> None:
        self._open_exchange = open_exchange
        self._where = where
        self._acknowledge_s = acknowledge_s
        self._reconnect = reconnect
        self._on_notification = on_notification
        self._on_gap = on_gap
        self._exchange: Exchange | None = None
        self._step: asyncio.Task[ServerChange | None] | None = None
        self._is_over = False
        self._is_entered = False
        self.honoured: Mapping[str, Any] | None = None

    def __aiter__(self) -> Listening:
        return self

    async def __aenter__(self) -> Self:
        await self.start()
        self._is_entered = True
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Open the stream and wait for the acknowledgement; iterating does it by itself.

        Raises:
            TransportError, RpcError, ProtocolError: it could not be opened.
        """
        if self._exchange is None and not self._is_over:
            await self._begin()

    async def __anext__(self) -> ServerChange:
        if self._step is None:
            if self._is_over:
                raise StopAsyncIteration
            self._step = asyncio.get_running_loop().create_task(self._advance())
            self._step.add_done_callback(_note_outcome)
        step = self._step
        try:
            await asyncio.wait({step})
        except asyncio.CancelledError:
            if not self._is_entered:
                await self.aclose()
            raise
        if self._step is step:
            self._step = None
        change = None if step.cancelled() else step.result()
        if change is None:
            await self.aclose()
            raise StopAsyncIteration
        return change

    async def aclose(self) -> None:
        """Stop listening, and tell the server. From any task, any number of times."""
        self._is_over = True
        step, self._step = self._step, None
        if step is not None and step is not asyncio.current_task():
            step.cancel()
            await asyncio.wait({step})
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            await exchange.close("no longer listening")

    # -- the steps -------------------------------------------------------------------------------------------

    async def _advance(self) -> ServerChange | None:
        """The next change, None at the end."""
        while not self._is_over:
            try:
                if self._exchange is None:
                    await self._begin()
                    continue
                received = await self._exchange.receive()
            except ClosedError:
                return None
            except TransportError:
                if not self._reconnect or self.honoured is None:
                    raise
                await self._begin_again()
                return ServerChange(_RECONNECTED)
            change = await self._change_from(received)
            if change is not None:
                return change
        return None

    async def _begin(self) -> None:
        exchange: Exchange | None = None
        clock = asyncio.timeout(self._acknowledge_s)
        try:
            async with clock:
                exchange = await self._open_exchange()
                self._take_acknowledgement(await exchange.receive())
        except BaseException as error:
            if exchange is not None:
                await exchange.close("the subscription could not be opened")
            if isinstance(error, TimeoutError) and clock.expired():
                raise ProtocolError(
                    f"subscriptions/listen was not acknowledged within {self._acknowledge_s:g} s",
                    where=self._where,
                ) from None
            raise
        self._exchange = exchange

    def _take_acknowledgement(self, received: Received) -> None:
        message = received.message
        if isinstance(message, ErrorResponse):
            raise self._error_from(message)
        # "The server MUST send notifications/subscriptions/acknowledged as the first message."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
        if not isinstance(message, Notification) or message.method != ACKNOWLEDGED:
            raise ProtocolError(
                "subscriptions/listen must be answered with an acknowledgement first",
                where=self._where,
                excerpt=received.raw,
            )
        honoured = _params_of(message).get("notifications")
        self.honoured = honoured if isinstance(honoured, dict) else {}

    async def _change_from(self, received: Received) -> ServerChange | None:
        message = received.message
        if isinstance(message, ErrorResponse):
            self._is_over = True
            raise self._error_from(message)
        if isinstance(message, ResultResponse):
            # "signals that the subscription ended gracefully"
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#graceful-closure
            self._is_over = True
            return None
        if not isinstance(message, Notification) or message.method == ACKNOWLEDGED:
            return None
        if message.method == CANCELLED:
            await self._wait_for_result()
            return None
        self._on_notification(message)
        params = _params_of(message)
        uri = params.get("uri")
        return ServerChange(
            _KINDS.get(message.method, message.method), uri if isinstance(uri, str) else None, params
        )

    async def _wait_for_result(self) -> None:
        """The server ended the subscription; the result that may follow is not waited for very long."""
        self._is_over = True
        exchange = self._exchange
        with contextlib.suppress(TimeoutError, MeseroError):
            async with asyncio.timeout(_LAST_MESSAGE_WAIT_S):
                while exchange and isinstance((await exchange.receive()).message, Notification):
                    pass

    async def _begin_again(self) -> None:
        """Open the stream again. What changed meanwhile is not known, so nothing that was kept holds."""
        self._exchange = None
        wait_s = _FIRST_WAIT_S
        for attempts_left in reversed(range(_MAX_ATTEMPTS)):
            try:
                await self._begin()
            except MeseroError as error:
                if not attempts_left or isinstance(error, ClosedError):
                    raise
                await asyncio.sleep(wait_s)
                wait_s *= 2
            else:
                break
        self._on_gap()

    def _error_from(self, message: ErrorResponse) -> RpcError:
        data = None if message.data is msgspec.UNSET else decode_value(message.data)
        return rpc_error_for(
            message.code,
            message.message,
            data,
            where=f"{self._where}: subscriptions/listen (id {message.id!r})",
        )


def _note_outcome(step: asyncio.Task[Any]) -> None:
    """Look at how a step ended, so that nobody complains when its subscription was dropped."""
    if not step.cancelled():
        step.exception()


def _params_of(message: Notification) -> dict[str, Any]:
    if message.params is msgspec.UNSET:
        return {}
    try:
        params: dict[str, Any] = decode_value(message.params)
    except RpcError:
        return {}  # A number that nobody can hold: what changed is in the method's name.
    return params
