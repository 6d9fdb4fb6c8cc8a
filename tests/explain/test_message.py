import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.explain import explain_message
from mesero.explain.message import _short
from mesero.explain.text import explanation_text
from mesero.revisions import REVISIONS
from tests.explain.messages import PREFIX, message, request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"])


def test_a_request_is_told_with_its_fields_and_its_method():
    found = explain_message(request("tools/call", {"name": "add", "arguments": {"text": "x" * 200}}))
    assert found.kind == "request"
    assert found.era == "stateless"
    assert found.about.name == "tools/call"
    by_path = {field.path: field for field in found.fields}
    assert by_path["params.name"].value == '"add"'
    assert by_path["params.arguments"].value.endswith("…")
    assert by_path[f"params._meta.{PREFIX}protocolVersion"].title == "The revision of this request"
    assert found.reply is None
    assert found.stops_at == ""


def test_the_answer_is_the_exact_bytes_of_a_server():
    found = explain_message(request("nothing/here", number="seven"), headers=[])
    assert found.stops_at == "headers"
    headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "nothing/here")]
    found = explain_message(request("nothing/here", number="seven"), headers=headers)
    assert found.stops_at == "route"
    assert found.reply.status == 404
    assert json.loads(found.reply.body) == {
        "jsonrpc": "2.0",
        "id": "seven",
        "error": {"code": -32601, "message": "Method not found: nothing/here"},
    }


def test_what_the_steps_leave_to_the_operation_is_refused_all_the_same():
    found = explain_message(request("tools/call", {"name": "add", "arguments": 5}), headers=None)
    assert found.stops_at == "route"
    assert json.loads(found.reply.body)["error"]["code"] == -32602
    assert found.violations == ("$.params.arguments must be an object, not the number 5",)


def test_a_request_of_unknown_era_gets_the_answer_of_a_stateless_server():
    found = explain_message(request("tools/list", meta=None))
    assert (found.era, found.stops_at) == ("unknown", "metadata")
    assert "--revision" in found.notes[0]


def test_a_revision_that_is_asked_for_decides():
    found = explain_message(request("tools/list", meta=None), revision="2025-06-18")
    assert (found.era, found.revision, found.stops_at) == ("handshake", "2025-06-18", "")


def test_a_question_of_a_server_is_for_the_client():
    params = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
    found = explain_message(request("elicitation/create", params, meta=None))
    assert "client" in found.notes[0]
    assert "the client asks its user" in explanation_text(found)


def test_a_notification_gets_no_answer():
    raw = message(method="notifications/cancelled", params={"requestId": 1})
    assert explain_message(raw).reply.status is None
    found = explain_message(raw, headers=[])
    assert (found.reply.body, found.reply.status) == ("", 202)


def test_a_result_says_how_long_it_holds():
    result = {"resultType": "complete", "tools": [], "ttlMs": 1000, "cacheScope": "public"}
    found = explain_message(message(id=1, result=result))
    assert "most likely of tools/list" in found.summary
    assert "1 second" in found.reuse[0]
    assert found.violations == ()


def test_what_it_answers_may_be_known():
    found = explain_message(message(id=1, result={"resultType": "complete"}), answers="tools/list")
    assert any('lacks "tools"' in each for each in found.violations)


def test_a_result_of_a_session_has_no_time():
    found = explain_message(message(id=1, result={"protocolVersion": "2025-11-25"}))
    assert "handshake" in found.reuse[0]
    assert found.about.name == "initialize"


def test_a_result_that_asks_says_how_to_go_on():
    found = explain_message(message(id=1, result={"resultType": "input_required", "inputRequests": {}}))
    assert "a new id" in found.notes[0]


def test_an_error_is_told_by_its_code():
    found = explain_message(message(id=1, error={"code": -32601, "message": "?"}))
    assert found.about.name == "-32601"
    assert "id 1" in found.summary
    assert "no id" in explain_message(message(error={"code": 5, "message": "?"})).summary


def test_garbage_is_refused_by_both_eras():
    for raw in (b"not json", b"\xff\xfe", b'"\xff"', b"", b"[" * 5000):
        found = explain_message(raw)
        assert (found.kind, found.stops_at) == ("no message", "parse")
        assert json.loads(found.reply.body)["error"]["code"] == -32700


def test_a_batch_is_of_one_revision_only():
    batch = json.dumps([json.loads(message(id=1, method="ping"))]).encode()
    found = explain_message(batch)
    assert (found.kind, found.revision, found.reply) == ("batch", "2025-03-26", None)
    assert "1 messages" in found.notes[0] or "Each" in found.notes[0]
    for raw, revision in ((batch, "2026-07-28"), (b"[]", None)):
        assert json.loads(explain_message(raw, revision=revision).reply.body)["error"]["code"] == -32600


def test_other_json_is_no_message():
    for raw in (b"{}", b"5", b'{"jsonrpc": "2.0", "id": 1}'):
        assert explain_message(raw).stops_at == "envelope"


def test_a_method_may_be_anything():
    found = explain_message(b'{"jsonrpc": "2.0", "id": 1, "method": {"a": 1}}')
    assert '{"a": 1}' in found.summary
    assert found.stops_at == "envelope"
    assert explain_message(b'{"jsonrpc": "2.0", "method": 5}').about is None


def test_deep_values_are_cut():
    deep = "[" * 900 + "]" * 900
    found = explain_message(f'{{"jsonrpc": "2.0", "id": {deep}, "method": "x"}}'.encode())
    assert found.stops_at == "envelope"


def test_violations_are_counted_beyond_twenty():
    result = {"resultType": "complete", "tools": [{} for _ in range(30)], "ttlMs": 0, "cacheScope": "public"}
    found = explain_message(message(id=1, result=result))
    assert found.violations[-1].startswith("and ")


@pytest.mark.parametrize("revision", [None, *REVISIONS])
@given(members=st.dictionaries(MEMBERS, JSON, max_size=6))
def test_no_message_makes_it_raise(revision, members):
    raw = json.dumps({"jsonrpc": "2.0", **members}).encode()
    found = explain_message(raw, revision=revision, headers=[("Mcp-Method", "x")])
    assert explanation_text(found)


@given(raw=st.binary(max_size=60))
def test_no_bytes_make_it_raise(raw):
    assert explanation_text(explain_message(raw))


def test_values_deeper_than_anything_are_left_out():
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert _short(deep) == "…"
