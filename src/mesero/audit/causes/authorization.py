"""Why a client has no token that the server takes: 401, and what goes wrong in signing in.

What is mended later in the same trace, by a token that was given or accepted, is no cause of anything.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.diagnosis import Proof, cause
from mesero.audit.evidence import short
from mesero.audit.examples import asked, http_answer, http_request, posted, replied, trace
from mesero.audit.link import Exchange, LinkState
from mesero.audit.signing import Step, is_signing_in, last_token_seq, steps_of

__all__: list[str] = []

_CALL: Final = asked("tools/call", {"name": "x"})
_DONE: Final = replied({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "content": []}})
_UNEXPANDED: Final = re.compile(r"\$\{[A-Za-z_]\w*\}")
_SCOPE: Final = re.compile(r'\bscope="([^"]*)"')
_CHALLENGE: Final = 'Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource"'
_ISSUER: Final = "https://auth.example.com"
_BACK: Final = "http://127.0.0.1:7890/callback"


def _refused(link: LinkState) -> list[Exchange]:
    """Refusals by the MCP server itself that no token came after."""
    last = last_token_seq(link)
    return [
        each for each in link.refusals if each.status == 401 and each.seq > last and not is_signing_in(each)
    ]


# -- 401 -----------------------------------------------------------------------------------------------------


@cause(
    "S401-1",
    "The token is a variable that nobody filled in",
    phase="launch",
    blame="client",
    fix="Write the token itself, or set the variable: this host does not expand it.",
    example=trace(posted(_CALL, authorization="Bearer ${TOKEN}"), http_answer(401), transport="http"),
)
def _unfilled(link: LinkState) -> Iterator[Proof]:
    for each in link.refusals:
        value = each.headers.get("authorization", "")
        if each.status in (401, 403) and _UNEXPANDED.search(value):
            yield Proof(f"Authorization was sent as the literal text {short(value)}", (each.seq,))


@cause(
    "S401-2",
    "The token has expired, and is sent all the same",
    phase="operation",
    blame="client",
    fix="Refresh the token after a 401, or let the user sign in again.",
    example=trace(
        posted(_CALL, authorization="Bearer t"),
        _DONE,
        posted(asked("tools/list", id=2), exchange=2, authorization="Bearer t"),
        http_answer(401, exchange=2, www_authenticate=_CHALLENGE),
        transport="http",
    ),
)
def _expired(link: LinkState) -> Iterator[Proof]:
    refused = _refused(link)
    for each in refused:
        token = each.headers.get("authorization", "")
        if not token or token not in link.good_tokens:
            continue
        given = [step.seq for step in steps_of(link) if step.has_refresh_token]
        stored = f"; a refresh token was given in line {given[-1]}, and not tried since" if given else ""
        again = sum(other.headers.get("authorization") == token for other in refused)
        text = f"a token that worked before was refused, {_times(again)}{stored}"
        yield Proof(text, (link.good_tokens[token], each.seq))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


@cause(
    "S401-3",
    "The token is not accepted",
    phase="operation",
    blame="client",
    confidence="likely",
    fix=(
        "Check that the token was issued for this server: its resource must be the URL, "
        "character for character."
    ),
    example=trace(
        posted(_CALL, authorization="Bearer t"),
        http_answer(401, www_authenticate=_CHALLENGE),
        transport="http",
    ),
)
def _rejected(link: LinkState) -> Iterator[Proof]:
    for each in _refused(link):
        if "authorization" in each.headers:
            about = f"; {link.found['AUTH-005'][1]}" if "AUTH-005" in link.found else ""
            yield Proof(f"a token was sent and never accepted{about}", (each.seq,))


@cause(
    "S401-4",
    "The server wants the user to sign in",
    phase="operation",
    blame="client",
    fix="Sign in: the server's metadata says where.",
    example=trace(posted(_CALL), http_answer(401, www_authenticate=_CHALLENGE), transport="http"),
)
def _sign_in(link: LinkState) -> Iterator[Proof]:
    for each in [one for one in _refused(link) if "authorization" not in one.headers]:
        if "resource_metadata" in each.answer_headers.get("www-authenticate", ""):
            yield Proof("no credentials were sent, and the server asks for them", (each.seq,))
        else:
            yield Proof(
                "no credentials were sent, and the server does not say where to get some",
                (each.seq,),
                fix=(
                    "Server: name resource_metadata in WWW-Authenticate. Client: try the "
                    "well-known paths, or a fixed token."
                ),
                blame="server",
            )


# -- signing in ----------------------------------------------------------------------------------------------


def _challenged(scope: str = "files:read") -> list[Any]:
    return [posted(_CALL), http_answer(401, www_authenticate=f'{_CHALLENGE}, scope="{scope}"')]


def _authorize(exchange: int, client: str = "c", scope: str = "files:read") -> Any:
    query = f"response_type=code&client_id={client}&scope={scope}&resource=https://example.com/mcp"
    return http_request("GET", url=f"{_ISSUER}/authorize?{query}", exchange=exchange)


def _token(exchange: int, form: str, answer: dict[str, Any], status: int = 200) -> list[Any]:
    kind = "application/x-www-form-urlencoded"
    asked_for = http_request("POST", url=f"{_ISSUER}/token", exchange=exchange, body=form, content_type=kind)
    return [asked_for, http_answer(status, exchange=exchange, body=answer)]


_REFRESH: Final = "grant_type=refresh_token&client_id=c&refresh_token=r"
_NEW: Final = {"access_token": "a", "refresh_token": "s"}


def _failed(link: LinkState, *kinds: str) -> list[Step]:
    """Steps that were refused, and that no token came after."""
    last = last_token_seq(link)
    return [each for each in steps_of(link) if each.kind in kinds and each.error and each.seq > last]


@cause(
    "SIGNIN-1",
    "The authorization server does not know the client's registration",
    phase="operation",
    blame="client",
    fix=(
        "Drop the saved registration and register again; a client id that somebody configured must be one of "
        "this authorization server."
    ),
    example=trace(
        *_challenged(),
        _authorize(2),
        http_answer(400, exchange=2, body={"error": "invalid_client"}),
        transport="http",
    ),
)
def _unknown_client(link: LinkState) -> Iterator[Proof]:
    steps = steps_of(link)
    renewed = max((step.seq for step in steps if step.kind == "register" and step.is_done), default=0)
    for each in _failed(link, "authorize", "token"):
        if each.error not in ("invalid_client", "unauthorized_client") or renewed > each.seq:
            continue
        client = each.fields.get("client_id", "")
        uses = [step.seq for step in steps if client and step.fields.get("client_id") == client]
        again = f", {_times(len(uses))}" if uses else ""
        text = (
            f"the client id {short(client)} was answered with {each.error}{again}; no registration followed"
        )
        yield Proof(text, (each.seq, *uses[-1:]))


@cause(
    "SIGNIN-2",
    "A refresh token was used twice",
    phase="operation",
    blame="client",
    fix=(
        "Keep the new refresh token of each answer, and let one process at a time refresh: the old one is "
        "worth nothing any more. The user has to sign in again."
    ),
    example=trace(
        *_token(2, _REFRESH, _NEW),
        *_token(3, _REFRESH, {"error": "invalid_grant"}, 400),
        transport="http",
    ),
)
def _refreshed_twice(link: LinkState) -> Iterator[Proof]:
    used: dict[str, int] = {}
    last = _last_given(link)
    for each in steps_of(link):
        token = each.fields.get("refresh_token", "")
        if each.is_done and token:
            used[token] = each.seq
        # Whoever was first goes on with what it got; that does not help the one that lost.
        elif each.error == "invalid_grant" and token in used and each.seq > last:
            before = used[token]
            text = f"the refresh token was used in line {before}, and again in line {each.seq}: invalid_grant"
            yield Proof(text, (before, each.seq))


def _last_given(link: LinkState) -> int:
    """The last line at which a token was given; 0 if there is none."""
    return max((step.seq for step in steps_of(link) if step.kind == "token" and step.is_done), default=0)


@cause(
    "SIGNIN-3",
    "The refresh token is good no more",
    phase="operation",
    blame="client",
    fix="Let the user sign in again: refresh tokens expire, and can be revoked.",
    example=trace(*_token(2, _REFRESH, {"error": "invalid_grant"}, 400), transport="http"),
)
def _dead_refresh_token(link: LinkState) -> Iterator[Proof]:
    for each in _failed(link, "token"):
        if each.error == "invalid_grant" and "refresh_token" in each.fields:
            yield Proof("refreshing was answered with invalid_grant, and nobody signed in again", (each.seq,))


@cause(
    "SIGNIN-4",
    "The client asks for scopes that the authorization server does not give",
    phase="operation",
    blame="client",
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-selection-strategy
    fix="Ask for the scopes of the 401; without them for scopes_supported of the resource; else for none.",
    example=trace(
        *_challenged(),
        _authorize(2, scope="openid"),
        http_answer(302, exchange=2, location=f"{_BACK}?error=invalid_scope"),
        transport="http",
    ),
)
def _refused_scope(link: LinkState) -> Iterator[Proof]:
    for each in _failed(link, "authorize", "token"):
        if each.error == "invalid_scope":
            wanted = " ".join(link.challenged or link.scopes_supported)
            asks = f"; the server asks for {short(wanted)}" if wanted else ""
            yield Proof(f"the client asked for {short(each.fields.get('scope', ''))}{asks}", (each.seq,))


@cause(
    "SIGNIN-5",
    "The token lacks a scope, and the client does not ask for it",
    phase="operation",
    blame="client",
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#step-up-authorization-flow
    fix="Sign in again for the scopes of the 403 and those that were granted before, and repeat the request.",
    example=trace(
        posted(_CALL, authorization="Bearer t"),
        http_answer(403, www_authenticate='Bearer error="insufficient_scope", scope="files:write"'),
        transport="http",
    ),
)
def _no_step_up(link: LinkState) -> Iterator[Proof]:
    asked_for = [step for step in steps_of(link) if step.kind == "authorize"]
    last = _last_given(link)
    for each in link.refusals:
        said = each.answer_headers.get("www-authenticate", "")
        if each.status != 403 or "insufficient_scope" not in said or each.seq < last:
            continue
        own = each.headers.get("authorization", "")
        if any(used > each.seq and token != own for token, used in link.good_tokens.items()):
            continue
        wanted = _SCOPE.search(said)
        named = set(wanted[1].split()) if wanted is not None else set()
        later = [set(step.fields.get("scope", "").split()) for step in asked_for if step.seq > each.seq]
        if not any(named <= scopes for scopes in later):
            which = short(wanted[1]) if wanted is not None else "a scope that it does not name"
            yield Proof(f"the server wants {which}, and has answered 403", (each.seq,))


@cause(
    "SIGNIN-6",
    "The authorization server refuses",
    phase="operation",
    blame="client",
    confidence="likely",
    fix="Compare it with what is registered, to the letter: client id, redirect URI, resource and scope.",
    example=trace(
        *_challenged(),
        _authorize(2),
        http_answer(302, exchange=2, location=f"{_BACK}?error=invalid_target"),
        transport="http",
    ),
)
def _refused_step(link: LinkState) -> Iterator[Proof]:
    done = max((step.seq for step in steps_of(link) if step.is_done), default=0)
    for each in _failed(link, "register", "authorize", "token"):
        if done > each.seq:
            continue
        given = {name: each.fields.get(name) for name in _COMPARED}
        sent = ", ".join(f"{name} {short(value)}" for name, value in given.items() if value)
        yield Proof(f"{_STEPS[each.kind]} was answered with {short(each.error)} ({sent})", (each.seq,))


_COMPARED: Final = ("client_id", "redirect_uri", "resource", "scope")
_STEPS: Final = {
    "register": "the registration",
    "authorize": "the authorization",
    "token": "the request for a token",
}
