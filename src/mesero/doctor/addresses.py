"""How far an IP address reaches, and which addresses a URL that a server names may lead to."""

from __future__ import annotations

import ipaddress
from typing import Final, Literal

__all__ = ["Reach", "may_lead_to", "reach_of"]

Reach = Literal["public", "private", "loopback", "special"]
"""``special``: link-local, multicast, reserved: the metadata services of clouds are among them."""

_SHARED: Final = ipaddress.ip_network("100.64.0.0/10")
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
