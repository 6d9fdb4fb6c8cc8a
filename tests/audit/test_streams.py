"""What HTTP, a process and the ends of streams leave behind."""

from mesero.audit.examples import (
    asked,
    eof,
    exited,
    http_answer,
    http_error,
    http_request,
    noise,
    note,
    posted,
    replied,
    spawned,
    stderr,
    trace,
    wrote,
)
from mesero.audit.streams import rise_of
from tests.audit.judging import link_of

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
RESOURCE = "https://example.com/.well-known/oauth-protected-resource"


def after(*steps):
    return link_of(trace(*steps))


def test_braces_in_strings_open_nothing():
    assert rise_of('{"a": "{{"') == 1
    assert rise_of(r'{"a": "\"}"}') == 0


def test_a_message_over_several_lines_is_open_until_its_braces_are_even():
    assert after(wrote("{"), wrote('"a": {')).text_depth == 2
    assert after(wrote("{"), wrote("}")).text_depth == 0
    assert after(wrote("log {")).text_depth == 0
    assert after(noise("AA==")).text_depth == 0


def test_the_last_words_of_a_server_are_kept_shortened():
    link = after(*[stderr(f"{number} {'x' * 1000}") for number in range(30)])

    assert len(link.stderr) == 20
    assert link.stderr[-1].startswith("29 ")
    assert len(link.stderr[-1]) == 400


def test_the_end_of_a_process_and_of_its_streams_is_kept():
    link = after(spawned("a"), eof("c2s"), eof("s2c"), eof("s2c"), exited(3))

    assert link.exit.code == 3
    assert link.closed == {"c2s": 0.02, "s2c": 0.03}


def test_a_session_is_lost_by_404_and_deleted_by_delete():
    lost = after(posted(PING, mcp_session_id="s"), http_answer(404))
    deleted = after(
        http_request("DELETE", mcp_session_id="s"),
        http_answer(200),
        posted(PING, exchange=2, mcp_session_id="s"),
        http_answer(404, exchange=2),
    )

    assert lost.sessions == {"s": "lost"}
    assert deleted.sessions == {"s": "deleted"}
    assert [status for _, status in deleted.statuses["s"]] == [200, 404]


def test_tokens_that_worked_and_tokens_that_did_not_are_kept_apart():
    good = after(
        posted(asked("tools/list"), authorization="Bearer t"),
        replied({"jsonrpc": "2.0", "id": 1, "result": {}}),
    )
    bad = after(posted(asked("tools/list"), authorization="Bearer t"), http_answer(401))

    assert list(good.good_tokens) == ["Bearer t"]
    assert list(bad.refused_tokens) == ["Bearer t"]


def test_authorization_servers_are_read_from_the_metadata_of_the_resource():
    def fetched(body):
        return after(http_request("GET", url=RESOURCE), http_answer(200, body=body)).authorization_servers

    assert fetched({"authorization_servers": ["https://a", 7]}) == ("https://a",)
    assert fetched({"authorization_servers": "https://a"}) == ()
    assert fetched("<html>") == ()


def test_redirects_are_counted():
    assert after(posted(asked("tools/list")), http_answer(307, location="/mcp/")).redirects == 1


def test_a_stream_that_ends_closes_its_subscription():
    link = after(posted(asked("subscriptions/listen", {"notifications": {}})), eof("s2c", exchange=1))

    assert link.listens["int", 1].closed is not None


def test_what_a_host_told_its_user_is_kept():
    assert list(after(note("client reported: timed out")).reports) == [(2, "client reported: timed out")]


def test_a_connection_that_broke_has_taken_its_request_back():
    link = after(posted(PING), http_error("reset"))

    assert (link.exchanges[1].error, link.exchanges[1].asked.is_answered) == ("reset", True)
    assert not link.open
    assert after(http_request("GET"), http_error("reset")).exchanges[1].error == "reset"


def test_a_stream_that_broke_leaves_its_request_open():
    link = after(posted(PING), http_answer(200, content_type="text/event-stream"), http_error("reset"))

    assert ("c2s", ("int", 1)) in link.open
    assert link.exchanges[1].ended_t == link.last_t


def test_scopes_are_read_from_metadata_and_challenge():
    document = {"authorization_servers": [], "scopes_supported": ["a", 1, "b"]}
    challenge = http_answer(403, exchange=2, www_authenticate='Bearer error="x", scope="a b"')
    link = after(
        http_request("GET", url=RESOURCE),
        http_answer(200, body=document),
        posted(PING, exchange=2),
        challenge,
    )

    assert link.scopes_supported == ("a", "b")
    assert link.challenged == ("a", "b")


def test_a_request_that_was_cancelled_before_its_session_ended_keeps_its_time():
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    link = after(
        posted(PING, mcp_session_id="s"),
        posted(cancel, exchange=2, mcp_session_id="s"),
        http_request("DELETE", exchange=3, mcp_session_id="s"),
    )

    assert link.given_up[0].cancelled_t < link.last_t
