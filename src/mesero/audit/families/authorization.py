"""Rules about authorization over HTTP.

Tokens in a recording are replaced by their length and hash; equal ones stay equal, which is all that is
looked at here.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import msgspec

from mesero.audit.evidence import Evidence, members_of, parts_of, short
from mesero.audit.examples import (
    answered,
    asked,
    failed,
    http_answer,
    http_request,
    posted,
    replied,
    trace,
)
from mesero.audit.link import Exchange
from mesero.audit.rules import ALL, SINCE_2025_03, SINCE_2025_06, SINCE_2025_11, STATELESS, Fault, check
from mesero.audit.signing import is_signing_in

__all__: list[str] = []

_PAGE = "basic/authorization"
_TOKENS = f"{_PAGE}#token-requirements"
_DISCOVERY = f"{_PAGE}/authorization-server-discovery"
_RESOURCE = f"{_PAGE}#resource-parameter-implementation"
_ISSUER = "https://auth.example.com"
_CALL = asked("tools/call", {"name": "x"})
_DONE = replied(answered({"content": []}))
_CHALLENGE = 'Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource/mcp"'
_GOOD = trace(posted(_CALL), http_answer(401, www_authenticate=_CHALLENGE))
_WELL_KNOWN = "/.well-known/oauth-protected-resource"
_AS_PATHS = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")


def _fetched(url: str, body: Any, exchange: int = 5) -> list[Any]:
    return [http_request("GET", url=url, exchange=exchange), http_answer(200, exchange=exchange, body=body)]


_RESOURCE_DOCUMENT = {"resource": "https://example.com/mcp", "authorization_servers": [_ISSUER]}
_RESOURCE_URL = f"https://example.com{_WELL_KNOWN}/mcp"
_SERVER_DOCUMENT = {"issuer": _ISSUER, "code_challenge_methods_supported": ["S256"]}
_SERVER_URL = f"{_ISSUER}{_AS_PATHS[0]}"


def _document(evidence: Evidence, *paths: str) -> dict[str, Any]:
    """The JSON object that was fetched from one of the well-known paths; empty if it is something else."""
    exchange = evidence.exchange
    if exchange is None or exchange.status != 200 or not any(path in exchange.url for path in paths):
        return {}
    try:
        return members_of(msgspec.json.decode(exchange.body))
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return {}


def _challenge_of(exchange: Exchange) -> dict[str, str]:
    value = exchange.answer_headers.get("www-authenticate", "")
    return {name.lower(): text for name, text in re.findall(r'([A-Za-z_]+)="([^"]*)"', value)}


@check(
    "AUTH-001",
    "401 without WWW-Authenticate",
    on=("http answer",),
    blame="server",
    spec=f"{_DISCOVERY}#protected-resource-metadata-discovery-requirements",
    fix='Answer 401 with WWW-Authenticate: Bearer resource_metadata="…": it tells clients where to sign in.',
    passes=_GOOD,
    fails=trace(posted(_CALL), http_answer(401)),
)
def _no_challenge(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    # Authorization servers have rules of their own.
    # https://www.rfc-editor.org/rfc/rfc6749#section-5.2
    if exchange is None or exchange.status != 401 or is_signing_in(exchange):
        return
    if "www-authenticate" not in exchange.answer_headers:
        yield "the answer is 401 and does not say how to authorize"


@check(
    "AUTH-002",
    "401 does not say where the metadata is",
    on=("http answer",),
    revisions=SINCE_2025_06,
    severity="warning",
    blame="server",
    spec=f"{_DISCOVERY}#protected-resource-metadata-discovery-requirements",
    fix="Add resource_metadata to WWW-Authenticate; without it clients have to try the well-known paths.",
    passes=_GOOD,
    fails=trace(posted(_CALL), http_answer(401, www_authenticate="Bearer")),
)
def _no_metadata(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or exchange.status != 401 or not exchange.kind:
        return
    if "www-authenticate" in exchange.answer_headers and "resource_metadata" not in _challenge_of(exchange):
        yield (
            f"WWW-Authenticate is {short(exchange.answer_headers['www-authenticate'])}, without "
            "resource_metadata"
        )


@check(
    "AUTH-003",
    "An access token stands in a URL",
    on=("http request",),
    blame="client",
    spec=_TOKENS,
    fix="Send it in the Authorization header: URLs end up in logs.",
    passes=trace(posted(_CALL, authorization="Bearer t"), _DONE),
    fails=trace(posted(_CALL, url="https://example.com/mcp?access_token=t"), _DONE),
)
def _token_in_url(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    query = parse_qs(parts_of(exchange.url).query) if exchange is not None and "?" in exchange.url else {}
    for name in ("access_token", "bearer_token"):
        if name in query:
            yield f"the URL carries {name}"


@check(
    "AUTH-004",
    "The resource metadata names no authorization server",
    on=("http answer",),
    blame="server",
    spec=f"{_DISCOVERY}#authorization-server-location",
    fix="Name at least one issuer in authorization_servers.",
    passes=trace(*_fetched(_RESOURCE_URL, _RESOURCE_DOCUMENT)),
    fails=trace(*_fetched(_RESOURCE_URL, {"resource": "https://example.com/mcp"})),
)
def _no_servers(evidence: Evidence) -> Iterator[Fault | str]:
    document = _document(evidence, _WELL_KNOWN)
    if document and not document.get("authorization_servers"):
        yield "the protected resource metadata lacks authorization_servers"


@check(
    "AUTH-005",
    "The resource metadata is about another resource",
    on=("http answer",),
    severity="warning",
    blame="server",
    spec=f"{_PAGE}#canonical-server-uri",
    fix=(
        "Give the URL that clients connect to as resource, character for character; strict "
        "clients refuse others."
    ),
    passes=trace(*_fetched(_RESOURCE_URL, _RESOURCE_DOCUMENT), posted(_CALL)),
    fails=trace(
        posted(_CALL),
        http_answer(401, www_authenticate=_CHALLENGE),
        *_fetched(_RESOURCE_URL, _RESOURCE_DOCUMENT | {"resource": "https://example.com/mcp/"}),
    ),
)
def _other_resource(evidence: Evidence) -> Iterator[Fault | str]:
    stated = _document(evidence, _WELL_KNOWN).get("resource")
    used = evidence.link.resource.partition("?")[0]
    if isinstance(stated, str) and used and stated != used:
        slash = "; only a slash differs" if stated.rstrip("/") == used.rstrip("/") else ""
        yield f"the metadata says {short(stated)}, the client connects to {short(used)}{slash}"


@check(
    "AUTH-006",
    "An authorization server calls itself by another name",
    on=("http answer",),
    blame="server",
    spec=f"{_DISCOVERY}#authorization-server-metadata-discovery",
    fix="Make issuer and the entry in authorization_servers the same string; clients must refuse otherwise.",
    passes=trace(*_fetched(_RESOURCE_URL, _RESOURCE_DOCUMENT), *_fetched(_SERVER_URL, _SERVER_DOCUMENT, 6)),
    fails=trace(
        *_fetched(_RESOURCE_URL, _RESOURCE_DOCUMENT),
        *_fetched(_SERVER_URL, _SERVER_DOCUMENT | {"issuer": f"{_ISSUER}/"}, 6),
    ),
)
def _other_issuer(evidence: Evidence) -> Iterator[Fault | str]:
    issuer = _document(evidence, *_AS_PATHS).get("issuer")
    known = evidence.link.authorization_servers
    exchange = evidence.exchange
    if not isinstance(issuer, str) or exchange is None or issuer in known:
        return
    host = parts_of(exchange.url).netloc
    expected = [each for each in known if parts_of(each).netloc == host]
    if expected:
        slash = "; only a slash differs" if issuer.rstrip("/") == expected[0].rstrip("/") else ""
        yield f"the resource names {short(expected[0])}, its document says {short(issuer)}{slash}"


@check(
    "AUTH-007",
    "An authorization server does not say that it supports PKCE",
    on=("http answer",),
    revisions=ALL,
    blame="server",
    spec=f"{_PAGE}/security-considerations#authorization-code-protection",
    fix='Add "code_challenge_methods_supported": ["S256"]: clients must refuse to go on without it.',
    passes=trace(*_fetched(_SERVER_URL, _SERVER_DOCUMENT)),
    fails=trace(*_fetched(_SERVER_URL, {"issuer": _ISSUER})),
)
def _no_pkce(evidence: Evidence) -> Iterator[Fault | str]:
    document = _document(evidence, *_AS_PATHS)
    methods = document.get("code_challenge_methods_supported")
    if document and (not isinstance(methods, list) or "S256" not in methods):
        yield "the metadata of the authorization server has no code_challenge_methods_supported with S256"


def _token_request(body: str, exchange: int = 7) -> list[Any]:
    return [
        http_request(
            "POST",
            url=f"{_ISSUER}/token",
            exchange=exchange,
            body=body,
            content_type="application/x-www-form-urlencoded",
        ),
        http_answer(200, exchange=exchange),
    ]


_CODE = "grant_type=authorization_code&code=c"


@check(
    "AUTH-008",
    "A token is asked for without saying for which resource",
    on=("http request",),
    revisions=ALL,
    blame="client",
    spec=_RESOURCE,
    fix="Send resource with the server's URL in both the authorization and the token request.",
    passes=trace(*_token_request(f"{_CODE}&resource=https%3A%2F%2Fexample.com%2Fmcp")),
    fails=trace(*_token_request(_CODE)),
)
def _no_resource(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or exchange.method != "POST" or exchange.kind or "grant_type=" not in exchange.body:
        return
    form = parse_qs(exchange.body)
    if (
        form.get("grant_type", [""])[0] in ("authorization_code", "client_credentials")
        and "resource" not in form
    ):
        yield "the token request has no resource"


def _scoped(scope: str) -> list[Any]:
    query = f"response_type=code&client_id=c&scope={scope}&resource=https%3A%2F%2Fexample.com%2Fmcp"
    return [
        posted(_CALL),
        http_answer(401, www_authenticate=f'{_CHALLENGE}, scope="files:read"'),
        http_request("GET", url=f"{_ISSUER}/authorize?{query}", exchange=5),
    ]


@check(
    "AUTH-014",
    "The client does not ask for the scopes that the server named",
    on=("http request",),
    severity="warning",
    blame="client",
    spec=f"{_PAGE}#scope-selection-strategy",
    fix="Ask for the scopes of the challenge, and for those that were granted before.",
    passes=trace(*_scoped("files:read offline_access")),
    fails=trace(*_scoped("openid")),
)
def _other_scopes(evidence: Evidence) -> Iterator[Fault | str]:
    exchange, link = evidence.exchange, evidence.link
    query = parse_qs(parts_of(exchange.url).query) if exchange is not None and not exchange.kind else {}
    # The revisions before leave the choice to the client.
    is_older = link.current is not None and link.current.revision < SINCE_2025_11[0]
    if "response_type" not in query or is_older:
        return
    asked_for = query.get("scope", [""])[0]
    missing = set(link.challenged) - set(asked_for.split())
    if missing and not asked_for.startswith("<redacted "):
        yield f"the server named {short(' '.join(link.challenged))}, the client asks for {short(asked_for)}"


@check(
    "AUTH-009",
    "403 does not say which scopes are needed",
    on=("http answer",),
    revisions=SINCE_2025_11,
    severity="warning",
    blame="server",
    spec=f"{_PAGE}#runtime-insufficient-scope-errors",
    fix='Add scope="…" with all scopes of the operation to WWW-Authenticate.',
    passes=trace(
        posted(_CALL, authorization="Bearer t"),
        http_answer(403, www_authenticate='Bearer error="insufficient_scope", scope="files:write"'),
    ),
    fails=trace(
        posted(_CALL, authorization="Bearer t"),
        http_answer(403, www_authenticate='Bearer error="insufficient_scope"'),
    ),
)
def _no_scope(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    if exchange is None or exchange.status != 403:
        return
    challenge = _challenge_of(exchange)
    if challenge.get("error") == "insufficient_scope" and not challenge.get("scope"):
        yield "insufficient_scope comes without the scopes that would be sufficient"


@check(
    "AUTH-010",
    "A token is sent again after it was refused",
    on=("http request",),
    severity="warning",
    blame="client",
    spec=f"{_PAGE}#refresh-tokens",
    fix="Refresh the token, or ask the user to sign in again; the same token will be refused again.",
    passes=trace(
        posted(_CALL, authorization="Bearer t"),
        http_answer(401, www_authenticate=_CHALLENGE),
        posted(_CALL, exchange=2, authorization="Bearer u"),
    ),
    fails=trace(
        posted(_CALL, authorization="Bearer t"),
        http_answer(401, www_authenticate=_CHALLENGE),
        posted(asked("tools/call", {"name": "x"}, id=2), exchange=2, authorization="Bearer t"),
    ),
)
def _refused_token(evidence: Evidence) -> Iterator[Fault | str]:
    token = evidence.headers.get("authorization", "")
    if token and token in evidence.link.refused_tokens:
        yield f"the token was refused in line {evidence.link.refused_tokens[token]} already"


@check(
    "AUTH-011",
    "A request leaves out the token that others have",
    on=("http request",),
    revisions=SINCE_2025_03,
    blame="client",
    spec=_TOKENS,
    fix="Send Authorization with every request to the server, GET and DELETE included.",
    passes=trace(posted(_CALL, authorization="Bearer t"), _DONE),
    fails=trace(
        posted(_CALL, authorization="Bearer t"),
        _DONE,
        posted(asked("tools/call", {"name": "x"}, id=2), exchange=2),
        replied(answered({"content": []}, id=2), exchange=2),
    ),
)
def _forgotten_token(evidence: Evidence) -> Iterator[Fault | str]:
    exchange, link = evidence.exchange, evidence.link
    if exchange is None or not exchange.headers or exchange.method == "OPTIONS":
        return
    if exchange.headers.get("user-agent", "") not in link.authorized_agents:
        return
    if exchange.url == link.resource and "authorization" not in exchange.headers:
        yield f"the {exchange.method or 'request'} has no Authorization, earlier ones had"


@check(
    "AUTH-012",
    "The server asks for offline_access",
    on=("http answer",),
    revisions=ALL,
    severity="info",
    blame="server",
    spec=f"{_PAGE}#refresh-tokens",
    fix=(
        "Leave offline_access out of scopes: refresh tokens are between the client and the "
        "authorization server."
    ),
    passes=trace(*_fetched(_RESOURCE_URL, _RESOURCE_DOCUMENT | {"scopes_supported": ["files"]})),
    fails=trace(*_fetched(_RESOURCE_URL, _RESOURCE_DOCUMENT | {"scopes_supported": ["offline_access"]})),
)
def _offline(evidence: Evidence) -> Iterator[Fault | str]:
    scopes = _document(evidence, _WELL_KNOWN).get("scopes_supported")
    challenged = _challenge_of(evidence.exchange).get("scope", "").split() if evidence.exchange else []
    if "offline_access" in [*(scopes if isinstance(scopes, list) else []), *challenged]:
        yield "offline_access is among the scopes of the resource"


@check(
    "AUTH-013",
    "Missing authorization is told with a JSON-RPC error and a good status",
    on=("error",),
    side="s2c",
    needs_http=True,
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec=f"{_PAGE}#error-handling",
    fix="Answer 401 with WWW-Authenticate: only then do clients begin to sign in.",
    passes=_GOOD,
    fails=trace(posted(_CALL), replied(failed(-32603, "Unauthorized"))),
)
def _dressed_up(evidence: Evidence) -> Iterator[Fault | str]:
    exchange = evidence.exchange
    text = str(evidence.error.get("message", "")).lower()
    if exchange is None or exchange.status in (0, 401, 403) or exchange.is_stream:
        return
    if re.search(r"\bunauthori[sz]ed\b|\bnot authenticated\b|\binvalid (access )?token\b", text):
        yield f"the error says {short(text)}, the status is {exchange.status}"
