"""Rules about lists: pages, names, order, change.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from mesero.audit.evidence import Evidence, short
from mesero.audit.examples import answer, ask, eof, tell, trace
from mesero.audit.rules import ALL, SINCE_2025_11, STATELESS, Fault, check, claim
from mesero.audit.tracking import LISTS

__all__: list[str] = []

_PAGES = "server/utilities/pagination"
_TOOL_NAMES = "server/tools#tool-names"
_HINTS = {"ttlMs": 0, "cacheScope": "private"}


def _tools(*names: str, **more: Any) -> dict[str, Any]:
    return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names], **_HINTS, **more}


def _listed(*names: str) -> Any:
    return trace(ask("tools/list"), answer(_tools(*names)))


def _items(evidence: Evidence) -> list[str]:
    """The names on a page, in order; what has no name is told by the shape rules."""
    member, field = LISTS.get(evidence.about, ("", ""))
    items = evidence.result.get(member)
    names = (item.get(field) for item in items if isinstance(item, dict)) if isinstance(items, list) else ()
    return [name for name in names if isinstance(name, str)]


@check(
    "LIST-001",
    "The client never asks for the next page",
    on=("end",),
    severity="info",
    blame="client",
    phase="operation",
    spec=f"{_PAGES}#pagination-flow",
    fix=(
        "Ask again with nextCursor as cursor until there is none; otherwise the rest of the "
        "list stays unknown."
    ),
    passes=trace(
        ask("tools/list"),
        answer(_tools("a", nextCursor="2")),
        ask("tools/list", {"cursor": "2"}, id=2),
        answer(_tools("b"), id=2),
        eof("c2s"),
    ),
    fails=trace(ask("tools/list"), answer(_tools("a", nextCursor="2")), eof("c2s")),
)
def _first_page_only(evidence: Evidence) -> Iterator[Fault | str]:
    if not evidence.link.closed and evidence.link.exit is None and not evidence.link.exchanges:
        return
    for method, listing in evidence.link.listings.items():
        if listing.next_cursor is not None:
            text = f"`{method}` had more ({len(listing.names)} came), and the client never asked for it"
            yield Fault(text, seq=listing.seq)


@check(
    "LIST-002",
    "Two tools have the same name",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    severity="warning",
    blame="server",
    spec=_TOOL_NAMES,
    fix="Give each tool a name of its own: only one of them can be called.",
    passes=_listed("a", "b"),
    fails=_listed("a", "a"),
)
def _same_tool(evidence: Evidence) -> Iterator[Fault | str]:
    yield from _doubles(evidence, "tools")


def _doubles(evidence: Evidence, what: str) -> Iterator[str]:
    names = _items(evidence)
    listing = evidence.link.listing_of(evidence.about)
    cursor = evidence.asked.cursor if evidence.asked is not None else None
    # A page that is read twice, by two clients for example, is no second page.
    earlier = listing.names if cursor is not None and cursor not in listing.pages else {}
    for name, count in Counter(names).items():
        if count > 1:
            yield f"{count} {what} are called {short(name)}"
        elif name in earlier:
            yield f"{what} called {short(name)} are on two pages"


@check(
    "LIST-003",
    "Two resources, templates or prompts have the same name",
    on=("result",),
    side="s2c",
    methods=("resources/list", "resources/templates/list", "prompts/list"),
    severity="warning",
    blame="server",
    spec="server/resources#resource",
    fix="List each once: URIs of resources and names of prompts are unique.",
    passes=trace(ask("prompts/list"), answer({"prompts": [{"name": "a"}, {"name": "b"}], **_HINTS})),
    fails=trace(ask("prompts/list"), answer({"prompts": [{"name": "a"}, {"name": "a"}], **_HINTS})),
)
def _same_item(evidence: Evidence) -> Iterator[Fault | str]:
    yield from _doubles(evidence, LISTS[evidence.about][0])


_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_MAX_MODEL_NAME_CHARS = 64


@check(
    "LIST-004",
    "The name of a tool has characters or a length that it should not have",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    revisions=SINCE_2025_11,
    severity="warning",
    blame="server",
    spec=_TOOL_NAMES,
    fix="Use 1 to 128 of the characters A-Z, a-z, 0-9, _, - and the dot.",
    passes=_listed("admin_tools-list"),
    fails=_listed("Create Share"),
)
def _odd_name(evidence: Evidence) -> Iterator[Fault | str]:
    for name in _items(evidence):
        if not _TOOL_NAME.fullmatch(name):
            yield f"a tool is called {short(name)} ({len(name)} characters)"


@check(
    "LIST-005",
    "The name of a tool is legal, but longer than some model APIs take",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    severity="info",
    blame="server",
    spec=_TOOL_NAMES,
    fix=(
        "Keep to 64 characters, with room for the prefix that hosts add: some model APIs refuse "
        "the whole request."
    ),
    passes=_listed("admin.list"),
    fails=_listed("a" * 65),
)
def _refused_by_models(evidence: Evidence) -> Iterator[Fault | str]:
    for name in _items(evidence):
        if _TOOL_NAME.fullmatch(name) and len(name) > _MAX_MODEL_NAME_CHARS:
            yield f"the tool {short(name)} has a name of {len(name)} characters"


@check(
    "LIST-006",
    "The same tools come in another order",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec="server/tools#capabilities",
    fix="Sort the list, by name for example: clients and models cache it by its text.",
    passes=trace(
        ask("tools/list"), answer(_tools("a", "b")), ask("tools/list", id=2), answer(_tools("a", "b"), id=2)
    ),
    fails=trace(
        ask("tools/list"), answer(_tools("a", "b")), ask("tools/list", id=2), answer(_tools("b", "a"), id=2)
    ),
)
def _other_order(evidence: Evidence) -> Iterator[Fault | str]:
    listing = evidence.link.listing_of(evidence.about)
    if evidence.result.get("nextCursor") is not None or listing.order is None:
        return
    now = (*listing.names, *_items(evidence))
    if now != listing.order and sorted(now) == sorted(listing.order):
        yield f"the same {len(now)} tools were listed in another order before"


@check(
    "LIST-007",
    "A page names itself as the next one",
    on=("result",),
    side="s2c",
    methods=LISTS,
    blame="server",
    spec=_PAGES,
    fix="Leave nextCursor out of the last page: a client that follows it never comes to an end.",
    passes=trace(
        ask("tools/list"), answer(_tools("a", nextCursor="2")), ask("tools/list", {"cursor": "2"}, id=2)
    ),
    fails=trace(
        ask("tools/list"),
        answer(_tools("a", nextCursor="2")),
        ask("tools/list", {"cursor": "2"}, id=2),
        answer(_tools("b", nextCursor="2"), id=2),
    ),
)
def _endless(evidence: Evidence) -> Iterator[Fault | str]:
    cursor = evidence.result.get("nextCursor")
    if cursor is not None and evidence.asked is not None and cursor == evidence.asked.cursor:
        yield f"{evidence.what}: the next page of the page {short(cursor)} is that page itself"


@check(
    "LIST-008",
    "The client sends a cursor that the server never gave",
    on=("request",),
    side="c2s",
    methods=LISTS,
    blame="client",
    spec=f"{_PAGES}#implementation-guidelines",
    fix="Send back the cursor as it came; it is opaque and cannot be made up.",
    passes=trace(
        ask("tools/list"), answer(_tools("a", nextCursor="2")), ask("tools/list", {"cursor": "2"}, id=2)
    ),
    fails=trace(
        ask("tools/list"), answer(_tools("a", nextCursor="2")), ask("tools/list", {"cursor": "3"}, id=2)
    ),
)
def _made_up(evidence: Evidence) -> Iterator[Fault | str]:
    cursor = evidence.params.get("cursor")
    listing = evidence.link.listings.get(evidence.method)
    # A cursor may come from a list that was read before the trace began.
    if (
        isinstance(cursor, str)
        and listing is not None
        and listing.count
        and not listing.cursors.dropped
        and cursor not in listing.cursors
        and not evidence.link.may_lack_start
    ):
        yield f"{evidence.what} has the cursor {short(cursor)}, which no page of this list gave"


@check(
    "LIST-009",
    "A list changed, and the client never read it again",
    on=("end",),
    severity="info",
    blame="client",
    phase="operation",
    spec="server/tools#list-changed-notification",
    fix="List again after list_changed; until then the client works with the old list.",
    passes=trace(ask("tools/list"), answer(_tools("a")), eof("c2s")),
    fails=trace(
        ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=9),
        tell(
            "notifications/subscriptions/acknowledged",
            {
                "notifications": {"toolsListChanged": True},
                "_meta": {"io.modelcontextprotocol/subscriptionId": 9},
            },
        ),
        ask("tools/list"),
        answer(_tools("a")),
        tell("notifications/tools/list_changed", {"_meta": {"io.modelcontextprotocol/subscriptionId": 9}}),
        eof("c2s"),
    ),
)
def _never_again(evidence: Evidence) -> Iterator[Fault | str]:
    for method, listing in evidence.link.listings.items():
        if listing.changed_seq:
            yield Fault(f"`{method}` changed, and was not asked for again", seq=listing.changed_seq)


@check(
    "LIST-010",
    "Two names are the same to hosts that clean them",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    severity="info",
    blame="server",
    spec=_TOOL_NAMES,
    fix="Rename one: many hosts replace dots, spaces and slashes by _ before they show tools to a model.",
    passes=_listed("a_b", "a_c"),
    fails=_listed("a_b", "a.b"),
)
def _collision(evidence: Evidence) -> Iterator[Fault | str]:
    seen: dict[str, str] = {}
    for name in dict.fromkeys(_items(evidence)):
        cleaned = re.sub(r"[^A-Za-z0-9_-]", "_", name)
        if cleaned in seen:
            yield f"{short(seen[cleaned])} and {short(name)} become the same name"
        seen.setdefault(cleaned, name)


claim(
    "LIST-011",
    "A tool is malformed",
    path=r"\$\.result\.tools\[\d+\](?!\.(inputSchema|outputSchema))",
    kinds=("result",),
    spec="server/tools#tool",
    fix="Give each tool a name and an inputSchema; one malformed tool costs many clients the whole list.",
    passes=_listed("a"),
    fails=trace(ask("tools/list"), answer({"tools": [{"name": "a"}], **_HINTS})),
)

claim(
    "LIST-012",
    "A resource or a template is malformed",
    path=r"\$\.result\.(resources|resourceTemplates)\[\d+\]",
    kinds=("result",),
    spec="server/resources#resource",
    fix="Give each resource a uri, each template a uriTemplate, and both a name.",
    passes=trace(ask("resources/list"), answer({"resources": [{"uri": "a://b", "name": "b"}], **_HINTS})),
    fails=trace(ask("resources/list"), answer({"resources": [{"uri": "a://b"}], **_HINTS})),
)

claim(
    "LIST-013",
    "A prompt is malformed",
    path=r"\$\.result\.prompts\[\d+\]",
    kinds=("result",),
    spec="server/prompts#prompt",
    fix="Give each prompt a name, and each of its arguments too.",
    passes=trace(ask("prompts/list"), answer({"prompts": [{"name": "a"}], **_HINTS})),
    fails=trace(ask("prompts/list"), answer({"prompts": [{"title": "A"}], **_HINTS})),
)


@check(
    "LIST-014",
    "A URI template is not well formed",
    on=("result",),
    side="s2c",
    methods=("resources/templates/list",),
    blame="server",
    spec="server/resources#resource-templates",
    fix="Close every brace and name a variable in each pair, as RFC 6570 says.",
    passes=trace(
        ask("resources/templates/list"),
        answer({"resourceTemplates": [{"uriTemplate": "note://{id}", "name": "note"}], **_HINTS}),
    ),
    fails=trace(
        ask("resources/templates/list"),
        answer({"resourceTemplates": [{"uriTemplate": "note://{id", "name": "note"}], **_HINTS}),
    ),
)
def _template(evidence: Evidence) -> Iterator[Fault | str]:
    for template in _items(evidence):
        if re.search(r"[{}]", re.sub(r"\{[^{}]+\}", "", template)):
            yield f"the template {short(template)} has a brace without its pair"


@check(
    "LIST-015",
    "A name of a list item is empty",
    on=("result",),
    side="s2c",
    methods=("prompts/list", "resources/list"),
    revisions=ALL,
    severity="warning",
    blame="server",
    spec="server/prompts#prompt",
    fix="Name it: the name is what people and programs call it by.",
    passes=trace(ask("prompts/list"), answer({"prompts": [{"name": "a"}], **_HINTS})),
    fails=trace(ask("prompts/list"), answer({"prompts": [{"name": ""}], **_HINTS})),
)
def _nameless(evidence: Evidence) -> Iterator[Fault | str]:
    if "" in _items(evidence):
        yield f"{evidence.what} has an item without a name"
