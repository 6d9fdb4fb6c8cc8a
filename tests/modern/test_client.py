"""What a client puts into every request and reads out of every result."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from mesero.errors import InvalidResultError, NoCommonRevisionError, UsageError
from mesero.modern.client import Stamp, choose_revision, find_server_info, mirrored_headers, read_result
from mesero.modern.headers import HeaderMark
from mesero.modern.methods import METHODS, RESULT_TYPES
from mesero.types import CallToolResult, Implementation, InputRequiredResult, ListToolsResult

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
TYPES = frozenset(RESULT_TYPES)
CALL = METHODS["tools/call"]
LIST = METHODS["tools/list"]


# -- metadata ----------------------------------------------------------------------------------------------


def metadata(stamp, **options):
    return json.loads(bytes(stamp.meta_for(**options)))


def test_every_request_repeats_the_same_metadata():
    stamp = Stamp("2026-07-28", {"sampling": {}}, Implementation("me", "1"), "warning")
    expected = {
        VERSION: "2026-07-28",
        CAPABILITIES: {"sampling": {}},
        CLIENT_INFO: {"name": "me", "version": "1"},
        LOG_LEVEL: "warning",
    }

    assert stamp.revision == "2026-07-28"
    assert metadata(stamp) == expected
    assert metadata(stamp, progress_token=7) == {**expected, "progressToken": 7}
    assert metadata(stamp) == expected


def test_what_is_not_given_is_not_sent():
    assert metadata(Stamp("2026-07-28", {}, None)) == {VERSION: "2026-07-28", CAPABILITIES: {}}


def test_a_caller_adds_its_own_metadata_but_cannot_lie_about_the_client():
    stamp = Stamp("2026-07-28", {}, None)

    assert metadata(stamp, extra={"traceparent": "00-1", VERSION: "2099-01-01"}) == {
        "traceparent": "00-1",
        VERSION: "2026-07-28",
        CAPABILITIES: {},
    }
    assert metadata(stamp, extra={"progressToken": "mine"}, progress_token=7)["progressToken"] == 7


def test_the_same_metadata_goes_under_another_revision_and_the_first_stays_as_it_was():
    stamp = Stamp("2026-07-28", {"sampling": {}}, Implementation("me", "1"))

    other = stamp.with_revision("2027-01-01")

    assert stamp.with_revision("2026-07-28") is stamp
    assert (stamp.revision, other.revision) == ("2026-07-28", "2027-01-01")
    assert metadata(other) == {**metadata(stamp), VERSION: "2027-01-01"}
    assert metadata(other, progress_token=7)[VERSION] == "2027-01-01"
    assert metadata(stamp)[VERSION] == "2026-07-28"


# -- revision ----------------------------------------------------------------------------------------------


def test_the_newest_of_our_revisions_that_the_other_side_speaks_is_chosen():
    assert choose_revision(["3", "2", "1"], ["1", "2"]) == "2"
    assert choose_revision(["3"], iter(["9", "3"])) == "3"


def test_without_a_common_revision_both_lists_are_named():
    with pytest.raises(NoCommonRevisionError) as caught:
        choose_revision(["3", "2"], ["1"])

    assert (caught.value.ours, caught.value.theirs) == (("3", "2"), ("1",))


# -- headers -----------------------------------------------------------------------------------------------


def test_the_headers_say_what_the_body_says():
    marks = [HeaderMark("Region", ("region",), "string")]

    assert mirrored_headers("2026-07-28", "tools/list", None) == (
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    )
    assert mirrored_headers("2026-07-28", "tools/call", "añadir", marks, {"region": "eu"}) == (
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "=?base64?YcOxYWRpcg==?="),
        ("Mcp-Param-Region", "eu"),
    )


def test_an_integer_that_no_header_may_carry_is_refused_before_it_is_sent():
    with pytest.raises(UsageError):
        mirrored_headers("1", "tools/call", "a", [HeaderMark("N", ("n",), "integer")], {"n": 2**60})


# -- results -----------------------------------------------------------------------------------------------


def read(value, spec=CALL, types=TYPES):
    return read_result(Raw(value if isinstance(value, bytes) else json.dumps(value).encode()), spec, types)


def test_a_complete_result_is_typed_and_an_absent_type_means_complete():
    for result_type in ({}, {"resultType": "complete"}):
        result = read({"content": [{"type": "text", "text": "hi"}], **result_type})

        assert isinstance(result, CallToolResult)
        assert result.text == "hi"
    assert isinstance(read({"tools": []}, LIST), ListToolsResult)


@pytest.mark.parametrize("more", [{}, {"content": []}])
def test_a_result_that_asks_is_told_from_a_complete_one(more):
    result = read({"resultType": "input_required", "requestState": "s", **more})

    assert isinstance(result, InputRequiredResult)
    assert (result.request_state, result.input_requests) == ("s", UNSET)


@pytest.mark.parametrize("more", [{}, {"content": []}])
def test_a_type_that_an_extension_knows_gives_the_raw_result(more):
    value = {"resultType": "task", "id": 7, **more}

    assert json.loads(bytes(read(value, types=TYPES | {"task"}))) == value


DEEP = b'{"content":[],"structuredContent":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
INVALID = [
    ({}, CALL, "does not have its shape: Object missing required field `content`"),
    ({"content": 7}, CALL, "does not have its shape"),
    (b"7", CALL, "does not have its shape"),
    (b"null", CALL, "does not have its shape"),
    ({"resultType": 7, "content": []}, CALL, "does not have its shape"),
    (DEEP, CALL, "does not have its shape"),
    ({"resultType": "task", "content": []}, CALL, "unknown resultType 'task'"),
    ({"resultType": "task"}, CALL, "unknown resultType 'task'"),
    ({"resultType": "", "content": []}, CALL, "unknown resultType ''"),
    ({"resultType": "input_required", "requestState": "s"}, LIST, "which it may not be"),
    ({"resultType": "input_required"}, CALL, "neither inputRequests nor requestState"),
    (
        {"resultType": "input_required", "requestState": 7},
        CALL,
        "input_required result of tools/call is malformed",
    ),
]


@pytest.mark.parametrize(("value", "spec", "why"), INVALID)
def test_a_result_of_no_shape_that_the_method_may_have_is_invalid(value, spec, why):
    with pytest.raises(InvalidResultError) as caught:
        read(value, spec)

    assert why in caught.value.what
    assert caught.value.excerpt


MEMBERS = ["resultType", "content", "type", "text", "requestState", "_meta"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner),
    max_leaves=8,
)


@given(JSON, st.sampled_from(list(METHODS.values())))
def test_any_result_is_read_or_invalid(value, spec):
    try:
        result = read(value, spec)
    except InvalidResultError:
        return
    assert isinstance(result, (spec.result, InputRequiredResult))


# -- identity ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meta", "info"),
    [
        ({"io.modelcontextprotocol/serverInfo": {"name": "n", "version": "1"}}, Implementation("n", "1")),
        ({"io.modelcontextprotocol/serverInfo": {"name": "n"}}, None),
        ({"io.modelcontextprotocol/serverInfo": "n"}, None),
        ({}, None),
        (UNSET, None),
        ("n", None),
    ],
)
def test_the_identity_of_the_server_is_read_where_it_is_given(meta, info):
    assert find_server_info(meta) == info
