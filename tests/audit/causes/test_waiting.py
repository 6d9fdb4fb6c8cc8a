"""The causes in waiting: each is the only one that its example supports."""

import pytest

from mesero.audit.diagnosis import diagnose
from mesero.audit.examples import (
    ask,
    fail,
    hello,
    http_answer,
    http_request,
    note,
    old_ask,
    posted,
    replied,
    shake,
    tell,
    trace,
    wait,
    welcome,
)
from tests.audit.judging import causes_of, codes_of


@pytest.mark.parametrize("cause", causes_of("TIMEOUT"))
def test_a_cause_is_the_only_one_that_its_example_supports(cause):
    assert codes_of(cause.example) == [cause.code]


def test_a_call_that_is_cancelled_at_once_was_not_waited_for():
    lines = trace(ask("tools/call", {"name": "x"}), tell("notifications/cancelled", {"requestId": 1}, "c2s"))

    assert codes_of(lines) == []


def test_a_request_without_a_progress_token_is_told_so():
    cancel = tell("notifications/cancelled", {"requestId": 1}, "c2s")
    (without,) = diagnose(trace(ask("tools/call", {"name": "x"}), wait(30), cancel))
    (with_token,) = diagnose(trace(ask("tools/call", {"name": "x"}, progress="t"), wait(30), cancel))

    assert (without.code, with_token.code) == ("TIMEOUT-2", "TIMEOUT-2")
    assert "no progressToken" in without.cause
    assert "no progressToken" not in with_token.cause


def test_an_error_that_was_on_the_wire_is_not_the_client_s_own():
    lines = trace(
        *shake(), old_ask("ping"), fail(-32001), note("client reported: -32001 Request timed out"), wait(1)
    )

    assert "TIMEOUT-3" not in codes_of(lines)


def test_a_report_about_something_else_is_no_time_out():
    assert codes_of(trace(*shake(), note("client reported: something else"), note("a remark"))) == []


def hanging_call(*before, capabilities, told=()):
    version = {"mcp_protocol_version": "2025-11-25"}
    hail = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello(capabilities=capabilities)}
    call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "x"}}
    return trace(
        posted(hail, exchange=8),
        replied({"jsonrpc": "2.0", "id": 0, "result": welcome()}, exchange=8),
        *before,
        posted(call, **version),
        *told,
        wait(60),
        posted({"jsonrpc": "2.0", "id": 4, "method": "ping"}, exchange=4, **version),
        replied({"jsonrpc": "2.0", "id": 4, "result": {}}, exchange=4),
        transport="http",
    )


def test_a_question_needs_a_client_that_can_be_asked_and_no_stream_to_come_on():
    listening = [http_request("GET", exchange=2, accept="text/event-stream"), http_answer(405, exchange=2)]
    progress = replied({"jsonrpc": "2.0", "method": "notifications/vendor"}, sse=True)

    assert codes_of(hanging_call(capabilities={"sampling": {}})) == ["SILENT-15"]
    assert codes_of(hanging_call(capabilities={})) == ["SILENT-12"]
    assert codes_of(hanging_call(*listening, capabilities={"sampling": {}})) == ["SILENT-12"]
    assert codes_of(hanging_call(capabilities={"sampling": {}}, told=[progress])) == ["SILENT-12"]
