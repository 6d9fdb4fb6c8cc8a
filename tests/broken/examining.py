"""What the tests of broken servers share: how long an examination may take, and what is looked at of it."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
QUICK_S = 30.0
"""For servers that answer at once: more than they ever need."""
HANGING_S = 4.0
"""For servers that never answer: it is waited for."""


def command_of(name, *words):
    """The command of a server of this folder."""
    return [sys.executable, str(HERE / f"{name}.py"), *words]


def codes_of(report):
    return [each.code for each in report.diagnoses]


def check(report, expected):
    """Exactly these diagnoses, in this order, and the verdict that they amount to."""
    assert codes_of(report) == expected, report
    is_ok = all(each.severity == "note" for each in report.diagnoses)
    assert (report.verdict == "ok") == is_ok, report


def check_of(report, name):
    """One check of a report."""
    return next(each for each in report.checks if each.name == name)


def evidence_of(report, name="calls"):
    return check_of(report, name).evidence
