"""The notifications of all revisions: never answered, so what goes wrong with them goes wrong in silence."""

from __future__ import annotations

from typing import Final

from mesero.explain.glossary.entries import HANDSHAKE, ONLY_2025_11, STATELESS, Entry

__all__ = ["NOTIFICATIONS"]

_CHANGED = (
    (
        "it never comes: in the stateless era only who listens (`subscriptions/listen`) is told; with a"
        " handshake only a server that declared `listChanged` tells, over HTTP on the stream that GET opens"
    ),
)

NOTIFICATIONS: Final = (
    Entry(
        name="notifications/initialized",
        kind="notification",
        title="The handshake is done",
        meaning="The client has taken the answer to `initialize`; from here on both sides may use what was"
        " agreed on.",
        sender="client",
        revisions=HANDSHAKE,
        causes=("without it many servers refuse all else: the client forgot it, or sent it as a request",),
        spec="2025-11-25/basic/lifecycle#initialization",
    ),
    Entry(
        name="notifications/cancelled",
        kind="notification",
        title="Never mind",
        meaning="Whoever asked no longer wants the answer to the request that `requestId` names. Over HTTP in"
        " the stateless era it is not sent: closing the stream says the same.",
        sender="both",
        causes=(
            "from a client: often its own time limit; the `reason` may say so",
            "it names a request that has ended: answer and cancellation crossed, which is harmless",
        ),
        spec="basic/patterns/cancellation",
    ),
    Entry(
        name="notifications/progress",
        kind="notification",
        title="Progress",
        meaning="How far a request is that carried a `progressToken`. `progress` grows with every message;"
        " `total` is given when it is known.",
        sender="both",
        causes=(
            "it never comes: the request had no `progressToken`, or something between holds events back",
            "it comes after the answer, or for a token that nobody gave: the server is wrong",
        ),
        spec="basic/patterns/progress",
    ),
    Entry(
        name="notifications/message",
        kind="notification",
        title="A log line",
        meaning="Something that the server logged, with a level and data of any shape. Deprecated in"
        " 2026-07-28, where a request has to ask for it with `io.modelcontextprotocol/logLevel`.",
        sender="server",
        causes=("it never comes: no level was asked for",),
        spec="server/utilities/logging",
    ),
    Entry(
        name="notifications/tools/list_changed",
        kind="notification",
        title="The tools have changed",
        meaning="What `tools/list` answered before is stale. A client asks again when it needs the list.",
        sender="server",
        causes=_CHANGED,
        spec="server/tools#list-changed-notification",
    ),
    Entry(
        name="notifications/prompts/list_changed",
        kind="notification",
        title="The prompts have changed",
        meaning="What `prompts/list` answered before is stale.",
        sender="server",
        causes=_CHANGED,
        spec="server/prompts#list-changed-notification",
    ),
    Entry(
        name="notifications/resources/list_changed",
        kind="notification",
        title="The resources have changed",
        meaning="What `resources/list` and `resources/templates/list` answered before is stale.",
        sender="server",
        causes=_CHANGED,
        spec="server/resources#list-changed-notification",
    ),
    Entry(
        name="notifications/resources/updated",
        kind="notification",
        title="A resource has changed",
        meaning="What was read from this `uri` before is stale.",
        sender="server",
        causes=("it never comes: nobody subscribed to that `uri`, or to a part of it only",),
        spec="server/resources#subscriptions",
    ),
    Entry(
        name="notifications/subscriptions/acknowledged",
        kind="notification",
        title="Listening has begun",
        meaning="The first message on the stream of `subscriptions/listen`: what of the filter the server"
        " will honour.",
        sender="server",
        revisions=STATELESS,
        causes=("what was asked for and is not in it will not be sent",),
        spec="basic/patterns/subscriptions#acknowledgment",
    ),
    Entry(
        name="notifications/roots/list_changed",
        kind="notification",
        title="The folders have changed",
        meaning="What the client answered to `roots/list` before is stale.",
        sender="client",
        revisions=HANDSHAKE,
        causes=("in the stateless era it does not exist: the server asks again when it needs to",),
        spec="2025-11-25/client/roots#root-list-changes",
    ),
    Entry(
        name="notifications/elicitation/complete",
        kind="notification",
        title="The visit to the page is over",
        meaning="What the person was asked to do at a URL is done; the client may send the request again that"
        " was refused with -32042.",
        sender="server",
        revisions=ONLY_2025_11,
        causes=("it never comes: it is optional, so a client needs another way to go on",),
        spec="2025-11-25/client/elicitation",
    ),
    Entry(
        name="notifications/tasks/status",
        kind="notification",
        title="A task has moved on",
        meaning="The state of a task has changed. It is optional: who needs to know asks with `tasks/get`.",
        sender="both",
        revisions=ONLY_2025_11,
        causes=("it never comes: nobody has to send it",),
        spec="2025-11-25/basic/utilities/tasks",
    ),
)
