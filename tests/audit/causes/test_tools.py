"""The causes in tools: each is the only one that its example supports."""

import pytest

from mesero.audit.examples import answer, ask, eof, shake, trace
from tests.audit.judging import causes_of, codes_of


@pytest.mark.parametrize("cause", causes_of("TOOLS"))
def test_a_cause_is_the_only_one_that_its_example_supports(cause):
    assert codes_of(cause.example) == [cause.code]


def test_a_server_that_offers_something_else_may_have_no_tools():
    assert codes_of(trace(*shake(server={"resources": {}}), eof("c2s"))) == []


def test_a_connection_that_goes_on_may_still_list_its_tools():
    assert codes_of(trace(*shake())) == []


def test_a_tool_that_is_called_was_found():
    result = {"tools": [{"name": "a"}], "ttlMs": 0, "cacheScope": "private"}
    call = ask("tools/call", {"name": "a"}, id=2)

    assert codes_of(trace(ask("tools/list"), answer(result), call, answer({"content": []}, id=2))) == []
