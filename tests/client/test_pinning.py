"""What ``era=`` may be."""

import pytest

from mesero import Client
from mesero.client.facts import Decision
from mesero.client.pinning import Pin, pin_from
from mesero.errors import UsageError
from mesero.testing import scripted_server


def test_nothing_leaves_it_to_the_server():
    assert pin_from(None) == Pin(None, "2026-07-28")


@pytest.mark.parametrize(
    ("era", "pin"),
    [
        ("modern", Pin("modern", "2026-07-28")),
        ("legacy", Pin("legacy", "2025-11-25")),
        ("2026-07-28", Pin("modern", "2026-07-28")),
        ("2024-11-05", Pin("legacy", "2024-11-05")),
    ],
)
def test_an_era_or_a_revision_pins(era, pin):
    assert pin_from(era) == pin


def test_a_decision_is_a_hint():
    decision = Decision(era="legacy", revision="2025-06-18", first_step="initialize")
    assert pin_from(decision) == Pin(hint=decision)


def test_anything_else_is_refused_with_what_there_is():
    with pytest.raises(
        UsageError, match=r"era='2031-01-01' is none of: modern, legacy, 2026-07-28, .*2024-11-05"
    ):
        Client(scripted_server(), era="2031-01-01")
