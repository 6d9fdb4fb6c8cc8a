"""Every message of every revision, minimal and valid, then damaged in one place."""

from __future__ import annotations

import socket

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.revisions import REVISIONS, definitions_for
from mesero.revisions import judge as judge_module
from mesero.revisions.judge import MAX_DEPTH, check_definition, check_message
from mesero.revisions.shapes import UnknownRevisionError
from mesero.revisions.violations import Violation
from tests.revisions.instances import (
    MESSAGES,
    METHODS,
    REQUESTS,
    minimal,
    minimal_message,
    minimal_result,
    without,
)

NEWEST = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def places(violations):
    return [(each.path, each.message) for each in violations]


def call(**params):
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "a", "_meta": META, **params},
    }


def answer(**result):
    return {"jsonrpc": "2.0", "id": 1, "result": result}


@pytest.mark.parametrize(("revision", "method", "shape"), MESSAGES)
def test_a_minimal_message_fits(revision, method, shape):
    assert check_message(revision, minimal_message(revision, method)) == []


@pytest.mark.parametrize(("revision", "method", "shape"), MESSAGES)
def test_a_message_without_a_required_member_is_refused_where_the_member_is_missing(revision, method, shape):
    message = minimal_message(revision, method)
    for name in set(message) - {"method"}:
        assert ("$", f'lacks "{name}"') in places(check_message(revision, without(message, name)))
    for name in message.get("params", {}):
        damaged = {**message, "params": without(message["params"], name)}
        # Parameters without a mode are those of a form.
        lacking = "requestedSchema" if name == "mode" else name
        assert ("$.params", f'lacks "{lacking}"') in places(check_message(revision, damaged))


@pytest.mark.parametrize(("revision", "method", "shape"), MESSAGES)
def test_a_message_with_a_member_of_the_wrong_type_is_refused_at_that_member(revision, method, shape):
    message = minimal_message(revision, method)
    assert places(check_message(revision, {**message, "params": 5})) == [
        ("$.params", "must be an object, not the number 5")
    ]
    assert places(check_message(revision, {**message, "jsonrpc": "1.0"})) == [
        ("$.jsonrpc", 'must be "2.0", not "1.0"')
    ]
    if shape.kind == "request":
        for wrong, kind in ((None, "null"), (1.5, "the number 1.5"), (True, "the boolean true")):
            assert places(check_message(revision, {**message, "id": wrong})) == [
                ("$.id", f"must be an integer or a string, not {kind}")
            ]


@pytest.mark.parametrize(("revision", "method", "shape"), REQUESTS)
def test_a_minimal_result_fits_and_a_damaged_one_is_refused(revision, method, shape):
    message = minimal_result(revision, method)
    assert check_message(revision, message, answers=method) == []
    for name in message["result"]:
        damaged = {**message, "result": without(message["result"], name)}
        assert ("$.result", f'lacks "{name}"') in places(check_message(revision, damaged, answers=method))
    assert ("$.result", "must be an object, not an array") in places(
        check_message(revision, {**message, "result": []}, answers=method)
    )
    assert ("$", 'lacks "id"') in places(check_message(revision, without(message, "id"), answers=method))


@pytest.mark.parametrize(("revision", "method", "shape"), METHODS)
def test_a_question_and_its_answer_fit_their_definitions(revision, method, shape):
    for definition in (shape.definition, *shape.results):
        value = minimal(revision, {"$ref": f"#/{definition}"})
        assert check_definition(revision, definition, value) == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_notification_has_no_id(revision):
    message = {**minimal_message(revision, "notifications/cancelled"), "id": 1}
    assert places(check_message(revision, message)) == [
        ("$.id", "must not be there: a notification has no id")
    ]


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_is_no_message_at_all_is_told_at_the_root(revision):
    for value in (5, None, "x", True):
        assert places(check_message(revision, value)) == [
            ("$", "is no JSON-RPC message, which would be an object")
        ]
    assert places(check_message(revision, {"jsonrpc": "2.0", "id": 1})) == [
        ("$", "has neither a method nor a result nor an error")
    ]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_method_that_is_no_string_is_refused(revision):
    found = check_message(revision, {"jsonrpc": "2.0", "method": ["ping"]})
    assert places(found) == [("$.method", "must be a string, not an array")]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_method_of_an_extension_is_judged_by_its_envelope(revision):
    message = {"jsonrpc": "2.0", "method": "com.example/x", "params": {"_meta": META, "any": 1}}
    assert check_message(revision, message) == []
    assert check_message(revision, {**message, "id": 1}) == []
    assert places(check_message(revision, {**message, "id": 1, "jsonrpc": "1"})) == [
        ("$.jsonrpc", 'must be "2.0", not "1"')
    ]
    assert check_message(revision, answer(resultType="complete", any=1), answers="com.example/x") == []


def test_every_stateless_request_carries_its_metadata_also_an_extensions():
    message = {"jsonrpc": "2.0", "id": 1, "method": "com.example/x"}
    assert check_message("2025-11-25", message) == []
    assert places(check_message(NEWEST, message)) == [("$.params", 'lacks "_meta"')]


