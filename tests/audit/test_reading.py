"""From lines to evidence: kinds, correlation, eras."""

import pytest

from mesero.audit.examples import (
    answer,
    answered,
    ask,
    asked,
    c2s,
    fail,
    failed,
    hello,
    http_answer,
    http_request,
    old_answer,
    old_ask,
    posted,
    replied,
    s2c,
    shake,
    tell,
    trace,
    welcome,
    wrote,
)
from mesero.audit.link import LinkState
from mesero.audit.reading import read_line
from mesero.audit.streams import open_link
from mesero.audit.tracking import remember
from mesero.trace.format import Http, MessageLine, OtherLine
from tests.audit.test_evidence import evidences

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def placed(*steps):
    """(kind, era, revision) of what the last step is."""
    last = evidences(*steps)[-1]
    return (last.kind, last.era, last.revision)


# -- kinds: the four messages of the first lesson ------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (
            c2s({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "read_file"}}),
            "request",
        ),
        (
            s2c({"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "hola"}]}}),
            "result",
        ),
        (s2c({"jsonrpc": "2.0", "method": "notifications/resources/updated"}), "notification"),
        (s2c({"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "Method not found"}}), "error"),
        (s2c({"jsonrpc": "2.0", "id": 7}), "broken"),
        (s2c("[]"), "broken"),
        (s2c("not JSON"), "text"),
        (wrote("a log"), "text"),
    ],
)
def test_a_message_has_one_kind_and_by_itself_no_era(step, kind):
    assert placed(step) == (kind, "", "")


def test_a_notification_with_an_id_stays_a_notification():
    assert placed(c2s({"jsonrpc": "2.0", "id": 1, "method": "notifications/x"}))[0] == "notification"


def test_the_members_of_a_batch_are_looked_at_one_by_one():
    found = evidences(*shake("2025-03-26"), c2s([PING, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]))

    assert [each.kind for each in found[-3:]] == ["broken", "request", "request"]
    assert [each.revision for each in found[-3:]] == ["2025-03-26"] * 3


def test_a_line_of_an_unknown_kind_is_no_evidence():
    line = OtherLine(seq=1, t=0, link="1", kind="later")

    assert read_line(LinkState("1"), line) == []


# -- eras ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([ask("tools/list")], ("request", "modern", "2026-07-28")),
        ([ask("tools/list", revision="2031-01-01")], ("request", "modern", "2026-07-28")),
        ([ask("tools/list", revision=7)], ("request", "modern", "2026-07-28")),
        (
            [c2s({"jsonrpc": "2.0", "id": 1, "method": "server/discover"})],
            ("request", "modern", "2026-07-28"),
        ),
        ([shake("2024-11-05")[0]], ("request", "legacy", "2024-11-05")),
        ([c2s(asked("initialize", hello()))], ("request", "modern", "2026-07-28")),
        ([*shake("2025-06-18"), old_ask("tools/list")], ("request", "legacy", "2025-06-18")),
        ([*shake("2025-06-18"), ask("tools/list")], ("request", "modern", "2026-07-28")),
        ([posted(PING, mcp_protocol_version="2030-01-01")], ("request", "modern", "2026-07-28")),
        ([posted(PING, mcp_protocol_version="2025-06-18")], ("request", "legacy", "2025-06-18")),
        ([posted(PING, mcp_session_id="s")], ("request", "legacy", "2025-03-26")),
        ([posted(PING)], ("request", "", "")),
    ],
)
def test_a_request_is_in_the_era_that_it_names_or_that_a_real_handshake_began(steps, expected):
    assert placed(*steps) == expected


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([ask("tools/list"), answer()], ("result", "modern", "2026-07-28")),
        ([ask("tools/list"), old_answer({})], ("result", "modern", "2026-07-28")),
        ([answer(id=9)], ("result", "modern", "2026-07-28")),
        ([fail(-32022, id=9)], ("error", "modern", "2026-07-28")),
        ([*shake("2025-11-25", answers="2024-11-05")[:2]], ("result", "legacy", "2024-11-05")),
        ([*shake("2025-11-25", answers="1999-01-01")[:2]], ("result", "legacy", "2025-11-25")),
        ([*shake("2024-11-05"), old_answer({}, id=9)], ("result", "legacy", "2024-11-05")),
        ([shake()[0], fail(-32601, id=0)], ("error", "legacy", "2025-11-25")),
    ],
)
def test_an_answer_is_in_the_era_of_its_request(steps, expected):
    assert placed(*steps) == expected


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([tell("x", {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}})], "modern"),
        ([ask("tools/call", progress="t"), tell("notifications/progress", {"progressToken": "t"})], "modern"),
        ([*shake(), ask("a"), tell("notifications/cancelled", {"requestId": 1}, "c2s")], "modern"),
        ([*shake(), ask("a"), answer(), tell("notifications/cancelled", {"requestId": 1}, "c2s")], "modern"),
        ([*shake(), tell("notifications/cancelled", {"requestId": 9}, "c2s")], "legacy"),
        ([*shake(), tell("notifications/tools/list_changed")], "legacy"),
        ([ask("a"), tell("notifications/tools/list_changed")], "modern"),
        ([tell("notifications/progress", {"progressToken": None})], ""),
        ([tell("notifications/cancelled", {}, "c2s")], ""),
        ([old_ask("a"), tell("notifications/cancelled", {"requestId": 1}, "c2s")], ""),
    ],
)
def test_a_notification_is_in_the_era_of_what_it_belongs_to(steps, expected):
    assert placed(*steps)[1] == expected


