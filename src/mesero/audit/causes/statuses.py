"""Why HTTP answered with that status.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.diagnosis import Proof, cause
from mesero.audit.evidence import short
from mesero.audit.examples import (
    asked,
    endpoint,
    failed,
    hello,
    http_answer,
    http_request,
    posted,
    replied,
    trace,
    welcome,
)
from mesero.audit.link import Exchange, LinkState

__all__: list[str] = []

_CALL: Final = asked("tools/call", {"name": "x"})
_ID: Final = "1868a90c-46a2-4b5f-9d1e-0c3a5b7d9e11"
_BOTH: Final = ("application/json", "text/event-stream")


def _start() -> list[Any]:
    return [
        posted({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}, exchange=8),
        replied({"jsonrpc": "2.0", "id": 0, "result": welcome()}, exchange=8, mcp_session_id=_ID),
        posted(
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            exchange=9,
            mcp_session_id=_ID,
            mcp_protocol_version="2025-11-25",
        ),
        http_answer(202, exchange=9),
    ]


def _ping(number: int) -> Any:
    message = {"jsonrpc": "2.0", "id": number, "method": "ping"}
    return posted(message, exchange=number, mcp_session_id=_ID, mcp_protocol_version="2025-11-25")


def _pong(number: int) -> Any:
    return replied({"jsonrpc": "2.0", "id": number, "result": {}}, exchange=number)


def _refused(link: LinkState, status: int) -> list[Exchange]:
    """Exchanges that carried a message and were answered with this status."""
    return [each for each in link.refusals if each.status == status and each.kind]


# -- 404 -----------------------------------------------------------------------------------------------------


@cause(
    "S404-1",
    "Several replicas, and each knows its own sessions only",
    phase="operation",
    blame="server",
    fix="Use session affinity, or sessions that replicas share, or a server of 2026-07-28, which has none.",
    example=trace(
        *_start(),
        *[_ping(1), _pong(1), _ping(2), http_answer(404, exchange=2), _ping(3), _pong(3)],
        transport="http",
    ),
)
def _replicas(link: LinkState) -> Iterator[Proof]:
    for session, statuses in link.statuses.items():
        codes = [status for _, status in statuses]
        lost = [index for index, status in enumerate(codes) if status == 404]
        back = [index for index, status in enumerate(codes) if lost and status < 300 and index > lost[0]]
        if lost and back and link.sessions.get(session) != "deleted":
            good = sum(status < 300 for status in codes)
            text = (
                f"the session {short(session)} worked {good} times and was unknown {len(lost)} "
                "times in between"
            )
            yield Proof(text, tuple(each.seq for each in _refused(link, 404)[:1]))


@cause(
    "S404-2",
    "The server has forgotten the session, and the client does not start again",
    phase="operation",
    blame="client",
    fix=(
        "Send initialize again after a 404, without a session id. The server was restarted, or "
        "it ends idle sessions."
    ),
    example=trace(
        *_start(), _ping(1), http_answer(404), _ping(2), http_answer(404, exchange=2), transport="http"
    ),
)
def _lost_session(link: LinkState) -> Iterator[Proof]:
    lost = [each for each in _refused(link, 404) if each.session]
    current = link.current
    if lost and (current is None or current.seq < lost[0].seq):
        text = (
            f"the session {short(lost[0].session)} was answered with 404 {len(lost)} times, and "
            "no initialize followed"
        )
        yield Proof(text, tuple(each.seq for each in lost[:2]))


@cause(
    "S404-3",
    "The server does not know the method, and says so with 404",
    phase="operation",
    blame="client",
    fix="Do without the method: 404 with -32601 is the right answer of a server of 2026-07-28.",
    example=trace(posted(asked("ping")), replied(failed(-32601), status=404), transport="http"),
)
def _unknown_method(link: LinkState) -> Iterator[Proof]:
    for failure in link.failures:
        if failure.code == -32601 and failure.status == 404:
            text = (
                f"`{short(failure.asked.method, quoted=False)}` is not known there; the endpoint "
                "itself is right"
            )
            yield Proof(text, (failure.asked.seq, failure.seq))


def _endpoint_event(link: LinkState) -> bool:
    return "DEP-005" in link.found


@cause(
    "S405-1",
    "The address belongs to the old HTTP+SSE transport",
    phase="select era",
    blame="client",
    fix='Configure this server with the type "sse", or use its Streamable HTTP address if it has one.',
    example=trace(
        posted(_CALL),
        http_answer(405),
        http_request("GET", exchange=2, accept="text/event-stream"),
        endpoint(exchange=2),
        transport="http",
    ),
)
def _old_transport(link: LinkState) -> Iterator[Proof]:
    refused = [each for each in link.refusals if each.status in (404, 405) and each.method == "POST"]
    # A client that goes on with the old transport by itself has no problem.
    if refused and _endpoint_event(link) and not link.is_connected():
        text = f"POST was answered with {refused[0].status}, and GET began with an endpoint event"
        yield Proof(text, (refused[0].seq, link.found["DEP-005"][0]))


@cause(
    "S405-2",
    "405 comes from the fallback; the first attempt failed for another reason",
    phase="select era",
    blame="server",
    fix="Look at the first failure: the 405 to GET is what a server without the old transport answers.",
    example=trace(
        posted(_CALL),
        http_answer(500),
        http_request("GET", exchange=2),
        http_answer(405, exchange=2),
        transport="http",
    ),
)
def _hidden_failure(link: LinkState) -> Iterator[Proof]:
    first = link.refusals[0] if link.refusals else None
    fallback = [each for each in link.refusals if each.status == 405 and each.method == "GET"]
    if link.is_connected():
        return
    if first is not None and fallback and first.kind and first.status not in (404, 405):
        yield Proof(f"the first attempt was answered with {first.status}; the 405 is expected", (first.seq,))


@cause(
    "S404-4",
    "Nothing is served at this path",
    phase="select era",
    blame="client",
    fix="Check the path of the URL: the host answers. Common paths are /mcp and /sse.",
    example=trace(posted(_CALL, url="https://example.com/mcp1"), http_answer(404), transport="http"),
)
def _wrong_path(link: LinkState) -> Iterator[Proof]:
    known = {failure.asked.exchange.number for failure in link.failures if failure.asked.exchange is not None}
    for each in _refused(link, 404):
        if not each.session and each.number not in known and not _endpoint_event(link):
            yield Proof(
                f"{short(each.url, quoted=False)} is answered with 404, without a JSON-RPC error", (each.seq,)
            )


# -- 400 -----------------------------------------------------------------------------------------------------


@cause(
    "S400-1",
    "Headers are missing that the newer era needs",
    phase="operation",
    blame="client",
    fix=(
        "Send MCP-Protocol-Version, Mcp-Method and Mcp-Name; if the client does, a bridge in "
        "between drops them."
    ),
    example=trace(posted(_CALL, drop="mcp-method"), replied(failed(-32020), status=400), transport="http"),
)
def _missing_headers(link: LinkState) -> Iterator[Proof]:
    for rule in ("HDR-001", "HDR-003", "HDR-005"):
        if rule in link.found and any(failure.code == -32020 for failure in link.failures):
            yield Proof(link.found[rule][1], (link.found[rule][0],))


@cause(
    "S400-2",
    "Headers and body say different things",
    phase="operation",
    blame="intermediary",
    confidence="likely",
    fix="Compare what the client sent with what arrived: a gateway that rewrites one must rewrite both.",
    example=trace(posted(_CALL, mcp_name="y"), replied(failed(-32020), status=400), transport="http"),
)
def _contradiction(link: LinkState) -> Iterator[Proof]:
    if not any(failure.code == -32020 for failure in link.failures):
        return
    for rule in ("HDR-002", "HDR-004", "HDR-006", "HDR-007", "HDR-008", "HDR-009"):
        if rule in link.found:
            yield Proof(link.found[rule][1], (link.found[rule][0],))


@cause(
    "S400-3",
    "The request does not declare a capability that it needs",
    phase="operation",
    blame="client",
    fix="Declare the capability in the _meta of every request that may need it, not once.",
    example=trace(
        posted(_CALL),
        replied(failed(-32021, data={"requiredCapabilities": {"elicitation": {}}}), status=400),
        transport="http",
    ),
)
def _capability(link: LinkState) -> Iterator[Proof]:
    for failure in link.failures:
        if failure.code == -32021:
            about = f"`{short(failure.asked.method, quoted=False)}` {short(failure.asked.name)}"
            lacks = ", ".join(short(each, quoted=False) for each in failure.requires) or short(
                failure.message
            )
            before = [link.declared[each] for each in failure.requires if each in link.declared]
            once = (
                f"; the request in line {before[0]} did, but each request speaks for itself" if before else ""
            )
            text = f"{about} needs {lacks}, and its own _meta does not declare it{once}"
            yield Proof(text, (failure.asked.seq, failure.seq))


@cause(
    "S400-4",
    "A server of the older era answered a request of the newer one",
    phase="select era",
    blame="client",
    fix="Fall back to initialize: a 400 without a JSON-RPC error of the newer era means an older server.",
    example=trace(
        posted(asked("server/discover")),
        http_answer(400, body="Bad Request: Missing session ID"),
        transport="http",
    ),
)
def _older_server(link: LinkState) -> Iterator[Proof]:
    answered = {failure.asked.seq for failure in link.failures}
    for each in _refused(link, 400):
        about = each.asked
        if about is not None and about.era == "modern" and about.seq not in answered and link.current is None:
            yield Proof(f"`{about.method}` was answered with 400: {short(each.body)}", (each.seq,))


@cause(
    "S400-5",
    "The client sends another revision than the one that was negotiated",
    phase="operation",
    blame="client",
    fix="Send the revision of the server's answer to initialize in MCP-Protocol-Version.",
    example=trace(
        *_start(),
        posted(
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            mcp_session_id=_ID,
            mcp_protocol_version="2025-06-18",
        ),
        http_answer(400),
        transport="http",
    ),
)
def _other_revision(link: LinkState) -> Iterator[Proof]:
    if "HDR-014" in link.found and _refused(link, 400):
        yield Proof(link.found["HDR-014"][1], (link.found["HDR-014"][0],))


@cause(
    "S400-6",
    "The client leaves the session id out",
    phase="operation",
    blame="client",
    fix="Send Mcp-Session-Id on every request; in browsers the server must expose the header.",
    example=trace(
        *_start(),
        posted({"jsonrpc": "2.0", "id": 1, "method": "ping"}, mcp_protocol_version="2025-11-25"),
        http_answer(400),
        transport="http",
    ),
)
def _no_session(link: LinkState) -> Iterator[Proof]:
    if "SESS-002" in link.found and _refused(link, 400):
        yield Proof(link.found["SESS-002"][1], (link.found["SESS-002"][0],))


# -- 406, 421, pages -----------------------------------------------------------------------------------------


@cause(
    "S406-1",
    "Accept does not list both content types",
    phase="operation",
    blame="client",
    fix="Send Accept: application/json, text/event-stream with every POST.",
    example=trace(posted(_CALL, accept="application/json"), http_answer(406), transport="http"),
)
def _incomplete_accept(link: LinkState) -> Iterator[Proof]:
    for each in link.refusals:
        accepted = each.headers.get("accept", "")
        if each.status == 406 and each.headers and not all(kind in accepted for kind in _BOTH):
            about = each.asked
            what = f"the {each.kind}" if about is None else f"`{short(about.method, quoted=False)}`"
            full = sum(
                all(kind in other.headers.get("accept", "") for kind in _BOTH)
                for other in link.exchanges.values()
                if other.kind and other.seq != each.seq
            )
            others = f"; the other messages ({full}) accept both" if full else ""
            yield Proof(f"{what} accepts {short(accepted)}{others}", (each.seq,))


@cause(
    "S406-2",
    "Accept is complete, and the server does not see it",
    phase="operation",
    blame="server",
    fix="Look at what stands in front of the server: it drops Accept, or reads only its first entry.",
    example=trace(posted(_CALL), http_answer(406), transport="http"),
)
def _unseen_accept(link: LinkState) -> Iterator[Proof]:
    for each in link.refusals:
        if each.status == 406 and each.headers:
            yield Proof(f"the request accepts {short(each.headers.get('accept', ''))}", (each.seq,))


@cause(
    "S421-1",
    "The server accepts other host names only",
    phase="operation",
    blame="server",
    fix=(
        "Add the host name to the server's allowed hosts: its guard against DNS rebinding knows "
        "localhost only."
    ),
    example=trace(posted(_CALL), http_answer(421, body="Invalid Host header"), transport="http"),
)
def _host(link: LinkState) -> Iterator[Proof]:
    for each in link.refusals:
        if each.status == 421:
            yield Proof(f"the server refuses the host of {short(each.url, quoted=False)}", (each.seq,))


@cause(
    "PAGE-1",
    "A web page came in place of an answer",
    phase="select era",
    blame="intermediary",
    confidence="likely",
    fix=(
        "Check the URL and sign-in: pages come from a wrong path, a login, or a proxy that "
        "could not reach the server."
    ),
    example=trace(
        posted(_CALL),
        http_answer(
            502, body="<html><title>502 Bad Gateway</title>", content_type="text/html", server="nginx"
        ),
        transport="http",
    ),
)
def _page(link: LinkState) -> Iterator[Proof]:
    for each in [*link.refusals, *link.exchanges.values()]:
        if each.kind and each.answer_headers.get("content-type", "").startswith("text/html"):
            title = re.search(r"<title>(.{0,500}?)</title>", each.body, re.DOTALL | re.IGNORECASE)
            called = f" titled {short(title[1].strip())}" if title else ""
            origin = (
                f" from {short(each.answer_headers['server'])}" if "server" in each.answer_headers else ""
            )
            yield Proof(
                f"{short(each.url, quoted=False)} gave a page{called}{origin} ({each.status})", (each.seq,)
            )
