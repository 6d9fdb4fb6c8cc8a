"""How far an IP address reaches, and where a URL that a server names may lead.

Servers name what they like: what cannot be parsed is empty here, and raises nothing.
"""

from __future__ import annotations

import ipaddress
import urllib.parse
from typing import Final, Literal

from yarl import URL

__all__ = ["Reach", "host_of", "join_url", "may_lead_to", "port_of", "reach_of", "split_url"]

Reach = Literal["public", "private", "loopback", "special"]
"""``special``: link-local, multicast, reserved: the metadata services of clouds are among them."""

_SHARED: Final = ipaddress.ip_network("100.64.0.0/10")
_TRANSLATED: Final = ipaddress.ip_network("64:ff9b::/96")
"""Behind which a translator finds an IPv4 address: https://www.rfc-editor.org/rfc/rfc6052#section-2.1"""
_ALLOWED: Final[dict[Reach, frozenset[Reach]]] = {
    "public": frozenset({"public"}),
    "private": frozenset({"public", "private"}),
    "loopback": frozenset({"public", "private", "loopback"}),
    "special": frozenset({"public"}),
}


def reach_of(address: str) -> Reach:
    """How far an address reaches.

    Raises:
        ValueError: it is none.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    if found in _TRANSLATED:
        inner = ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF)
    one = inner or found
    if one.is_loopback:
        return "loopback"
    if one.is_link_local or one.is_multicast or one.is_unspecified or one.is_reserved:
        return "special"
    if one.is_private or (one.version == 4 and one in _SHARED):
        return "private"
    return "public"


def may_lead_to(server: Reach, target: Reach) -> bool:
    """Whether a server of that reach may name a URL of this one: no server may send us further inwards.

    What is behind a public name must not make us ask the services of the network that we are in:
    https://www.rfc-editor.org/rfc/rfc9728#section-7.7
    """
    return target in _ALLOWED[server]


def split_url(url: str) -> urllib.parse.SplitResult:
    """The parts of a URL, all of them empty when it is none."""
    try:
        parts = urllib.parse.urlsplit(url)
        # Both are parsed when they are asked for only.
        _ = parts.port, parts.hostname
    except ValueError:
        return urllib.parse.urlsplit("")
    return parts


def port_of(parts: urllib.parse.SplitResult) -> int:
    """The port of a URL, that of its scheme where it names none."""
    return parts.port or (443 if parts.scheme == "https" else 80)


def host_of(url: str) -> str:
    """The host that a request for a URL goes to, "" when it is none.

    Digits of other scripts become plain ones on the way there, so that a name can turn out to be an address.
    """
    try:
        return URL(url).raw_host or ""
    except ValueError:
        return ""


def join_url(url: str, location: str) -> str:
    """Where a redirect leads to, "" when that is nowhere."""
    try:
        joined = urllib.parse.urljoin(url, location)
    except ValueError:
        return ""
    return joined if location and split_url(joined).hostname else ""
