"""What real servers and clients do and may do, as recordings of them have shown it."""

import pytest

from mesero.audit.examples import (
    answer,
    answered,
    ask,
    asked,
    endpoint,
    eof,
    exited,
    fail,
    failed,
    hello,
    http_answer,
    http_request,
    old_answer,
    old_ask,
    posted,
    replied,
    shake,
    spawned,
    tell,
    trace,
    welcome,
)
from mesero.trace.format import LinkLine
from tests.audit.judging import broken_by, codes_of, found_in, link_of

VERSION = {"mcp_protocol_version": "2025-11-25", "mcp_session_id": "0f3c5a52-7d0e-4a3d-9a51-5a7c1f0d8e11"}
SESSION = {"mcp_session_id": VERSION["mcp_session_id"]}
HAIL = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello(capabilities={"sampling": {}})}
WELCOME = {"jsonrpc": "2.0", "id": 0, "result": welcome()}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
LISTED = {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
CALL = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "slow"}}
QUESTION = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "sampling/createMessage",
    "params": {"messages": [], "maxTokens": 1},
}
SAMPLED = {
    "jsonrpc": "2.0",
    "id": 0,
    "result": {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"},
}
STREAM = {"content_type": "text/event-stream", "x_accel_buffering": "no"}


def session():
    return [
        posted(HAIL, exchange=1),
        replied(WELCOME, exchange=1, **SESSION),
        posted(READY, exchange=2, **VERSION),
        http_answer(202, exchange=2),
    ]


# -- sent on, or sent again --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [307, 401, 503])
def test_what_never_arrived_may_be_sent_again_as_it_was(status):
    def twice(message, exchange, *reply):
        return [
            posted(message, exchange=exchange, **VERSION),
            http_answer(status, exchange=exchange, location="/mcp/", www_authenticate="Bearer"),
            posted(message, exchange=exchange + 1, **VERSION),
            *reply,
        ]

    lines = trace(
        posted(HAIL, exchange=1),
        replied(WELCOME, exchange=1, **SESSION),
        *twice(READY, 2, http_answer(202, exchange=3)),
        *twice(LIST, 4, replied(LISTED, exchange=5)),
        posted(CALL, exchange=6, **VERSION),
        replied(QUESTION, exchange=6, sse=True),
        *twice(SAMPLED, 7, http_answer(202, exchange=8)),
        replied({"jsonrpc": "2.0", "id": 3, "result": {"content": []}}, exchange=6, sse=True),
        transport="http",
    )

    assert not broken_by(lines) & {"LIFE-008", "ID-004", "ID-006", "ID-005"}
    assert link_of(lines).current.is_done


def test_a_probe_that_was_sent_on_is_still_the_probe():
    lines = trace(
        posted(asked("server/discover")),
        http_answer(307, location="/mcp/"),
        posted(asked("server/discover"), exchange=2),
        replied(failed(-32601), exchange=2, status=404),
    )

    assert link_of(lines).probe_error["code"] == -32601


def test_what_did_arrive_may_not_be_sent_again():
    lines = trace(
        *session(),
        posted(LIST, exchange=3, **VERSION),
        replied(LISTED, exchange=3),
        posted(LIST, exchange=4, **VERSION),
        replied(LISTED, exchange=4),
    )

    assert broken_by(lines) == {"ID-004"}


# -- older servers that are asked by newer clients ---------------------------------------------------------


@pytest.mark.parametrize(("code", "status"), [(-32000, 400), (-32600, 400), (-32601, 200)])
def test_a_server_that_does_not_speak_the_newer_revision_is_not_held_to_it(code, status):
    refused = replied(failed(code), status=status, **SESSION)

    assert broken_by(trace(posted(asked("server/discover")), refused)) == set()


def test_a_server_that_speaks_it_is_held_to_it():
    spoken = [
        posted(asked("tools/call", {"name": "x"}), exchange=2),
        replied(answered({"content": []}), exchange=2),
    ]
    refused = [posted(asked("server/discover", id=2)), replied(failed(-32601, id=2), **SESSION)]

    assert broken_by(trace(*spoken, *refused)) == {"SESS-006", "HTTP-002", "CAP-011"}


def test_the_lost_id_of_a_refused_probe_is_wrong_in_every_revision():
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "Server not initialized"}}

    assert broken_by(trace(posted(asked("server/discover")), replied(refusal, status=400))) == {
        "ID-008",
        "ID-009",
    }


def test_two_ways_that_were_tried_at_once_are_no_problem_when_one_leads_on():
    both = [
        ask("server/discover"),
        old_ask("initialize", hello(), id=2),
        answer(
            {
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
                "ttlMs": 0,
                "cacheScope": "private",
            }
        ),
        fail(-32022, id=2, data={"supported": ["2026-07-28"], "requested": "2025-11-25"}),
    ]

    assert codes_of(trace(*both)) == []
    assert codes_of(trace(both[1], both[3])) == ["VERSION-1"]


