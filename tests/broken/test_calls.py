"""Each broken server of this folder that shows it when its tools are called."""

import pytest

from mesero.doctor import examine
from tests.broken.examining import QUICK_S, check, check_of, command_of, evidence_of

WAITING_S = 8.0
CALLED = [
    ("P00_old", []),
    ("P00_now", []),
    ("P14_garbles", ["CALL-1"]),
    ("P14_dies", ["CALL-1"]),
    ("P14_fails", ["CALL-1"]),
    ("P15_call", ["CLOSED-5"]),
    ("P18_call", []),
    ("P27_call", ["CLOSED-7"]),
    ("P58_call", ["SCH-011"]),
    ("P59_call", ["SCH-010"]),
    ("P90_cancel", []),
    ("P90_dies", ["CALL-5"]),
    ("P90_now", ["CALL-5"]),
    ("P135", []),
    ("internal_error", ["CALL-6"]),
    ("failing_tool", []),
]
HANGING = [
    ("P21", ["CALL-2"]),
    ("P21_all", ["CALL-4"]),
    ("P87", ["CALL-3"]),
    ("P88", ["CALL-3"]),
    ("P90_hangs", ["CALL-5"]),
]


@pytest.mark.parametrize(("name", "expected"), CALLED)
async def test_what_a_call_brings_to_light_is_diagnosed(name, expected):
    report = await examine(command_of(name), calls={"echo": None}, timeout_s=QUICK_S)

    check(report, expected)


@pytest.mark.parametrize(("name", "expected"), HANGING)
async def test_a_call_that_is_never_answered_is_explained(name, expected):
    report = await examine(command_of(name), calls={"echo": None}, timeout_s=WAITING_S)

    check(report, expected)
    assert report.took_s < WAITING_S + 1


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage", "roots/list"])
async def test_what_a_server_asks_is_told(method):
    report = await examine(command_of("P90_fine", method), calls={"echo": None}, timeout_s=QUICK_S)

    check(report, [])
    assert any(f"asked {method}" in text for text in evidence_of(report))


async def test_a_question_is_also_dismissed_where_odd_things_were_asked_for():
    report = await examine(command_of("P90_cancel"), is_deep=True, timeout_s=QUICK_S)

    check(report, ["CALL-5"])


async def test_what_a_client_would_need_is_said():
    report = await examine(command_of("P135"), calls={"echo": None}, timeout_s=QUICK_S)

    assert any("com.example/maps" in text for text in evidence_of(report))


async def test_nothing_is_called_that_nobody_asked_for():
    report = await examine(command_of("P27_call"), timeout_s=QUICK_S)

    check(report, [])
    assert "not asked for" in evidence_of(report)[0]


async def test_a_tool_is_called_with_the_arguments_that_are_given_and_no_others():
    report = await examine(command_of("P14_garbles"), calls={"echo": {"text": "tea"}}, timeout_s=QUICK_S)

    check(report, [])
    assert evidence_of(report) == (
        next(text for text in evidence_of(report) if '\'echo\' with {"text": "tea"}' in text),
    )


async def test_a_long_message_keeps_nobody_busy():
    report = await examine(command_of("long_error"), calls={"echo": None}, timeout_s=QUICK_S)

    check(report, [])
    assert check_of(report, "calls").took_s < QUICK_S / 3