def test_the_same_message_is_judged_by_each_revision_for_itself():
    message = without(call(), "params") | {"params": {"name": "a"}}
    verdicts = {revision: places(check_message(revision, message)) for revision in REVISIONS}
    assert verdicts.pop(NEWEST) == [("$.params", 'lacks "_meta"')]
    assert set(map(tuple, verdicts.values())) == {()}


def test_metadata_faults_have_quoted_paths():
    damaged = {**META, "io.modelcontextprotocol/clientCapabilities": [], "progressToken": 0.5}
    found = check_message(NEWEST, call(_meta=damaged))
    assert [each.path for each in found] == [
        '$.params._meta["io.modelcontextprotocol/clientCapabilities"]',
        "$.params._meta.progressToken",
    ]


def test_each_fault_is_told_once_by_the_more_specific_definition():
    found = check_message(NEWEST, {**call(), "jsonrpc": "1.0"})
    assert found == [Violation("$.jsonrpc", 'must be "2.0", not "1.0"', "CallToolRequest")]


def test_a_block_of_content_is_judged_as_the_block_it_claims_to_be():
    content = [{"type": "text", "text": "x"}, {"type": "text"}, {"type": "nope"}]
    found = check_message(NEWEST, answer(resultType="complete", content=content), answers="tools/call")
    assert found == [
        Violation("$.result.content[1]", 'lacks "text"', "TextContent"),
        Violation(
            "$.result.content[2].type",
            'must be "text", "image", "audio", "resource_link" or "resource", not "nope"',
            "ContentBlock",
        ),
    ]


def test_a_question_in_a_result_is_judged_by_its_method():
    asked = {"method": "elicitation/create", "params": {"message": 5, "requestedSchema": {}}}
    found = check_message(
        NEWEST, answer(resultType="input_required", inputRequests={"a": asked}), answers="tools/call"
    )
    assert [each.path for each in found] == [
        "$.result.inputRequests.a.params.message",
        "$.result.inputRequests.a.params.requestedSchema",
        "$.result.inputRequests.a.params.requestedSchema",
    ]


def test_a_method_that_cannot_ask_must_not_answer_with_a_question():
    message = answer(resultType="input_required", requestState="x")
    for method in ("tools/call", "prompts/get", "resources/read", None, "com.example/x"):
        assert check_message(NEWEST, message, answers=method) == []
    assert places(check_message(NEWEST, message, answers="tools/list")) == [
        ("$.result.resultType", 'must not be "input_required": tools/list cannot be answered so')
    ]


def test_an_unknown_type_of_result_is_judged_by_what_all_results_share():
    assert check_message(NEWEST, answer(resultType="com.example/task"), answers="tools/call") == []
    assert places(check_message(NEWEST, answer(resultType=5), answers="tools/call")) == [
        ("$.result.resultType", "must be a string, not the number 5")
    ]


def test_a_result_without_a_type_is_judged_as_complete_and_lacks_it():
    assert places(check_message(NEWEST, answer(), answers="tools/call")) == [
        ("$.result", 'lacks "content"'),
        ("$.result", 'lacks "resultType"'),
    ]


def test_a_question_is_no_message_of_its_own_in_the_stateless_revision():
    message = {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}
    assert check_message("2025-11-25", message) == []
    assert [each.path for each in check_message(NEWEST, message)] == ["$.method"]


def test_a_task_may_be_the_answer_where_tasks_exist():
    task = {"taskId": "1", "status": "working", "createdAt": "x", "lastUpdatedAt": "x", "ttl": None}
    assert check_message("2025-11-25", answer(task=task), answers="tools/call") == []
    broken = check_message("2025-11-25", answer(task=without(task, "status")), answers="tools/call")
    assert places(broken) == [("$.result.task", 'lacks "status"')]
    assert check_message("2025-11-25", answer(task=5, content=[]), answers="tools/call") == []
    assert places(check_message("2025-11-25", answer(task=task), answers="tools/list")) == [
        ("$.result", 'lacks "tools"')
    ]


def test_a_result_may_answer_a_notification_never():
    found = check_message("2025-11-25", answer(a=1), answers="notifications/cancelled")
    assert found == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_error_response_needs_a_code_and_a_message(revision):
    message = {"jsonrpc": "2.0", "id": 1, "error": {"code": 7, "message": "x"}}
    assert check_message(revision, message) == []
    assert places(check_message(revision, {**message, "error": {}})) == [
        ("$.error", 'lacks "code"'),
        ("$.error", 'lacks "message"'),
    ]
    assert places(check_message(revision, {**message, "error": "x"})) == [
        ("$.error", 'must be an object, not the string "x"')
    ]
    assert [each.path for each in check_message(revision, {**message, "id": None})] == ["$.id"]


def test_an_error_is_judged_by_its_code():
    error = {"code": -32022, "message": "x", "data": {"requested": "2027-01-01"}}
    message = {"jsonrpc": "2.0", "id": 1, "error": error}
    assert check_message(NEWEST, message) == [
        Violation("$.error.data", 'lacks "supported"', "UnsupportedProtocolVersionError")
    ]
    assert check_message("2025-11-25", message) == []


