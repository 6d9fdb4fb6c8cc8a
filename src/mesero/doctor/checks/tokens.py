"""What a token says of itself, as far as it can be read without a key. Pure. Nothing of it is shown but this.

Only JWTs can be read; the signature is not looked at: the server's judgement is not repeated, only explained.

https://www.rfc-editor.org/rfc/rfc7519#section-4.1
https://www.rfc-editor.org/rfc/rfc9068#section-2.2
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

__all__ = ["Token", "find_misshape", "has_credentials", "read_token"]

_SCHEME: Final = re.compile(r"(?:bearer|dpop)\s+", re.IGNORECASE)
_CREDENTIAL: Final = re.compile(r"authorization|api[-_]?key|token|secret|cookie|x-auth", re.IGNORECASE)
_MAX_CHARACTERS: Final = 65_536
_MAX_S: Final = 1e15


class Token(msgspec.Struct, frozen=True):
    """Claims. Times are in seconds since 1970, None where the token does not say."""

    expires_s: float | None = None
    begins_s: float | None = None
    issuer: str = ""
    audiences: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None


def has_credentials(headers: Mapping[str, str]) -> list[str]:
    """The names of the headers that look like credentials."""
    return [name for name in headers if _CREDENTIAL.search(name)]


def read_token(headers: Mapping[str, str]) -> Token | None:
    """What the token in the Authorization header says, or None where it cannot be read."""
    value = next((text for name, text in headers.items() if name.lower() == "authorization"), "")
    text = _SCHEME.sub("", value, count=1).strip().strip("'\"")
    parts = text.split(".")
    if len(parts) != 3 or len(text) > _MAX_CHARACTERS:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return None
    return _token_of(claims) if isinstance(claims, dict) else None


def _token_of(claims: dict[str, Any]) -> Token:
    audience = claims.get("aud")
    audiences = [audience] if isinstance(audience, str) else audience if isinstance(audience, list) else []
    scope = claims.get("scope", claims.get("scp"))
    if isinstance(scope, str):
        scope = scope.split()
    issuer = claims.get("iss")
    return Token(
        expires_s=_number(claims.get("exp")),
        begins_s=_number(claims.get("nbf")),
        issuer=issuer if isinstance(issuer, str) else "",
        audiences=tuple(each for each in audiences if isinstance(each, str)),
        scopes=tuple(each for each in scope if isinstance(each, str)) if isinstance(scope, list) else None,
    )


def _number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    # What is beyond every date is as good as no date.
    return float(value) if abs(value) < _MAX_S else None


def find_misshape(headers: Mapping[str, str]) -> str:
    """What is wrong with the form of the Authorization header, or ""."""
    value = next((text for name, text in headers.items() if name.lower() == "authorization"), "").strip()
    if not value:
        return ""
    scheme, _, rest = value.partition(" ")
    rest = rest.strip()
    if not rest:
        return "Authorization is one word: the scheme, as in `Bearer …`, is missing, or the token is"
    if scheme.lower() in ("bearer", "dpop"):
        if _SCHEME.match(rest):
            return f"Authorization says {scheme} twice"
        if rest[:1] in "'\"<" or rest[-1:] in "'\">":
            return "the token in Authorization has quotes or brackets around it"
        if " " in rest:
            return "the token in Authorization has a space in it"
    return ""
