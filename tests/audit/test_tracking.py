"""What messages leave behind."""

from mesero.audit.examples import (
    answer,
    ask,
    asked,
    c2s,
    eof,
    fail,
    http_answer,
    old_ask,
    posted,
    replied,
    shake,
    spawned,
    tell,
    trace,
)
from mesero.audit.tracking import digest_of, find_round
from tests.audit.judging import link_of

HINTS = {"ttlMs": 0, "cacheScope": "private"}


def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}}


def after(*steps):
    return link_of(trace(*steps))


def test_an_answered_request_is_open_no_more():
    link = after(ask("tools/list"), answer({"tools": [tool("a"), {"name": 7}, "b"], **HINTS}))

    assert not link.open
    assert list(link.answered) == [("c2s", ("int", 1))]
    assert list(link.tools) == ["a"]
    assert link.listings["tools/list"].is_complete


def test_a_request_without_a_valid_id_is_not_waited_for():
    assert not after(c2s(asked("tools/list", id=None))).open


def test_pages_make_one_list_and_a_new_list_remembers_the_order_of_the_old():
    link = after(
        ask("tools/list"),
        answer({"tools": [tool("a")], "nextCursor": "2", **HINTS}),
        ask("tools/list", {"cursor": "2"}, id=2),
        answer({"tools": [tool("b")], **HINTS}, id=2),
        ask("tools/list", id=3),
    )
    listing = link.listings["tools/list"]

    assert listing.order == ("a", "b")
    assert listing.names == {}


def test_a_change_marks_only_lists_that_were_read():
    link = after(
        *shake(server={"tools": {"listChanged": True}}),
        old_ask("tools/list"),
        tell("notifications/tools/list_changed"),
        tell("notifications/prompts/list_changed"),
    )

    assert link.listings["tools/list"].changed_seq == 6
    assert "prompts/list" not in link.listings


def test_the_capabilities_of_the_server_come_from_either_era():
    discovered = {"supportedVersions": ["2026-07-28"], "capabilities": {"prompts": {}}, **HINTS}

    assert after(ask("server/discover"), answer(discovered)).server_capabilities == {"prompts": {}}
    assert after(*shake(server={"tools": {}})).server_capabilities == {"tools": {}}


def test_a_round_waits_until_its_retry():
    asks = answer({"resultType": "input_required", "requestState": "s", "inputRequests": {"k": {}}})
    call = ask("tools/call", {"name": "x"})
    retry = ask("tools/call", {"name": "x", "requestState": "s"}, id=2)

    assert [each.keys for each in after(call, asks).rounds.values()] == [("k",)]
    assert not after(call, asks, retry).rounds


def test_the_round_of_a_retry_is_that_of_its_state():
    link = after(
        ask("tools/call", {"name": "x"}),
        answer({"resultType": "input_required", "requestState": "s"}),
        ask("tools/call", {"name": "x"}, id=2),
        answer({"resultType": "input_required", "requestState": "t"}, id=2),
    )

    assert find_round(link, "tools/call", "x", "t").state == "t"
    assert find_round(link, "tools/call", "x", None).state == "s"
    assert find_round(link, "tools/call", "y", "t") is None


def test_a_second_process_knows_nothing_of_the_first():
    link = after(spawned("a"), shake()[0], spawned("a"), ask("server/discover"))

    assert link.current is None
    assert [run.methods for run in link.runs] == [("initialize",)]
    assert link.methods == ["server/discover"]


def test_a_failure_is_kept_with_what_was_asked():
    (failure,) = after(*shake(), old_ask("tools/list"), fail(-32602, "x" * 1000)).failures

    assert (failure.code, failure.asked.method, failure.was_initialized) == (-32602, "tools/list", True)
    assert len(failure.message) == 400


def test_a_cancelled_request_was_given_up():
    link = after(ask("a"), tell("notifications/cancelled", {"requestId": 1}, "c2s"))

    assert [each.method for each in link.given_up] == ["a"]
    assert not after(ask("a"), tell("notifications/cancelled", {}, "c2s")).given_up


def test_a_subscription_is_over_when_its_server_or_its_client_says_so():
    listen = ask("subscriptions/listen", {"notifications": {}})
    by_server = after(listen, tell("notifications/cancelled", {"requestId": 1}))
    by_client = after(listen, tell("notifications/cancelled", {"requestId": 1}, "c2s"))

    assert by_server.listens["int", 1].closed is not None
    assert not by_server.open
    assert by_client.listens["int", 1].closed is not None


def test_http_that_answers_with_an_error_ends_the_request():
    link = after(posted(asked("tools/list")), http_answer(503))

    assert not link.open
    assert [each.status for each in link.refusals] == [503]


def test_a_stream_that_the_client_closes_gives_its_request_up():
    link = after(posted(asked("tools/call", {"name": "x"})), eof("c2s", exchange=1))

    assert [each.name for each in link.given_up] == ["x"]


def test_arguments_are_compared_by_value():
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    assert digest_of({"a": 1}) != digest_of({"a": 2})
    assert digest_of({"a": "\ud83d"}) == 0


def test_an_answer_to_the_server_is_remembered_on_its_side():
    link = after(
        *shake(client={"roots": {}}),
        old_ask("roots/list", id=1, direction="s2c"),
        old_ask("ping", id=1),
        c2s({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}),
    )

    assert ("c2s", ("int", 1)) in link.open
    assert ("s2c", ("int", 1)) in link.answered


def test_progress_belongs_to_the_request_that_gave_its_token():
    link = after(
        ask("tools/call", {"name": "x"}, progress="t"),
        tell("notifications/progress", {"progressToken": "t", "progress": 2}),
        tell("notifications/progress", {"progressToken": "u", "progress": 3}),
        tell("notifications/progress", {"progressToken": "t", "progress": "no"}),
    )

    assert link.progress["c2s", ("str", "t")][1] == 2.0


def test_an_answer_to_a_request_without_an_id_ends_it_all_the_same():
    unnamed = asked("tools/list", id=None)
    link = after(posted(unnamed), replied({"jsonrpc": "2.0", "error": {"code": -32600, "message": "no id"}}))

    assert [failure.code for failure in link.failures] == [-32600]
    assert not link.answered


def test_very_long_lists_are_not_remembered_whole(monkeypatch):
    monkeypatch.setattr("mesero.audit.tracking._MAX_NAMES", 2)
    link = after(ask("tools/list"), answer({"tools": [tool(name) for name in "abc"], **HINTS}))

    assert list(link.listings["tools/list"].names) == ["a", "b"]


def test_a_server_may_cancel_what_it_asked():
    link = after(
        *shake(client={"roots": {}}),
        old_ask("roots/list", id="s", direction="s2c"),
        tell("notifications/cancelled", {"requestId": "s"}),
    )

    assert link.open["s2c", ("str", "s")].cancelled_t is not None
    assert not link.given_up


def test_the_ids_of_a_session_are_those_of_its_own_era():
    link = after(*shake(), old_ask("ping"), ask("tools/list", id=2), c2s({"method": "ping", "id": None}))

    assert list(link.current.ids) == [("int", 0), ("int", 1)]


def test_a_retry_of_a_round_before_the_trace_takes_no_other_round_with_it():
    link = after(
        ask("tools/call", {"name": "x"}),
        answer({"resultType": "input_required", "requestState": "s"}),
        ask("tools/call", {"name": "y", "requestState": "t"}, id=2),
    )

    assert [each.state for each in link.rounds.values()] == ["s"]
