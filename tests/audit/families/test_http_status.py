"""The rules of http status: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import (
    answered,
    asked,
    eof,
    failed,
    http_answer,
    http_request,
    posted,
    replied,
    trace,
)
from tests.audit.judging import broken_by, check_examples, found_in, rules_of


@pytest.mark.parametrize("rule", rules_of("HTTP"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


CALL = asked("tools/call", {"name": "x"})


def test_once_a_stream_has_begun_its_status_is_200():
    assert broken_by(trace(posted(asked("x/y")), replied(failed(-32601), sse=True))) == set()


def test_a_stream_that_the_client_closed_is_a_cancellation():
    begun = http_answer(200, content_type="text/event-stream", x_accel_buffering="no")

    assert broken_by(trace(posted(CALL), begun, eof("c2s", exchange=1))) == set()
    assert broken_by(trace(posted(CALL), begun, eof("s2c", exchange=1))) == {"HTTP-009"}


def test_the_end_of_an_answered_stream_is_no_fault():
    assert (
        broken_by(trace(posted(CALL), replied(answered({"content": []}), sse=True), eof("s2c", exchange=1)))
        == set()
    )


def test_a_subscription_may_be_cut_without_an_answer():
    listen = posted(asked("subscriptions/listen", {"notifications": {}}))
    begun = http_answer(200, content_type="text/event-stream", x_accel_buffering="no")

    assert broken_by(trace(listen, begun, eof("s2c", exchange=1))) == {"SUB-008"}


def test_a_get_that_is_answered_in_the_newer_era_is_the_server_s_choice():
    found = found_in(
        trace(
            posted(CALL),
            replied(answered({"content": []})),
            http_request("GET", exchange=2, mcp_protocol_version="2026-07-28"),
            http_answer(200, exchange=2, content_type="text/event-stream"),
        )
    )

    assert [(each.rule, each.blame) for each in found] == [("HTTP-006", "server")]


def test_a_get_of_another_address_is_not_the_endpoint_s_affair():
    lines = trace(
        posted(CALL),
        replied(answered({"content": []})),
        http_request("GET", url="https://example.com/health", exchange=2),
        http_answer(200, exchange=2),
    )

    assert broken_by(lines) == set()


def test_a_web_page_is_named_by_its_title_and_blamed_on_what_is_in_between():
    page = http_answer(200, body="<html><title> Sign in </title>", content_type="text/html; charset=utf-8")
    (finding,) = found_in(trace(posted(CALL), page))

    assert (finding.rule, finding.blame) == ("HTTP-005", "intermediary")
    assert "Sign in" in finding.message


def test_the_old_transport_answers_requests_with_202():
    lines = trace(posted(CALL), http_answer(202), transport="sse")

    assert broken_by(lines) == set()


@pytest.mark.parametrize("status", [400, 404])
def test_a_notification_may_be_refused(status):
    cancelled = {"jsonrpc": "2.0", "method": "notifications/vendor"}

    assert (
        broken_by(trace(posted(CALL), posted(cancelled, exchange=2), http_answer(status, exchange=2)))
        == set()
    )


def test_an_incomplete_accept_may_be_refused():
    assert broken_by(trace(posted(CALL, accept="text/html"), http_answer(406))) == {"HDR-011"}
