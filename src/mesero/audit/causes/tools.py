"""Why a connection has no tools.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#capabilities
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.diagnosis import Proof, cause
from mesero.audit.examples import answer, ask, eof, old_answer, old_ask, shake, trace
from mesero.audit.link import LinkState

__all__: list[str] = []

_OFFERS: Final = frozenset({"tools", "resources", "prompts", "completions"})
_HINTS: Final = {"ttlMs": 0, "cacheScope": "private"}


def _connected(link: LinkState) -> bool:
    """The server has said what it can, and the connection went on."""
    shaken = link.current is not None and link.current.is_answered and not link.current.is_refused
    return link.server_capabilities is not None and (shaken or link.modern_answers > 0)


def _over(link: LinkState) -> bool:
    return bool(link.closed) or link.exit is not None


def _discovered(capabilities: dict[str, Any]) -> list[Any]:
    result = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, **_HINTS}
    return [ask("server/discover", id=0), answer(result, id=0)]


@cause(
    "TOOLS-1",
    "The server does not announce its tools",
    phase="discover",
    blame="server",
    fix='Add "tools": {} to the capabilities: clients that look there never ask for the list.',
    example=trace(*shake(server={}), eof("c2s")),
)
def _unannounced(link: LinkState) -> Iterator[Proof]:
    capabilities = link.server_capabilities
    if (
        _connected(link)
        and capabilities is not None
        and not capabilities.keys() & _OFFERS
        and "tools/list" not in link.listings
    ):
        # A server that offers something else may well have no tools.
        yield Proof("the capabilities of the server lack tools, and the client never asked for a list")


@cause(
    "TOOLS-2",
    "One malformed tool costs the whole list",
    phase="discover",
    blame="server",
    confidence="likely",
    fix="Mend the tool that is named; many clients refuse the list as a whole.",
    example=trace(
        *_discovered({"tools": {}}),
        ask("tools/list"),
        answer({"tools": [{"name": "a"}], **_HINTS}),
        eof("c2s"),
    ),
)
def _malformed(link: LinkState) -> Iterator[Proof]:
    for rule in ("LIST-011", "SCH-001", "SCH-002"):
        if rule in link.found and not _called(link):
            seq, said = link.found[rule]
            yield Proof(said, (seq,))


def _called(link: LinkState) -> bool:
    return "tools/call" in link.methods


@cause(
    "TOOLS-3",
    "The client never asks for the list",
    phase="discover",
    blame="client",
    fix=(
        "The server's answer is right and names tools: look at the host's settings, or report it to the host."
    ),
    example=trace(*shake(), old_ask("ping"), old_answer({}), eof("c2s")),
)
def _never_listed(link: LinkState) -> Iterator[Proof]:
    capabilities = link.server_capabilities
    if (
        _connected(link)
        and capabilities is not None
        and "tools" in capabilities
        and _over(link)
        and "tools/list" not in link.listings
        and not _called(link)
    ):
        yield Proof("the server announces tools, and no tools/list was sent")


@cause(
    "TOOLS-4",
    "The first page is empty, and the client does not turn it",
    phase="discover",
    blame="client",
    fix="Go on with nextCursor; an empty page is not the end of the list.",
    example=trace(
        *_discovered({"tools": {}}),
        ask("tools/list"),
        answer({"tools": [], "nextCursor": "2", **_HINTS}),
        eof("c2s"),
    ),
)
def _unturned(link: LinkState) -> Iterator[Proof]:
    listing = link.listings.get("tools/list")
    if listing is not None and listing.count and not listing.names and listing.next_cursor is not None:
        yield Proof("the first page of tools is empty and names a next one", (listing.seq,))


@cause(
    "TOOLS-5",
    "The server has no tools",
    phase="discover",
    blame="server",
    fix="Look at the server's settings: it may show tools only with credentials, a scope or an option.",
    example=trace(
        *_discovered({"tools": {}}), ask("tools/list"), answer({"tools": [], **_HINTS}), eof("c2s")
    ),
)
def _empty(link: LinkState) -> Iterator[Proof]:
    listing = link.listings.get("tools/list")
    if (
        listing is not None
        and listing.count
        and not listing.names
        and listing.is_complete
        and not _called(link)
    ):
        yield Proof("tools/list was answered with an empty list", (listing.seq,))
