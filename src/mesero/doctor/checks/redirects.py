"""Where a redirect leads, and what it costs. It is followed without credentials, and on the same host alone.

https://www.rfc-editor.org/rfc/rfc9110#section-15.4
"""

from __future__ import annotations

from typing import Final

from mesero.doctor.addresses import join_url, split_url
from mesero.doctor.checks.pages import find_login
from mesero.doctor.fetched import Fetched
from mesero.doctor.fetching import POST_HEADERS, Fetcher, discover_request
from mesero.doctor.sheet import Sheet

__all__ = ["diagnose_redirect", "follow"]

_MAX_HOPS: Final = 5
_KEEPS_METHOD: Final = (307, 308)


def _place_of(seen: Fetched) -> str:
    return join_url(seen.url, seen.headers.get("location", "")) if 300 <= seen.status < 400 else ""


async def follow(fetcher: Fetcher, seen: Fetched) -> tuple[list[Fetched], bool]:
    """What comes at the places that a redirect leads to, and whether they go in a circle.

    Args:
        fetcher: Sends the requests.
        seen: The answer that is a redirect.
    """
    headers, body = discover_request()
    hops: list[Fetched] = []
    been = {(seen.method, seen.url)}
    last = seen
    while (to := _place_of(last)) and _same_host(last.url, to):
        # A browser, and most libraries, make a GET of a POST at 301 and 302, and of everything at 303.
        # https://fetch.spec.whatwg.org/#http-redirect-fetch
        method = last.method if last.status in _KEEPS_METHOD else "GET"
        if (method, to) in been or len(hops) == _MAX_HOPS:
            return hops, True
        been.add((method, to))
        if method == "POST":
            last = await fetcher.fetch(method, to, headers=headers, body=body)
        else:
            last = await fetcher.fetch(method, to, headers={"Accept": POST_HEADERS["Accept"]})
        hops.append(last)
    return hops, False


def _same_host(one: str, other: str) -> bool:
    """Whether it is the same host, and not less secure."""
    before, after = split_url(one), split_url(other)
    if before.hostname != after.hostname:
        return False
    return before.port == after.port if before.scheme == after.scheme else after.scheme == "https"


async def diagnose_redirect(sheet: Sheet, fetcher: Fetcher, seen: Fetched, *, is_connected: bool) -> None:
    """Tell the kinds of redirects apart.

    Args:
        sheet: Takes the diagnosis.
        fetcher: To look where it leads.
        seen: The answer that is one.
        is_connected: Whether the client follows it.
    """
    to = _place_of(seen)
    said = f"{seen.method} {seen.url} is answered with {seen.status} and leads to {to}"
    if seen.url.startswith("https://") and to.startswith("http://"):
        secure = "https://" + to.removeprefix("http://")
        sheet.diagnose(
            "HTTP-2",
            f"{seen.url} leads to {to}; it is not followed, and credentials were not sent there",
            fix=f'"url": "{secure}". Server: trust the proxy\'s X-Forwarded-Proto',
        )
        return
    if is_connected:
        sheet.diagnose("HTTP-1", said, fix=f'"url": "{to}"', severity="degraded")
        return
    hops, is_circle = await follow(fetcher, seen)
    way = [f"{each}" for each in hops]
    last = hops[-1] if hops else seen
    leaves = _place_of(last)
    login = find_login(seen) or next((found for each in hops if (found := find_login(each))), "")
    if login:
        sheet.diagnose("AUTH-10", f"{said}: {login}", evidence=way)
    elif is_circle:
        sheet.diagnose("HTTP-10", f"{said}; that goes in a circle", evidence=way)
    elif leaves and not _same_host(last.url, leaves):
        sheet.diagnose(
            "HTTP-11",
            f"{said}, which is another server; nothing was sent there"
            if last is seen
            else f"{said}, and from there to {leaves}, which is another server; nothing was sent there",
            fix=f'If you trust that server: "url": "{leaves}".',
            evidence=way,
        )
    elif seen.status not in _KEEPS_METHOD:
        sheet.diagnose(
            "HTTP-9",
            f"{said}: at {seen.status} clients go on with GET, without the message, and get {last}",
            fix=f'"url": "{to}". Server: answer 307 or 308, which keep the method.',
            evidence=way,
        )
    else:
        place = last.url if last.is_mcp or last.status == 401 else to
        got = "" if last.is_mcp else f"; there {last}"
        sheet.diagnose("HTTP-1", said + got, fix=f'"url": "{place}"', severity="broken", evidence=way)
