"""`subscriptions/listen`: one long-lived request for each listener, its state in that request and nowhere
else.

Changes that say the same thing are sent once if they come faster than the client reads, so nothing piles up.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from msgspec import UNSET

from mesero.jsonrpc import Id, decode_value, encode_notification
from mesero.modern.methods import ACKNOWLEDGED, CANCELLED
from mesero.modern.server import is_wanted
from mesero.server.bus import Bus, Change
from mesero.server.reply import Reply
from mesero.types import SUBSCRIPTION_ID_KEY, ServerCapabilities, SubscriptionsListenResult

__all__ = ["Listener", "Subscription", "Subscriptions", "call_in_loop", "keys_offered"]

_CAPABILITY_OF: Final = {
    "toolsListChanged": "tools",
    "promptsListChanged": "prompts",
    "resourcesListChanged": "resources",
    "resourceSubscriptions": "resources",
}


def keys_offered(
    known: Mapping[str, tuple[str, ...]], declared: ServerCapabilities
) -> dict[str, tuple[str, ...]]:
    """The filter keys that a server with these capabilities honours.

    "Notification types the server does not support are omitted."
    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
    """
    return {
        key: methods
        for key, methods in known.items()
        if key not in _CAPABILITY_OF or getattr(declared, _CAPABILITY_OF[key]) is not UNSET
    }


def call_in_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in an event loop, from whatever thread: at once when that is where we are."""
    try:
        is_here = asyncio.get_running_loop() is loop
    except RuntimeError:
        is_here = False
    if is_here:
        function(*arguments)
        return
    # Plain functions make changes too, in their worker threads. A loop that is closed has no listeners.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *arguments)


class Listener(Protocol):
    """Who hears of changes: an open request, or a session."""

    def publish(self, change: Change) -> None:
        """Hear of a change, from whatever thread."""

    def end(self) -> None:
        """The server is about to shut down."""


class Subscription:
    """One open `subscriptions/listen` request.

    Args:
        request_id: Its JSON-RPC id, which is also the subscription's.
        honoured: The part of the filter that the server honours.
        known: All filter keys with the methods that they open.
        reply: The way back to the client.
        is_shared_channel: Whether other messages share the channel (stdio), so that the end is announced by a
            notification besides the result.
    """

    __slots__ = (
        "_honoured",
        "_known",
        "_loop",
        "_pending",
        "_reply",
        "_request_id",
        "_waiter",
        "is_ending",
        "is_shared_channel",
    )

    def __init__(
        self,
        *,
        request_id: Id,
        honoured: Mapping[str, Any],
        known: Mapping[str, tuple[str, ...]],
        reply: Reply,
        is_shared_channel: bool,
    ) -> None:
        self._request_id = request_id
        self._honoured = honoured
        self._known = known
        self._reply = reply
        self._loop = asyncio.get_running_loop()
        self.is_shared_channel = is_shared_channel
        self.is_ending = False
        self._pending: dict[Change, None] = {}
        self._waiter: asyncio.Future[None] | None = None

    def publish(self, change: Change) -> None:
        """Hear of a change, from whatever thread; it is sent if the filter asks for it."""
        if is_wanted(self._honoured, self._known, change.method, change.subject):
            call_in_loop(self._loop, self._take, change)

    def _take(self, change: Change) -> None:
        self._pending[change] = None
        self._wake()

    def end(self) -> None:
        """End it in good order, for example when the server shuts down."""
        self.is_ending = True
        call_in_loop(self._loop, self._wake)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def run(self) -> SubscriptionsListenResult:
        """Acknowledge, then send what is heard until `end`; cancelled when the client goes."""
        # "The server MUST send notifications/subscriptions/acknowledged as the first message."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
        await self._send(ACKNOWLEDGED, {"notifications": self._honoured})
        while True:
            self._waiter = self._loop.create_future()
            while self._pending:
                change = next(iter(self._pending))
                del self._pending[change]
                await self._send(change.method, decode_value(change.params))
            if self.is_ending:
                break
            await self._waiter
        if self.is_shared_channel:
            # "A server MUST send notifications/cancelled referencing a subscriptions/listen request ID when
            # it tears down that subscription stream"; the page on subscriptions says that the result alone
            # signals the end. Where others share the channel both are sent, the notification first; over
            # HTTP the result ends the stream.
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
            reason = "the server ends the subscription"
            await self._send(CANCELLED, {"requestId": self._request_id, "reason": reason})
        return SubscriptionsListenResult(meta={SUBSCRIPTION_ID_KEY: self._request_id})

    async def _send(self, method: str, params: dict[str, Any]) -> None:
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#receiving-notifications
        tagged = {"_meta": {SUBSCRIPTION_ID_KEY: self._request_id}, **params}
        await self._reply.notify(encode_notification(method, tagged))


class Subscriptions:
    """All open subscriptions of a server. It is on the bus only while there are some."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._open: set[Listener] = set()
        self._leave_bus: Callable[[], None] | None = None

    def __len__(self) -> int:
        return len(self._open)

    @contextlib.contextmanager
    def holding(self, subscription: Listener) -> Iterator[None]:
        """Let a subscription hear what is on the bus."""
        self._open.add(subscription)
        if self._leave_bus is None:
            self._leave_bus = self._bus.subscribe(self._hear)
        try:
            yield
        finally:
            self._open.discard(subscription)
            if not self._open and self._leave_bus is not None:
                self._leave_bus()
                self._leave_bus = None

    def _hear(self, change: Change) -> None:
        for subscription in tuple(self._open):
            subscription.publish(change)

    def end_all(self) -> None:
        """End every one in good order."""
        for subscription in tuple(self._open):
            subscription.end()
