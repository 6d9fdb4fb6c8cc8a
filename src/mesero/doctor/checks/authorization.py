"""What a server that wants credentials says of where to get some: every place, as a table. No login is begun.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from mesero.doctor.addresses import split_url
from mesero.doctor.checks.challenges import Challenge, find_bearer, parse_challenges
from mesero.doctor.checks.credentials import diagnose_token
from mesero.doctor.checks.issuers import Places, look_at_issuer
from mesero.doctor.checks.metadata import (
    difference,
    is_parent,
    issuer_places_of,
    odd_resource_places_of,
    reading_of,
    resource_places_of,
    strings_in,
)
from mesero.doctor.checks.tokens import has_credentials
from mesero.doctor.fetched import Fetched
from mesero.doctor.fetching import Fetcher
from mesero.doctor.sheet import OpenCheck, Sheet

__all__ = ["check_authorization"]

_MAX_ISSUERS: Final = 4


class _Found(msgspec.Struct, frozen=True):
    """The metadata of a resource: where, what, and where it was looked for in vain."""

    place: str = ""
    document: dict[str, Any] | None = None
    rows: tuple[Fetched, ...] = ()


async def check_authorization(
    sheet: Sheet,
    fetcher: Fetcher,
    seen: Fetched,
    headers: Mapping[str, str],
    *,
    clock: Callable[[], float] = time.time,
) -> None:
    """Look at all of it, if the server wants credentials.

    Args:
        sheet: Takes what is seen.
        fetcher: Sends the requests, without credentials.
        seen: What the URL answered to a message.
        headers: What was sent along.
        clock: Seconds since 1970.
    """
    with sheet.check("authorization") as check:
        is_disguised = sheet.has("AUTH-10")
        if seen.status not in (401, 403) and not is_disguised:
            check.skip("the server did not ask for credentials")
            return
        challenges = parse_challenges(seen.headers.get("www-authenticate", ""))
        bearer = find_bearer(challenges)
        sent = has_credentials(headers)
        if seen.status == 403 and not challenges and not sent and not is_disguised:
            check.skip("403 without a challenge")
            return
        _tell_challenges(check, seen, challenges)
        places = Places(check, fetcher)
        found = await _find_resource(places, seen, bearer)
        if is_disguised:
            check.warn("the server wants the user to sign in, and says so in another way than with 401")
        elif sent:
            check.fail(f"{seen.status} in spite of {', '.join(sent)}")
            diagnose_token(sheet, seen, headers, bearer, resource=found.document, now_s=clock())
        else:
            await _diagnose_way_in(sheet, places, seen, challenges, found)


def _tell_challenges(check: OpenCheck, seen: Fetched, challenges: list[Challenge]) -> None:
    if not challenges:
        check.say(f"{seen}, without WWW-Authenticate")
    for each in challenges:
        said = ", ".join(f"{name}={value!r}" for name, value in each.parameters.items())
        check.say(f"{seen.status} asks for {each.scheme}" + (f": {said}" if said else ""))


async def _find_resource(places: Places, seen: Fetched, bearer: Challenge | None) -> _Found:
    """Ask every place; the first that has a document counts, as it does for clients."""
    named = bearer.parameter("resource_metadata") if bearer is not None else ""
    wanted = [*([named] if named else []), *resource_places_of(seen.url)]
    found = _Found()
    rows: list[Fetched] = []
    for place in dict.fromkeys(wanted):
        row = await places.ask(place)
        rows.append(row)
        document = row.find_document()
        if document is None:
            continue
        resource = document.get("resource")
        apart = difference(resource, seen.url)
        places.check.say(f"{row}: resource {resource!r} " + (f"≠ URL ({apart})" if apart else "= URL"))
        if found.document is None:
            found = _Found(place, document)
    return msgspec.structs.replace(found, rows=tuple(rows))


async def _diagnose_way_in(
    sheet: Sheet, places: Places, seen: Fetched, challenges: list[Challenge], found: _Found
) -> None:
    check, bearer = places.check, find_bearer(challenges)
    named = bearer.parameter("resource_metadata") if bearer is not None else ""
    if found.document is None:
        await _diagnose_nowhere(sheet, places, seen, challenges, found)
        return
    check.fail("the server wants the user to sign in")
    if not named:
        # https://modelcontextprotocol.io/specification/2025-06-18/basic/authorization#authorization-server-location
        sheet.diagnose(
            "AUTH-4",
            "the 401 has no resource_metadata, and clients of 2025-06-18 look nowhere else; the metadata "
            f"is at {found.place}",
            fix=f'WWW-Authenticate: Bearer resource_metadata="{found.place}"',
            severity="degraded",
        )
    elif named != found.place:
        # "use the resource metadata URL from the parsed WWW-Authenticate headers when present"
        sheet.diagnose(
            "AUTH-11",
            f"{found.rows[0]}; the metadata is at {found.place}",
            fix=f'WWW-Authenticate: Bearer resource_metadata="{found.place}"',
        )
    _diagnose_resource(sheet, found, seen.url)
    issuers = strings_in(found.document, "authorization_servers")
    if not issuers:
        # "The Protected Resource Metadata document returned by the MCP server MUST include the
        # authorization_servers field containing at least one authorization server."
        sheet.diagnose("AUTH-15", f"the document at {found.place} has no authorization_servers")
    await _look_at_issuers(sheet, places, issuers[:_MAX_ISSUERS])
    scopes = _scopes_to_ask(check, bearer, found.document)
    by = f" with {' or '.join(issuers[:_MAX_ISSUERS])}" if issuers else ""
    asking = f", and ask for the scopes {' '.join(scopes)}" if scopes else ""
    sheet.diagnose("AUTH-1", f"no credentials were sent; sign in{by}{asking}", evidence=check.evidence)


def _scopes_to_ask(check: OpenCheck, bearer: Challenge | None, document: dict[str, Any]) -> tuple[str, ...]:
    """What a client has to ask for: the challenge decides, else everything that is supported.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-selection-strategy
    """
    challenged = bearer.scopes if bearer is not None else ()
    supported = tuple(strings_in(document, "scopes_supported"))
    if challenged or supported:
        check.say(
            f"scopes: the challenge asks for {' '.join(challenged) or 'none'}, "
            f"supported are {' '.join(supported) or 'not said'}"
        )
    if "offline_access" in (*challenged, *supported):
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#refresh-tokens
        check.say("offline_access is no scope of a resource, and should not be among them")
    return challenged or supported


def _diagnose_resource(sheet: Sheet, found: _Found, url: str) -> None:
    """The resource must be the URL: https://www.rfc-editor.org/rfc/rfc9728#section-3.3"""
    resource = (found.document or {}).get("resource")
    apart = difference(resource, url)
    if not apart:
        return
    is_near = is_parent(resource, url)
    who = "clients that compare character by character refuse it" if is_near else "clients refuse it"
    sheet.diagnose(
        "AUTH-5",
        f"the metadata says {resource!r}, the URL is {url!r}: {apart}; {who}",
        fix=f'Server: "resource": "{url}" in {found.place}.',
        severity="degraded" if is_near else "broken",
    )


