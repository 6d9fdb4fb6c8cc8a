"""`subscriptions/listen`: what a client wants to hear, the acknowledgement, and the graceful end.

Every kind of notification is opt-in. Filter keys of extensions are no fields here; whoever serves an
extension reads them from the raw parameters.
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import MetaObject, WireStruct
from mesero.types.notifications import NotificationParams
from mesero.types.results import Result

__all__ = [
    "ListenParams",
    "SubscriptionFilter",
    "SubscriptionsAcknowledgedParams",
    "SubscriptionsListenResult",
]


class SubscriptionFilter(WireStruct, kw_only=True):
    """The kinds of notifications asked for, and the URIs of the resources to watch.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#notification-filter
    """

    tools_list_changed: bool = False
    prompts_list_changed: bool = False
    resources_list_changed: bool = False
    resource_subscriptions: list[str] | UnsetType = UNSET


class ListenParams(WireStruct):
    """The parameters of `subscriptions/listen`.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#opening-a-stream
    """

    notifications: SubscriptionFilter


class SubscriptionsAcknowledgedParams(NotificationParams):
    """`notifications/subscriptions/acknowledged`: the part of the filter that the server honours.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
    """

    notifications: SubscriptionFilter


class SubscriptionsListenResult(Result, kw_only=True):
    """The server ends the subscription in good order; `meta` must hold the subscription's id.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#graceful-closure
    """

    meta: MetaObject = msgspec.field(name="_meta")
