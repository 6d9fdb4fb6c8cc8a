"""Each broken server of this folder that shows it only when it is sent what is rare or odd."""

import pytest

from mesero.doctor import examine
from tests.broken.test_calls import command_of
from tests.broken.test_commands import QUICK_S, check

DEEP = [
    ("P00_old", []),
    ("P00_now", []),
    ("P92", ["DEEP-4"]),
    ("deep_id_0", ["DEEP-11"]),
    ("deep_answers_notifications", ["DEEP-6"]),
    ("deep_dies_of_cancellation", ["DEEP-7"]),
    ("deep_dies_of_cancelled_call", ["DEEP-7"]),
    ("deep_stays_in_call", ["DEEP-8"]),
    ("deep_leaves_in_call", ["DEEP-8"]),
    ("deep_runs_without_meta", ["DEEP-10"]),
    ("deep_dies_of_twins", ["DEEP-12"]),
    ("deep_ignores_batches", ["DEEP-13", "DEEP-14"]),
    ("deep_dies_of_batches", ["DEEP-13"]),
    ("deep_dies_of_lists", ["DEEP-14"]),
]


@pytest.mark.parametrize(("name", "expected"), DEEP)
async def test_what_odd_requests_bring_to_light_is_diagnosed(name, expected):
    report = await examine(command_of(name), is_deep=True, timeout_s=QUICK_S)

    assert sorted(each.code for each in report.diagnoses) == sorted(expected), report
    if len(expected) == 1:
        check(report, expected)