async def _diagnose_nowhere(
    sheet: Sheet, places: Places, seen: Fetched, challenges: list[Challenge], found: _Found
) -> None:
    """There is no metadata of the resource where clients look: is it elsewhere, or of an older kind?"""
    check = places.check
    if any(row.is_limited for row in found.rows):
        check.warn("what it says of signing in is not known: it wants us to wait (429)")
        return
    check.fail("no metadata of the resource")
    refused = [row for row in found.rows if row.is_withheld]
    if refused:
        sheet.diagnose("AUTH-16", f"the 401 names {refused[0].url}: {refused[0].error}")
        return
    schemes = [each.scheme for each in challenges]
    if schemes and find_bearer(challenges) is None:
        sheet.diagnose(
            "AUTH-3",
            f"{seen}; it asks for {', '.join(schemes)}, of which clients know nothing",
            fix=f'"headers": {{"Authorization": "{schemes[0]} …"}}, with credentials for it.',
            evidence=check.evidence,
        )
        return
    wanted = resource_places_of(seen.url)[0]
    odd = [await places.ask(place) for place in odd_resource_places_of(seen.url)]
    misplaced = [each.url for each in odd if each.find_document() is not None]
    old = [await places.ask(each) for each in issuer_places_of(_origin_of(seen.url))]
    older = [each.url for each in old if each.find_document() is not None]
    asked = ", ".join(each.url for each in found.rows)
    pages = [each.url for each in found.rows if reading_of(each)]
    why = f"{seen}, and no metadata at {asked}"
    fix = ""
    if misplaced:
        check.say(f"GET {misplaced[0]} → 200: metadata, where no client looks")
        why += f"; it is at {misplaced[0]}, where no client looks"
        fix = f"Server: serve it at {wanted}. The path comes last: it is inserted, not appended."
    elif older:
        why += (
            f"; only that of an authorization server is there ({older[0]}), where clients of 2025-03-26 look"
        )
        fix = f"Server: serve a document with resource and authorization_servers at {wanted}."
    elif pages:
        why += f"; {pages[0]} is answered with a page, as every path there may be"
    sheet.diagnose("AUTH-3", why, fix=fix, evidence=check.evidence)


def _origin_of(url: str) -> str:
    parts = split_url(url)
    return f"{parts.scheme}://{parts.netloc}"


async def _look_at_issuers(sheet: Sheet, places: Places, issuers: list[str]) -> None:
    looked = [await look_at_issuer(places, each) for each in issuers]
    # One that can be used is enough: then what is wrong with the others is no more than a pity.
    is_one_good = any(each.is_usable for each in looked)
    for one in looked:
        for problem in one.problems:
            is_less = is_one_good and not one.is_usable and problem.severity != "note"
            sheet.diagnose(
                problem.code,
                problem.cause,
                fix=problem.fix,
                severity="degraded" if is_less else problem.severity,
                evidence=places.check.evidence,
            )
