"""The rules of results: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import answer, ask, eof, fail, old_ask, shake, tell, trace
from tests.audit.judging import broken_by, check_examples, rules_of


@pytest.mark.parametrize("rule", rules_of("RES"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


@pytest.mark.parametrize(
    "result",
    [
        {"content": [{"type": "resource", "resource": {"uri": "a://b", "blob": "%"}}]},
        {"content": [{"type": "audio", "data": "%", "mimeType": "audio/wav"}]},
    ],
)
def test_binary_data_is_looked_for_in_every_block(result):
    assert broken_by(trace(ask("tools/call", {"name": "x"}), answer(result))) == {"RES-008"}


def test_binary_data_is_looked_for_in_prompts():
    message = {"role": "user", "content": {"type": "image", "data": "%", "mimeType": "image/png"}}

    assert broken_by(trace(ask("prompts/get", {"name": "x"}), answer({"messages": [message]}))) == {"RES-008"}


def test_redacted_data_is_not_judged():
    block = {"type": "image", "data": "<redacted length=3 sha256=0>", "mimeType": "image/png"}

    assert broken_by(trace(ask("tools/call", {"name": "x"}), answer({"content": [block]}))) == set()


def test_an_extension_that_was_declared_may_add_result_types():
    call = ask("tools/call", {"name": "x"}, capabilities={"extensions": {"com.example/tasks": {}}})

    assert broken_by(trace(call, answer({"resultType": "task"}))) == set()


@pytest.mark.parametrize(
    "steps",
    [
        [ask("subscriptions/listen", {"notifications": {}})],
        [ask("tools/list"), tell("notifications/cancelled", {"requestId": 1}, "c2s")],
    ],
)
def test_what_needs_no_answer_is_not_waited_for(steps):
    assert "RES-011" not in broken_by(trace(*steps, eof("s2c")))


def test_a_trace_that_just_stops_proves_nothing():
    assert broken_by(trace(ask("tools/list"))) == set()


def test_codes_of_an_application_are_its_own():
    assert (
        broken_by(trace(ask("tools/list"), fail(-31000), ask("tools/list", id=2), fail(404, id=2))) == set()
    )


def test_a_code_of_the_older_era_is_right_there():
    assert (
        broken_by(
            trace(*shake(server={"resources": {}}), old_ask("resources/read", {"uri": "a://b"}), fail(-32002))
        )
        == set()
    )


def test_contents_below_the_uri_that_was_read_are_part_of_it():
    contents = [{"uri": "a://b/c", "text": ""}]
    result = {"contents": contents, "ttlMs": 0, "cacheScope": "private"}

    assert broken_by(trace(ask("resources/read", {"uri": "a://b/"}), answer(result))) == set()