def test_a_request_of_the_server_is_in_the_era_of_the_handshake_or_of_the_requests_before_it():
    question = old_ask("roots/list", id="s", direction="s2c")

    assert placed(*shake("2025-06-18"), question)[1:] == ("legacy", "2025-06-18")
    assert placed(ask("a"), question)[1:] == ("modern", "2026-07-28")
    assert placed(question)[1:] == ("", "")


def test_one_link_may_be_of_the_older_era_and_the_next_of_the_newer():
    old, new = LinkState("1"), LinkState("2")
    for line in trace(*shake()):
        for evidence in read_line(old, line):
            remember(evidence)

    assert read_line(old, trace(old_ask("tools/list"))[1])[0].era == "legacy"
    assert read_line(new, trace(old_ask("tools/list"))[1])[0].era == ""
    assert read_line(new, trace(ask("tools/list"))[1])[0].era == "modern"


# -- HTTP ----------------------------------------------------------------------------------------------------


def test_an_exchange_is_looked_at_once_as_request_and_once_as_answer():
    event = {"jsonrpc": "2.0", "method": "notifications/x"}
    found = evidences(posted(asked("tools/list")), replied(event, sse=True), replied(answered(), sse=True))

    assert [each.kind for each in found] == [
        "http request",
        "request",
        "http answer",
        "notification",
        "result",
    ]
    assert {each.era for each in found} == {"modern"}
    assert found[-1].asked is found[2].exchange.asked


def test_an_answer_without_a_message_belongs_to_the_request_of_its_exchange():
    found = evidences(posted(asked("tools/list")), http_answer(401))

    assert [each.kind for each in found[2:]] == ["http answer", "http"]
    assert found[2].about == "tools/list"


def test_a_request_without_a_message_is_in_the_era_of_its_header_or_of_the_link():
    assert placed(http_request("GET", mcp_protocol_version="2026-07-28"))[1] == "modern"
    assert placed(http_request("GET", mcp_session_id="s"))[1] == "legacy"
    assert placed(http_request("GET"))[1] == ""


def test_sessions_are_kept_apart():
    start = [
        posted(INITIALIZE, exchange=1),
        replied({"jsonrpc": "2.0", "id": 0, "result": welcome("2025-06-18")}, exchange=1, mcp_session_id="a"),
        posted(INITIALIZE, exchange=2),
        replied({"jsonrpc": "2.0", "id": 0, "result": welcome("2025-11-25")}, exchange=2, mcp_session_id="b"),
    ]

    assert placed(*start, posted(PING, exchange=3, mcp_session_id="a"))[2] == "2025-06-18"
    assert placed(*start, posted(PING, exchange=3, mcp_session_id="b"))[2] == "2025-11-25"
    assert placed(*start, posted(READY, exchange=3, mcp_session_id="c"))[2] == "2025-03-26"


def test_two_clients_on_one_link_may_use_the_same_id():
    found = evidences(
        posted(asked("tools/call", {"name": "a"}), exchange=1),
        posted(asked("tools/call", {"name": "b"}), exchange=2),
        replied(answered(), exchange=1),
        replied(answered(), exchange=2),
    )

    assert [each.asked.name for each in found if each.kind == "result"] == ["a", "b"]


def test_an_answer_with_another_id_belongs_to_its_exchange_if_to_nothing_else():
    found = evidences(posted(asked("tools/list")), replied(failed(-32603, id=None)))

    assert found[-1].asked.method == "tools/list"


def test_an_answer_finds_its_exchange_by_its_id_where_the_recorder_gave_no_numbers():
    link, found = LinkState("1"), []
    request = Http(method="POST", url="https://example.com/mcp", headers={"x-a": ["1", "2"]})
    messages = [
        ("c2s", asked("tools/list"), request),
        ("s2c", answered(), Http(status=200)),
        ("s2c", answered(id=9), Http(status=200)),
        ("s2c", "no JSON", Http(status=200)),
    ]
    for seq, (direction, message, http) in enumerate(messages, start=2):
        step = c2s(message) if direction == "c2s" else s2c(message)
        (line,) = step(seq, 0.0)
        for evidence in read_line(
            link, MessageLine(seq=seq, t=0, link="1", dir=direction, raw=line.raw, http=http)
        ):
            found.append(evidence)
            remember(evidence)

    first = found[0].exchange
    assert first.headers == {"x-a": "1, 2"}
    assert first.repeated == ("x-a",)
    assert next(each for each in found if each.kind == "result").exchange is first
    assert found[-1].exchange is not first


def test_a_link_is_opened_by_its_line():
    link = LinkState("1")
    open_link(link, trace()[0])

    assert (link.title, link.transport) == ("example", "stdio")
