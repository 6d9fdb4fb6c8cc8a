"""What a server's last words on stderr say about why it ended. Pure: lines in, a code and a quote out.

The patterns are those of interpreters, package managers and common libraries; a line that fits none is quoted
by the general diagnosis. In this order: the most telling first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = [
    "LastWords",
    "find_address",
    "find_last_words",
    "find_missing_program",
    "find_question",
    "find_telling",
    "plain_words",
    "variables_in",
]

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
            r"npm (?:error|ERR!) 404 .*(?:could not be found|is not in)",
            r"\bETARGET\b|No matching version found",
            r"No solution found when resolving|Unable to find image|pull access denied",
        ),
    ),
    (
        "EXIT-10",
        (
            r"cannot import name",
            r"AttributeError: '(?:Server|FastMCP|MCPServer|ClientSession)' object has no attribute",
            r"AttributeError: module '(?:mcp|fastmcp)\b[^']*' has no attribute",
            r"TypeError: (?:Server|FastMCP|MCPServer)\b.{0,60}unexpected keyword argument",
            r"does not provide an export named",
            r"Cannot find module '[^']*node_modules[^']*' imported from",
            r"ERR_PACKAGE_PATH_NOT_EXPORTED|is not defined by \"exports\"",
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
            r"(?:could not|cannot) connect to",
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
            r"(?:api[ _-]?key|token|credentials?|variables?)\b.{0,40}(?:missing|required)",
            r"(?:api[ _-]?key|token|credentials?|variables?)\b.{0,40}not (?:set|provided|found|defined)",
            r"\bset (?:the )?(?:environment variable )?(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b",
            r"validation errors? for \w*(?:Settings|Config)\b",
            r"KeyError: '[A-Z][A-Z0-9_]+'",
        ),
    ),
    (
        "EXIT-3",
        (
            r"(?:^|[\]:>] )\s*usage:",
            r"unrecognized arguments",
            r"(?:unknown|invalid|no such) (?:option|command|argument|choice)",
            r"(?:the following|missing|required) (?:required )?(?:arguments?|options?|parameters?)\b",
            r"must (?:specify|provide|pass|give)\b",
            r"(?:provide|specify|pass)\b.{0,60}\b(?:arguments?|options?|flags?)\b",
        ),
    ),
)
_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_HIDDEN: Final = re.compile(r"<redacted length=(\d+) sha256=[0-9a-f]+>")
_INSIDE: Final = re.compile(
    r"\s*(?:at |throw |raise |File \"|[}\])^~]|(?:code|errno|syscall|hostname|address|port|path): "
    r"|Node\.js v|npm (?:error|ERR!)\s*(?:code\b|A complete log|\d*$))"
)
"""Lines of a trace of calls, of the source code in it, and of the fields of an error."""
_ERROR: Final = re.compile(r"\b(?:\w*error|\w*exception|fatal|panic)\b", re.IGNORECASE)
_TELLING: Final = re.compile(
    r"[\W\dTZ]*(?:npm )?(?:\[[^\]]*\]:? ?)*(?:Uncaught )?(?:(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b"
    r"|(?:fatal )?error\b|fatal\b|panic\b|thread '.*' panicked)",
    re.IGNORECASE,
)
_VARIABLE: Final = re.compile(r"(?<![\w$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_SETTING: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|_PAT\b|_URL\b|_URI\b|_HOST\b|_ID\b")
_ADDRESS: Final = re.compile(
    r"\b(?:listening|running|serving|started|available|endpoint|server|mode|ready)\b.{0,60}?"
    r"(?P<url>https?://[\w.\[\]:-]+:\d+[\w/.-]*)"
    r"|\blistening (?:on|at)\b.{0,40}?(?:\bport |:)(?P<port>\d{2,5})\b",
    re.IGNORECASE,
)
_PATTERNS: Final = tuple((code, re.compile("|".join(signs), re.IGNORECASE)) for code, signs in _SIGNS)
_OWN_SCRIPT: Final = re.compile(r"Cannot find module '(?:/|[A-Z]:)(?!.*imported from)")


class LastWords(NamedTuple):
    """The diagnosis that a line supports, the line, and its place among the lines."""

    code: str
    line: str
    at: int = 0


def plain_words(text: str) -> str:
    """A line without the colours that terminals are told, and without what only the recording needs."""
    return _HIDDEN.sub(r"<hidden, \1 characters>", _COLOURS.sub("", text))


def find_last_words(lines: Sequence[str]) -> LastWords | None:
    """The line that says why, or None.

    Args:
        lines: What the server wrote to stderr, and to stdout beside messages; oldest first.
    """
    for code, pattern in _PATTERNS:
        found = [number for number, line in enumerate(lines) if pattern.search(line)]
        if not found:
            continue
        at = _most_telling(lines, found)
        told = find_telling(lines) if code == "EXIT-3" and not _ERROR.search(lines[at]) else None
        if told is not None:  # how it is called stands above what is wrong with this call
            return LastWords(code, told.line, told.at)
        line = _whole_of(lines, at)
        # "Cannot find module '/…'" of the program itself is a wrong path, of a package a missing one.
        return LastWords("EXIT-4" if code == "EXIT-1" and _OWN_SCRIPT.search(line) else code, line, at)
    return None


def _whole_of(lines: Sequence[str], at: int) -> str:
    """A line, with the next one where it only announces that."""
    line = lines[at].strip()
    after = next((each.strip() for each in lines[at + 1 :] if each.strip()), "")
    return f"{line} {after}" if line.endswith(":") and after else line


def _most_telling(lines: Sequence[str], found: Sequence[int]) -> int:
    """Of several lines that say the same, the last one for people, and among those one that says "error"."""
    said = [number for number in found if not _INSIDE.match(lines[number])] or found
    return ([number for number in said if _ERROR.search(lines[number])] or said)[-1]


def find_telling(lines: Sequence[str]) -> LastWords | None:
    """The last line that calls itself an error, whatever it is about; or None. Its diagnosis is CLOSED-4."""
    for at in reversed(range(len(lines))):
        if _TELLING.match(lines[at]) and not _INSIDE.match(lines[at]):
            return LastWords("CLOSED-4", lines[at].strip(), at)
    return None


def variables_in(words: LastWords, lines: Sequence[str]) -> list[str]:
    """The variables that a line asks for; where it names none, the first in all lines that may be a key."""
    named = [name for name in _VARIABLE.findall(words.line) if not name.startswith("ERR_")]
    if named:
        return list(dict.fromkeys(named))
    others = (name for line in lines for name in _VARIABLE.findall(line) if _SETTING.search(name))
    first = next(others, None)
    return [] if first is None else [first]


def find_address(lines: Sequence[str]) -> str | None:
    """Where a server says that it listens: a URL, or "port N"; None where it does not."""
    found = [match for line in lines if (match := _ADDRESS.search(line)) is not None]
    best = max(found, key=lambda match: (match["url"] or "").count("/"), default=None)
    return None if best is None else best["url"] or f"port {best['port']}"


_MISSING: Final = re.compile(
    r"env: (?:[\"'`\u2018])?(?P<env>[\w.+-]+)(?:[\"'`\u2019])?: No such file or directory"
    r"|^\S+: (?:line )?\d+: (?:exec: )?(?P<script>[\w.+-]+): (?:command )?not found"
    r"|^\S*sh: (?P<shell>[\w.+-]+): (?:command )?not found"
    r"|^'(?P<cmd>[\w.+-]+)' is not recognized as an internal or external command"
    r"|\bspawn (?P<spawn>[\w.+-]+) ENOENT"
)


def find_missing_program(lines: Sequence[str]) -> tuple[str, str] | None:
    """The program that a script or a launcher did not find, and the line that says so; or None."""
    for line in reversed(lines):
        found = _MISSING.search(line)
        if found is not None and found.lastgroup is not None:
            return found[found.lastgroup], line.strip()
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
