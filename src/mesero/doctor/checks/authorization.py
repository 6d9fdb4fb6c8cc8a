"""Where a server that answers 401 says that a token is to be had: every place, as a table. No login is begun.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping
from typing import Any, Final

from mesero.doctor.fetching import Fetched, Fetcher
from mesero.doctor.sheet import OpenCheck, Sheet

__all__ = ["check_authorization", "issuer_places_of", "resource_places_of"]

_NAMED: Final = re.compile(r'resource_metadata="?([^",\s]+)"?', re.IGNORECASE)


def resource_places_of(url: str) -> list[str]:
    """Where the metadata of a resource may be: with its path, then at the root.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#protected-resource-metadata-discovery-requirements
    """
    parts = urllib.parse.urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource"
    path = parts.path.rstrip("/")
    return [f"{root}{path}", root] if path else [root]


def issuer_places_of(issuer: str) -> list[str]:
    """Where the metadata of an authorization server may be, in the order in which clients look.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-server-metadata-discovery
    """
    parts = urllib.parse.urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    places = [
        f"{root}/.well-known/{name}{path}" for name in ("oauth-authorization-server", "openid-configuration")
    ]
    return [*places, f"{root}{path}/.well-known/openid-configuration"] if path else places


async def check_authorization(
    sheet: Sheet, fetcher: Fetcher, seen: Fetched, headers: Mapping[str, str]
) -> None:
    """Look at all of it, if the server wants credentials.

    Args:
        sheet: Takes what is seen.
        fetcher: Sends the requests, without credentials.
        seen: What the URL answered to a message.
        headers: What was sent along.
    """
    with sheet.check("authorization") as check:
        if seen.status not in (401, 403):
            check.skip("the server did not ask for credentials")
            return
        if any(name.lower() == "authorization" for name in headers):
            said = seen.headers.get("www-authenticate", "")
            check.fail(f"{seen.status} in spite of credentials; {said}".rstrip("; "))
            code = "AUTH-2" if seen.status == 401 else "AUTH-9"
            sheet.diagnose(code, f"{seen}" + (f"; it says: {said}" if said else ""))
            return
        if seen.status == 403 and "www-authenticate" not in seen.headers:
            check.skip("403 without a challenge")
            return
        await _look_around(sheet, check, fetcher, seen)


async def _look_around(sheet: Sheet, check: OpenCheck, fetcher: Fetcher, seen: Fetched) -> None:
    named = _NAMED.search(seen.headers.get("www-authenticate", ""))
    places = [*([named[1]] if named else []), *resource_places_of(seen.url)]
    found, document = await _first_document(check, fetcher, list(dict.fromkeys(places)))
    if found is None or document is None:
        check.fail("no metadata of the resource")
        sheet.diagnose("AUTH-3", f"{seen}, and no metadata at {', '.join(places)}", evidence=check.evidence)
        return
    check.fail("the server wants the user to sign in")
    servers = document.get("authorization_servers")
    issuers = [each for each in servers if isinstance(each, str)] if isinstance(servers, list) else []
    by = f" with {issuers[0]}" if issuers else ""
    if named is None:
        sheet.diagnose(
            "AUTH-4",
            f"the 401 has no resource_metadata; the metadata is at {found.url}",
            fix=f'WWW-Authenticate: Bearer resource_metadata="{found.url}"',
            severity="degraded",
        )
    resource = document.get("resource")
    if resource != seen.url:
        sheet.diagnose(
            "AUTH-5",
            f"the metadata says {resource!r}, the URL is {seen.url!r}{_only_slash(resource, seen.url)}",
            severity="degraded",
        )
    if issuers:
        await _look_at_issuer(sheet, check, fetcher, issuers[0])
    sheet.diagnose("AUTH-1", f"no credentials were sent; sign in{by}", evidence=check.evidence)


def _only_slash(one: object, other: str) -> str:
    same = isinstance(one, str) and one.rstrip("/") == other.rstrip("/")
    return ": only a slash at the end differs" if same else ""


async def _first_document(
    check: OpenCheck, fetcher: Fetcher, places: list[str]
) -> tuple[Fetched | None, dict[str, Any] | None]:
    """Ask every place; the first that has a document, and the document."""
    first: tuple[Fetched | None, dict[str, Any] | None] = (None, None)
    for place in places:
        seen = await fetcher.fetch("GET", place, headers={"Accept": "application/json"})
        check.say(str(seen))
        document = seen.find_document()
        if document is not None and first[0] is None:
            first = (seen, document)
    return first


async def _look_at_issuer(sheet: Sheet, check: OpenCheck, fetcher: Fetcher, issuer: str) -> None:
    found, document = await _first_document(check, fetcher, issuer_places_of(issuer))
    if found is None or document is None:
        sheet.diagnose("AUTH-8", f"no metadata of {issuer} at {', '.join(issuer_places_of(issuer))}")
        return
    named = document.get("issuer")
    if named != issuer:
        # https://www.rfc-editor.org/rfc/rfc8414#section-3.3
        same = _only_slash(named, issuer)
        sheet.diagnose("AUTH-6", f"the resource names {issuer!r}, its document says {named!r}{same}")
    ways = []
    if document.get("client_id_metadata_document_supported"):
        ways.append("client id metadata documents")
    if document.get("registration_endpoint"):
        ways.append("dynamic registration")
    check.say(f"registers clients by {' and '.join(ways) or 'hand only'}")
    if not ways:
        sheet.diagnose(
            "AUTH-7", f"{issuer} offers neither dynamic registration nor client id metadata documents"
        )
