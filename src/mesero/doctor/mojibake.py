"""Whether a text comes back as it was sent, or as the bytes of its UTF-8 read in another encoding. Pure."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["ASCII_TEXT", "FOREIGN_TEXT", "find_garbled", "speaks_of_encoding"]

ASCII_TEXT: Final = "mesero e->v:) end"
"""A text that every encoding has."""
FOREIGN_TEXT: Final = "mesero \u00e9\u2192\u2713\U0001f600 end"
"""A text like it that only Unicode has."""

_PLACE: Final = re.compile(r"mesero (.{1,80}?) end", re.DOTALL)
_SINGLE: Final = ("cp1252", "latin-1", "cp437", "cp850", "cp1250", "cp1251", "mac_roman")
_DOUBLE: Final = ("gbk", "cp932", "cp949", "big5")
_SENT: Final = "\u00e9\u2192\u2713\U0001f600"
_FRAGMENTS: Final = frozenset(
    {
        *("\u00e9".encode().decode(each, "ignore") for each in _SINGLE),
        *(_SENT.encode().decode(each, "ignore")[:2] for each in _DOUBLE),
        *("\ufffd", "??"),
    }
)
_WORDS: Final = re.compile(
    r"codec|charmap|Unicode(?:De|En)code|surrogate|malformed (?:input|UTF)|invalid (?:UTF|byte|utf)|encoding",
    re.IGNORECASE,
)


def find_garbled(echo: str, answer: str) -> str:
    """What came back in place of `FOREIGN_TEXT`; empty where it came back whole, or not at all.

    Args:
        echo: What a call with `ASCII_TEXT` was answered with.
        answer: What the same call with `FOREIGN_TEXT` was answered with.
    """
    if ASCII_TEXT not in echo:
        return ""
    found = [match[1] for match in _PLACE.finditer(answer)]
    if _SENT in found:
        return ""
    return next((each for each in found if any(part in each for part in _FRAGMENTS)), "")


def speaks_of_encoding(text: str) -> bool:
    """Whether an error is about how text is written down."""
    return _WORDS.search(text) is not None