def test_a_405_on_the_way_to_a_session_is_no_problem():
    tried = [posted(asked("server/discover")), replied(failed(-32600), status=400)]
    listening = [http_request("GET", exchange=9, **VERSION), http_answer(405, exchange=9)]
    reached = [
        posted(HAIL, exchange=3),
        replied(WELCOME, exchange=3, **SESSION),
        posted(READY, exchange=4, **VERSION),
        http_answer(202, exchange=4),
    ]

    assert "S405-2" in codes_of(trace(*tried, *listening, transport="http"))
    assert codes_of(trace(*tried, *reached, *listening, transport="http")) == []


def test_a_client_that_goes_on_with_the_old_transport_has_no_problem():
    refused = [posted(HAIL), http_answer(405)]
    stream = [http_request("GET", url="https://example.com/sse", exchange=2), endpoint(exchange=2)]
    reached = [
        posted(HAIL, exchange=3, url="https://example.com/messages?s=1"),
        http_answer(202, exchange=3),
        replied(WELCOME, exchange=2, sse=True),
    ]

    assert codes_of(trace(*refused, *stream, transport="http")) == ["S405-1"]
    assert codes_of(trace(*refused, *stream, *reached, transport="http")) == []


@pytest.mark.parametrize(("target", "codes"), [("https://a/sse", []), ("https://b/sse", ["PAGE-1"])])
def test_a_link_that_another_one_to_the_same_target_replaced_has_no_problem(target, codes):
    page = [posted(HAIL), http_answer(404, body="<title>Error</title>", content_type="text/html")]
    first = trace(*page, transport="http")
    opened = LinkLine(seq=1, t=0.0, link="1", name="a", transport="http", target="https://a/sse")
    second = LinkLine(seq=9, t=0.1, link="2", name="a", transport="sse", target=target)
    rest = [
        type(line)(**{name: getattr(line, name) for name in line.__struct_fields__} | {"link": "2"})
        for line in trace(*shake())[1:]
    ]

    assert codes_of([opened, *first[1:], second, *rest]) == codes


# -- the end -----------------------------------------------------------------------------------------------


def test_whoever_deletes_its_session_gives_up_its_calls():
    lines = trace(
        *session(),
        posted(CALL, exchange=3, **VERSION),
        http_answer(200, exchange=3, **STREAM),
        http_request("DELETE", exchange=4, **VERSION),
        eof(exchange=3),
        http_answer(204, exchange=4),
        transport="http",
    )

    assert broken_by(lines) == set()
    assert codes_of(lines) == []


def test_a_server_owes_no_answer_to_a_client_that_closed_first():
    call = [*shake(), old_ask("tools/call", {"name": "slow"})]

    assert broken_by(trace(*call, eof("c2s"), eof("s2c"))) == set()
    assert {each.rule for each in found_in(trace(*call, eof("s2c"), eof("c2s")))} == {"RES-011"}


def test_a_server_that_ends_after_a_cancelled_call_did_not_die_of_it():
    lines = trace(
        spawned("server"),
        *shake(),
        old_ask("ping"),
        old_answer({}),
        old_ask("tools/call", {"name": "slow"}, id=2),
        tell("notifications/cancelled", {"requestId": 2}, "c2s"),
        eof("s2c"),
        exited(0),
    )

    assert "CLOSED-7" not in codes_of(lines)


def test_an_event_id_is_of_no_interest_on_the_old_transport():
    stream = [http_request("GET", url="https://example.com/sse", exchange=2), endpoint(exchange=2)]
    asked_there = posted(asked("server/discover"), exchange=3, url="https://example.com/messages")
    refused = replied(failed(-32601), exchange=2, sse=True, event_id="4")

    assert broken_by(trace(*stream, asked_there, http_answer(202, exchange=3), refused)) == {"DEP-005"}


def test_a_list_that_comes_after_the_word_of_its_change_is_the_changed_one():
    changes = tell("notifications/tools/list_changed")
    begun = [*shake(server={"tools": {"listChanged": True}}), old_ask("tools/list")]
    listed = old_answer({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]})

    assert "LIST-009" not in broken_by(trace(*begun, changes, listed))
    assert "LIST-009" in broken_by(trace(*begun, listed, changes))


def test_the_end_of_one_session_gives_up_no_call_of_another():
    other = VERSION | {"mcp_session_id": "11111111-7d0e-4a3d-9a51-5a7c1f0d8e11"}
    lines = trace(
        *session(),
        posted(HAIL, exchange=5),
        replied(WELCOME, exchange=5, mcp_session_id=other["mcp_session_id"]),
        posted(READY, exchange=6, **other),
        http_answer(202, exchange=6),
        posted(CALL, exchange=3, **other),
        http_answer(200, exchange=3, **STREAM),
        http_request("DELETE", exchange=4, **VERSION),
        eof(exchange=3),
        http_answer(204, exchange=4),
    )

    assert "HTTP-009" in broken_by(lines)
