"""The rules of framing: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import ask, c2s, old_answer, s2c, shake, stderr, trace, wrote
from mesero.trace.format import StderrLine
from tests.audit.judging import broken_by, check_examples, found_in, rules_of


@pytest.mark.parametrize("rule", rules_of("FRAME"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


@pytest.mark.parametrize(
    "steps",
    [
        [stderr('{"level":"info"}'), stderr('{"jsonrpc": broken'), stderr("plain")],
        [*shake(), c2s('{"jsonrpc": "2.0", "id": 1, "method": "ping" }'), old_answer({})],
        [wrote("{"), wrote('"a": {'), wrote("}")],
    ],
)
def test_what_only_looks_like_a_message_is_let_pass(steps):
    assert broken_by(trace(*steps)) <= {"FRAME-004"}


def test_half_a_surrogate_pair_in_text_that_is_no_json_is_just_text():
    assert broken_by(trace(wrote(r"\ud83d oh"))) == {"FRAME-001"}


def test_a_log_with_a_brace_does_not_hide_what_comes_after_it():
    assert [
        each.rule for each in found_in(trace(wrote("{ starting"), ask("a"), s2c("{}"), wrote("done")))
    ] == [
        "FRAME-004",
        "ENV-003",
        "FRAME-001",
    ]


def test_bytes_on_stderr_are_the_server_s_own_affair():
    line = StderrLine(seq=2, t=0, link="1", b64="AA==")

    assert found_in([*trace(), line]) == []
