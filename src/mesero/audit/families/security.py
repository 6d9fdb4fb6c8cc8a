"""Rules about security: what a careful reader of a trace would stop at.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#security-considerations
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.evidence import Evidence, members_of, parts_of, short
from mesero.audit.examples import (
    URL,
    answer,
    answered,
    ask,
    asked,
    http_answer,
    old_ask,
    posted,
    replied,
    shake,
    tell,
    trace,
)
from mesero.audit.rules import ALL, SINCE_2025_06, SINCE_2025_11, Fault, check
from mesero.audit.tracking import LISTS

__all__: list[str] = []

_TOOLS = "server/tools#security-considerations"
_HTTP = "basic/transports/streamable-http#security-endpoint"
_ELICIT = "client/elicitation#security-considerations"
_ICONS = "basic/index#icons"
_HINTS = {"ttlMs": 0, "cacheScope": "private"}
_CALL = asked("tools/call", {"name": "x"})
_DONE = replied(answered({"content": []}))
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def _listed(**tool: Any) -> Any:
    named = {"name": "x", "inputSchema": {"type": "object"}, **tool}
    return trace(ask("tools/list"), answer({"tools": [named], **_HINTS}))


_GOOD = _listed(description="adds numbers")


def _items(evidence: Evidence) -> Iterator[tuple[str, dict[str, Any]]]:
    member = LISTS.get(evidence.about, ("", ""))[0]
    items = evidence.result.get(member)
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            yield short(item.get("name")), item


# Escape sequences begin with ESC, or with its one-byte form.
_ESCAPE = re.compile("[\x1b\x9b]")
# Invisible: tags, bidirectional overrides, zero-width characters in a row.
_HIDDEN = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]|[\u200b\u200c\u2060\ufeff]{3,}")


def _texts(item: dict[str, Any]) -> Iterator[str]:
    for field in ("name", "title", "description"):
        if isinstance(item.get(field), str):
            yield item[field]
    properties = members_of(members_of(item.get("inputSchema")).get("properties"))
    for schema in properties.values():
        text = members_of(schema).get("description")
        if isinstance(text, str):
            yield text


@check(
    "SEC-001",
    "A name or a description holds terminal escape sequences",
    on=("result",),
    side="s2c",
    methods=LISTS,
    severity="warning",
    blame="server",
    spec=_TOOLS,
    fix="Remove control characters. Do not print such texts to a terminal as they are.",
    passes=_GOOD,
    fails=_listed(description="\x1b[2Jadds numbers"),
)
def _escapes(evidence: Evidence) -> Iterator[Fault | str]:
    for name, item in _items(evidence):
        if any(_ESCAPE.search(text) for text in _texts(item)):
            yield f"a text of {name} holds a terminal escape sequence"


@check(
    "SEC-002",
    "A description holds characters that nobody sees",
    on=("result",),
    side="s2c",
    methods=LISTS,
    severity="warning",
    blame="server",
    spec=_TOOLS,
    fix="Remove them, and read the description with care: a model sees what a person does not.",
    passes=_GOOD,
    fails=_listed(description="adds numbers\U000e0041\U000e0042"),
)
def _hidden(evidence: Evidence) -> Iterator[Fault | str]:
    for name, item in _items(evidence):
        if any(_HIDDEN.search(text) for text in _texts(item)):
            yield f"a text of {name} holds invisible characters"


def _icons(evidence: Evidence) -> Iterator[tuple[str, str]]:
    for name, item in _items(evidence):
        icons = item.get("icons")
        for icon in icons if isinstance(icons, list) else ():
            source = members_of(icon).get("src")
            if isinstance(source, str):
                yield name, source


@check(
    "SEC-003",
    "An icon has an unsafe address",
    on=("result",),
    side="s2c",
    methods=LISTS,
    revisions=SINCE_2025_11,
    blame="server",
    spec=_ICONS,
    fix="Give icons as https: or data: URIs; clients must refuse other schemes.",
    passes=_listed(icons=[{"src": "https://example.com/x.png"}]),
    fails=_listed(icons=[{"src": "javascript:alert(1)"}]),
)
def _unsafe_icon(evidence: Evidence) -> Iterator[Fault | str]:
    for name, source in _icons(evidence):
        if not source.startswith(("https:", "data:", "http:")):
            yield f"the icon of {name} is {short(source)}"


@check(
    "SEC-004",
    "An icon comes from another site than the server",
    on=("result",),
    side="s2c",
    methods=LISTS,
    revisions=SINCE_2025_11,
    severity="info",
    blame="server",
    spec=_ICONS,
    fix="Serve icons from the server's own origin, or inline as data: URIs.",
    passes=trace(
        posted(asked("tools/list")),
        replied(
            answered(
                {
                    "tools": [
                        {
                            "name": "x",
                            "inputSchema": {"type": "object"},
                            "icons": [{"src": "https://example.com/x.png"}],
                        }
                    ],
                    **_HINTS,
                }
            )
        ),
    ),
    fails=trace(
        posted(asked("tools/list")),
        replied(
            answered(
                {
                    "tools": [
                        {
                            "name": "x",
                            "inputSchema": {"type": "object"},
                            "icons": [{"src": "https://tracker.example/x.png"}],
                        }
                    ],
                    **_HINTS,
                }
            )
        ),
    ),
)
def _foreign_icon(evidence: Evidence) -> Iterator[Fault | str]:
    home = parts_of(evidence.link.resource).netloc
    for name, source in _icons(evidence):
        if home and source.startswith("http") and parts_of(source).netloc != home:
            yield (
                f"the icon of {name} comes from {short(parts_of(source).netloc)}, the server is {short(home)}"
            )


@check(
    "SEC-005",
    "Credentials go over plain HTTP",
    on=("http request",),
    blame="client",
    spec="basic/authorization/security-considerations#communication-security",
    fix="Use https: everybody on the way can read the token.",
    passes=trace(posted(_CALL, url="http://localhost:8000/mcp", authorization="Bearer t"), _DONE),
    fails=trace(posted(_CALL, url="http://example.com/mcp", authorization="Bearer t"), _DONE),
)
def _plain(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or "authorization" not in exchange.headers:
        return
    parts = parts_of(exchange.url)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        yield f"Authorization was sent to {short(exchange.url)}"


@check(
    "SEC-006",
    "A redirect leads from https to http",
    on=("http answer",),
    blame="server",
    spec="basic/authorization/security-considerations#communication-security",
    fix="Let the server trust its proxy's X-Forwarded-Proto; until then connect to the final URL directly.",
    passes=trace(posted(_CALL), _DONE),
    fails=trace(posted(_CALL), http_answer(307, location="http://example.com/mcp/")),
    also=("HTTP-007",),
)
def _downgrade(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or not 300 <= exchange.status < 400:
        return
    location = exchange.answer_headers.get("location", "")
    if exchange.url.startswith("https:") and location.startswith("http:"):
        yield f"{short(exchange.url)} leads to {short(location)}"


_SECRET = re.compile(
    r"passw(or)?d|secret|api[ _-]?key|\btoken\b|credit ?card|\bpin\b|\bcvv\b|\bssn\b", re.IGNORECASE
)


def _form(field: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {field: {"type": "string"}}}
    return {"message": "?", "requestedSchema": schema}


@check(
    "SEC-007",
    "A form asks for a secret",
    on=("request", "result"),
    side="s2c",
    revisions=SINCE_2025_06,
    blame="server",
    spec=_ELICIT,
    fix="Send the user to a page of the server's own (URL mode); secrets must not pass through the client.",
    passes=trace(
        *shake(client={"elicitation": {}}),
        old_ask("elicitation/create", _form("city"), id="s", direction="s2c"),
    ),
    fails=trace(
        *shake(client={"elicitation": {}}),
        old_ask("elicitation/create", _form("password"), id="s", direction="s2c"),
    ),
)
def _asks_secret(evidence: Evidence) -> Iterator[Fault | str]:
    for params in _elicitations(evidence):
        properties = members_of(members_of(params.get("requestedSchema")).get("properties"))
        for name, schema in properties.items():
            title = members_of(schema).get("title")
            if _SECRET.search(name.replace("_", " ")) or (isinstance(title, str) and _SECRET.search(title)):
                yield f"{evidence.what} asks for {short(name)} in a form"


def _elicitations(evidence: Evidence) -> Iterator[dict[str, Any]]:
    if evidence.method == "elicitation/create":
        yield evidence.params
    if evidence.result.get("resultType") == "input_required":
        for question in members_of(evidence.result.get("inputRequests")).values():
            if members_of(question).get("method") == "elicitation/create":
                yield members_of(members_of(question).get("params"))


def _at(url: str) -> Any:
    params = {"mode": "url", "message": "?", "url": url, "elicitationId": "e"}
    return trace(
        *shake(client={"elicitation": {"url": {}}}),
        old_ask("elicitation/create", params, id="s", direction="s2c"),
    )


@check(
    "SEC-008",
    "A user is sent to a page without https",
    on=("request", "result"),
    side="s2c",
    revisions=SINCE_2025_11,
    severity="warning",
    blame="server",
    spec="client/elicitation#safe-url-handling",
    fix="Use https; other schemes cannot be trusted with what a user enters.",
    passes=_at("https://example.com/login"),
    fails=_at("http://example.com/login"),
)
def _plain_page(evidence: Evidence) -> Iterator[Fault | str]:
    for params in _elicitations(evidence):
        url = params.get("url")
        if params.get("mode") != "url" or not isinstance(url, str):
            continue
        parts = parts_of(url)
        if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
            yield f"{evidence.what} sends the user to {short(url)}"


_CREDENTIAL = re.compile(
    r"\bBearer [A-Za-z0-9._~+/-]{16,}|\bAKIA[A-Z0-9]{16}\b"
    r"|\b(?:ghp|gho|github_pat|sk|xox[bap])[_-][A-Za-z0-9_-]{16,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:password|passwd|secret)\s*[=:]\s*\S{4,}",
    re.IGNORECASE,
)


@check(
    "SEC-009",
    "A log message holds a credential",
    on=("notification",),
    side="s2c",
    methods=("notifications/message",),
    revisions=ALL,
    blame="server",
    spec="server/utilities/logging#security",
    fix="Remove credentials before logging, and replace the one that was logged.",
    passes=trace(
        *shake(server={"logging": {}}), tell("notifications/message", {"level": "info", "data": "ready"})
    ),
    fails=trace(
        *shake(server={"logging": {}}),
        tell("notifications/message", {"level": "info", "data": "password=hunter22"}),
    ),
)
def _logged_secret(evidence: Evidence) -> Iterator[Fault | str]:
    if _CREDENTIAL.search(evidence.raw):
        yield "the log message holds something that looks like a credential"


@check(
    "SEC-010",
    "A local server answers a foreign web page",
    on=("http answer",),
    revisions=ALL,
    blame="server",
    spec=_HTTP,
    fix="Check Origin and answer 403 to origins that are not allowed: any web page could use this server.",
    passes=trace(posted(_CALL, url="http://localhost:8000/mcp", origin="http://localhost:8000"), _DONE),
    fails=trace(posted(_CALL, url="http://localhost:8000/mcp", origin="https://evil.example"), _DONE),
)
def _foreign_origin(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or exchange.status >= 300 or exchange.method == "OPTIONS":
        return
    origin = exchange.headers.get("origin", "")
    is_local = parts_of(exchange.url).hostname in _LOOPBACK
    # A server that names the origin in its CORS headers has decided to allow it.
    allowed = exchange.answer_headers.get("access-control-allow-origin")
    if origin and is_local and parts_of(origin).hostname not in _LOOPBACK and allowed != origin:
        yield f"a request of {short(origin)} to {short(exchange.url)} was answered with {exchange.status}"


@check(
    "SEC-011",
    "An address carries user name and password",
    on=("http request",),
    revisions=ALL,
    severity="warning",
    blame="client",
    spec="basic/authorization#token-requirements",
    fix="Send credentials in headers; addresses are logged and shown.",
    passes=trace(posted(_CALL, url=URL), _DONE),
    fails=trace(posted(_CALL, url="https://user:pass@example.com/mcp"), _DONE),
)
def _user_info(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is not None and "@" in parts_of(exchange.url).netloc:
        yield "the URL of the request carries credentials before the host name"
