"""What a server's last words on stderr say about why it ended. Pure: lines in, a code and a quote out.

The patterns are those of interpreters, package managers and common libraries; a line that fits none is quoted
by the general diagnosis. In this order: the most telling first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["LastWords", "find_last_words", "find_question"]


_SIGNS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "EXIT-9",
        (
            r"\bE404\b",
            r"npm ERR! 404",
            r"not found in the package registry",
            r"No matching distribution",
            r"was not found in the (?:package )?registry",
            r"could not determine executable",
        ),
    ),
    (
        "EXIT-1",
        (
            r"(?:ModuleNotFound|Import)Error",
            r"No module named",
            r"ERR_MODULE_NOT_FOUND",
            r"Cannot find (?:module|package)",
        ),
    ),
    ("EXIT-4", (r"can't open file", r"No such file or directory: '?\S+\.(?:py|js|ts)")),
    ("EXIT-6", (r"SyntaxError", r"EBADENGINE", r"Unsupported engine", r"requires (?:Python|Node)[ .]")),
    ("EXIT-7", (r"EADDRINUSE", r"address already in use")),
    (
        "EXIT-5",
        (
            r"ECONNREFUSED|ENOTFOUND|ETIMEDOUT",
            r"Connection refused",
            r"could not connect to",
            r"getaddrinfo",
            r"Name or service not known",
        ),
    ),
    (
        "EXIT-8",
        (
            r"\b(?:HOME|PATH|XDG_\w+|APPDATA|USERPROFILE)\b.{0,40}(?:not set|not defined|missing|unset)",
            r"KeyError: '(?:HOME|PATH|XDG_\w+|APPDATA|USERPROFILE)'",
        ),
    ),
    (
        "EXIT-2",
        (
            r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b.{0,60}(?:required|not set|missing|undefined|must be set)",
            r"(?:missing|no|invalid|provide|set|requires?)\b.{0,40}(?:api[ _-]?key|token|credential)",
            r"(?:api[ _-]?key|token|credentials?|environment variable)\b.{0,40}(?:missing|required|not set)",
            r"KeyError: '[A-Z][A-Z0-9_]+'",
        ),
    ),
    (
        "EXIT-3",
        (
            r"^\s*usage:",
            r"unrecognized arguments",
            r"unknown (?:option|command)",
            r"the following arguments are required",
        ),
    ),
)
_PATTERNS: Final = tuple((code, re.compile("|".join(signs), re.IGNORECASE)) for code, signs in _SIGNS)
_OWN_SCRIPT: Final = re.compile(r"Cannot find module '(?:/|[A-Z]:)")


class LastWords(NamedTuple):
    """The diagnosis that a line supports, and the line."""

    code: str
    line: str


def find_last_words(lines: Sequence[str]) -> LastWords | None:
    """The line that says why, or None.

    Args:
        lines: What the server wrote to stderr, and to stdout beside messages; oldest first.
    """
    for code, pattern in _PATTERNS:
        # "Cannot find module '/…'" of the program itself is a wrong path, of a package a missing one.
        for line in reversed(lines):
            if not pattern.search(line):
                continue
            if code == "EXIT-1" and _OWN_SCRIPT.search(line):
                return LastWords("EXIT-4", line.strip())
            return LastWords(code, line.strip())
    return None


_QUESTIONS: Final[tuple[tuple[str, str], ...]] = (
    (r"Ok to proceed\? \(y\)", "Add -y to the arguments of npx, so that it does not ask."),
    (
        r"Are you sure you want to continue connecting",
        "Connect once by hand, so that ssh knows the host; `ssh -o BatchMode=yes` fails instead of asking.",
    ),
    (
        r"(?:passphrase|password|passcode|PIN)\b[^\n]{0,80}: ?$",
        "Use a key of an agent, or a token in `env`: `ssh -o BatchMode=yes` and `sudo -n` do not ask.",
    ),
    (r"(?:verification|one-time) code\b[^\n]{0,40}: ?$", ""),
    (r"^(?:Username|User|Login|Email)\b[^\n]{0,80}: ?$", "Give the credentials in `env` or in a file."),
    (
        r"[\[(](?:y/n|Y/n|y/N|yes/no)(?:/\[fingerprint\])?[\])]\s*[?:]?\s*$",
        "Give the answer with an option, such as --yes, or answer once in a terminal.",
    ),
    (r"Press (?:any key|enter|return)\b[^\n]{0,60}$", ""),
)
_ASKING: Final = tuple((re.compile(pattern, re.IGNORECASE), fix) for pattern, fix in _QUESTIONS)


def find_question(lines: Sequence[str]) -> tuple[str, str] | None:
    """The question that the last line asks a person, and what helps; or None.

    Args:
        lines: As for `find_last_words`; the last one may lack its end, as a question does.
    """
    last = next((line.strip("\r\n") for line in reversed(lines) if line.strip()), "")
    for pattern, fix in _ASKING:
        if pattern.search(last):
            return last.strip(), fix
    return None
