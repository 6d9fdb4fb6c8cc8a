"""Rules about the two eras: messages that belong to neither, or to both.

A verdict that flips with the era is two rules, one for each, never one that guesses.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mesero.audit.evidence import REVISION_KEY, Evidence, members_of, short
from mesero.audit.examples import (
    META,
    answer,
    ask,
    asked,
    c2s,
    fail,
    failed,
    hello,
    old_answer,
    old_ask,
    s2c,
    shake,
    tell,
    trace,
)
from mesero.audit.rules import ALL, HANDSHAKE, STATELESS, Fault, check

__all__: list[str] = []

_COMPAT = "basic/versioning#backward-compatibility-with-initialization-based-versions"
_META = "basic/index#meta"
_CHANGES = "changelog#major-changes"
_LIST = {"tools": [], "ttlMs": 0, "cacheScope": "private"}
_STATELESS_GOOD = trace(ask("tools/list"), answer(_LIST))
_SHAKEN_GOOD = trace(*shake(), old_ask("tools/list"), old_answer({"tools": []}))

_REMOVED: Final = {
    "ping": "use any cheap request, or the keep-alive of the transport",
    "logging/setLevel": "put io.modelcontextprotocol/logLevel into the _meta of each request",
    "resources/subscribe": "use subscriptions/listen with resourceSubscriptions",
    "resources/unsubscribe": "close the subscriptions/listen stream",
    "tasks/list": "the tasks extension has no such method",
    "tasks/result": "poll with tasks/get of the tasks extension",
}
_DRAFT_CODES: Final = {-32001: -32020, -32003: -32021, -32004: -32022}
_RECOGNISED: Final = frozenset({-32020, -32021, -32022})


@check(
    "ERA-001",
    "A request names no revision and follows no handshake",
    on=("request",),
    side="c2s",
    blame="client",
    phase="select era",
    spec=_META,
    fix=(
        "Put the revision and the capabilities into params._meta (2026-07-28), or begin with "
        "initialize (older)."
    ),
    passes=_STATELESS_GOOD,
    fails=trace(old_ask("tools/call", {"name": "read_file"}, id=3)),
)
def _neither(evidence: Evidence) -> Iterator[Fault | str]:
    if not evidence.era and evidence.direction == "c2s" and not evidence.link.is_forgetful():
        yield (
            f"{evidence.what} has no metadata of the newer era, and no handshake of the older "
            "one came before it"
        )


@check(
    "ERA-002",
    "`initialize` asks for a revision that has no handshake",
    on=("request",),
    side="c2s",
    methods=("initialize",),
    revisions=HANDSHAKE,
    phase="initialize",
    spec=_CHANGES,
    fix="Speak 2026-07-28 without a handshake: each request carries its metadata. Or ask for 2025-11-25.",
    passes=_SHAKEN_GOOD,
    fails=trace(old_ask("initialize", hello("2026-07-28"), id=0)),
)
def _asks_stateless(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.stated in STATELESS:
        yield f"initialize asks for {evidence.stated}, which has no initialize"


@check(
    "ERA-003",
    "`initialize` is answered with a revision that has no handshake",
    on=("result",),
    side="s2c",
    methods=("initialize",),
    revisions=HANDSHAKE,
    phase="initialize",
    spec=_CHANGES,
    fix="Negotiate 2025-11-25 or older in initialize; serve 2026-07-28 to requests that carry its metadata.",
    passes=_SHAKEN_GOOD,
    fails=trace(*shake(answers="2026-07-28")),
)
def _answers_stateless(evidence: Evidence) -> Iterator[Fault | str]:
    stated = evidence.result.get("protocolVersion")
    if stated in STATELESS:
        yield f"the server agreed to {stated} in a handshake, and that revision has none"


@check(
    "ERA-004",
    "A result of the older era carries fields of the newer one",
    on=("result",),
    side="s2c",
    revisions=HANDSHAKE,
    severity="info",
    spec=_CHANGES,
    fix="Leave resultType, ttlMs and cacheScope out of sessions that began with initialize.",
    passes=_SHAKEN_GOOD,
    fails=trace(*shake(), old_ask("tools/list"), old_answer({"tools": [], "resultType": "complete"})),
)
def _newer_fields(evidence: Evidence) -> Iterator[Fault | str]:
    extra = [name for name in ("resultType", "ttlMs", "cacheScope") if name in evidence.result]
    if extra:
        yield f"{evidence.what} has {', '.join(extra)}, which {evidence.revision} does not define"


@check(
    "ERA-005",
    "`initialize` is sent as a request of the newer era",
    on=("request",),
    side="c2s",
    methods=("initialize",),
    revisions=STATELESS,
    phase="select era",
    spec=_CHANGES,
    fix="Choose one: initialize without the metadata key (older), or server/discover with it (newer).",
    passes=_SHAKEN_GOOD,
    fails=trace(c2s(asked("initialize", hello()))),
)
def _initialize_with_metadata(evidence: Evidence) -> Iterator[Fault | str]:
    yield f"{evidence.what} carries the metadata of 2026-07-28, in which it is an unknown method"


@check(
    "ERA-006",
    "A method that was removed is called in the newer era",
    on=("request",),
    side="c2s",
    revisions=STATELESS,
    methods=_REMOVED,
    spec=_CHANGES,
    fix="Do without it in 2026-07-28; -32601 is the right answer to it.",
    passes=_SHAKEN_GOOD,
    fails=trace(ask("ping"), fail(-32601)),
)
def _removed(evidence: Evidence) -> Iterator[Fault | str]:
    instead = _REMOVED.get(evidence.method)
    if instead is not None and evidence.direction == "c2s":
        yield Fault(f"`{evidence.method}` does not exist in 2026-07-28", fix=f"In 2026-07-28, {instead}.")


@check(
    "ERA-007",
    "A notification of the handshake comes without a handshake",
    on=("notification",),
    side="c2s",
    methods=("notifications/initialized", "notifications/roots/list_changed"),
    blame="client",
    spec=_CHANGES,
    fix="Send it only after initialize; 2026-07-28 has no such notification.",
    passes=_SHAKEN_GOOD,
    fails=trace(ask("tools/list"), answer(_LIST), tell("notifications/initialized", direction="c2s")),
)
def _lonely_notification(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.era != "legacy" and evidence.direction == "c2s" and not evidence.link.is_forgetful():
        yield f"{evidence.what} was sent, but no initialize came before it"


@check(
    "ERA-008",
    "The server sends a request in the newer era",
    on=("request",),
    side="s2c",
    revisions=STATELESS,
    blame="server",
    spec="basic/patterns/mrtr#multi-round-trip-requests",
    fix="Answer the client's request with input_required and put the question into inputRequests.",
    passes=_STATELESS_GOOD,
    fails=trace(
        ask("tools/call", {"name": "x"}, capabilities={"roots": {}}),
        old_ask("vendor/ask", {"_meta": META}, id="s1", direction="s2c"),
    ),
)
def _server_request(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.direction == "s2c":
        yield f"the server sent the request {evidence.what}; in 2026-07-28 only clients send requests"


@check(
    "ERA-009",
    "The client sends a response in the newer era",
    on=("result", "error"),
    side="c2s",
    revisions=STATELESS,
    blame="client",
    spec="basic/transports/stdio#sending-messages",
    fix="Answer questions of the server in inputResponses, on a retry of the request.",
    passes=_STATELESS_GOOD,
    fails=trace(
        ask("tools/call", {"name": "x"}),
        c2s({"jsonrpc": "2.0", "id": "s1", "result": {"resultType": "complete"}}),
    ),
)
def _client_response(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.direction == "c2s":
        yield f"the client sent {evidence.what}; in 2026-07-28 clients send requests and notifications only"


@check(
    "ERA-010",
    "The client falls back to `initialize` although the server speaks the newer era",
    on=("request",),
    side="c2s",
    methods=("initialize",),
    revisions=HANDSHAKE,
    blame="client",
    phase="select era",
    spec="basic/transports/stdio#backward-compatibility",
    fix=(
        "After -32020, -32021 or -32022 stay with the newer era: correct the request, or take a "
        "supported revision."
    ),
    passes=trace(ask("server/discover"), fail(-32601), *shake()[:1]),
    fails=trace(
        ask("server/discover"),
        fail(-32020, "Header mismatch"),
        shake()[0],
    ),
)
def _needless_fallback(evidence: Evidence) -> Iterator[Fault | str]:
    error = evidence.link.probe_error
    code = error.get("code") if error is not None else None
    if error is None or not isinstance(code, int) or code not in _RECOGNISED:
        return
    supported = members_of(error.get("data")).get("supported")
    if code == -32022 and isinstance(supported, list) and not any(each in STATELESS for each in supported):
        return
    yield f"server/discover was answered with {code}, which only servers of the newer era send"


@check(
    "ERA-011",
    "A request names a draft as its revision",
    on=("request",),
    side="c2s",
    revisions=STATELESS,
    severity="warning",
    blame="client",
    spec="basic/versioning#protocol-version-negotiation",
    fix="Send the date of the published revision; update the library that sends the draft's name.",
    passes=_STATELESS_GOOD,
    fails=trace(ask("tools/list", revision="DRAFT-2026-v1")),
)
def _draft_revision(evidence: Evidence) -> Iterator[Fault | str]:
    if "draft" in evidence.stated.lower():
        yield f"{evidence.what} names {short(evidence.stated)}, a draft"


@check(
    "ERA-012",
    "An error has a code of the draft",
    on=("error",),
    side="s2c",
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec="basic/index#error-codes",
    fix="Use -32020 (header mismatch), -32021 (missing client capability), -32022 (unsupported revision).",
    passes=trace(
        ask("tools/list", revision="2030-01-01"),
        fail(-32022, data={"supported": [], "requested": "2030-01-01"}),
    ),
    fails=trace(ask("tools/list"), fail(-32004, "Unsupported protocol version")),
)
def _draft_code(evidence: Evidence) -> Iterator[Fault | str]:
    final = _DRAFT_CODES.get(evidence.code)
    if final is not None:
        yield f"{evidence.code} was the draft's number for what is {final} now"


@check(
    "ERA-013",
    "A request of the newer era names a revision of the older one",
    on=("request",),
    side="c2s",
    revisions=STATELESS,
    severity="warning",
    blame="client",
    phase="select era",
    spec="basic/versioning#protocol-version-negotiation",
    fix=(
        "Open a connection with initialize to speak that revision; in _meta only 2026-07-28 and "
        "later make sense."
    ),
    passes=_STATELESS_GOOD,
    fails=trace(ask("tools/list", revision="2025-06-18")),
)
def _older_in_metadata(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.stated in HANDSHAKE and REVISION_KEY in evidence.meta:
        yield f"{evidence.what} names {evidence.stated} in its metadata, a revision that needs a handshake"


@check(
    "ERA-014",
    "A refusal of `initialize` does not say which revisions are spoken",
    on=("error",),
    side="s2c",
    methods=("initialize",),
    severity="warning",
    blame="server",
    phase="initialize",
    revisions=ALL,
    spec=_COMPAT,
    fix=(
        "Name the supported revisions in the error's message or in data.supported: older "
        "clients show nothing else."
    ),
    passes=trace(
        shake()[0], s2c(failed(-32022, data={"supported": ["2026-07-28"], "requested": "2025-11-25"}, id=0))
    ),
    fails=trace(shake()[0], s2c(failed(-32601, "Method not found", id=0))),
)
def _silent_refusal(evidence: Evidence) -> Iterator[Fault | str]:
    if evidence.code not in (-32601, -32022) and not evidence.link.modern_answers:
        return  # A server of the older era may refuse it for other reasons.
    said = str(evidence.error.get("message", "")) + str(evidence.error.get("data", ""))
    if not any(revision in said for revision in ALL):
        yield "initialize was refused with an error that names no revision which the server speaks"
