"""Why credentials that were sent are refused, as far as the token and the server's own words tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mesero.doctor.checks.challenges import Challenge
from mesero.doctor.checks.metadata import difference, strings_in
from mesero.doctor.checks.tokens import Token, find_misshape, read_token
from mesero.doctor.fetched import Fetched
from mesero.doctor.sheet import Sheet

__all__ = ["diagnose_token"]


def diagnose_token(
    sheet: Sheet,
    seen: Fetched,
    headers: Mapping[str, str],
    bearer: Challenge | None,
    *,
    resource: dict[str, Any] | None,
    now_s: float,
) -> None:
    """The most telling reason for a 401 or 403.

    Args:
        sheet: Takes the diagnosis.
        seen: The refusal.
        headers: What was sent along.
        bearer: What the server says to it.
        resource: The metadata of the resource, where there is some.
        now_s: Seconds since 1970.
    """
    said = _words_of(seen, bearer)
    token = read_token(headers)
    misshape = find_misshape(headers)
    if misshape:
        sheet.diagnose("AUTH-2", f"{seen}{said}; {misshape}", fix='"Authorization": "Bearer <token>".')
    elif bearer is not None and (bearer.parameter("error") == "insufficient_scope" or seen.status == 403):
        _diagnose_scope(sheet, seen, bearer, token, said)
    elif seen.status == 403:
        sheet.diagnose("AUTH-9", f"{seen}{said}")
    elif token is None:
        sheet.diagnose("AUTH-2", f"{seen}{said}")
    elif token.expires_s is not None and token.expires_s <= now_s:
        sheet.diagnose("AUTH-17", f"{seen}; the token expired {_span(now_s - token.expires_s)} ago")
    elif token.begins_s is not None and token.begins_s > now_s:
        sheet.diagnose(
            "AUTH-2",
            f"{seen}{said}; the token is valid in {_span(token.begins_s - now_s)} only",
            fix="Look at the clocks of this machine and of the authorization server.",
        )
    else:
        _diagnose_audience(sheet, seen, token, resource, said)


def _words_of(seen: Fetched, bearer: Challenge | None) -> str:
    """What the server says to it, for the end of a sentence."""
    if bearer is None:
        said = seen.headers.get("www-authenticate", "")
        return f"; it says: {said}" if said else ""
    words = ": ".join(filter(None, (bearer.parameter("error"), bearer.parameter("error_description"))))
    return f"; it says {words}" if words else ""


def _diagnose_scope(sheet: Sheet, seen: Fetched, bearer: Challenge, token: Token | None, said: str) -> None:
    """https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-challenge-handling"""
    wanted = bearer.scopes
    if not wanted:
        sheet.diagnose("AUTH-9", f"{seen}{said}")
        return
    fix = f"Sign in again, and ask for {' '.join(wanted)} beside what the token has."
    if token is None or token.scopes is None:
        sheet.diagnose("AUTH-9", f"{seen}{said}; it asks for {' '.join(wanted)}", fix=fix)
        return
    lacking = [each for each in wanted if each not in token.scopes]
    has = " ".join(token.scopes) or "none"
    what = f"the token lacks {' '.join(lacking)}" if lacking else "the token names all of them"
    sheet.diagnose("AUTH-9", f"{seen}{said}; it asks for {' '.join(wanted)}, {what} (it has {has})", fix=fix)


def _diagnose_audience(
    sheet: Sheet, seen: Fetched, token: Token, resource: dict[str, Any] | None, said: str
) -> None:
    """A server must take tokens only that were issued for it, by whom it names.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling
    """
    own = (resource or {}).get("resource")
    wanted = own if isinstance(own, str) else seen.url
    issuers = strings_in(resource or {}, "authorization_servers")
    if token.audiences and wanted not in token.audiences:
        audiences = ", ".join(repr(each) for each in token.audiences)
        apart = difference(token.audiences[0], wanted)
        sheet.diagnose(
            "AUTH-18",
            f"{seen}; the token is for {audiences}, the server is {wanted!r}: {apart}",
            fix=f"Ask for a token with resource={wanted}, character for character.",
        )
    elif issuers and token.issuer and token.issuer not in issuers:
        apart = difference(token.issuer, issuers[0])
        sheet.diagnose(
            "AUTH-18",
            f"{seen}; the token was issued by {token.issuer!r}, the server names {issuers[0]!r}: {apart}",
            fix=f"Sign in with {issuers[0]}.",
        )
    else:
        sheet.diagnose("AUTH-2", f"{seen}{said}")


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 86_400:.0f} days"
