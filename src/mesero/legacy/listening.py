"""Hearing of changes inside a session: `resources/subscribe`, and list_changed that come unasked.

`Subscription` looks like the exchange that answers `subscriptions/listen` in the stateless revisions: first
what is honoured, then the changes, at last an error. So `mesero.client.listening.Listening` serves both.

https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import UNSET, Raw

from mesero.errors import MeseroError, MissingCapabilityError, ProtocolError, RpcError
from mesero.jsonrpc import Notification, decode_message, decode_value, encode_notification
from mesero.legacy.methods import (
    PROMPTS_CHANGED,
    RESOURCE_UPDATED,
    RESOURCES_CHANGED,
    SUBSCRIBE,
    TOOLS_CHANGED,
    UNSUBSCRIBE,
)
from mesero.transports import Received
from mesero.types import ServerCapabilities

__all__ = ["LISTENED_TO", "Ask", "Subscription", "Subscriptions"]

_ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
"""What a filter is answered with where there are filters; here it is our own word for it."""
_URIS: Final = "resourceSubscriptions"
_LISTS: Final = {
    "toolsListChanged": (TOOLS_CHANGED, "tools"),
    "promptsListChanged": (PROMPTS_CHANGED, "prompts"),
    "resourcesListChanged": (RESOURCES_CHANGED, "resources"),
}
LISTENED_TO: Final = frozenset({TOOLS_CHANGED, PROMPTS_CHANGED, RESOURCES_CHANGED, RESOURCE_UPDATED})
"""The notifications that tell of a change."""

_MAX_BACKLOG: Final = 100_000
_UNSUBSCRIBE_WAIT_S: Final = 5.0

Ask = Callable[[str, dict[str, Any], float], Awaitable[Raw]]
"""Sends a request: the method, its parameters, and how long the answer may take, in seconds."""


class Subscription:
    """One filter and the changes that fit it; see `mesero.transports.Exchange`.

    Args:
        owner: Knows all of them.
        methods: The notifications of lists that it hears.
        uris: The resources that it watches.
    """

    def __init__(self, owner: Subscriptions, methods: Iterable[str], uris: Iterable[str]) -> None:
        self.is_over = False
        self.uris = tuple(dict.fromkeys(uris))
        self._owner = owner
        self._methods = frozenset(methods)
        self._backlog: deque[Received] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._error: MeseroError | None = None

    def hears(self, notification: Notification, uri: str | None) -> bool:
        """Whether a change fits the filter."""
        if notification.method != RESOURCE_UPDATED:
            return notification.method in self._methods
        # "This might be a sub-resource of the one that the client actually subscribed to."
        # https://modelcontextprotocol.io/specification/2025-11-25/schema#notifications-resources-updated
        return uri is not None and any(uri.startswith(watched) for watched in self.uris)

    def deliver(self, received: Received) -> None:
        """Keep a change until it is read."""
        if len(self._backlog) >= _MAX_BACKLOG:
            self.fail(ProtocolError(f"{_MAX_BACKLOG} changes wait unread; listening was given up"))
        elif self._error is None:
            self._backlog.append(received)
            self._wake()

    def fail(self, error: MeseroError) -> None:
        """End it with an error; what came before can still be read."""
        self.is_over = True
        self._error = error
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def receive(self) -> Received:
        """See `mesero.transports.Exchange.receive`."""
        while not self._backlog:
            if self._error is not None:
                raise self._error
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return self._backlog.popleft()

    async def close(self, reason: str = "") -> None:
        """See `mesero.transports.Exchange.close`."""
        del reason  # There is no place for one.
        await self._owner.release(self)


class Subscriptions:
    """Everything that one client listens to in its session.

    Args:
        ask: Sends a request in the session, a new one if need be.
        where: The server, for messages to people.
    """

    def __init__(self, ask: Ask, *, where: str) -> None:
        self._ask = ask
        self._where = where
        self._open: set[Subscription] = set()
        self._watched: Counter[str] = Counter()

    async def open(
        self, wanted: Mapping[str, Any], capabilities: ServerCapabilities, *, timeout_s: float
    ) -> Subscription:
        """Subscribe to what a filter names.

        Args:
            wanted: Shaped like the filter of `subscriptions/listen`.
            capabilities: Those of the server.
            timeout_s: How long each answer may take, in seconds.

        Raises:
            MissingCapabilityError: the server tells of nothing in the filter, or watches no resources.
            RpcError: it refuses to watch a resource.
        """
        honoured = self._honoured_of(wanted, capabilities)
        lists = [method for key, (method, _) in _LISTS.items() if wanted.get(key)]
        subscription = Subscription(self, lists, honoured.get(_URIS, ()))
        raw = encode_notification(_ACKNOWLEDGED, {"notifications": honoured})
        subscription.deliver(Received(raw, decode_message(raw)))
        # From now on it hears: a change may come before the answer that promises to tell of it.
        self._open.add(subscription)
        self._watched.update(subscription.uris)
        try:
            for uri in subscription.uris:
                await self._ask(SUBSCRIBE, {"uri": uri}, timeout_s)
        except BaseException:
            await self.release(subscription)
            raise
        return subscription

    def _honoured_of(self, wanted: Mapping[str, Any], capabilities: ServerCapabilities) -> dict[str, Any]:
        honoured: dict[str, Any] = {
            key: True
            for key, (_, name) in _LISTS.items()
            if wanted.get(key) and _may_tell(getattr(capabilities, name), "list_changed")
        }
        if wanted.get(_URIS):
            if not _may_tell(capabilities.resources, "subscribe"):
                raise MissingCapabilityError("resources.subscribe", SUBSCRIBE, where=self._where)
            honoured[_URIS] = list(wanted[_URIS])
        if not honoured:
            asked = next((name for key, (_, name) in _LISTS.items() if wanted.get(key)), "subscriptions")
            raise MissingCapabilityError(f"{asked}.listChanged", "listening", where=self._where)
        return honoured

    def take(self, received: Received) -> None:
        """A change was announced: pass it on to whoever hears it."""
        message = received.message
        if not isinstance(message, Notification) or not self._open:
            return
        uri = _uri_of(message) if message.method == RESOURCE_UPDATED else None
        for subscription in tuple(self._open):
            if subscription.hears(message, uri):
                subscription.deliver(received)

    def fail(self, error: MeseroError) -> None:
        """The session is over, and all of them with it."""
        lost = tuple(self._open)
        self._open.clear()
        self._watched.clear()
        for subscription in lost:
            subscription.fail(error)

    async def release(self, subscription: Subscription) -> None:
        """End one; what nobody else watches is not watched any more. Never raises."""
        subscription.is_over = True
        if subscription not in self._open:
            return
        self._open.discard(subscription)
        self._watched.subtract(subscription.uris)
        for uri in subscription.uris:
            if self._watched[uri] <= 0:
                del self._watched[uri]
                with contextlib.suppress(MeseroError):
                    await self._ask(UNSUBSCRIBE, {"uri": uri}, _UNSUBSCRIBE_WAIT_S)


def _may_tell(capability: Any, option: str) -> bool:
    return capability is not UNSET and getattr(capability, option, UNSET) is True


def _uri_of(message: Notification) -> str | None:
    try:
        uri = decode_value(message.params).get("uri") if message.params is not UNSET else None
    except RpcError:
        return None
    return uri if isinstance(uri, str) else None
