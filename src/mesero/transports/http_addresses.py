"""URLs: which are accepted, how they are shown, and whether a proxy stands in between.

HTTPS for everything remote, plain HTTP for loopback only unless asked. Credentials never stand in a URL, and
what looks like one in a query is not shown. Loopback never goes through a proxy; everything else follows the
proxy settings of the environment (``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY``, ``NO_PROXY``).
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from urllib.request import getproxies, proxy_bypass

from yarl import URL

from mesero.errors import UsageError

__all__ = ["check_url", "find_proxy", "has_same_origin", "is_loopback", "shown_url"]

_SECRET_NAME = re.compile(r"key|token|secret|auth|passw|pwd|sig|cred|session|code", re.IGNORECASE)


def check_url(url: str, *, allow_plain_http: bool) -> URL:
    """The parsed URL of a server, without its fragment.

    Raises:
        UsageError: no http(s) URL, with credentials in it, or plain HTTP to another machine.
    """
    try:
        parsed = URL(url)
    except ValueError:
        # The text is not repeated: what cannot be parsed cannot be cleaned of secrets either.
        raise UsageError("the URL cannot be parsed", fix="It looks like https://example.com/mcp") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise UsageError(
            f"{shown_url(parsed)!r} is no http(s) URL", fix="It looks like https://example.com/mcp"
        )
    if parsed.user is not None or parsed.password is not None:
        raise UsageError(
            f"the URL of {parsed.host} has credentials in it, which would end up in logs",
            fix="Pass headers={'Authorization': …} instead",
        )
    if parsed.scheme == "http" and not is_loopback(parsed.host) and not allow_plain_http:
        raise UsageError(
            f"{shown_url(parsed)} is plain HTTP to another machine: anybody on the way can change it",
            fix="Use https://, or pass allow_plain_http=True",
        )
    return parsed.with_fragment(None)


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    name = host.lower().rstrip(".")
    # "The domain "localhost." and any names falling within ".localhost." are special"
    # https://www.rfc-editor.org/rfc/rfc6761#section-6.3
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def has_same_origin(one: URL, other: URL) -> bool:
    """Whether both have the same scheme, host and port, and neither has credentials of its own in it."""
    if any(part is not None for url in (one, other) for part in (url.user, url.password)):
        return False
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def shown_url(url: URL) -> str:
    """The URL for messages to people: no credentials, and of secrets in the query only a digest."""
    if not url.scheme or not url.host:
        return str(url.with_query(None).with_fragment(None))
    clean = url.with_user(None).with_fragment(None)
    if not clean.query_string:
        return str(clean)
    shown = [
        (name, _digest_of(value) if _SECRET_NAME.search(name) else value)
        for name, value in clean.query.items()
    ]
    return str(clean.with_query(shown))


def _digest_of(value: str) -> str:
    # Equal values stay equal, so that two keys for one server can be told apart.
    return "redacted-" + hashlib.sha256(value.encode()).hexdigest()[:16]


def find_proxy(url: URL) -> URL | None:
    """The proxy that the environment names for a URL, or None.

    Raises:
        UsageError: it names one that cannot be used.
    """
    host = url.host or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    if not named:
        return None
    try:
        proxy = URL(named if "://" in named else f"http://{named}")
    except ValueError:
        proxy = URL()
    if proxy.scheme not in ("http", "https") or not proxy.host:
        raise UsageError(
            f"the environment names a proxy for {host} that is unusable: {shown_url(proxy) or 'no URL'}",
            fix="Proxies are http:// or https:// URLs; NO_PROXY lists hosts that need none",
        )
    return proxy
