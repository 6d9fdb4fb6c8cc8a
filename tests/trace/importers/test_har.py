"""HAR files: what of them is MCP, in order of time."""

import base64
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.trace.format import EofLine, Http, HttpLine, LinkLine, MessageLine, TextLine
from mesero.trace.importers.har import HarFile

PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
PONG = '{"jsonrpc":"2.0","id":1,"result":{}}'


def entry(body=PING, answer=PONG, *, at="12:00:00.000", took=500, url="https://host/mcp?x=1", **changes):
    made = {
        "startedDateTime": f"2026-08-01T{at}Z",
        "time": took,
        "request": {
            "method": "POST",
            "url": url,
            "headers": [{"name": ":authority", "value": "host"}, {"name": "Mcp-Name", "value": "a"}],
            "postData": {"mimeType": "application/json", "text": body},
        },
        "response": {
            "status": 200,
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "content": {"mimeType": "application/json", "text": answer},
        },
    }
    for path, value in changes.items():
        *steps, last = path.split("__")
        place = made
        for step in steps:
            place = place[step]
        place[last] = value
    return made


def read(*entries, document=None):
    document = {"log": {"version": "1.2", "entries": list(entries)}} if document is None else document
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    recording = HarFile(io.BytesIO(raw))
    return recording, list(recording)


def test_a_request_and_its_answer_are_two_messages_of_one_exchange():
    recording, lines = read(entry())

    asked, answered = lines
    assert (asked.dir, asked.raw, asked.t) == ("c2s", PING, 0.0)
    assert asked.http == Http(
        exchange=1, method="POST", url="https://host/mcp?x=1", headers={"mcp-name": "a"}
    )
    assert (answered.dir, answered.raw, answered.t) == ("s2c", PONG, 0.5)
    assert answered.http == Http(exchange=1, status=200, headers={"content-type": "application/json"})
    assert recording.header.started == "2026-08-01T12:00:00Z"
    (link,) = recording.header.links.values()
    assert (link.name, link.transport, link.target) == ("host", "http", "https://host/mcp")
    assert recording.problems.count == 0
    assert recording.unknown == ("what passed while nothing was recorded: a HAR has whole exchanges only",)


def test_exchanges_that_overlap_come_in_order_of_time():
    _, lines = read(entry(at="12:00:01.000", took=100), entry(at="12:00:00.000", took=5000))

    assert [(line.t, line.http.exchange, line.dir) for line in lines] == [
        (0.0, 2, "c2s"),
        (1.0, 1, "c2s"),
        (1.1, 1, "s2c"),
        (5.0, 2, "s2c"),
    ]
    assert [line.seq for line in lines] == [1, 2, 3, 4]


STREAM = f"id: 7\nretry: 100\n\nevent: endpoint\ndata: /messages\n\ndata: {PONG}\n\n"


@pytest.mark.parametrize("is_base64", [True, False])
def test_an_event_stream_is_an_http_line_a_line_for_each_event_and_an_end(is_base64):
    text = base64.b64encode(STREAM.encode()).decode() if is_base64 else STREAM
    content = {"text": text, "encoding": "base64"} if is_base64 else {"text": text}
    headers = [{"name": "content-type", "value": "text/event-stream; charset=utf-8"}]

    recording, lines = read(entry(response__content=content, response__headers=headers))

    assert [type(line) for line in lines] == [MessageLine, HttpLine, HttpLine, HttpLine, MessageLine, EofLine]
    assert not lines[1].http.sse
    assert (lines[2].http.event_id, lines[2].http.retry, lines[2].http.sse) == ("7", 100, True)
    assert (lines[3].http.event, lines[3].http.body) == ("endpoint", "/messages")
    assert (lines[4].raw, lines[4].http.sse) == (PONG, True)
    assert lines[5].http == Http(exchange=1)
    assert any("each event" in text for text in recording.unknown)


def test_an_event_that_is_too_long_is_left_out_and_told(monkeypatch):
    from mesero.framing import EventFramer

    monkeypatch.setattr("mesero.trace.importers.har.EventFramer", lambda: EventFramer(max_bytes=10))
    headers = [{"name": "content-type", "value": "text/event-stream"}]

    recording, lines = read(entry(answer=STREAM, response__headers=headers))

    assert len(lines) == 5
    assert "more than 10 bytes" in recording.problems.kept[0].text


