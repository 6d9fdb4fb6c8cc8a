"""Rules about `subscriptions/listen` and what is sent on its stream.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.evidence import SUBSCRIPTION_KEY, Evidence, short
from mesero.audit.examples import answer, ask, asked, eof, posted, replied, tell, trace
from mesero.audit.link import Listen, find_id_key
from mesero.audit.rules import STATELESS, Fault, check

__all__: list[str] = []

_PAGE = "basic/patterns/subscriptions"
_ACK = f"{_PAGE}#acknowledgment"
_RECEIVING = f"{_PAGE}#receiving-notifications"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_FILTERS: Final = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
_UPDATED = "notifications/resources/updated"
_ON_STREAMS: Final = frozenset({*_FILTERS, _UPDATED})


def _mine(id: Any = 1, **more: Any) -> dict[str, Any]:
    return {**more, "_meta": {SUBSCRIPTION_KEY: id}}


_TOOLS = {"toolsListChanged": True}
_LISTEN = ask("subscriptions/listen", {"notifications": _TOOLS})
_OPEN = [_LISTEN, tell(_ACKNOWLEDGED, _mine(notifications=_TOOLS))]
_CHANGED = tell("notifications/tools/list_changed", _mine())
_GOOD = trace(*_OPEN, _CHANGED)


def _listen_of(evidence: Evidence) -> Listen | None:
    key = find_id_key(evidence.meta.get(SUBSCRIPTION_KEY))
    return evidence.link.listens.get(key) if key is not None else None


@check(
    "SUB-001",
    "A change is told without the subscription that it belongs to",
    on=("notification",),
    side="s2c",
    methods=_ON_STREAMS,
    revisions=STATELESS,
    blame="server",
    spec=_RECEIVING,
    fix=f"Send changes on a subscription only, with {SUBSCRIPTION_KEY} in _meta.",
    passes=_GOOD,
    fails=trace(*_OPEN, tell("notifications/tools/list_changed")),
)
def _untagged(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.direction == "s2c" and SUBSCRIPTION_KEY not in evidence.meta:
        yield f"{evidence.what} has no subscription id"


@check(
    "SUB-002",
    "A notification names a subscription that does not exist",
    on=("notification",),
    side="s2c",
    revisions=STATELESS,
    blame="server",
    spec=_RECEIVING,
    fix="Use the id of the subscriptions/listen request, unchanged in value and type.",
    passes=_GOOD,
    fails=trace(*_OPEN, tell("notifications/tools/list_changed", _mine("1"))),
)
def _unknown(evidence: Evidence) -> Iterator[Fault | str]:
    if (
        SUBSCRIPTION_KEY in evidence.meta
        and _listen_of(evidence) is None
        and not evidence.link.is_forgetful()
    ):
        yield f"{evidence.what} names the subscription {short(evidence.meta[SUBSCRIPTION_KEY])}"


@check(
    "SUB-003",
    "A subscription brings something before it is acknowledged",
    on=("notification",),
    side="s2c",
    methods=_ON_STREAMS,
    revisions=STATELESS,
    blame="server",
    spec=_ACK,
    fix=f"Send {_ACKNOWLEDGED} first.",
    passes=_GOOD,
    fails=trace(_LISTEN, _CHANGED),
)
def _early(evidence: Evidence) -> Iterator[Fault | str]:
    listen = _listen_of(evidence)
    if listen is not None and not listen.is_acknowledged:
        yield f"{evidence.what} came before the subscription (line {listen.seq}) was acknowledged"


@check(
    "SUB-004",
    "A subscription brings what nobody asked for",
    on=("notification",),
    side="s2c",
    methods=_ON_STREAMS,
    revisions=STATELESS,
    blame="server",
    spec=f"{_PAGE}#opening-a-stream",
    fix="Send only the kinds that the filter of subscriptions/listen names.",
    passes=_GOOD,
    fails=trace(*_OPEN, tell("notifications/prompts/list_changed", _mine())),
)
def _unasked(evidence: Evidence) -> Iterator[Fault | str]:
    listen = _listen_of(evidence)
    wanted = _FILTERS.get(evidence.method)
    if listen is not None and wanted is not None and listen.filter.get(wanted) is not True:
        yield f"{evidence.what} came, but the filter in line {listen.seq} has no {wanted}"


@check(
    "SUB-005",
    "A subscription is acknowledged for more than was asked for",
    on=("notification",),
    side="s2c",
    methods=(_ACKNOWLEDGED,),
    revisions=STATELESS,
    blame="server",
    spec=_ACK,
    fix="Acknowledge the part of the filter that will be honoured, and nothing else.",
    passes=_GOOD,
    fails=trace(_LISTEN, tell(_ACKNOWLEDGED, _mine(notifications={**_TOOLS, "promptsListChanged": True}))),
)
def _more(evidence: Evidence) -> Iterator[Fault | str]:
    listen, granted = _listen_of(evidence), evidence.params.get("notifications")
    if listen is None or not isinstance(granted, dict):
        return
    extra = [name for name, value in granted.items() if value and not listen.filter.get(name)]
    asked_for = listen.filter.get("resourceSubscriptions")
    given = granted.get("resourceSubscriptions")
    if isinstance(given, list) and isinstance(asked_for, list):
        extra += [str(uri) for uri in given if uri not in asked_for]
    if extra:
        yield f"the server acknowledged {short(', '.join(extra))}, which line {listen.seq} did not ask for"


_WATCH = {"resourceSubscriptions": ["a://b"]}


@check(
    "SUB-006",
    "A subscription brings the update of a resource that nobody watches",
    on=("notification",),
    side="s2c",
    methods=(_UPDATED,),
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec=f"{_PAGE}#notification-filter",
    fix="Send updates of the URIs in resourceSubscriptions only.",
    passes=trace(
        ask("subscriptions/listen", {"notifications": _WATCH}),
        tell(_ACKNOWLEDGED, _mine(notifications=_WATCH)),
        tell(_UPDATED, _mine(uri="a://b")),
    ),
    fails=trace(
        ask("subscriptions/listen", {"notifications": _WATCH}),
        tell(_ACKNOWLEDGED, _mine(notifications=_WATCH)),
        tell(_UPDATED, _mine(uri="a://c")),
    ),
)
def _unwatched(evidence: Evidence) -> Iterator[Fault | str]:
    listen, uri = _listen_of(evidence), evidence.params.get("uri")
    if listen is None:
        return
    watched = listen.filter.get("resourceSubscriptions")
    uris = [each for each in watched if isinstance(each, str)] if isinstance(watched, list) else []
    # A folder may be watched for what is in it.
    if isinstance(uri, str) and not any(uri.startswith(each) for each in uris):
        yield f"{evidence.what} is about {short(uri)}, which line {listen.seq} does not name"


@check(
    "SUB-007",
    "A subscription that is over brings something",
    on=("notification",),
    side="s2c",
    revisions=STATELESS,
    blame="server",
    spec=f"{_PAGE}#cancellation",
    fix="Send nothing for a subscription after its end.",
    passes=_GOOD,
    fails=trace(*_OPEN, answer(_mine()), _CHANGED),
    also=("META-011",),
)
def _late(evidence: Evidence) -> Iterator[Fault | str]:
    listen = _listen_of(evidence)
    if listen is not None and listen.closed is not None and evidence.t - listen.closed >= 0:
        # What was on its way when the client cancelled is no fault.
        is_race = evidence.link.open.get(("c2s", find_id_key(evidence.meta[SUBSCRIPTION_KEY]) or ("", 0)))
        if is_race is None or evidence.t - listen.closed > 1:
            yield f"{evidence.what} came after the subscription (line {listen.seq}) was over"


@check(
    "SUB-008",
    "A subscription is never acknowledged",
    on=("end",),
    revisions=STATELESS,
    blame="server",
    phase="operation",
    spec=_ACK,
    fix=f"Send {_ACKNOWLEDGED} at once, also when the subset that is honoured is empty.",
    passes=_GOOD,
    fails=trace(_LISTEN, eof("c2s")),
)
def _unacknowledged(evidence: Evidence) -> Iterator[Fault | str]:
    link = evidence.link
    for listen in link.listens.values():
        is_over = link.closed or link.exit is not None or listen.closed is not None
        if not listen.is_acknowledged and listen.ack_due and is_over:
            yield Fault("subscriptions/listen was never acknowledged", seq=listen.seq)


@check(
    "SUB-009",
    "The result that ends a subscription does not name it",
    on=("result",),
    side="s2c",
    methods=("subscriptions/listen",),
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec=f"{_PAGE}#graceful-closure",
    fix=f"Put {SUBSCRIPTION_KEY} into the _meta of the result too.",
    passes=trace(*_OPEN, _CHANGED),
    fails=trace(*_OPEN, answer(_mine(2))),
    also=("META-011",),
)
def _nameless_end(evidence: Evidence) -> Iterator[Fault | str]:
    named = evidence.meta.get(SUBSCRIPTION_KEY)
    if find_id_key(named) != evidence.id_key:
        yield f"{evidence.what} names the subscription {short(named)}"


@check(
    "SUB-010",
    "What belongs to a request comes on a subscription",
    on=("notification",),
    side="s2c",
    methods=("notifications/progress", "notifications/message"),
    revisions=STATELESS,
    blame="server",
    spec="basic/transports/streamable-http#receiving-messages",
    fix="Send progress and logs on the stream of the request that they belong to.",
    passes=_GOOD,
    fails=trace(
        posted(asked("subscriptions/listen", {"notifications": _TOOLS})),
        replied({"jsonrpc": "2.0", "method": _ACKNOWLEDGED, "params": _mine(notifications=_TOOLS)}, sse=True),
        posted(asked("tools/call", {"name": "x"}, id=2, progress="t"), exchange=2),
        replied(
            {
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {"progressToken": "t", "progress": 1},
            },
            sse=True,
        ),
    ),
)
def _foreign(evidence: Evidence) -> Iterator[Fault | str]:
    owner = evidence.exchange.asked if evidence.exchange is not None else None
    is_on_stream = owner is not None and owner.method == "subscriptions/listen"
    if evidence.direction == "s2c" and (is_on_stream or SUBSCRIPTION_KEY in evidence.meta):
        yield f"{evidence.what} came on a subscription"


@check(
    "SUB-011",
    "A subscription is acknowledged twice",
    on=("notification",),
    side="s2c",
    methods=(_ACKNOWLEDGED,),
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec=_ACK,
    fix="Acknowledge each subscription once.",
    passes=_GOOD,
    fails=trace(*_OPEN, tell(_ACKNOWLEDGED, _mine(notifications=_TOOLS))),
)
def _again(evidence: Evidence) -> Iterator[Fault | str]:
    listen = _listen_of(evidence)
    if listen is not None and listen.is_acknowledged:
        yield f"the subscription in line {listen.seq} was acknowledged already"
