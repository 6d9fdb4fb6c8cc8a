"""The registry of rules: what a rule is, and how a function becomes one.

A rule is a function from evidence to faults, with everything that a person needs to know about it: a stable
id, a title, how severe it is, which revisions it holds for, a link to the specification, what to do about it,
and two short traces of which one passes and one fails. The traces are its tests and its documentation.

Two kinds: a *check* looks at evidence of the kinds it names; a *claim* takes over violations of the
message's own JSON Schema, so that each is told once, by the rule that explains it best.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from mesero.audit.findings import Blame, Phase, Severity
from mesero.revisions import HANDSHAKE_REVISIONS, REVISIONS, STATELESS_REVISIONS
from mesero.trace.format import Line

if TYPE_CHECKING:
    from mesero.audit.evidence import Evidence
    from mesero.revisions.violations import Violation

__all__ = [
    "ALL",
    "FAMILIES",
    "HANDSHAKE",
    "RULES",
    "SINCE_2025_03",
    "SINCE_2025_06",
    "SINCE_2025_11",
    "STATELESS",
    "Check",
    "Claim",
    "Fault",
    "Kind",
    "Rule",
    "check",
    "claim",
    "spec_link",
]

ALL: Final = REVISIONS
HANDSHAKE: Final = HANDSHAKE_REVISIONS
STATELESS: Final = STATELESS_REVISIONS
SINCE_2025_03: Final = REVISIONS[1:]
SINCE_2025_06: Final = REVISIONS[2:]
SINCE_2025_11: Final = REVISIONS[3:]

FAMILIES: Final = {
    "FRAME": "framing",
    "ENV": "envelope",
    "ID": "ids",
    "LIFE": "lifecycle",
    "ERA": "era",
    "META": "metadata",
    "HDR": "headers",
    "CAP": "capabilities",
    "LIST": "lists",
    "SCH": "schemas",
    "RES": "results",
    "MRTR": "multi round-trip requests",
    "SUB": "subscriptions",
    "CACHE": "caching",
    "PROG": "progress and cancellation",
    "LOG": "logging",
    "SESS": "sessions",
    "HTTP": "HTTP status",
    "AUTH": "authorization",
    "DEP": "deprecated features",
    "SEC": "security",
}
"""Prefix of a rule's id → the name of its family."""

Kind = Literal[
    "request",
    "notification",
    "result",
    "error",
    "broken",
    "http request",
    "http answer",
    "http",
    "text",
    "stderr",
    "eof",
    "spawn",
    "exit",
    "note",
    "end",
]
"""What a check can look at.

``broken`` is JSON that is none of the four kinds of message. ``http request`` and ``http answer`` come once
for each HTTP exchange, whether it carried a message or not; ``http`` is a line that carried none; ``end``
comes once for each link when the trace is over.
"""


class Fault(msgspec.Struct, frozen=True):
    """What a check found: a sentence, a JSON path, and what differs from the rule's own blame and fix."""

    message: str
    path: str = ""
    blame: Blame | None = None
    fix: str = ""
    seq: int = -1


Check = Callable[["Evidence"], Iterable["Fault | str"]]
Claim = Callable[["Violation", "Evidence"], bool]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule. ``blame`` is empty when whoever sent the message is meant.

    ``methods`` narrows a check to messages of these methods, or answers to them; empty means all. ``side``
    narrows it to one direction, ``needs_http`` to what HTTP carried. ``also`` names
    the rules that the failing example cannot help breaking as well: a server that accepts what is wrong needs
    a client that sends it.
    """

    id: str
    title: str
    severity: Severity
    revisions: tuple[str, ...]
    spec: str
    fix: str
    passes: tuple[Line, ...]
    fails: tuple[Line, ...]
    blame: Blame | Literal[""] = ""
    phase: Phase | Literal[""] = ""
    on: tuple[Kind, ...] = ()
    methods: frozenset[str] = frozenset()
    side: Literal["c2s", "s2c", ""] = ""
    needs_http: bool = False
    also: tuple[str, ...] = ()
    check: Check | None = None
    claim: Claim | None = None

    @property
    def family(self) -> str:
        """The name of the family that it belongs to."""
        return FAMILIES[self.id.partition("-")[0]]


RULES: dict[str, Rule] = {}
"""Every registered rule by its id. `mesero.audit.families` fills it."""


def check(
    rule_id: str,
    title: str,
    *,
    on: Iterable[Kind],
    spec: str,
    fix: str,
    passes: tuple[Line, ...],
    fails: tuple[Line, ...],
    revisions: tuple[str, ...] = ALL,
    severity: Severity = "error",
    blame: Blame | Literal[""] = "",
    phase: Phase | Literal[""] = "",
    methods: Iterable[str] = (),
    side: Literal["c2s", "s2c", ""] = "",
    needs_http: bool = False,
    also: tuple[str, ...] = (),
) -> Callable[[Check], Check]:
    """Register the decorated function as a check.

    ``spec`` is a page and its anchor, in the newest revision unless it begins with another revision.

    Raises:
        ValueError: the id is taken.
    """

    def register(function: Check) -> Check:
        _add(
            Rule(
                id=rule_id,
                title=title,
                severity=severity,
                revisions=revisions,
                spec=spec_link(spec),
                fix=fix,
                passes=passes,
                fails=fails,
                blame=blame,
                phase=phase,
                on=tuple(on),
                methods=frozenset(methods),
                side=side,
                needs_http=needs_http,
                also=also,
                check=function,
            )
        )
        return function

    return register


def claim(
    rule_id: str,
    title: str,
    *,
    spec: str,
    fix: str,
    passes: tuple[Line, ...],
    fails: tuple[Line, ...],
    path: str = r"",
    says: str = r"",
    kinds: Iterable[Kind] = (),
    methods: Iterable[str] = (),
    revisions: tuple[str, ...] = ALL,
    severity: Severity = "error",
) -> None:
    """Register a rule that takes over violations of a message's schema.

    Args:
        rule_id: Its id.
        title: Its title.
        spec: As for `check`.
        fix: What to do.
        passes: A trace without it.
        fails: A trace with it.
        path: A regular expression that must match the JSON path from its beginning.
        says: One that must be found in what the violation says.
        kinds: Kinds of message; empty means any.
        methods: Methods of the message, or that it answers; empty means any.
        revisions: The revisions that it holds for.
        severity: How severe it is.

    Raises:
        ValueError: the id is taken.
    """
    matches_path, finds_words = re.compile(path).match, re.compile(says).search
    of_kinds, of_methods = frozenset(kinds), frozenset(methods)

    def is_claimed(violation: Violation, evidence: Evidence) -> bool:
        return (
            (not of_kinds or evidence.kind in of_kinds)
            and (not of_methods or evidence.about in of_methods)
            and matches_path(violation.path) is not None
            and finds_words(violation.message) is not None
        )

    _add(
        Rule(
            id=rule_id,
            title=title,
            severity=severity,
            revisions=revisions,
            spec=spec_link(spec),
            fix=fix,
            passes=passes,
            fails=fails,
            claim=is_claimed,
        )
    )


def _add(rule: Rule) -> None:
    if rule.id in RULES:
        raise ValueError(f"there is a rule {rule.id} already")
    RULES[rule.id] = rule


def spec_link(page: str) -> str:
    """The address of a page of the specification: ``basic/index#meta``, or ``2025-11-25/basic/lifecycle``."""
    if not page[:4].isdigit():
        page = f"{REVISIONS[-1]}/{page}"
    return f"https://modelcontextprotocol.io/specification/{page}"