def test_the_kind_of_content_stands_in_for_a_header_that_is_missing():
    content = {"mimeType": "text/event-stream", "text": STREAM}

    _, lines = read(entry(response__content=content, response__headers=None))

    assert isinstance(lines[-1], EofLine)


def test_an_answer_that_is_no_message_is_kept_with_its_body():
    _, lines = read(entry(answer="<html>", response__status=502), entry(answer="", response__status=202))

    page, nothing = [line for line in lines if line.dir == "s2c"]
    assert isinstance(page, HttpLine)
    assert (page.http.status, page.http.body) == (502, "<html>")
    assert nothing.http.status == 202
    assert "body" not in str(nothing.http).replace("body=UNSET", "")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response__status": 0, "response___error": "net::ERR_FAILED"}, "net::ERR_FAILED"),
        ({"response": None, "_error": "blocked"}, "blocked"),
        ({"response": None}, "no answer was recorded"),
        ({"response__status": True}, "no answer was recorded"),
    ],
)
def test_an_exchange_that_failed_has_an_error(changes, error):
    _, lines = read(entry(**changes))

    assert lines[1].http == Http(exchange=1, error=error)


def test_a_header_that_was_sent_several_times_has_a_list():
    headers = [{"name": "A", "value": value} for value in "xyz"] + [7, {"name": ""}]

    _, lines = read(entry(request__headers=headers))

    assert lines[0].http.headers == {"a": ["x", "y", "z"]}


def test_what_is_not_for_a_server_of_ours_is_left_out():
    metadata = entry(
        "", "{}", url="https://login/.well-known/oauth-authorization-server", request__method="GET"
    )
    picture = entry("", "x", url="https://other/x.png")
    get = entry("", "x", url="https://host/other")

    recording, lines = read(entry(), metadata, picture, get, "no entry")

    assert recording.problems.kept[0].text == "1 exchanges with other servers were left out"
    assert {line.http.exchange for line in lines if not isinstance(line, LinkLine)} == {1, 2, 3}
    assert sorted(line.name for line in lines if isinstance(line, LinkLine)) == []
    assert [link.name for link in recording.header.links.values()] == ["host", "login", "host"]


def test_a_stream_alone_shows_that_a_server_speaks_mcp():
    content = {"mimeType": "text/event-stream", "text": STREAM}
    get = entry("", request__method="GET", response__headers=[], response__content=content)

    recording, lines = read(get)

    assert recording.problems.count == 0
    assert any(isinstance(line, MessageLine) for line in lines)


@pytest.mark.parametrize("at", ["nonsense", 7, None])
def test_an_exchange_without_a_time_says_so(at):
    recording, lines = read(entry(startedDateTime=at, time="long"))

    assert [line.t for line in lines] == [0.0, 0.0]
    assert {line.guessed for line in lines} == {("t",)}
    assert any("when an exchange began" in text for text in recording.unknown)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (b"{", "no whole HAR file"),
        (b"\xff", "no whole HAR file"),
        (b"[" * 5000, "no whole HAR file"),
        ({"log": {"entries": 7}}, "no list of entries"),
        ([], "no list of entries"),
        ({"log": {"entries": []}}, "carries a JSON-RPC message"),
    ],
)
def test_what_is_no_har_is_told(document, text):
    recording, lines = read(document=document)

    assert lines == []
    assert text in recording.problems.kept[0].text


def test_bad_base64_and_bad_urls_do_no_harm():
    _, lines = read(
        entry(response__content={"text": "%%%", "encoding": "base64"}),
        entry(url="https://[bad/"),
        entry(url=7),
    )

    assert any(isinstance(line, HttpLine) and line.http.body == "%%%" for line in lines)
    assert not any(isinstance(line, TextLine) for line in lines)


TEXTS = st.text(max_size=3) | st.sampled_from([PING, STREAM, "https://host", "base64"])
NAMES = st.sampled_from(["text", "headers", "name", "value", "content", "url"])
PATHS = ["request__url", "request__headers", "request__postData", "response__content", "response__status"]
JSON = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(
    changes=st.dictionaries(st.sampled_from([*PATHS, "time", "startedDateTime"]), JSON),
    whole=st.none() | JSON,
)
def test_no_har_makes_the_importer_raise(changes, whole):
    for entries in ([entry(**changes), entry()], [whole, entry(request=whole), entry(response=whole)]):
        _, lines = read(*entries)
        assert lines
