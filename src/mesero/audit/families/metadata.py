"""Rules about `_meta`: what each request and result says of itself.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mesero.audit.evidence import Evidence, short
from mesero.audit.examples import META, answer, ask, asked, c2s, trace
from mesero.audit.rules import SINCE_2025_06, STATELESS, Fault, check, claim

__all__: list[str] = []

_META = "basic/index#meta"
_PREFIX = "io.modelcontextprotocol/"
_GOOD = trace(ask("tools/call", {"name": "x"}), answer({"content": []}))
_AT_META = r"\$\.params\._meta$"


def _without(name: str) -> dict[str, object]:
    message = asked("tools/call", {"name": "x"})
    del message["params"]["_meta"][f"{_PREFIX}{name}"]
    return message


_BARE = {"jsonrpc": "2.0", "id": 1, "method": "server/discover"}

claim(
    "META-001",
    "A request has no metadata at all",
    path=r"\$(\.params)?$",
    says=r'lacks "(params|_meta)"',
    kinds=("request",),
    revisions=STATELESS,
    spec=_META,
    fix="Add params._meta with the revision and the client's capabilities to every request.",
    passes=_GOOD,
    fails=trace(c2s(_BARE)),
)

claim(
    "META-002",
    "The metadata of a request lacks the revision",
    path=_AT_META,
    says="protocolVersion",
    revisions=STATELESS,
    spec=_META,
    fix=f"Add {_PREFIX}protocolVersion to the _meta of every request: servers remember nothing.",
    passes=_GOOD,
    fails=trace(c2s({**_BARE, "params": {"_meta": {k: v for k, v in META.items() if "Version" not in k}}})),
)

claim(
    "META-003",
    "The metadata of a request lacks the client's capabilities",
    path=_AT_META,
    says="clientCapabilities",
    revisions=STATELESS,
    spec=_META,
    fix=f"Add {_PREFIX}clientCapabilities, an empty object if there are none, to the _meta of every request.",
    passes=_GOOD,
    fails=trace(c2s(_without("clientCapabilities"))),
)

claim(
    "META-004",
    "The client's identity is malformed",
    path=r"\$\.params\._meta\[.*clientInfo",
    revisions=STATELESS,
    spec=_META,
    fix="clientInfo is an object with the strings name and version; leave it out rather than half.",
    passes=_GOOD,
    fails=trace(ask("tools/call", {"name": "x"}, info={"name": "client"})),
)

claim(
    "META-005",
    "The client's capabilities are malformed",
    path=r"\$\.params\._meta\[.*clientCapabilities",
    revisions=STATELESS,
    spec=_META,
    fix="clientCapabilities is an object of objects: {} for what is supported without settings.",
    passes=_GOOD,
    fails=trace(ask("tools/call", {"name": "x"}, capabilities={"sampling": True})),
)

claim(
    "META-006",
    "A log level that does not exist",
    path=r"\$\.params\._meta\[.*logLevel",
    revisions=STATELESS,
    spec="server/utilities/logging#log-levels",
    fix="Use debug, info, notice, warning, error, critical, alert or emergency.",
    passes=_GOOD,
    fails=trace(ask("tools/call", {"name": "x"}, log_level="verbose")),
)

claim(
    "META-007",
    "The revision in the metadata is not a string",
    path=r"\$\.params\._meta\[.*protocolVersion",
    revisions=STATELESS,
    spec=_META,
    fix='Name the revision as a string, for example "2026-07-28".',
    passes=_GOOD,
    fails=trace(ask("tools/call", {"name": "x"}, revision=20260728)),
)

_LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_KEY = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?")


@check(
    "META-008",
    "A key of the metadata has an invalid name",
    on=("request", "notification", "result"),
    revisions=SINCE_2025_06,
    severity="warning",
    spec=_META,
    fix="Write a key as name or prefix/name, the prefix being labels with dots as in com.example/.",
    passes=trace(ask("tools/call", {"name": "x"}, **{"com.example/trace": 1})),
    fails=trace(ask("tools/call", {"name": "x"}, **{"com.example//trace": 1})),
)
def _key_names(evidence: Evidence) -> Iterator[Fault | str]:
    for key in evidence.meta:
        if not _KEY.fullmatch(key):
            yield Fault(f"{evidence.what}: {short(key)} is no valid key for _meta", path="$.params._meta")


_RESERVED = re.compile(rf"{_LABEL}\.(?:modelcontextprotocol|mcp)(?:\.[^/]*)?/")
_KNOWN: Final = frozenset(
    f"{_PREFIX}{name}"
    for name in (
        "protocolVersion",
        "clientInfo",
        "clientCapabilities",
        "logLevel",
        "subscriptionId",
        "serverInfo",
        "related-task",
        "model-immediate-response",
    )
)


@check(
    "META-009",
    "A key of the metadata takes a prefix that is reserved for MCP",
    on=("request", "notification", "result"),
    revisions=SINCE_2025_06,
    severity="info",
    spec=_META,
    fix=(
        "Use a prefix of your own domain; those whose second label is modelcontextprotocol or "
        "mcp belong to MCP."
    ),
    passes=_GOOD,
    fails=trace(ask("tools/call", {"name": "x"}, **{"dev.mcp/trace": "1"})),
)
def _reserved(evidence: Evidence) -> Iterator[Fault | str]:
    for key in evidence.meta:
        # Official extensions have keys of their own under the first prefix.
        if _RESERVED.match(key) and key not in _KNOWN and not key.startswith(_PREFIX):
            yield f"{evidence.what}: {short(key)} has a prefix that is reserved"


@check(
    "META-010",
    "The client does not say who it is",
    on=("request",),
    side="c2s",
    revisions=STATELESS,
    severity="info",
    blame="client",
    spec=_META,
    fix=f"Add {_PREFIX}clientInfo with name and version: server logs need it.",
    passes=_GOOD,
    fails=trace(c2s(_without("clientInfo"))),
)
def _anonymous_client(evidence: Evidence) -> Iterator[Fault | str]:
    if f"{_PREFIX}protocolVersion" in evidence.meta and f"{_PREFIX}clientInfo" not in evidence.meta:
        yield f"{evidence.what} does not name the client"


@check(
    "META-011",
    "The server does not say who it is",
    on=("result",),
    side="s2c",
    revisions=STATELESS,
    severity="info",
    blame="server",
    spec=_META,
    fix=f"Add {_PREFIX}serverInfo with name and version to the _meta of every result.",
    passes=_GOOD,
    fails=trace(ask("tools/call", {"name": "x"}), answer({"content": [], "_meta": {}})),
)
def _anonymous_server(evidence: Evidence) -> Iterator[Fault | str]:
    if not isinstance(evidence.result.get("_meta", {}), dict):
        return
    if (
        evidence.direction == "s2c"
        and "resultType" in evidence.result
        and f"{_PREFIX}serverInfo" not in evidence.meta
    ):
        yield f"{evidence.what} does not name the server"


claim(
    "META-012",
    "A progress token is neither a string nor an integer",
    path=r"\$\.params\._meta\.progressToken$",
    spec="basic/patterns/progress#progress-flow",
    fix="Use a string or an integer as progress token.",
    passes=trace(ask("tools/call", {"name": "x"}, progress="t1")),
    fails=trace(ask("tools/call", {"name": "x"}, progress=1.5)),
)

_TRACE_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")


@check(
    "META-013",
    "`traceparent` is not in the form of W3C Trace Context",
    on=("request", "notification", "result"),
    revisions=STATELESS,
    severity="warning",
    spec=_META,
    fix="Write 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, all in lower case.",
    passes=trace(
        ask(
            "tools/call", {"name": "x"}, traceparent="00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
        )
    ),
    fails=trace(ask("tools/call", {"name": "x"}, traceparent="abc")),
)
def _trace_parent(evidence: Evidence) -> Iterator[Fault | str]:
    value = evidence.meta.get("traceparent")
    if value is not None and not (isinstance(value, str) and _TRACE_PARENT.fullmatch(value)):
        yield f"{evidence.what}: traceparent is {short(value)}"


claim(
    "META-014",
    "The server's identity is malformed",
    path=r"\$\.result\._meta\[.*serverInfo",
    revisions=STATELESS,
    spec=_META,
    fix="serverInfo is an object with the strings name and version.",
    passes=_GOOD,
    fails=trace(
        ask("tools/call", {"name": "x"}),
        answer({"content": [], "_meta": {f"{_PREFIX}serverInfo": {"name": "server"}}}),
    ),
)


@check(
    "META-015",
    "A revision that this audit does not know",
    on=("request",),
    side="c2s",
    revisions=STATELESS,
    severity="info",
    blame="client",
    spec="basic/versioning#protocol-version-negotiation",
    fix=(
        "Check the date. If it is a later revision, audit with a later release: this one judges "
        "by 2026-07-28."
    ),
    passes=_GOOD,
    fails=trace(ask("tools/call", {"name": "x"}, revision="2031-01-01")),
)
def _unknown_revision(evidence: Evidence) -> Iterator[Fault | str]:
    if re.fullmatch(r"20\d\d-\d\d-\d\d", evidence.stated) and evidence.stated > STATELESS[-1]:
        yield f"{evidence.what} names {evidence.stated}"


claim(
    "META-016",
    "The metadata is not an object",
    path=r"\$\.(params|result)\._meta$",
    says="must be an object",
    spec=_META,
    fix="Make _meta an object.",
    passes=_GOOD,
    fails=trace(ask("tools/call", {"name": "x"}), answer({"content": [], "_meta": "server 1.0"})),
)
