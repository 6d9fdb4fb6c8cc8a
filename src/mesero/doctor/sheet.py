"""The sheet that one examination fills in: its checks in their order, and what they add up to.

A check that nobody came to is "not reached". Diagnoses are kept in the order of their weight: what keeps the
server from being used stands first, and of that what was found first.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from msgspec.structs import replace

from mesero.audit.diagnosis import Confidence
from mesero.audit.findings import Blame
from mesero.doctor.report import SEVERITIES, Check, Diagnosis, Severity, Status
from mesero.doctor.texts import TEXTS

__all__ = ["OpenCheck", "Sheet", "Watch", "hide_all"]

_MAX_CHARS: Final = 2_000
_MAX_TEXTS: Final = 200


class Watch(Protocol):
    """Who is told how an examination goes on."""

    def begin(self, name: str) -> None:
        """This check begins."""

    def end(self, check: Check) -> None:
        """This check is over."""


class OpenCheck:
    """A check while it runs: its status is the worst that was said."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.status: Status = "ok"
        self.evidence: list[str] = []

    def say(self, text: str) -> None:
        """Something that was seen."""
        self.evidence.append(text)

    def warn(self, text: str) -> None:
        """Something that is not as it should be."""
        self.evidence.append(text)
        if self.status != "failed":
            self.status = "warning"

    def fail(self, text: str) -> None:
        """Something that ends the examination of this layer."""
        self.evidence.append(text)
        self.status = "failed"

    def skip(self, text: str) -> None:
        """It does not concern this target, and why."""
        self.evidence.append(text)
        self.status = "skipped"


def hide_all(text: str, secrets: Iterable[str]) -> str:
    """A text with each of these secrets hidden; of one that is a part of another, the longer comes first."""
    for secret in secrets:
        text = text.replace(secret, f"<hidden, {len(secret)} characters>")
    return text


def _forms_of(secret: str) -> tuple[str, ...]:
    """A secret as it is, and as it stands in a quoted text."""
    quoted = (repr(secret)[1:-1], json.dumps(secret)[1:-1], shlex.quote(secret))
    return tuple(each for each in (secret, *quoted) if secret)


class Sheet:
    """What is known so far.

    Args:
        names: The checks, in their order.
        secrets: Values that are not shown, wherever they turn up.
        watch: Told of each check.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        secrets: Iterable[str] = (),
        watch: Watch | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._checks: dict[str, Check] = {name: Check(name=name, status="not reached") for name in names}
        # The longest first: one may be a part of another.
        self._secrets = sorted({form for each in secrets for form in _forms_of(each)}, key=len, reverse=True)
        self._watch = watch
        self._clock = clock
        self._diagnoses: list[Diagnosis] = []

    @property
    def checks(self) -> tuple[Check, ...]:
        """All of them, in their order."""
        return tuple(self._checks.values())

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """All of them, the weightiest first."""
        return tuple(sorted(self._diagnoses, key=lambda each: SEVERITIES.index(each.severity)))

    @property
    def is_broken(self) -> bool:
        """Whether it is known already why the server cannot be used."""
        return any(each.severity == "broken" for each in self._diagnoses)

    def has(self, code: str) -> bool:
        """Whether this diagnosis was made."""
        return any(each.code == code for each in self._diagnoses)

    @contextmanager
    def check(self, name: str) -> Iterator[OpenCheck]:
        """Do one check; whatever ends it, what was seen until then is kept."""
        opened = OpenCheck(name)
        if self._watch is not None:
            self._watch.begin(name)
        start = self._clock()
        try:
            yield opened
        except BaseException as error:
            if opened.status == "ok":
                opened.fail(f"not finished: {type(error).__name__}")
            raise
        finally:
            took_s = round(self._clock() - start, 3)
            evidence = self._shown(opened.evidence)
            done = Check(name=name, status=opened.status, took_s=took_s, evidence=evidence)
            self._checks[name] = done
            if self._watch is not None:
                self._watch.end(done)

    def add(self, diagnosis: Diagnosis) -> None:
        """Take a diagnosis; one of the same code counts once."""
        if self.has(diagnosis.code):
            return
        hidden = {
            "cause": self.hide(diagnosis.cause),
            "fix": self.hide(diagnosis.fix),
            "evidence": self._shown(diagnosis.evidence),
        }
        self._diagnoses.append(replace(diagnosis, **hidden))

    def hide(self, text: str) -> str:
        """A text as it may stand in a report: without the secrets, bounded, and without half characters."""
        text = hide_all(text, self._secrets)
        if len(text) > _MAX_CHARS:
            text = f"{text[:_MAX_CHARS]}… ({len(text):,} characters)"
        return text.encode(errors="replace").decode()

    def _shown(self, texts: Sequence[str]) -> tuple[str, ...]:
        more = (f"and {len(texts) - _MAX_TEXTS:,} more",) if len(texts) > _MAX_TEXTS else ()
        return (*map(self.hide, texts[:_MAX_TEXTS]), *more)

    def escalate(self, code: str) -> None:
        """This one turned out to be what keeps the server from being used."""
        self._diagnoses = [
            replace(each, severity="broken") if each.code == code else each for each in self._diagnoses
        ]

    def drop(self, codes: Iterable[str]) -> None:
        """These are told by another diagnosis."""
        self._diagnoses = [each for each in self._diagnoses if each.code not in codes]

    def diagnose(
        self,
        code: str,
        cause: str,
        *,
        fix: str = "",
        blame: Blame | None = None,
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        evidence: Sequence[str] = (),
    ) -> None:
        """Make a diagnosis: its standing text is in `mesero.doctor.texts`.

        Args:
            code: One of the table's.
            cause: What was seen in this case, a clause.
            fix, blame, severity, confidence: Where this case differs from the table.
            evidence: What shows it.
        """
        text = TEXTS[code]
        self.add(
            Diagnosis(
                code=code,
                severity=severity or text.severity,
                phase=text.phase,
                title=text.title,
                cause=cause,
                blame=blame or text.blame,
                fix=fix or text.fix,
                confidence=confidence or text.confidence,
                evidence=tuple(evidence),
            )
        )
