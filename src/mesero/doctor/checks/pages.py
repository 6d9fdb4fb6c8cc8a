"""What an answer that is no MCP looks like: a login, a wall against bots, a guard. Pure.

By words that are common; so a guess, and told as one.
"""

from __future__ import annotations

import re
from typing import Final

from mesero.doctor.addresses import split_url
from mesero.doctor.fetched import Fetched

__all__ = ["find_login", "find_name", "find_title", "find_wall", "guards_host", "quote"]

# Bounded throughout: a body that begins what it never ends must not keep us busy.
_TITLE: Final = re.compile(rb"<title[^>]{0,200}>(.{0,500}?)</title>", re.DOTALL | re.IGNORECASE)
_LOGIN_TITLE: Final = re.compile(
    r"sign[ -]?in|log[ -]?in|log[ -]?on|authenticat|single sign|sso\b", re.IGNORECASE
)
_PASSWORD_FIELD: Final = re.compile(rb"<input[^>]{1,500}type=[\"']?password", re.IGNORECASE)
_LOGIN_PLACE: Final = re.compile(
    r"^https?://(?:login|signin|sso|auth|accounts?|id|idp|identity)\.|"
    r"/(?:log-?in|sign-?in|sso|oauth2?|authorize|saml2?|auth|users/sign_in|cdn-cgi/access)(?:[/?#;.]|$)",
    re.IGNORECASE,
)
_UNAUTHORIZED: Final = re.compile(
    rb"unauthori[sz]ed|not authenticated|unauthenticated|authentication (?:is )?required|"
    rb"(?:invalid|missing|no|expired) (?:\w+ )?"
    rb"(?:api[ _-]?key|access token|bearer token|credentials|token)\b|"
    rb"(?:please |must |need to )(?:log|sign) ?in",
    re.IGNORECASE,
)
_WALL: Final = re.compile(
    rb"just a moment\.\.\.|attention required!|captcha|are you a (?:human|robot)|checking your browser|"
    rb"verify you are human|bot detection|pardon our interruption|enable javascript and cookies",
    re.IGNORECASE,
)
_WALL_HEADERS: Final = ("cf-mitigated", "x-datadome", "x-sucuri-block", "x-amzn-waf-action")
_HOST_GUARD: Final = re.compile(
    rb"(?:invalid|untrusted|disallowed|forbidden|bad) host|host (?:header )?(?:is )?not allowed|"
    rb"only (?:be )?(?:allowed|reached|accessed) (?:at|by|as|from|via) [\w.-]+:\d+",
    re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"only (?:be )?(?:allowed|reached|accessed) (?:at|by|as|via) ([\w.-]+:\d+)", re.IGNORECASE
)
_HTML: Final = ("text/html", "application/xhtml+xml")


def find_title(seen: Fetched) -> str:
    """The title of a page, or ""."""
    found = _TITLE.search(seen.body)
    return found[1].decode("utf-8", "replace").strip()[:100] if found is not None else ""


def find_login(seen: Fetched) -> str:
    """What says that this is a login in another dress, or "": 401 says it by itself."""
    location = seen.headers.get("location", "")
    if 300 <= seen.status < 400:
        return f"it leads to {location}, a login by its address" if _LOGIN_PLACE.search(location) else ""
    title = find_title(seen)
    if seen.kind in _HTML:
        if _LOGIN_TITLE.search(title):
            return f"it is a page titled {title!r}"
        return "it is a page with a field for a password" if _PASSWORD_FIELD.search(seen.body) else ""
    found = _UNAUTHORIZED.search(seen.body[:2000])
    if found is None or seen.status in (401, 404, 405) or b'"result"' in seen.body:
        return ""
    return f"it says {found[0].decode('latin-1')!r}"


def find_wall(seen: Fetched) -> str:
    """What says that this comes from a wall against bots, or ""."""
    for name in _WALL_HEADERS:
        if name in seen.headers:
            return f"the header {name}: {seen.headers[name][:80]}"
    found = _WALL.search(seen.body) if seen.kind in _HTML and seen.status in (403, 429, 503, 200) else None
    return f"the page says {found[0].decode('latin-1')!r}" if found is not None else ""


def guards_host(seen: Fetched) -> bool:
    """Whether a server refuses the name that it was called by."""
    # 421 is told by the audit.
    return seen.status in (400, 403) and _HOST_GUARD.search(seen.body[:500]) is not None


def find_name(seen: Fetched) -> str:
    """The name and port by which a server that refuses another one says that it may be called; or ""."""
    found = _NAME.search(seen.body[:500].decode("utf-8", "replace"))
    return "" if found is None or found[1] == split_url(seen.url).netloc else found[1]


def quote(seen: Fetched) -> str:
    """The beginning of a body, for the end of a sentence."""
    text = seen.body[:200].decode("utf-8", "replace").strip()
    return f": {text}" if text and seen.kind not in _HTML else ""
