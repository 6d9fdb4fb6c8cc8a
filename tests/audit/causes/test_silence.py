"""The causes in silence: each is the only one that its example supports."""

import pytest

from mesero.audit.examples import c2s, fail, old_answer, shake, trace, wait
from tests.audit.judging import causes_of, codes_of


@pytest.mark.parametrize("cause", causes_of("SILENT"))
def test_a_cause_is_the_only_one_that_its_example_supports(cause):
    assert codes_of(cause.example) == [cause.code]


PAIR = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "ping"}]


def test_an_array_in_the_revision_that_has_them_is_no_fault():
    refused = fail(-32600, id=None)

    assert codes_of(trace(*shake("2025-03-26"), c2s(PAIR), refused, wait(1))) == []
    assert codes_of(trace(*shake("2025-06-18"), c2s(PAIR), refused, wait(1))) == ["SILENT-13"]


def test_an_array_that_was_answered_all_the_same_is_no_silence():
    lines = trace(*shake(), c2s(PAIR), old_answer({}, id=1), old_answer({}, id=2))

    assert codes_of(lines) == []
