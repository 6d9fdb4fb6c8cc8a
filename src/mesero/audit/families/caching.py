"""Rules about caching hints.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.evidence import Evidence, short
from mesero.audit.examples import answer, ask, trace
from mesero.audit.rules import STATELESS, Fault, check, claim
from mesero.audit.tracking import LISTS

__all__: list[str] = []

_PAGE = "server/utilities/caching"
_TTL = f"{_PAGE}#time-to-live-ttl-field"
_SCOPE = f"{_PAGE}#cache-scope-field"
_CACHEABLE: Final = frozenset({*LISTS, "server/discover", "resources/read"})


def _page(**members: Any) -> Any:
    hints = {"tools": [], "ttlMs": 0, "cacheScope": "private"} | members
    kept = {name: value for name, value in hints.items() if value is not None}
    return trace(ask("tools/list"), answer(kept))


claim(
    "CACHE-001",
    "A cacheable result lacks ttlMs",
    path=r"\$\.result$",
    says='lacks "ttlMs"',
    revisions=STATELESS,
    spec=f"{_PAGE}#cacheable-results",
    fix='Add "ttlMs": 0 when unsure: lists, server/discover and resources/read must carry it.',
    passes=_page(),
    fails=_page(ttlMs=None),
)

claim(
    "CACHE-002",
    "A cacheable result lacks cacheScope",
    path=r"\$\.result$",
    says='lacks "cacheScope"',
    revisions=STATELESS,
    spec=f"{_PAGE}#cacheable-results",
    fix='Add "cacheScope": "private" when unsure: lists, server/discover and resources/read must carry it.',
    passes=_page(),
    fails=_page(cacheScope=None),
)

claim(
    "CACHE-003",
    "ttlMs is no duration",
    path=r"\$\.result\.ttlMs$",
    revisions=STATELESS,
    spec=_TTL,
    fix="Send a whole number of milliseconds, 0 or more.",
    passes=_page(ttlMs=60_000),
    fails=_page(ttlMs=-1),
)

claim(
    "CACHE-004",
    "cacheScope is neither public nor private",
    path=r"\$\.result\.cacheScope$",
    revisions=STATELESS,
    spec=_SCOPE,
    fix='Send "public" for what is the same for all users, else "private".',
    passes=_page(cacheScope="public"),
    fails=_page(cacheScope="shared"),
)


def _pages(first: str, second: str) -> Any:
    return trace(
        ask("tools/list"),
        answer({"tools": [], "ttlMs": 0, "cacheScope": first, "nextCursor": "2"}),
        ask("tools/list", {"cursor": "2"}, id=2),
        answer({"tools": [], "ttlMs": 0, "cacheScope": second}, id=2),
    )


@check(
    "CACHE-005",
    "The pages of a list have different cache scopes",
    on=("result",),
    side="s2c",
    methods=LISTS,
    revisions=STATELESS,
    blame="server",
    spec=f"{_PAGE}#interaction-with-pagination",
    fix="Use one cacheScope for all pages: private, if any of them is.",
    passes=_pages("private", "private"),
    fails=_pages("private", "public"),
)
def _other_scope(evidence: Evidence) -> Iterator[Fault | str]:
    listing = evidence.link.listing_of(evidence.about)
    scope = evidence.result.get("cacheScope")
    is_later_page = evidence.asked is not None and evidence.asked.cursor is not None
    if is_later_page and isinstance(scope, str) and listing.scope and scope != listing.scope:
        yield f"{evidence.what} is {short(scope)}, the page before it was {listing.scope!r}"


@check(
    "CACHE-006",
    "A result that cannot be cached carries caching hints",
    on=("result",),
    side="s2c",
    revisions=STATELESS,
    severity="info",
    blame="server",
    spec=f"{_PAGE}#cacheable-results",
    fix="Leave ttlMs and cacheScope out: they mean nothing here.",
    passes=trace(ask("tools/call", {"name": "x"}), answer({"content": []})),
    fails=trace(ask("tools/call", {"name": "x"}), answer({"content": [], "ttlMs": 1})),
)
def _useless(evidence: Evidence) -> Iterator[Fault | str]:
    hints = [name for name in ("ttlMs", "cacheScope") if name in evidence.result]
    is_final = evidence.result.get("resultType") == "complete"
    if hints and is_final and evidence.asked is not None and evidence.about in _CORE - _CACHEABLE:
        yield f"{evidence.what} has {' and '.join(hints)}"


_CORE: Final = _CACHEABLE | {"tools/call", "prompts/get", "completion/complete", "subscriptions/listen"}


@check(
    "CACHE-007",
    "The answer to a retry is offered for everybody's cache",
    on=("result",),
    side="s2c",
    methods=("resources/read",),
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec=f"{_PAGE}#cache-key",
    fix='Send "cacheScope": "private" and "ttlMs": 0: what depends on a user\'s answers is in no cache key.',
    passes=trace(
        ask("resources/read", {"uri": "a://b"}),
        answer({"resultType": "input_required", "requestState": "s"}),
        ask("resources/read", {"uri": "a://b", "requestState": "s"}, id=2),
        answer({"contents": [{"uri": "a://b", "text": ""}], "ttlMs": 0, "cacheScope": "private"}, id=2),
    ),
    fails=trace(
        ask("resources/read", {"uri": "a://b"}),
        answer({"resultType": "input_required", "requestState": "s"}),
        ask("resources/read", {"uri": "a://b", "requestState": "s"}, id=2),
        answer({"contents": [{"uri": "a://b", "text": ""}], "ttlMs": 60_000, "cacheScope": "public"}, id=2),
    ),
)
def _shared_retry(evidence: Evidence) -> Iterator[Fault | str]:
    is_retry = evidence.asked is not None and evidence.asked.is_retry
    if is_retry and evidence.result.get("cacheScope") == "public":
        yield f"{evidence.what} answers a retry and is public"
