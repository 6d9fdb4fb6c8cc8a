"""What a recorder in between sees of good servers: it knows the transport only when it has passed."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from mesero.audit import RULES
from mesero.audit.auditor import Auditor
from mesero.audit.diagnosis import diagnose_link
from mesero.audit.examples import (
    asked,
    endpoint,
    eof,
    failed,
    hello,
    http_answer,
    http_request,
    note,
    posted,
    replied,
    spawned,
    trace,
    welcome,
)
from mesero.trace.format import Http
from tests.audit.judging import broken_by, codes_of

VERSION = {"mcp_protocol_version": "2025-11-25"}
STREAM = {"content_type": "text/event-stream", "x_accel_buffering": "no"}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "slow"}}
CANCELLED = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}


def session():
    return [
        posted({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}),
        replied({"jsonrpc": "2.0", "id": 0, "result": welcome()}),
        posted(READY, exchange=2, **VERSION),
        http_answer(202, exchange=2),
    ]


def call_that_ends_without_an_answer(*before_the_end):
    call = posted(CALL, exchange=3, **VERSION)
    return trace(
        *session(),
        call,
        http_answer(200, exchange=3, **STREAM),
        *before_the_end,
        eof(exchange=3),
        transport="http",
    )


def test_a_cancelled_call_needs_no_answer_on_its_stream():
    lines = call_that_ends_without_an_answer(
        posted(CANCELLED, exchange=4, **VERSION), http_answer(202, exchange=4)
    )

    assert broken_by(lines) == set()
    assert codes_of(lines) == []


def test_a_call_that_nobody_cancelled_needs_one():
    lines = call_that_ends_without_an_answer()

    assert broken_by(lines) == {"HTTP-009"}
    assert codes_of(lines) == ["SILENT-9"]


def test_a_get_may_be_refused_with_an_error_as_its_body():
    refusal = failed(-32000, "Method not allowed", id=None)
    get = http_request("GET", exchange=3, accept="text/event-stream", **VERSION)

    assert broken_by(trace(*session(), get, replied(refusal, exchange=3, status=405, allow="POST"))) == set()


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_refusal_by_http_may_have_an_error_without_an_id(version):
    hail = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello(version)}
    refusal = failed(-32000, "this path takes GET only", id=None)

    assert broken_by(trace(posted(hail), replied(refusal, status=405, allow="GET"))) == set()


def old_sse(message, reply, *, address="/messages?s=1", url="https://example.com/messages?s=1"):
    headers = {"accept": "*/*", "content-type": "application/json"}
    plain = Http(exchange=2, method="POST", url=url, headers=headers)
    steps = [
        http_request("GET", url="https://example.com/sse", accept="text/event-stream"),
        endpoint(address),
        posted(message, exchange=2, url=url),
        http_answer(202, exchange=2, body="Accepted"),
        replied(reply, exchange=1, sse=True),
    ]
    lines = trace(*steps, transport="http")
    return tuple(
        replace(line, http=plain)
        if getattr(line, "http", UNSET) is not UNSET and line.http.method == "POST"
        else line
        for line in lines
    )


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18"])
def test_the_endpoint_event_tells_that_a_link_is_http_with_sse(version):
    lines = old_sse(
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello(version)},
        {"jsonrpc": "2.0", "id": 0, "result": welcome(version)},
    )

    assert broken_by(lines) == {"DEP-005"}


def test_the_newer_era_has_no_headers_over_http_with_sse():
    probe = asked("server/discover")

    assert broken_by(old_sse(probe, failed(-32602))) == {"DEP-005"}


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("messages?s=1", "https://example.com/messages?s=1"),
        ("https://example.com/m/", "https://example.com/m/"),
        ("/messages?sessionId=<redacted length=32 sha256=0011223344556677>", "https://example.com/messages"),
    ],
)
def test_the_address_of_the_endpoint_may_be_written_in_every_way(address, url):
    lines = old_sse(asked("server/discover"), failed(-32602), address=address, url=url)

    assert broken_by(lines) == {"DEP-005"}


def test_another_address_of_the_same_link_is_judged_as_streamable_http():
    lines = old_sse(asked("server/discover"), failed(-32602), url="https://example.com/mcp")

    assert {"HDR-001", "HDR-003", "HTTP-013"} <= broken_by(lines)


def test_an_endpoint_event_without_an_address_tells_of_its_stream_alone():
    lines = old_sse(asked("server/discover"), failed(-32602), address="")

    assert {"HDR-001", "HTTP-013"} <= broken_by(lines)


def test_a_program_that_is_missing_is_named_as_a_user_would_write_it():
    auditor = Auditor()
    for line in trace(spawned("npx", "-y", "server", pid=None), note("no such file")):
        auditor.receive(line)
    auditor.receive_end()
    (diagnosis,) = diagnose_link(auditor.links["1"])

    assert diagnosis.cause == "'npx' could not be started: no such file"


def with_half_a_pair(line):
    """The line with half a surrogate pair in every text that the format lets be anything."""
    changed = {}
    for name in ("raw", "text"):
        if isinstance(getattr(line, name, UNSET), str):
            changed[name] = getattr(line, name).replace("a", "a\ud83d")
    http = getattr(line, "http", UNSET)
    if http is not UNSET:
        texts = {name: getattr(http, name) for name in ("url", "body", "error", "method")}
        bad = {name: f"{text}\udc80" for name, text in texts.items() if text is not UNSET}
        headers = http.headers if http.headers is UNSET else dict.fromkeys(http.headers, "x\ud83d")
        changed["http"] = replace(http, headers=headers, **bad)
    return replace(line, **changed)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_half_a_surrogate_pair_anywhere_is_never_an_exception(rule):
    auditor = Auditor()
    for line in (*rule.passes, *rule.fails):
        for finding in auditor.receive(with_half_a_pair(line)):
            assert finding.message.isprintable()
    auditor.receive_end()
    for link in auditor.links.values():
        assert all(diagnosis.cause.isprintable() for diagnosis in diagnose_link(link))
