"""Why a request was refused: one error, several causes.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mesero.audit.diagnosis import Proof, cause
from mesero.audit.evidence import short
from mesero.audit.examples import (
    answer,
    ask,
    c2s,
    eof,
    fail,
    failed,
    hello,
    http_answer,
    old_ask,
    posted,
    s2c,
    shake,
    trace,
)
from mesero.audit.link import Failure, Handshake, LinkState
from mesero.audit.rules import STATELESS

__all__: list[str] = []

_TOOL: Final = {"name": "add", "inputSchema": {"type": "object", "required": ["a"]}}
_LISTED: Final = [ask("tools/list"), answer({"tools": [_TOOL], "ttlMs": 0, "cacheScope": "private"})]
_TEXT: Final = "Invalid request parameters"


# -- protocol version mismatch -------------------------------------------------------------------------------


@cause(
    "VERSION-1",
    "An older client meets a server of the newer era alone",
    phase="select era",
    blame="client",
    fix="Update the client, or put a bridge in between: this server has no handshake.",
    example=trace(
        shake()[0], s2c(failed(-32022, data={"supported": ["2026-07-28"], "requested": "2025-11-25"}, id=0))
    ),
)
def _old_client(link: LinkState) -> Iterator[Proof]:
    # Who tries both ways, as clients of the newer era do, has no problem when one of them goes on.
    for failure in () if link.is_connected() else _failures_of(link, "initialize"):
        speaks_only_newer = any(revision in failure.message for revision in STATELESS)
        if failure.code == -32022 or speaks_only_newer:
            text = f"the server answered initialize with {failure.code}: {short(failure.message)}"
            yield Proof(text, (failure.asked.seq, failure.seq))


def _failures_of(link: LinkState, method: str) -> list[Failure]:
    return [failure for failure in link.failures if failure.asked.method == method]


@cause(
    "VERSION-2",
    "The server has no revision in common with the client",
    phase="select era",
    blame="server",
    fix="Update whichever side is older; data.supported says what the server speaks.",
    example=trace(
        ask("server/discover", revision="2027-01-01"),
        fail(-32022, data={"supported": ["2027-06-01"], "requested": "2027-01-01"}),
        eof("c2s"),
    ),
)
def _nothing_in_common(link: LinkState) -> Iterator[Proof]:
    refused = [failure for failure in link.failures if failure.code == -32022]
    if refused and link.modern_answers == 0 and link.current is None:
        yield Proof(f"the server refused the revision: {short(refused[-1].message)}", (refused[-1].seq,))


@cause(
    "VERSION-3",
    "The client does not fall back to the older handshake",
    phase="select era",
    blame="client",
    fix=(
        "After any other error than -32020 to -32022, fall back to initialize; do not wait for "
        "one certain code."
    ),
    example=trace(ask("server/discover"), fail(-32602, "Invalid request parameters"), eof("c2s")),
)
def _no_fallback(link: LinkState) -> Iterator[Proof]:
    if link.modern_answers or link.current is not None:
        return
    for failure in _failures_of(link, "server/discover"):
        if failure.code not in (-32020, -32021, -32022):
            text = (
                f"the probe was answered with {failure.code}, as servers of the older era do, "
                "and no initialize came"
            )
            yield Proof(text, (failure.asked.seq, failure.seq))


@cause(
    "VERSION-4",
    "The server chose an older revision, and the client went away",
    phase="initialize",
    blame="client",
    confidence="likely",
    fix="Update the server to a revision that the client speaks, or let the client accept this one.",
    example=trace(
        *shake("2025-03-26", answers="2024-11-05")[:2],
        eof("c2s"),
    ),
)
def _negotiated_down(link: LinkState) -> Iterator[Proof]:
    shake = _left_after_answer(link)
    if shake is not None and shake.revision < shake.asked:
        yield Proof(_chosen(shake), (shake.seq,))


def _left_after_answer(link: LinkState) -> Handshake | None:
    """The handshake that the client left without a word, when the server had answered it."""
    current = link.current
    if current is None or not current.is_answered or current.is_done or current.is_refused:
        return None
    # Over HTTP there may be nothing to close: then nothing more was sent.
    is_silent = bool(link.exchanges) and link.last_sent_seq == current.seq
    return current if link.closed or link.exit is not None or is_silent else None


def _chosen(shake: Handshake) -> str:
    return f"the client asked for {shake.asked}, the server chose {shake.revision}, and the client left"


@cause(
    "VERSION-6",
    "The server chose a newer revision than it was asked for, and the client went away",
    phase="initialize",
    blame="server",
    confidence="likely",
    fix=(
        "Answer with the revision that was asked for, if the server speaks it; a server that does not needs "
        "a newer client."
    ),
    example=trace(*shake("2024-11-05", answers="2025-11-25")[:2], eof("c2s")),
)
def _negotiated_up(link: LinkState) -> Iterator[Proof]:
    shake = _left_after_answer(link)
    if shake is not None and shake.revision > shake.asked:
        yield Proof(_chosen(shake), (shake.seq,))


@cause(
    "VERSION-7",
    "A server of the older era ran requests of the newer one",
    phase="select era",
    blame="server",
    confidence="likely",
    fix=(
        "Ask server/discover first, and send initialize when that is refused: this server reads neither the "
        "revision nor the capabilities in _meta."
    ),
    example=trace(
        ask("tools/call", {"name": "x"}), s2c({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})
    ),
)
def _ignored_revision(link: LinkState) -> Iterator[Proof]:
    is_older = link.modern_answers == 0 and link.probe is None and link.current is None
    knows_newer = any(failure.code in (-32020, -32021, -32022) for failure in link.failures)
    if is_older and link.bare_answers and not knows_newer:
        asked, answered = link.bare_answers[0]
        text = (
            "a request of 2026-07-28 was answered without resultType and without the server's name, as "
            "servers of the older era do, and no handshake came before"
        )
        yield Proof(text, (asked, answered))


@cause(
    "VERSION-5",
    "The server refuses a newer revision instead of negotiating",
    phase="initialize",
    blame="server",
    fix=(
        "Answer initialize with a revision that the server speaks, whatever was asked for; do "
        "not check the header."
    ),
    example=trace(
        posted({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}),
        http_answer(400, body="Unsupported protocol version"),
        transport="http",
    ),
)
def _refused_over_http(link: LinkState) -> Iterator[Proof]:
    for exchange in link.refusals:
        about = exchange.asked
        if (
            exchange.status == 400
            and about is not None
            and about.method == "initialize"
            and exchange.era == "legacy"
        ):
            yield Proof(f"initialize was answered with HTTP 400: {short(exchange.body)}", (exchange.seq,))


# -- -32602 --------------------------------------------------------------------------------------------------


def _refused_params(link: LinkState) -> list[Failure]:
    return [failure for failure in link.failures if failure.code == -32602]


@cause(
    "PARAMS-1",
    "The request came before the handshake was over",
    phase="initialize",
    blame="client",
    fix="Send notifications/initialized right after the answer to initialize, then requests.",
    example=trace(*shake()[:2], old_ask("tools/list"), fail(-32602, _TEXT)),
)
def _too_early(link: LinkState) -> Iterator[Proof]:
    for failure in _refused_params(link):
        early = failure.asked.era == "legacy" and not failure.was_initialized
        if early and failure.asked.method not in ("initialize", "ping"):
            text = f"`{failure.asked.method}` was sent before notifications/initialized"
            yield Proof(text, (failure.asked.seq, failure.seq))


@cause(
    "PARAMS-2",
    "The request lacks metadata of the newer era",
    phase="operation",
    blame="client",
    fix="Put the revision and the capabilities into params._meta of every request.",
    example=trace(
        c2s({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"notifications": {}}}),
        fail(-32602, _TEXT),
    ),
)
def _no_metadata(link: LinkState) -> Iterator[Proof]:
    for failure in _refused_params(link):
        if failure.asked.era == "modern" and failure.asked.capabilities is None:
            yield Proof(
                f"`{failure.asked.method}` came without its metadata", (failure.asked.seq, failure.seq)
            )


@cause(
    "PARAMS-3",
    "The tool does not exist",
    phase="operation",
    blame="client",
    fix="Call a tool of the list, by its exact name; list again if the list has changed.",
    example=trace(*_LISTED, ask("tools/call", {"name": "subtract"}, id=2), fail(-32602, _TEXT, id=2)),
)
def _unknown_tool(link: LinkState) -> Iterator[Proof]:
    listing = link.listings.get("tools/list")
    for failure in _refused_params(link):
        about = failure.asked
        if (
            about.method == "tools/call"
            and about.name
            and listing is not None
            and listing.is_complete
            and about.name not in listing.names
        ):
            yield Proof(
                f"{short(about.name)} is not among the {len(listing.names)} tools", (about.seq, failure.seq)
            )


@cause(
    "PARAMS-4",
    "The arguments do not fit the tool's inputSchema",
    phase="operation",
    blame="client",
    fix="Send arguments as the inputSchema says.",
    example=trace(
        *_LISTED, ask("tools/call", {"name": "add", "arguments": {}}, id=2), fail(-32602, _TEXT, id=2)
    ),
)
def _bad_arguments(link: LinkState) -> Iterator[Proof]:
    for failure in _refused_params(link):
        if failure.asked.arguments_fault:
            text = f"the arguments of {short(failure.asked.name)} do not fit: {failure.asked.arguments_fault}"
            yield Proof(short(text, quoted=False), (failure.asked.seq, failure.seq))


@cause(
    "PARAMS-5",
    "The resource does not exist",
    phase="operation",
    blame="client",
    confidence="likely",
    fix="Read a resource of the list, or one that a template makes.",
    example=trace(ask("resources/read", {"uri": "a://b"}), fail(-32602, "Resource not found")),
)
def _unknown_resource(link: LinkState) -> Iterator[Proof]:
    for failure in _refused_params(link):
        if failure.asked.method == "resources/read":
            yield Proof(f"the server knows no {short(failure.asked.name)}", (failure.asked.seq, failure.seq))


@cause(
    "PARAMS-6",
    "The cursor is no longer valid",
    phase="operation",
    blame="client",
    confidence="likely",
    fix="List again from the beginning, without a cursor.",
    example=trace(ask("tools/list", {"cursor": "9"}), fail(-32602, _TEXT)),
)
def _bad_cursor(link: LinkState) -> Iterator[Proof]:
    for failure in _refused_params(link):
        if failure.asked.cursor is not None:
            yield Proof(
                f"the server refused the cursor {short(failure.asked.cursor)}",
                (failure.asked.seq, failure.seq),
            )


@cause(
    "PARAMS-7",
    "The server has forgotten the session",
    phase="operation",
    blame="server",
    confidence="possible",
    fix=(
        "Start the session again with initialize; servers should say 404 for a session that they do not know."
    ),
    example=trace(*shake(), old_ask("tools/list"), fail(-32602, _TEXT)),
)
def _forgotten(link: LinkState) -> Iterator[Proof]:
    for failure in _refused_params(link):
        about = failure.asked
        plain = about.era == "legacy" and about.method in ("tools/list", "prompts/list", "resources/list")
        if plain and failure.was_initialized and not failure.has_data:
            text = f"`{about.method}` has nothing that could be wrong, and the handshake was done"
            yield Proof(text, (about.seq, failure.seq))
