"""The words that example traces are written with."""

import msgspec
import pytest

from mesero.audit.examples import (
    answered,
    ask,
    asked,
    endpoint,
    eof,
    exited,
    failed,
    garbled,
    headers_for,
    http_answer,
    http_error,
    http_request,
    noise,
    note,
    posted,
    replied,
    shake,
    spawned,
    stderr,
    trace,
    wait,
    wrote,
)
from mesero.trace.format import decode_line, encode_line

EVERYTHING = trace(
    *shake(),
    ask("tools/list"),
    posted(asked("tools/call", {"name": "x"}), drop="accept"),
    replied(answered(), sse=True, event_id="1"),
    http_request("GET"),
    http_answer(404, body={"a": 1}),
    http_error("reset"),
    endpoint(),
    wrote("x"),
    garbled("x"),
    noise("AA=="),
    stderr("x"),
    eof("c2s"),
    eof(exchange=1),
    spawned("a", "b"),
    exited(1),
    exited(None, signal=9),
    note("x"),
)


@pytest.mark.parametrize("line", EVERYTHING, ids=lambda line: f"{line.seq}-{type(line).__name__}")
def test_each_line_is_one_of_the_trace_format(line):
    assert decode_line(encode_line(line)) == line


def test_lines_are_numbered_and_time_passes():
    lines = trace(ask("a"), wait(5), ask("b"))

    assert [line.t for line in lines] == [0.0, 0.01, 5.03]
    assert [line.seq for line in lines] == [1, 2, 4]


def test_metadata_is_there_unless_told_otherwise():
    params = asked("tools/list", revision="x", progress="t")["params"]

    assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "x"
    assert params["_meta"]["progressToken"] == "t"


def test_an_error_without_an_id_has_none():
    assert failed(-1, id=None) == {"jsonrpc": "2.0", "error": {"code": -1, "message": "no"}}


def test_headers_mirror_the_body():
    assert headers_for(asked("resources/read", {"uri": "a://b"}))["mcp-name"] == "a://b"
    assert "mcp-method" not in headers_for({"method": "ping"})
    assert "mcp-method" not in headers_for("text")


def test_a_header_can_be_left_out():
    http = trace(posted(asked("tools/list"), drop="mcp-method", x_more="1"))[1].http

    assert "mcp-method" not in http.headers
    assert http.headers["x-more"] == "1"


def test_an_event_may_have_an_id():
    assert trace(replied(answered()))[1].http.event_id is msgspec.UNSET
    assert trace(replied(answered(), event_id="7"))[1].http.event_id == "7"
