"""The parameters of notifications, one Struct a notification, and the levels of logging.

`notifications/*/list_changed` carry nothing but `_meta`: `NotificationParams`.
"""

from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import MetaObject, Number, ProgressToken, RequestId, WireStruct

__all__ = [
    "LEVEL_ORDER",
    "CancelledParams",
    "LoggingLevel",
    "LoggingMessageParams",
    "NotificationParams",
    "ProgressParams",
    "ResourceUpdatedParams",
]

LoggingLevel: TypeAlias = Literal[
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"
]
"""Deprecated since 2026-07-28 (log to stderr or OpenTelemetry): severities of RFC 5424."""

LEVEL_ORDER: Final[dict[str, int]] = {
    "debug": 0,
    "info": 1,
    "notice": 2,
    "warning": 3,
    "error": 4,
    "critical": 5,
    "alert": 6,
    "emergency": 7,
}
"""Rank of each level: it is sent when its rank is at least that of the level that a request names."""


class NotificationParams(WireStruct, kw_only=True):
    """What every notification may carry.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#notificationparams
    """

    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


class CancelledParams(NotificationParams):
    """`notifications/cancelled`: the sender no longer wants that request's answer.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#cancellation-flow
    """

    request_id: RequestId
    reason: str | UnsetType = UNSET


class ProgressParams(NotificationParams):
    """`notifications/progress`: `progress` grows with each one; `total` is in the same unit.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress#progress-flow
    """

    progress_token: ProgressToken
    progress: Number
    total: Number | UnsetType = UNSET
    message: str | UnsetType = UNSET


class LoggingMessageParams(NotificationParams):
    """`notifications/message`: a log entry; `data` is any JSON value.

    Deprecated since 2026-07-28: log to stderr or OpenTelemetry.
    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#log-message-notifications
    """

    level: LoggingLevel
    data: Any
    logger: str | UnsetType = UNSET


class ResourceUpdatedParams(NotificationParams):
    """`notifications/resources/updated`: that resource, or a part of it, may be read again.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#subscriptions
    """

    uri: str
