"""One authorization server: where its metadata is, whether it calls itself so, and what clients need of it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from mesero.doctor.checks.metadata import (
    difference,
    issuer_places_of,
    legacy_issuer_place_of,
    odd_issuer_places_of,
    reading_of,
    strings_in,
)
from mesero.doctor.fetching import Fetched, Fetcher
from mesero.doctor.report import Severity
from mesero.doctor.sheet import OpenCheck
from mesero.transports.http_addresses import is_loopback

__all__ = ["Ask", "Issuer", "Problem", "look_at_issuer"]

Ask = Callable[[OpenCheck, Fetcher, str], Awaitable[Fetched]]
"""Asks one place, and adds a line to the table."""

_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "registration_endpoint")


class Problem(msgspec.Struct, frozen=True):
    """A diagnosis to be made. ``severity`` None is that of the table."""

    code: str
    cause: str
    fix: str = ""
    severity: Severity | None = None


class Issuer(msgspec.Struct, frozen=True):
    """What was found out of one authorization server."""

    name: str
    problems: tuple[Problem, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether a client can begin a login with it."""
        return all(each.severity in ("note", "degraded") for each in self.problems)


async def look_at_issuer(check: OpenCheck, fetcher: Fetcher, issuer: str, ask: Ask) -> Issuer:
    """Look for its metadata at every place, and judge it.

    Args:
        check: Takes the table.
        fetcher: Sends the requests, without credentials.
        issuer: As the resource names it.
        ask: Asks one place.
    """
    rows: list[Fetched] = []
    first: tuple[str, dict[str, Any]] | None = None
    for place in issuer_places_of(issuer):
        row = await ask(check, fetcher, place)
        rows.append(row)
        document = row.find_document()
        if document is None:
            continue
        apart = difference(document.get("issuer"), issuer)
        compared = f"≠ {issuer!r} ({apart})" if apart else "as the resource names it"
        check.say(f"{row}: issuer {document.get('issuer')!r} {compared}")
        first = first or (place, document)
    if first is None:
        return Issuer(issuer, (await _miss(check, fetcher, issuer, rows, ask),))
    return Issuer(issuer, tuple(_judge(check, issuer, *first)))


async def _miss(
    check: OpenCheck, fetcher: Fetcher, issuer: str, rows: list[Fetched], ask: Ask
) -> Problem:
    """No metadata where clients look: why?"""
    refused = [row for row in rows if row.error.startswith("not asked")]
    if refused:
        code = "AUTH-14" if "plain HTTP" in refused[0].error else "AUTH-16"
        return Problem(code, f"the metadata names {issuer}: {refused[0].error}")
    wanted = legacy_issuer_place_of(issuer)
    misplaced = [
        row.url
        for place in odd_issuer_places_of(issuer)
        if (row := await ask(check, fetcher, place)).find_document() is not None
    ]
    if misplaced:
        return Problem(
            "AUTH-8",
            f"no metadata of {issuer} at {', '.join(row.url for row in rows)}; it is at {misplaced[0]}, where "
            "no client looks",
            fix=f"Serve the same document at {wanted}.",
        )
    pages = [f"{row.url} is answered with {reading_of(row)}" for row in rows if reading_of(row)]
    also = f"; {pages[0]}" if pages else ""
    return Problem("AUTH-8", f"no metadata of {issuer} at {', '.join(row.url for row in rows)}{also}")


def _judge(check: OpenCheck, issuer: str, place: str, document: dict[str, Any]) -> list[Problem]:
    problems: list[Problem] = []
    apart = difference(document.get("issuer"), issuer)
    if apart:
        # "If they differ, the client MUST NOT use the metadata."
        # https://www.rfc-editor.org/rfc/rfc8414#section-3.3
        problems.append(
            Problem(
                "AUTH-6",
                f"the resource names {issuer!r}, the document at {place} says {document.get('issuer')!r}: {apart}",
            )
        )
    problems += _judge_pkce(issuer, place, document)
    problems += _judge_schemes(issuer, document)
    problems += _judge_registration(check, issuer, document)
    iss = document.get("authorization_response_iss_parameter_supported") is True
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-response-validation
    check.say(f"iss in authorization responses: {'announced' if iss else 'not announced'}")
    wanted = legacy_issuer_place_of(issuer)
    if place != wanted:
        problems.append(
            Problem(
                "AUTH-12",
                f"{wanted} has no metadata, {place} has: clients of 2025-06-18 and before ask for the first alone",
                fix=f"Serve the same document at {wanted}, too.",
                severity="note",
            )
        )
    return problems


def _judge_pkce(issuer: str, place: str, document: dict[str, Any]) -> list[Problem]:
    """PKCE is a must, and nothing but the metadata tells whether it is there.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#authorization-code-protection
    """
    methods = strings_in(document, "code_challenge_methods_supported")
    if "S256" in methods:
        return []
    said = f"names {', '.join(methods)} alone" if methods else "is not there"
    return [
        Problem(
            "AUTH-13",
            f"code_challenge_methods_supported {said} in {place}: clients must refuse to go on with {issuer}",
        )
    ]


def _judge_schemes(issuer: str, document: dict[str, Any]) -> list[Problem]:
    """Everything of it must be https, but on this machine.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#communication-security
    """
    named = {"issuer": issuer, **{name: document.get(name) for name in _ENDPOINTS}}
    plain = []
    for name, value in named.items():
        if not isinstance(value, str):
            continue
        parts = urllib.parse.urlsplit(value)
        if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            plain.append(f"{name} is {value}")
    return [Problem("AUTH-14", "; ".join(plain))] if plain else []


def _judge_registration(check: OpenCheck, issuer: str, document: dict[str, Any]) -> list[Problem]:
    """How a client becomes known there.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
    """
    ways = []
    if document.get("client_id_metadata_document_supported") is True:
        ways.append("client id metadata documents (CIMD)")
    if document.get("registration_endpoint"):
        ways.append("dynamic registration (DCR, deprecated)")
    check.say(f"{issuer} registers clients by {' and '.join(ways) or 'hand only'}")
    if ways:
        return []
    return [
        Problem("AUTH-7", f"{issuer} offers neither dynamic registration nor client id metadata documents")
    ]
