import pytest

from mesero.audit.evidence import Evidence
from mesero.audit.link import LinkState
from mesero.diagram.labels import duration_text, line_words, message_words, plain
from mesero.trace.format import (
    EofLine,
    ExitLine,
    Http,
    HttpLine,
    LinkLine,
    NoteLine,
    OtherLine,
    SpawnLine,
    StderrLine,
    TextLine,
)

PLACE = {"seq": 1, "t": 0.0, "link": "1"}


def evidence(kind, message):
    found = Evidence(LinkState("1"), None, kind)
    found.message = message
    if isinstance(message, dict):
        found.method = message.get("method", "")
        found.params = message.get("params", {})
        found.result = message.get("result", {})
        found.error = message.get("error", {})
    return found


def test_plain_text_is_one_short_line_that_nothing_obeys():
    assert plain("a\x1b[31m\nb\u202ec") == "a�[31m b�c"
    assert plain("x" * 500) == "x" * 159 + "…"
    assert plain({"a": 1}) == '{"a": 1}'
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert plain(deep) == "…"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.00042, "0.42 ms"),
        (0.05, "50 ms"),
        (0.4567, "457 ms"),
        (3.214, "3.21 s"),
        (125, "2 min 5 s"),
    ],
)
def test_durations_are_in_the_unit_that_fits(seconds, text):
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("kind", "message", "words"),
    [
        ("request", {"method": "tools/call", "params": {"name": "add"}}, ("tools/call add", "", "")),
        ("request", {"method": "tools/list"}, ("tools/list", "", "")),
        ("request", {"method": ""}, ("no method", "", "")),
        (
            "request",
            {"method": "tools/call", "params": {"inputResponses": {"a": 1, "b": 2}}},
            ("tools/call", "with answers to a, b", ""),
        ),
        (
            "request",
            {"method": "tools/call", "params": {"inputResponses": {}}},
            ("tools/call", "with answers to nothing", ""),
        ),
        (
            "request",
            {"method": "tools/call", "params": {"requestState": "s"}},
            ("tools/call", "with the state handed out", ""),
        ),
        (
            "notification",
            {"method": "notifications/progress", "params": {"progress": 1, "total": 2, "message": "m"}},
            ("notifications/progress", "1 of 2: m", ""),
        ),
        (
            "notification",
            {"method": "notifications/message", "params": {"level": "info", "data": {"a": 1}}},
            ("notifications/message", 'info: {"a": 1}', ""),
        ),
        ("notification", {"method": "notifications/x"}, ("notifications/x", "", "")),
        ("result", {"result": {"tools": [1]}}, ("result", "1 tool", "")),
        ("result", {"result": {"prompts": [], "nextCursor": "c"}}, ("result", "0 prompts, more to come", "")),
        ("result", {"result": {"supportedVersions": ["x"]}}, ("result", 'speaks ["x"]', "")),
        (
            "result",
            {"result": {"protocolVersion": "v", "serverInfo": {"name": "n"}}},
            ("result", "agreed on v n", ""),
        ),
        (
            "result",
            {"result": {"isError": True, "content": [{"text": "t"}]}},
            ("result", "the tool failed: t", "error"),
        ),
        ("result", {"result": {"content": [{"text": 5}, {"text": "t"}]}}, ("result", "t", "")),
        ("result", {"result": {"content": [{"type": "image"}], "structuredContent": 5}}, ("result", "5", "")),
        ("result", {"result": {}}, ("result", "", "")),
        (
            "result",
            {"result": {"resultType": "input_required", "inputRequests": {"q": {"method": "roots/list"}}}},
            ("input required", "asks for q (roots/list)", ""),
        ),
        ("error", {"error": {"code": -1, "message": "no"}}, ("error -1", "no", "error")),
        ("broken", [1, 2], ("a batch of 2", "", "")),
        ("broken", 5, ("no JSON-RPC message", "", "error")),
    ],
)
def test_a_message_has_a_label_a_note_and_how_bad_it_is(kind, message, words):
    assert message_words(evidence(kind, message)) == words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (SpawnLine(**PLACE, command=("a", "b"), pid=4), ("started a b", "pid 4", "")),
        (SpawnLine(**PLACE, command=("a",)), ("started a", "could not be started", "error")),
        (ExitLine(**PLACE, code=0), ("exited with code 0", "", "")),
        (ExitLine(**PLACE, code=3), ("exited with code 3", "", "error")),
        (ExitLine(**PLACE), ("exited with code ?", "", "")),
        (ExitLine(**PLACE, signal=9), ("ended by signal 9", "", "warning")),
        (EofLine(**PLACE, dir="c2s"), ("the client closed the pipe", "", "")),
        (EofLine(**PLACE, dir="s2c", http=Http(exchange=1)), ("the server closed the stream", "", "")),
        (HttpLine(**PLACE, dir="s2c", http=Http(error="gone")), ("the connection broke", "gone", "error")),
        (HttpLine(**PLACE, dir="s2c", http=Http(status=202)), ("HTTP 202", "", "")),
        (HttpLine(**PLACE, dir="s2c", http=Http(status=405)), ("HTTP 405", "", "")),
        (HttpLine(**PLACE, dir="s2c", http=Http(status=500, body="oh")), ("HTTP 500", "oh", "error")),
        (HttpLine(**PLACE, dir="c2s", http=Http(method="GET", url="u")), ("GET u", "", "")),
        (HttpLine(**PLACE, dir="c2s", http=Http(method="GET")), ("GET", "", "")),
        (
            HttpLine(**PLACE, dir="s2c", http=Http(sse=True, event="endpoint", body="/m")),
            ("event endpoint", "/m", ""),
        ),
        (HttpLine(**PLACE, dir="s2c", http=Http(sse=True)), ("event", "", "")),
        (TextLine(**PLACE, dir="s2c", raw="log"), ("no message", "log", "error")),
        (TextLine(**PLACE, dir="s2c", raw=" "), ("an empty line", "", "")),
        (StderrLine(**PLACE, b64="AA=="), ("stderr", "AA== (Base64)", "")),
        (NoteLine(**PLACE, text="client reported: x"), ("note", "client reported: x", "warning")),
        (NoteLine(**PLACE, text="x"), ("note", "x", "")),
        (LinkLine(**PLACE), ("a new link", "", "")),
        (OtherLine(**PLACE, kind="later"), ("later", "", "")),
        (object(), ("a line", "", "")),
    ],
)
def test_a_line_without_a_message_has_them_too(line, words):
    assert line_words(line) == words
