"""The causes in streams: told apart by era, by event ids, and by what the client did next."""

import pytest

from mesero.audit.diagnosis import diagnose
from mesero.audit.examples import (
    asked,
    eof,
    hello,
    http_answer,
    http_error,
    http_request,
    posted,
    replied,
    trace,
    wait,
    welcome,
)
from tests.audit.judging import broken_by, codes_of

VERSION = {"mcp_protocol_version": "2025-11-25"}
TOLD = {"jsonrpc": "2.0", "method": "notifications/vendor"}
RESULT = {"jsonrpc": "2.0", "id": 3, "result": {"content": []}}


def call(*after, **event):
    hail = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}
    asks = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "x"}}
    return trace(
        posted(hail, exchange=8),
        replied({"jsonrpc": "2.0", "id": 0, "result": welcome()}, exchange=8),
        posted({"jsonrpc": "2.0", "method": "notifications/initialized"}, exchange=9, **VERSION),
        http_answer(202, exchange=9),
        posted(asks, **VERSION),
        replied(TOLD, sse=True, **event),
        *after,
        transport="http",
    )


def resuming(exchange=5):
    return http_request("GET", exchange=exchange, accept="text/event-stream", last_event_id="e7", **VERSION)


@pytest.mark.parametrize("end", [eof(exchange=1), http_error("reset", exchange=1)])
def test_who_is_to_blame_for_a_lost_answer_depends_on_the_id_of_the_last_event(end):
    (without,) = diagnose(call(end))
    (with_id,) = diagnose(call(end, event_id="e7"))

    assert (without.code, without.blame) == ("SILENT-9", "server")
    assert "no event id" in without.cause
    assert (with_id.code, with_id.blame) == ("SILENT-14", "client")
    assert "'e7'" in with_id.cause


def test_a_stream_that_was_resumed_has_no_problem():
    lines = call(eof(exchange=1), resuming(), replied(RESULT, exchange=5, sse=True), event_id="e7")

    assert codes_of(lines) == []
    assert broken_by(lines) == set()


def test_a_stream_that_was_resumed_in_vain_is_the_servers_fault():
    (found,) = diagnose(call(eof(exchange=1), resuming(), http_answer(404, exchange=5), event_id="e7"))

    assert (found.code, found.blame) == ("SILENT-9", "server")
    assert "go on after 'e7', and was answered with 404" in found.cause


def test_a_stream_that_is_cut_again_is_resumed_again():
    told = replied(TOLD, exchange=5, sse=True, event_id="e8")
    once = [eof(exchange=1), resuming(), told, http_error("reset", exchange=5)]
    twice = http_request("GET", exchange=6, accept="text/event-stream", last_event_id="e8", **VERSION)
    (found,) = diagnose(call(*once, event_id="e7"))

    assert (found.code, found.blame) == ("SILENT-14", "client")
    assert "'e8'" in found.cause
    assert codes_of(call(*once, twice, event_id="e7")) == []
    assert codes_of(call(*once, twice, replied(RESULT, exchange=6, sse=True), event_id="e7")) == []


def test_the_newer_era_resumes_nothing():
    lines = trace(
        posted(asked("tools/call", {"name": "x"})),
        replied(TOLD, sse=True, event_id="e7"),
        eof(exchange=1),
        transport="http",
    )

    assert codes_of(lines) == ["SILENT-9"]
    assert "event id" not in diagnose(lines)[0].cause


def test_what_was_cancelled_before_the_end_is_not_lost():
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}

    assert (
        codes_of(call(posted(cancel, exchange=4, **VERSION), http_answer(202, exchange=4), eof(exchange=1)))
        == []
    )


def test_who_closes_its_session_afterwards_has_lost_the_answer_before():
    deleted = [http_request("DELETE", exchange=6, mcp_session_id="s"), http_answer(200, exchange=6)]
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}
    cancelled = [posted(cancel, exchange=4, **VERSION), http_answer(202, exchange=4), eof(exchange=1)]

    assert codes_of(call(*cancelled, *deleted)) == []
    assert codes_of(call(http_error("reset", exchange=1), *deleted)) == ["SILENT-9"]


def test_a_stream_that_was_idle_for_long_was_cut_by_something_in_between():
    assert codes_of(call(wait(60), http_error("reset", exchange=1))) == ["SILENT-8"]


BROKEN = [
    posted({"jsonrpc": "2.0", "id": 4, "method": "ping"}, exchange=4, **VERSION),
    http_error("POST https://example.com/mcp → reset by peer", exchange=4),
]


def test_one_connection_that_broke_is_the_end_only_if_nothing_is_sent_after_it():
    again = [
        posted({"jsonrpc": "2.0", "id": 4, "method": "ping"}, exchange=5, **VERSION),
        replied({"jsonrpc": "2.0", "id": 4, "result": {}}, exchange=5),
    ]
    done = replied(RESULT, sse=True)
    (found,) = diagnose(call(done, wait(600), *BROKEN))

    assert (found.code, found.blame) == ("DROPPED-4", "client")
    assert "after 600 s without a request (reset by peer)" in found.cause
    lines = call(done, *BROKEN, *again)
    assert codes_of(lines) == []
    # The same message may come again: nobody knows that it arrived.
    assert broken_by(lines) == set()


def test_a_server_that_was_never_there_has_dropped_nobody():
    lines = trace(posted(asked("tools/list")), http_error("refused"), transport="http")

    assert codes_of(lines) == []
