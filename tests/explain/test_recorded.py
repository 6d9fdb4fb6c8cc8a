from mesero.explain.recorded import find_message
from mesero.trace.format import Http, MessageLine
from tests.diagram.recordings import handshake, stateless


def test_a_message_comes_with_what_the_trace_knows():
    made = stateless()
    found = find_message(made.lines, 1)
    assert ("mcp-method", "server/discover") in found.headers
    assert (found.revision, found.answers) == ("2026-07-28", "")
    answer = find_message(made.lines, 2)
    assert answer.answers == "server/discover"
    assert answer.headers == []


def test_over_stdio_there_are_no_headers():
    found = find_message(handshake().lines, 8)
    assert found.headers is None
    assert found.revision == "2025-11-25"


def test_a_line_without_a_message_has_none():
    made = handshake()
    assert find_message(made.lines, 1) is None
    assert find_message(made.lines, 999) is None


def test_repeated_headers_stay_repeated():
    http = Http(exchange=1, method="POST", url="https://x/", headers={"mcp-name": ["a", "b"]})
    line = MessageLine(seq=1, t=0.0, link="1", dir="c2s", raw="{}", http=http)
    assert find_message([line], 1).headers == [("mcp-name", "a"), ("mcp-name", "b")]
