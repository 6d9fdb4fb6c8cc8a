"""Random values of the vocabulary, and the official schemas as the judge of what goes out."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from mesero import types
from mesero.jsonrpc import encode_value
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.revisions.judge import check_message
from tests.types.test_agreement import instances_of

JUNE_AND_LATER = HANDSHAKE_REVISIONS[2:]

RESULTS: dict[str, type[Any]] = {
    "tools/list": types.ListToolsResult,
    "tools/call": types.CallToolResult,
    "resources/list": types.ListResourcesResult,
    "resources/templates/list": types.ListResourceTemplatesResult,
    "resources/read": types.ReadResourceResult,
    "prompts/list": types.ListPromptsResult,
    "prompts/get": types.GetPromptResult,
    "completion/complete": types.CompleteResult,
}


def results_of(method):
    """Complete results, since only those exist there."""
    return instances_of(RESULTS[method]).map(
        lambda result: msgspec.structs.replace(result, result_type="complete")
    )


FIELDS = [
    types.StringSchema,
    types.NumberSchema,
    types.BooleanSchema,
    types.UntitledSingleSelectEnumSchema,
    types.TitledSingleSelectEnumSchema,
    types.EnumNamesSchema,
    types.UntitledMultiSelectEnumSchema,
    types.TitledMultiSelectEnumSchema,
]


def forms():
    """Schemas of forms with fields of every kind."""
    field = st.one_of([instances_of(kind) for kind in FIELDS]).map(plain)
    fields = st.dictionaries(st.text(max_size=3), field, max_size=4)
    return fields.map(lambda some: {"type": "object", "properties": some, "required": list(some)})


def plain(value):
    """As it is on the wire."""
    return msgspec.json.decode(encode_value(value))


def faults_of_result(revision, method, value):
    message = {"jsonrpc": "2.0", "id": 1, "result": plain(value)}
    return check_message(revision, message, answers=method)


def faults_of_request(revision, method, params):
    return check_message(revision, {"jsonrpc": "2.0", "id": 1, "method": method, "params": plain(params)})
