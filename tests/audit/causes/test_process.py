"""The causes in process: each is the only one that its example supports."""

import pytest

from mesero.audit.diagnosis import diagnose
from mesero.audit.examples import (
    answer,
    ask,
    eof,
    exited,
    fail,
    old_answer,
    old_ask,
    shake,
    spawned,
    stderr,
    tell,
    trace,
    wait,
)
from tests.audit.judging import causes_of, codes_of

LIST = {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}


@pytest.mark.parametrize("cause", causes_of("CLOSED", "START", "DROPPED"))
def test_a_cause_is_the_only_one_that_its_example_supports(cause):
    assert codes_of(cause.example) == [cause.code]


def test_a_container_with_its_stdin_open_is_not_to_blame():
    for options in (["-i"], ["--rm", "-it"], ["--interactive"]):
        lines = trace(spawned("docker", "run", *options, "x"), ask("server/discover"), eof(), exited(1))
        assert codes_of(lines) == ["CLOSED-4"]


def test_starts_that_die_again_and_again_are_told_together():
    start = [spawned("npx", "x"), ask("server/discover"), wait(30), exited(None, signal=9)]
    (diagnosis,) = diagnose(trace(*start, *start, *start[:3], eof("c2s")))

    assert diagnosis.code == "START-2"
    assert "2 starts before" in diagnosis.cause
    assert "outside of the host" in diagnosis.fix


def test_a_slow_package_manager_that_answers_in_the_end_is_told_too():
    (diagnosis,) = diagnose(
        trace(
            spawned("/usr/bin/uvx", "x"), ask("tools/call", {"name": "x"}), wait(20), answer({"content": []})
        )
    )

    assert diagnosis.code == "START-2"
    assert "took 20 s" in diagnosis.cause


def test_a_server_that_ends_well_when_asked_has_no_diagnosis():
    lines = trace(
        *shake(), old_ask("ping"), old_answer({}), old_ask("tools/list", id=2), old_answer(LIST, id=2)
    )
    ended = trace(eof("c2s"), eof("s2c"), exited(0))

    assert codes_of([*lines, *ended[1:]]) == []


def test_the_end_of_a_process_is_told_in_words():
    call = [spawned("server"), ask("tools/call", {"name": "a"}), answer({"content": []}), ask("x", id=2)]

    assert "signal 9" in diagnose(trace(*call, exited(None, signal=9)))[0].cause
    assert "code 3" in diagnose(trace(*call, exited(3)))[0].cause
    assert "closed its output" in diagnose(trace(*call, eof()))[0].cause


def cancelled(*after):
    return trace(
        spawned("server"),
        *shake(),
        old_ask("tools/call", {"name": "slow"}),
        tell("notifications/cancelled", {"requestId": 1}, "c2s"),
        *after,
    )


def test_a_server_that_answers_after_a_cancellation_did_not_die_of_it():
    went_on = [old_ask("ping", id=2), old_answer({}, id=2), old_ask("ping", id=3), eof(), exited(1)]

    assert codes_of(cancelled(*went_on)) == ["CLOSED-7"]
    assert codes_of(cancelled(old_ask("ping", id=2), eof(), exited(0))) == ["CLOSED-7"]


def test_the_last_words_are_what_is_inside_a_drawn_group():
    group = [stderr("  | anyio.BrokenResourceError"), stderr("  +-----------")]
    (found,) = diagnose(cancelled(old_ask("ping", id=2), *group, eof(), exited(1)))

    assert found.code == "CLOSED-9"
    assert found.cause.endswith("its last words on stderr: anyio.BrokenResourceError")


def test_a_client_that_went_on_without_an_answer_waits_for_it_no_more():
    lines = [*shake(), old_ask("tools/call", {"name": "slow"}), old_ask("ping", id=2), old_answer({}, id=2)]

    assert codes_of(trace(*lines, eof("c2s"), eof(), exited(0))) == []


SET_LEVEL = [old_ask("logging/setLevel", {"level": "info"}), fail(-32601)]


def test_a_refusal_is_taken_for_the_end_only_by_who_looks_at_nothing_else():
    listed = [old_ask("tools/list", id=2), old_answer(LIST, id=2)]

    assert codes_of(trace(*shake(), *SET_LEVEL, eof("c2s"))) == ["CLOSED-10"]
    assert codes_of(trace(*shake(), *SET_LEVEL, *listed, eof("c2s"))) == []
    assert codes_of(trace(*shake(), *listed, old_ask("prompts/list"), fail(-32601), eof("c2s"))) == []
    # What was announced is no optional method, and a server that goes first was not left.
    assert "CLOSED-10" not in codes_of(trace(*shake(), old_ask("tools/list"), fail(-32601), eof("c2s")))
    assert "CLOSED-10" not in codes_of(trace(*shake(), *SET_LEVEL, eof("s2c"), eof("c2s")))
