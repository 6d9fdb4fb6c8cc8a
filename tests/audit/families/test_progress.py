"""The rules of progress: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import answer, ask, asked, posted, replied, tell, trace, wait
from tests.audit.judging import broken_by, check_examples, found_in, rules_of


@pytest.mark.parametrize("rule", rules_of("PROG"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


def report(value, of="t"):
    return tell("notifications/progress", {"progressToken": of, "progress": value})


def test_the_answer_to_a_cancelled_request_may_have_been_on_its_way():
    lines = trace(
        ask("tools/call", {"name": "x"}),
        tell("notifications/cancelled", {"requestId": 1}, "c2s"),
        answer({"content": []}),
    )

    assert broken_by(lines) == set()


def test_an_answer_long_after_the_cancellation_is_late():
    lines = trace(
        ask("tools/call", {"name": "x"}),
        tell("notifications/cancelled", {"requestId": 1}, "c2s"),
        wait(5),
        answer({"content": []}),
    )

    assert broken_by(lines) == {"PROG-007"}


def test_a_token_may_be_used_again_after_the_answer():
    call = {"name": "x"}
    lines = trace(
        ask("tools/call", call, progress="t"),
        report(5),
        answer({"content": []}),
        ask("tools/call", call, id=2, progress="t"),
        report(1),
        answer({"content": []}, id=2),
    )

    assert broken_by(lines) == set()


def test_a_server_may_cancel_a_subscription():
    listen = ask("subscriptions/listen", {"notifications": {}})

    assert "PROG-008" not in broken_by(trace(listen, tell("notifications/cancelled", {"requestId": 1})))


def test_over_http_two_clients_may_use_the_same_token():
    lines = trace(
        posted(asked("tools/call", {"name": "x"}, progress=1), exchange=1),
        posted(asked("tools/call", {"name": "y"}, progress=1), exchange=2),
    )

    assert broken_by(lines) == set()


def test_progress_without_a_token_is_told_by_its_shape_alone():
    assert broken_by(
        trace(ask("tools/call", {"name": "x"}), tell("notifications/progress", {"progress": 1}))
    ) == {"PROG-010"}


def test_progress_on_a_stream_of_an_unknown_request_proves_nothing():
    event = {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": "t", "progress": 1},
    }
    lines = trace(ask("tools/call", {"name": "x"}, progress="t"), replied(event, exchange=9, sse=True))

    assert "PROG-011" not in broken_by(lines)
    assert found_in(trace(report(1)))[0].rule == "PROG-001"
