"""`subscriptions/listen`: one long-lived request for each listener, its state in that request and nowhere else.

Changes that say the same thing are sent once if they come faster than the client reads, so nothing piles up.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from mesero.jsonrpc import Id, encode_notification
from mesero.modern.methods import ACKNOWLEDGED, CANCELLED
from mesero.modern.server import is_wanted
from mesero.server.bus import Change
from mesero.server.reply import Reply
from mesero.types import SUBSCRIPTION_ID_KEY, SubscriptionsListenResult

__all__ = ["Subscription"]


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

    __slots__ = ("_honoured", "_known", "_pending", "_reply", "_request_id", "_waiter", "is_ending", "is_shared_channel")

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
        self.is_shared_channel = is_shared_channel
        self.is_ending = False
        self._pending: dict[Change, None] = {}
        self._waiter: asyncio.Future[None] | None = None

    def publish(self, change: Change) -> None:
        """Hear of a change; it is sent if the filter asks for it."""
        if is_wanted(self._honoured, self._known, change.method, change.uri):
            self._pending[change] = None
            self._wake()

    def end(self) -> None:
        """End it in good order, for example when the server shuts down."""
        self.is_ending = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def run(self) -> SubscriptionsListenResult:
        """Acknowledge, then send what is heard until `end`; cancelled when the client goes."""
        # "The server MUST send notifications/subscriptions/acknowledged as the first message."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
        await self._send(ACKNOWLEDGED, {"notifications": self._honoured})
        while not self.is_ending:
            if not self._pending:
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
                continue
            change = next(iter(self._pending))
            del self._pending[change]
            await self._send(change.method, {} if change.uri is None else {"uri": change.uri})
        if self.is_shared_channel:
            # "A server MUST send notifications/cancelled referencing a subscriptions/listen request ID when it tears
            # down that subscription stream"; the page on subscriptions says that the result alone signals the end.
            # Where others share the channel both are sent, the notification first; over HTTP the result ends the stream.
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
            await self._send(CANCELLED, {"requestId": self._request_id, "reason": "the server ends the subscription"})
        return SubscriptionsListenResult(meta={SUBSCRIPTION_ID_KEY: self._request_id})

    async def _send(self, method: str, params: dict[str, Any]) -> None:
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#receiving-notifications
        tagged = {"_meta": {SUBSCRIPTION_ID_KEY: self._request_id}, **params}
        await self._reply.notify(encode_notification(method, tagged))