def test_a_standard_error_is_judged_by_its_code_too():
    message = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": 5}}
    assert check_message(NEWEST, message) == [
        Violation("$.error.message", "must be a string, not the number 5", "InvalidParamsError")
    ]


def test_a_result_beside_an_error_is_refused():
    message = {**answer(resultType="complete"), "error": {"code": 1, "message": "x"}}
    assert places(check_message(NEWEST, message)) == [("$", "has both a result and an error")]


def test_a_batch_is_judged_member_by_member_in_the_one_revision_that_has_it():
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call"},
    ]
    assert places(check_message("2025-03-26", batch)) == [("$[1]", 'lacks "params"')]
    assert places(check_message("2025-03-26", [[], 5])) == [
        ("$[0]", "is no JSON-RPC message, which would be an object"),
        ("$[1]", "is no JSON-RPC message, which would be an object"),
    ]
    assert places(check_message("2025-03-26", [])) == [("$", "is an empty batch")]


@pytest.mark.parametrize("revision", [each for each in REVISIONS if each != "2025-03-26"])
def test_a_batch_is_no_message_elsewhere(revision):
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
    assert places(check_message(revision, batch)) == [
        ("$", "is no JSON-RPC message, which would be an object")
    ]


def test_numbers_and_null_are_json_values_and_form_answers_may_be_fractions():
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"extensions": {"a/b": {"x": [None, 0.5]}}}}
    assert check_message(NEWEST, call(_meta=meta)) == []
    answered = {"action": "accept", "content": {"height": 1.75}}
    assert check_message(NEWEST, call(inputResponses={"a": answered})) == []
    for revision in ("2025-06-18", "2025-11-25"):
        assert check_message(revision, answer(**answered), answers="elicitation/create") == []


def nested(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


def extension(settings):
    """A request whose settings, judged by a recursive definition, begin at level 7."""
    capabilities = {"extensions": {"a/b": {"x": settings}}}
    return call(_meta={**META, "io.modelcontextprotocol/clientCapabilities": capabilities})


def test_a_message_is_judged_down_to_the_greatest_depth_and_no_further():
    assert check_message(NEWEST, extension(nested(MAX_DEPTH - 6))) == []
    assert check_message(NEWEST, extension(nested(MAX_DEPTH - 5))) == [
        Violation("$", "nests deeper than 256 levels and was not judged", "JSONRPCMessage")
    ]


def test_a_message_of_any_depth_is_refused_without_recursion():
    deepest = nested(100_000)
    assert len(check_message(NEWEST, deepest)) == 1
    while isinstance(deepest, list):  # taken apart here: some interpreters do it recursively
        deepest = deepest[0]


def test_half_a_surrogate_pair_is_told_and_does_not_raise():
    found = check_message(NEWEST, call(arguments={"\udfff": 1}))
    assert places(found) == [("$", "holds half a surrogate pair, which UTF-8 cannot carry")]


def test_formats_are_left_to_the_audit_in_every_revision():
    contents = [{"uri": "not a uri", "text": "x"}]
    result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "contents": contents}
    for revision in REVISIONS:
        assert check_message(revision, answer(**result), answers="resources/read") == []


NAMES = st.sampled_from(
    ["id", "method", "params", "result", "error", "code", "content", "type", "_meta", "inputRequests", "task"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["text", "url", "complete", "input_required", "elicitation/create"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(
    revision=st.sampled_from(REVISIONS),
    message=st.dictionaries(NAMES, VALUES, max_size=5) | VALUES,
    method=st.sampled_from([None, *(method for _, method, _ in METHODS)]),
)
def test_no_message_makes_a_judgement_raise(revision, message, method):
    asked = {**message, "method": method} if isinstance(message, dict) and method else message
    for found in (check_message(revision, asked), check_message(revision, message, answers=method)):
        assert all(each.path.startswith("$") and each.message and each.definition for each in found)


def test_an_unknown_revision_and_an_unknown_definition_are_refused():
    with pytest.raises(UnknownRevisionError):
        check_message("2027-01-01", {})
    with pytest.raises(KeyError, match="Nothing"):
        check_definition(NEWEST, "Nothing", {})


@pytest.mark.parametrize("revision", REVISIONS)
def test_judging_compiles_offline_and_opens_no_socket(revision, monkeypatch):
    options = []
    compile_schema = jsonschema_rs.validator_for

    def compile_and_note(schema, **given):
        options.append(given)
        return compile_schema(schema, **given)

    def refuse(*_args, **_given):
        pytest.fail("a socket was opened")

    monkeypatch.setattr(jsonschema_rs, "validator_for", compile_and_note)
    monkeypatch.setattr(socket, "socket", refuse)
    judge_module._validator_for.cache_clear()
    for definition in definitions_for(revision):
        check_definition(revision, definition, {})
    assert len(options) == len(definitions_for(revision))
    assert all(each["offline"] is True for each in options)
