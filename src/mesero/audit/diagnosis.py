"""From a symptom with several possible causes to the one that the evidence supports.

A rule says what is wrong with a message; a diagnosis says why a connection did not do what its user wanted:
"connection closed", "timed out", "401", "connected with 0 tools". For each symptom the causes are tried in a
fixed order, the most telling evidence first, and the first that is supported is given: one cause, with the
phase in which it went wrong, who has to mend it, and how. The causes are in `mesero.audit.causes`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

import msgspec

from mesero.audit.auditor import Auditor
from mesero.audit.findings import Blame, Phase
from mesero.audit.link import LinkState
from mesero.trace.format import Header, Line

__all__ = [
    "CAUSES",
    "SYMPTOMS",
    "Cause",
    "Confidence",
    "Diagnosis",
    "Proof",
    "cause",
    "diagnose",
    "diagnose_link",
    "load_causes",
]

Confidence = Literal["certain", "likely", "possible"]
"""``certain``: the trace shows it; ``likely``: nothing else fits; ``possible``: a good guess."""

SYMPTOMS: Final = {
    "CLOSED": "connection closed",
    "START": "the server does not start in time",
    "SILENT": "an answer never arrives",
    "TIMEOUT": "timed out (-32001)",
    "VERSION": "protocol version mismatch",
    "DROPPED": "disconnected after a while",
    "PARAMS": "invalid parameters (-32602)",
    "SIGNIN": "signing in fails",
    "S404": "not found (404)",
    "S401": "unauthorized (401)",
    "S400": "bad request (400)",
    "S405": "method not allowed (405)",
    "S406": "not acceptable (406)",
    "S421": "invalid host (421)",
    "PAGE": "a web page in place of an answer",
    "TOOLS": "connected, but without tools",
}
"""Prefix of a cause's code → the symptom as users describe it. In this order a link is examined."""

_EXPLAINS: Final = (
    ("START", ("CLOSED", "SILENT", "TIMEOUT", "TOOLS")),
    ("SILENT", ("TIMEOUT", "CLOSED-8", "TOOLS")),
    ("CLOSED", ("DROPPED", "SILENT-12", "TOOLS")),
    ("TIMEOUT", ("SILENT-12", "CLOSED-8", "TOOLS")),
    ("SILENT-12", ("CLOSED-8", "TOOLS")),
    ("VERSION", ("PARAMS", "TOOLS", "S400")),
    ("DROPPED", ("TOOLS",)),
    ("SIGNIN", ("S401", "S400", "TOOLS")),
    ("S", ("TOOLS",)),
    ("PAGE", ("TOOLS", "S404")),
)
"""What one cause explains of the others, strongest first: a symptom that follows from another is not told."""
_WEAK: Final = frozenset({"SILENT-12", "SILENT-15", "CLOSED-8"})
"""Causes that only say what happened; they explain nothing but what is written for them."""

_MODULES: Final = (
    *("process", "silence", "streams", "waiting", "errors", "authorization", "statuses", "tools"),
)


class Proof(msgspec.Struct, frozen=True):
    """What supports a cause: a sentence, the lines that show it, what differs from the cause itself."""

    text: str
    seqs: tuple[int, ...] = ()
    fix: str = ""
    blame: Blame | None = None


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Why a connection failed. ``evidence`` holds the numbers of the lines that show it."""

    code: str
    symptom: str
    link: str
    phase: Phase
    cause: str
    blame: Blame
    fix: str
    evidence: tuple[int, ...]
    confidence: Confidence


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """One possible cause of a symptom, with a trace in which it is the one."""

    code: str
    title: str
    phase: Phase
    blame: Blame
    fix: str
    confidence: Confidence
    example: tuple[Line, ...]
    find: Callable[[LinkState], Iterator[Proof]]

    @property
    def symptom(self) -> str:
        """What the user sees."""
        return SYMPTOMS[self.code.partition("-")[0]]


CAUSES: dict[str, Cause] = {}
"""Every registered cause by its code, in the order in which those of one symptom are tried."""


def cause(
    code: str,
    title: str,
    *,
    phase: Phase,
    blame: Blame,
    fix: str,
    example: tuple[Line, ...],
    confidence: Confidence = "certain",
) -> Callable[[Callable[[LinkState], Iterator[Proof]]], Callable[[LinkState], Iterator[Proof]]]:
    """Register the decorated function as a cause: it yields a proof if a link supports it.

    Raises:
        ValueError: the code is taken.
    """

    def register(find: Callable[[LinkState], Iterator[Proof]]) -> Callable[[LinkState], Iterator[Proof]]:
        if code in CAUSES:
            raise ValueError(f"there is a cause {code} already")
        CAUSES[code] = Cause(
            code=code,
            title=title,
            phase=phase,
            blame=blame,
            fix=fix,
            confidence=confidence,
            example=example,
            find=find,
        )
        return find

    return register


def load_causes() -> None:
    """Register every cause; the second time costs nothing."""
    for name in _MODULES:
        importlib.import_module(f"mesero.audit.causes.{name}")


def diagnose_link(link: LinkState) -> list[Diagnosis]:
    """The cause of each symptom that a link shows, one for each, once the auditor has seen its end."""
    load_causes()
    found: list[Diagnosis] = []
    if link.is_replaced:
        return found
    for prefix, symptom in SYMPTOMS.items():
        for each in CAUSES.values():
            if each.code.partition("-")[0] != prefix:
                continue
            proof = next(each.find(link), None)
            if proof is not None:
                found.append(_diagnosis(each, symptom, link, proof))
                break
    return _independent(found)


def _independent(found: list[Diagnosis]) -> list[Diagnosis]:
    """Those that do not follow from another one."""
    kept = list(found)
    for cause_, effects in _EXPLAINS:
        if any(
            _is_named(each.code, cause_) and (each.code not in _WEAK or cause_ == each.code) for each in kept
        ):
            kept = [
                each
                for each in kept
                if _is_named(each.code, cause_) or not any(_is_named(each.code, effect) for effect in effects)
            ]
    return kept


def _is_named(code: str, name: str) -> bool:
    """Whether a code is this one, or begins with this prefix; "S" stands for all HTTP statuses."""
    return code == name or code.partition("-")[0] == name or (name == "S" and code[:2] == "S4")


def _diagnosis(each: Cause, symptom: str, link: LinkState, proof: Proof) -> Diagnosis:
    return Diagnosis(
        code=each.code,
        symptom=symptom,
        link=link.name,
        phase=each.phase,
        cause="".join(char if char.isprintable() else "\ufffd" for char in proof.text),
        blame=proof.blame or each.blame,
        fix=proof.fix or each.fix,
        evidence=tuple(seq for seq in dict.fromkeys(proof.seqs) if seq > 0),
        confidence=each.confidence,
    )


def diagnose(lines: Iterable[Header | Line]) -> list[Diagnosis]:
    """The diagnoses of a whole trace, link by link."""
    auditor = Auditor()
    for line in lines:
        auditor.receive(line)
    auditor.receive_end()
    return [each for link in auditor.links.values() for each in diagnose_link(link)]
