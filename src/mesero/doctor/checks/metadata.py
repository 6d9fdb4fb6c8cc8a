"""Where metadata of authorization belongs, and which of its strings must be equal. Pure.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery
"""

from __future__ import annotations

from typing import Any, Final

from mesero.doctor.addresses import split_url
from mesero.doctor.fetched import Fetched

__all__ = [
    "difference",
    "first_issuer_place_of",
    "is_parent",
    "issuer_places_of",
    "odd_issuer_places_of",
    "odd_resource_places_of",
    "reading_of",
    "resource_places_of",
    "strings_in",
]

_RESOURCE: Final = "/.well-known/oauth-protected-resource"
_SERVER: Final = "/.well-known/oauth-authorization-server"
_OPENID: Final = "/.well-known/openid-configuration"


def _root_and_path(url: str) -> tuple[str, str]:
    parts = split_url(url)
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def resource_places_of(url: str) -> list[str]:
    """Where the metadata of a resource may be: with its path, then at the root.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements
    """
    root, path = _root_and_path(url)
    return list(dict.fromkeys([f"{root}{_RESOURCE}{path}", f"{root}{_RESOURCE}"]))


def odd_resource_places_of(url: str) -> list[str]:
    """Where servers put it by mistake: after the path."""
    root, path = _root_and_path(url)
    return [f"{root}{path}{_RESOURCE}"] if path else []


def issuer_places_of(issuer: str) -> list[str]:
    """Where the metadata of an authorization server may be, in the order in which clients look.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery
    """
    root, path = _root_and_path(issuer)
    places = [f"{root}{_SERVER}{path}", f"{root}{_OPENID}{path}"]
    return [*places, f"{root}{path}{_OPENID}"] if path else places


def first_issuer_place_of(issuer: str) -> str:
    """The place that clients ask first; those of 2025-06-18 and before ask it alone."""
    return issuer_places_of(issuer)[0]


def odd_issuer_places_of(issuer: str) -> list[str]:
    """Where authorization servers put it by mistake: after the path, or without the path."""
    root, path = _root_and_path(issuer)
    return [f"{root}{path}{_SERVER}", f"{root}{_SERVER}"] if path else []


def strings_in(document: dict[str, Any], name: str) -> list[str]:
    """The strings of a list in a document."""
    value = document.get(name)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def is_parent(resource: object, url: str) -> bool:
    """Whether a resource is the URL, or stands above it on the same origin."""
    if not isinstance(resource, str):
        return False
    (root, path), (own_root, own_path) = _root_and_path(resource), _root_and_path(url)
    return root.lower() == own_root.lower() and f"{own_path}/".startswith(f"{path}/")


def difference(one: object, other: str) -> str:
    """Where two strings part that must be equal, character by character; "" where they are equal."""
    if one == other:
        return ""
    if not isinstance(one, str):
        return "it is no string" if one is not None else "it is missing"
    if one.rstrip("/") == other.rstrip("/"):
        return "only a slash at the end differs"
    place = next(
        (number for number, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    (root, path), (other_root, other_path) = _root_and_path(one), _root_and_path(other)
    if one.lower() == other.lower():
        what = "only upper and lower case differ"
    elif split_url(one).hostname != split_url(other).hostname:
        what = "the hosts differ"
    elif root != other_root:
        what = "scheme or port differ"
    elif not path or not other_path:
        what = "one has a path, the other has none"
    else:
        what = "the paths differ"
    return f"{what}: they part at character {place + 1}, {one[place:][:30]!r} and {other[place:][:30]!r}"


def reading_of(seen: Fetched) -> str:
    """What stands in place of a document, for a table; "" where it is one."""
    if seen.find_document() is not None or seen.status != 200:
        return ""
    if seen.kind == "text/html" or seen.body.lstrip()[:1] == b"<":
        return "a page, not metadata"
    return "nothing" if not seen.body else "not a JSON object"
