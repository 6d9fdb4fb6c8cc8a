"""The ledger of in-flight calls: who waits for which id, and what an answer to nobody is. Pure.

A call is opened under an id that no other open call has, and closed once: answered or given up. What arrives
for a closed id is late (we gave it up) or a duplicate (it was answered); what arrives for any other id is
unknown. Only the last few thousand closed ids are remembered.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from mesero.errors import UsageError
from mesero.jsonrpc import Id, Notification

__all__ = ["Ledger", "Verdict", "find_owner_id"]

Owner = TypeVar("Owner")
Verdict = Literal["open", "late", "duplicate", "unknown"]

_REMEMBERED = 4096


class Ledger(Generic[Owner]):
    """Open calls by id. ``Owner`` is whatever waits for the answer."""

    def __init__(self) -> None:
        self._open: dict[Id, Owner] = {}
        self._closed: OrderedDict[Id, Verdict] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Id]:
        return iter(self._open)

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._open

    def open(self, request_id: Id, owner: Owner) -> None:
        """Enter a call.

        Raises:
            UsageError: the id is in flight already.
        """
        # "The request ID MUST NOT match the ID of any other request the sender has issued and not yet
        # received a response for."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests
        if request_id in self._open:
            raise UsageError(f"the request id {request_id!r} is in flight already")
        self._open[request_id] = owner

    def find(self, request_id: Id) -> Owner | None:
        """The owner of an open call, or None."""
        return self._open.get(request_id)

    def close(self, request_id: Id, *, is_answered: bool) -> Owner | None:
        """Take a call out: answered, or given up. None when it was not open."""
        if request_id not in self._open:
            return None
        self._closed[request_id] = "duplicate" if is_answered else "late"
        self._closed.move_to_end(request_id)
        if len(self._closed) > _REMEMBERED:
            self._closed.popitem(last=False)
        return self._open.pop(request_id)

    def verdict_for(self, request_id: Id) -> Verdict:
        """What a response with this id is: an answer to an open call, late, a duplicate, or unknown."""
        if request_id in self._open:
            return "open"
        return self._closed.get(request_id, "unknown")

    def take_all(self) -> list[Owner]:
        """Close every open call as given up and return their owners, oldest first."""
        owners = list(self._open.values())
        for request_id in list(self._open):
            self.close(request_id, is_answered=False)
        return owners


class _Tie(msgspec.Struct, rename="camel", gc=False):
    subscription: Id | UnsetType = msgspec.field(name="io.modelcontextprotocol/subscriptionId", default=UNSET)


class _Ties(msgspec.Struct, rename="camel", gc=False):
    progress_token: Id | UnsetType = UNSET
    request_id: Id | UnsetType = UNSET
    meta: _Tie | UnsetType = msgspec.field(name="_meta", default=UNSET)


_decode_ties = msgspec.json.Decoder(_Ties).decode


def find_owner_id(notification: Notification) -> Id | None:
    """The id of the request that a notification belongs to, or None when it names none.

    Progress names it by its token (mesero uses the request id as token), subscription messages by the
    subscription id, a cancellation by the request id.
    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#receiving-messages
    """
    if notification.params is UNSET:
        return None
    try:
        ties = _decode_ties(notification.params)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if notification.method == "notifications/progress":
        return None if ties.progress_token is UNSET else ties.progress_token
    if ties.meta is not UNSET and ties.meta.subscription is not UNSET:
        return ties.meta.subscription
    if notification.method == "notifications/cancelled" and ties.request_id is not UNSET:
        return ties.request_id
    return None
