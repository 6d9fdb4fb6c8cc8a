"""Messages as lines, and the counts behind the invariants."""

import msgspec
import pytest

from mesero.demo.wire import Wire

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "notes", "version": "1"}}


@pytest.fixture
def lines():
    return []


@pytest.fixture
def wire(lines):
    return Wire(lines.append, clock=lambda: 1.0)


def send(wire, message_id, method, params=None):
    params = {"_meta": META} if params is None else params
    wire.take(
        "c2s", msgspec.json.encode({"jsonrpc": "2.0", "id": message_id, "method": method, "params": params})
    )


def answer(wire, message_id, result):
    wire.take("s2c", msgspec.json.encode({"jsonrpc": "2.0", "id": message_id, "result": result}))


def tools_named(*names, **more):
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    return {
        "resultType": "complete",
        "tools": tools,
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": SERVER,
        **more,
    }


def test_a_valid_pair_is_ticked_and_counted(wire, lines):
    send(wire, 1, "tools/list")
    answer(wire, 1, tools_named("a", "b"))
    assert (wire.requests, wire.requests_with_meta, wire.results, wire.complete_results) == (1, 1, 1, 1)
    assert (wire.lists, wire.good_lists, wire.messages, wire.violations) == (1, 1, 2, [])
    assert lines[0].startswith("  ✓ →  1  tools/list")
    assert "2 tools: a, b; fresh for 0 s, private" in lines[1]


def test_a_request_without_metadata_is_not_counted_as_good(wire, lines):
    send(wire, 1, "tools/list", {})
    assert (wire.requests, wire.requests_with_meta) == (1, 0)
    assert wire.violations
    assert lines[0].startswith("  ✗ ")


def test_a_list_out_of_order_is_not_counted_as_good(wire):
    send(wire, 1, "tools/list")
    answer(wire, 1, tools_named("b", "a"))
    assert (wire.lists, wire.good_lists) == (1, 0)


def test_a_list_without_cache_hints_is_not_counted_as_good(wire):
    send(wire, 1, "tools/list")
    answer(wire, 1, tools_named("a", cacheScope="nobody"))
    assert (wire.lists, wire.good_lists) == (1, 0)


def test_a_result_without_the_servers_identity_is_not_counted_as_complete(wire):
    send(wire, 1, "tools/call", {"_meta": META, "name": "a"})
    answer(wire, 1, {"resultType": "complete", "content": []})
    assert (wire.results, wire.complete_results) == (1, 0)


def test_a_result_that_asks_is_counted_apart_and_shows_its_question(wire, lines):
    send(wire, 1, "tools/call", {"_meta": META, "name": "a"})
    question = {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Sure?",
            "requestedSchema": {"type": "object", "properties": {}},
        },
    }
    answer(wire, 1, {"resultType": "input_required", "inputRequests": {"q": question}, "_meta": SERVER})
    assert (wire.results, wire.asking_results) == (0, 1)
    assert "input_required: Sure?" in lines[1]


def test_errors_notifications_and_retries_have_their_own_lines(wire, lines):
    send(wire, 1, "tools/call", {"_meta": {**META, "progressToken": 1}, "name": "a", "requestState": "abc"})
    wire.take(
        "s2c",
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}',
    )
    wire.take("s2c", b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}')
    assert "(its state back (3 bytes), wants progress)" in lines[0]
    assert "notifications/progress" in lines[1]
    assert "error -32602: no" in lines[2]


def test_other_results_are_shown_by_what_they_hold(wire, lines):
    send(wire, 1, "resources/read", {"_meta": META, "uri": "a://b"})
    contents = [{"uri": "a://b", "text": "hello"}]
    answer(wire, 1, {"resultType": "complete", "contents": contents, "ttlMs": 5000, "cacheScope": "public"})
    send(wire, 2, "tools/call", {"_meta": META, "name": "a"})
    answer(
        wire, 2, {"resultType": "complete", "content": [{"type": "text", "text": "x" * 300}], "isError": True}
    )
    send(
        wire,
        3,
        "completion/complete",
        {"_meta": META, "ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}},
    )
    answer(wire, 3, {"resultType": "complete", "completion": {"values": ["v"]}})
    assert "'hello'; fresh for 5 s, public" in lines[1]
    assert "the tool failed" in lines[3]
    assert "…" in lines[3]
    assert '{"completion":{"values":["v"]}}' in lines[5]
