"""What a WWW-Authenticate header says: its challenges, with their parameters. Pure.

https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

__all__ = ["Challenge", "find_bearer", "parse_challenges"]

_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - a word of the grammar, no secret
_PARAMETER: Final = re.compile(rf'\s*({_TOKEN})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",=][^\s",]*))\s*(?:,|$)')
_SCHEME: Final = re.compile(rf"[\s,]*({_TOKEN})(?:\s+|\s*,|$)")
_SECRET68: Final = re.compile(r"\s*([A-Za-z0-9._~+/-]+=*)\s*(?:,|$)")


class Challenge(msgspec.Struct, frozen=True):
    """One scheme and what it says; names of parameters in lower case."""

    scheme: str
    parameters: dict[str, str] = {}

    def parameter(self, name: str) -> str:
        """A parameter, or ""."""
        return self.parameters.get(name, "")

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that are asked for."""
        return tuple(self.parameter("scope").split())


def parse_challenges(value: str) -> list[Challenge]:
    """The challenges of a header; what is no challenge is passed over.

    Args:
        value: The header; several of them joined by commas.
    """
    found: list[Challenge] = []
    place = 0
    while place < len(value):
        scheme = _SCHEME.match(value, place)
        if scheme is None:
            break
        place = scheme.end()
        parameters: dict[str, str] = {}
        # A name with "=" after it belongs to this challenge, a word alone begins the next one.
        while (parameter := _PARAMETER.match(value, place)) is not None:
            quoted, plain = parameter[2], parameter[3]
            text = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain
            parameters.setdefault(parameter[1].lower(), text)
            place = parameter.end()
        if not parameters and (other := _SECRET68.match(value, place)) is not None and "=" in other[1]:
            place = other.end()
        found.append(Challenge(scheme[1], parameters))
    return found


def find_bearer(challenges: list[Challenge]) -> Challenge | None:
    """The challenge that asks for a token, or None."""
    named = [each for each in challenges if each.scheme.lower() in ("bearer", "dpop")]
    # Of several the one that says the most.
    return max(named, key=lambda each: len(each.parameters), default=None)
