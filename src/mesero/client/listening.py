"""`subscriptions/listen`, the client's side: an async iterator of changes.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from mesero.errors import ClosedError, DisconnectedError, MeseroError, ProtocolError, rpc_error_for
from mesero.jsonrpc import ErrorResponse, Notification, Response, decode_value
from mesero.modern.methods import ACKNOWLEDGED, CANCELLED
from mesero.transports import Exchange, Received

__all__ = ["Listening", "ServerChange"]

_MAX_ATTEMPTS = 6
_FIRST_WAIT_S = 0.2

RECONNECTED = "reconnected"


class ServerChange(msgspec.Struct, frozen=True):
    """Something changed at the server.

    ``kind`` is ``tools``, ``prompts``, ``resources``, ``resource`` (with its ``uri``), ``reconnected`` (the stream was lost
    and is back: anything may have changed meanwhile), or the method of an extension's notification.
    """

    kind: str
    uri: str | None = None
    params: Mapping[str, Any] = {}


_KINDS = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
    "notifications/resources/updated": "resource",
}


class Listening:
    """An open subscription: ``async for change in client.listen(tools=True): …``.

    It ends when the server ends it in good order, when the client is closed, or by `aclose`. A lost stream is opened
    again, unless ``reconnect=False``.

    Attributes:
        honoured: The part of the filter that the server agreed to, once it has said so.
    """

    def __init__(
        self,
        open_exchange: Callable[[], Awaitable[Exchange]],
        *,
        where: str,
        acknowledge_s: float,
        reconnect: bool,
        on_notification: Callable[[Notification], None],
    ) -> None:
        self._open_exchange = open_exchange
        self._where = where
        self._acknowledge_s = acknowledge_s
        self._reconnect = reconnect
        self._on_notification = on_notification
        self._exchange: Exchange | None = None
        self._is_over = False
        self.honoured: Mapping[str, Any] | None = None

    def __aiter__(self) -> Listening:
        return self

    async def __aenter__(self) -> Listening:
        await self.start()
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

    async def _begin(self) -> None:
        exchange = await self._open_exchange()
        try:
            async with asyncio.timeout(self._acknowledge_s):
                received = await exchange.receive()
            self._take_acknowledgement(received)
        except TimeoutError:
            await exchange.close("no acknowledgement")
            raise ProtocolError(
                f"subscriptions/listen was not acknowledged within {self._acknowledge_s:g} s", where=self._where
            ) from None
        except BaseException:
            await exchange.close("the subscription could not be opened")
            raise
        self._exchange = exchange

    def _take_acknowledgement(self, received: Received) -> None:
        message = received.message
        if isinstance(message, ErrorResponse):
            data = None if message.data is msgspec.UNSET else decode_value(message.data)
            raise rpc_error_for(message.code, message.message, data, where=self._where)
        # "The server MUST send notifications/subscriptions/acknowledged as the first message."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
        if not isinstance(message, Notification) or message.method != ACKNOWLEDGED:
            raise ProtocolError(
                "subscriptions/listen must be answered with an acknowledgement first", where=self._where, excerpt=received.raw
            )
        params = _params_of(message)
        honoured = params.get("notifications")
        self.honoured = honoured if isinstance(honoured, dict) else {}

    async def __anext__(self) -> ServerChange:
        while not self._is_over:
            if self._exchange is None:
                await self._begin()
                continue
            try:
                received = await self._exchange.receive()
            except ClosedError:
                break
            except DisconnectedError:
                if not self._reconnect:
                    raise
                await self._begin_again()
                return ServerChange(RECONNECTED)
            change = self._change_from(received)
            if change is not None:
                return change
        await self.aclose()
        raise StopAsyncIteration

    def _change_from(self, received: Received) -> ServerChange | None:
        message = received.message
        if not isinstance(message, Notification):
            # The response: the server ends the subscription in good order.
            self._is_over = isinstance(message, Response)
            return None
        if message.method in (ACKNOWLEDGED, CANCELLED):
            return None  # What a cancellation announces, the response or the end of the stream completes.
        self._on_notification(message)
        params = _params_of(message)
        uri = params.get("uri")
        return ServerChange(_KINDS.get(message.method, message.method), uri if isinstance(uri, str) else None, params)

    async def _begin_again(self) -> None:
        wait_s = _FIRST_WAIT_S
        for attempt in range(_MAX_ATTEMPTS):
            try:
                await self._begin()
            except ClosedError:
                self._is_over = True
                return
            except MeseroError:
                if attempt == _MAX_ATTEMPTS - 1:
                    raise
                await asyncio.sleep(wait_s)
                wait_s *= 2
            else:
                return

    async def aclose(self) -> None:
        """Stop listening. Any number of times."""
        self._is_over = True
        if self._exchange is not None:
            exchange, self._exchange = self._exchange, None
            await exchange.close("no longer listening")


def _params_of(message: Notification) -> dict[str, Any]:
    if message.params is msgspec.UNSET:
        return {}
    params: dict[str, Any] = decode_value(message.params)
    return params
