"""One authorization server: where its metadata is, whether it calls itself so, and what clients need of it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mesero.doctor.addresses import join_url, split_url
from mesero.doctor.checks.metadata import (
    difference,
    first_issuer_place_of,
    issuer_places_of,
    odd_issuer_places_of,
    reading_of,
    strings_in,
)
from mesero.doctor.fetched import Fetched
from mesero.doctor.fetching import Fetcher
from mesero.doctor.report import Severity
from mesero.doctor.sheet import OpenCheck
from mesero.transports.http_addresses import is_loopback

__all__ = ["Issuer", "Places", "Problem", "look_at_issuer"]

_MAX_REDIRECTS: Final = 2
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "registration_endpoint")


class Places:
    """The table of every place that was asked: a line for each, in the evidence of a check.

    Args:
        check: Takes the lines.
        fetcher: Sends the requests, without credentials.
    """

    def __init__(self, check: OpenCheck, fetcher: Fetcher) -> None:
        self.check = check
        self._fetcher = fetcher

    async def ask(self, place: str) -> Fetched:
        """Ask one place, and where it redirects to. What is a document gets its line when it was compared."""
        seen = await self._fetcher.fetch_named(place)
        for _ in range(_MAX_REDIRECTS):
            location = seen.headers.get("location", "")
            if not 300 <= seen.status < 400 or not location:
                break
            self.check.say(f"{seen}, to {location}")
            seen = await self._fetcher.fetch_named(join_url(seen.url, location))
        if seen.find_document() is None:
            reading = reading_of(seen)
            self.check.say(f"{seen}: {reading}" if reading else str(seen))
        return seen


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


async def look_at_issuer(places: Places, issuer: str) -> Issuer:
    """Look for its metadata at every place, and judge it.

    Args:
        places: The table.
        issuer: As the resource names it.
    """
    rows: list[Fetched] = []
    first: tuple[str, dict[str, Any]] | None = None
    for place in issuer_places_of(issuer):
        row = await places.ask(place)
        rows.append(row)
        document = row.find_document()
        if document is None:
            continue
        apart = difference(document.get("issuer"), issuer)
        compared = f"≠ {issuer!r} ({apart})" if apart else "as the resource names it"
        places.check.say(f"{row}: issuer {document.get('issuer')!r} {compared}")
        first = first or (place, document)
    if first is None and any(row.is_limited for row in rows):
        places.check.warn(f"what {issuer} says of itself is not known: it wants us to wait (429)")
        return Issuer(issuer)
    if first is None:
        return Issuer(issuer, (await _miss(places, issuer, rows),))
    return Issuer(issuer, tuple(_judge(places.check, issuer, *first)))


async def _miss(places: Places, issuer: str, rows: list[Fetched]) -> Problem:
    """No metadata where clients look: why?"""
    refused = [row for row in rows if row.is_withheld]
    if refused:
        code = "AUTH-14" if "plain HTTP" in refused[0].error else "AUTH-16"
        return Problem(code, f"the metadata names {issuer}: {refused[0].error}")
    wanted = first_issuer_place_of(issuer)
    misplaced = [
        row.url
        for place in odd_issuer_places_of(issuer)
        if (row := await places.ask(place)).find_document() is not None
    ]
    if misplaced:
        places.check.say(f"GET {misplaced[0]} → 200: metadata, where no client looks")
        return Problem(
            "AUTH-8",
            f"no metadata of {issuer} at {', '.join(row.url for row in rows)}; "
            f"it is at {misplaced[0]}, where no client looks",
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
                f"the resource names {issuer!r}, the document at {place} says "
                f"{document.get('issuer')!r}: {apart}",
            )
        )
    problems += _judge_pkce(issuer, place, document)
    problems += _judge_schemes(issuer, document)
    problems += _judge_registration(check, issuer, document)
    iss = document.get("authorization_response_iss_parameter_supported") is True
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-response-validation
    check.say(f"iss in authorization responses: {'announced' if iss else 'not announced'}")
    wanted = first_issuer_place_of(issuer)
    if place != wanted:
        problems.append(
            Problem(
                "AUTH-12",
                f"{wanted} has no metadata, {place} has: clients of 2025-06-18 and before ask for the "
                "first alone",
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
        parts = split_url(value)
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
