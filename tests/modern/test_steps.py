"""The first six steps together: their order, the exercises of the lesson, and whatever bytes may come."""

import json
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesero.errors import RpcError
from mesero.modern.envelope import STEPS, http_status_for
from mesero.modern.methods import METHODS
from mesero.types import CallToolParams
from tests.modern.messages import CAPABILITIES, call, judge, lines, meta, refusal_of


def test_a_good_call_passes_all_six_steps_with_headers_and_without():
    for headers in (None, lines()):
        spec, params = judge(call(), headers)

        assert spec is METHODS["tools/call"]
        assert isinstance(params, CallToolParams)
        assert (params.name, json.loads(bytes(params.arguments))) == ("add", {"region": "eu"})


# -- the exercises of the lesson ---------------------------------------------------------------------------


def test_exercise_a_revision_of_the_future_is_refused_and_the_answer_names_requested_and_supported():
    error = refusal_of(call(metadata=meta(version="2027-01-01")))

    assert (error.code, error.step) == (-32022, "revision")
    assert error.data == {"supported": ["2026-07-28"], "requested": "2027-01-01"}


def test_exercise_capabilities_dropped_from_the_second_request_are_not_remembered_from_the_first():
    judge(call(metadata=meta(capabilities={"elicitation": {}})))

    error = refusal_of(call(metadata=meta(capabilities=None)))

    assert (error.code, error.step) == (-32602, "metadata")
    assert CAPABILITIES in error.message


def test_exercise_a_request_without_client_info_is_still_valid():
    spec, _ = judge(call(metadata=meta(info=None)))

    assert spec.name == "tools/call"


@pytest.mark.parametrize("version", ["2026-07-28", "2027-01-01"])
def test_exercise_a_header_that_names_another_tool_is_a_mismatch_also_when_the_revision_is_unsupported(
    version,
):
    error = refusal_of(call(metadata=meta(version=version)), lines(version=version, name="delete_all"))

    assert (error.code, error.step) == (-32020, "headers")
    assert "Mcp-Name is 'delete_all', but the body says 'add'" in error.message


def test_exercise_two_clients_interleaved_are_each_judged_by_their_own_request():
    able, unable = meta(capabilities={"elicitation": {}}), meta()
    needs = {"elicitation": {}}

    judge(call(metadata=able), needs=needs)
    assert refusal_of(call(metadata=unable), needs=needs).code == -32021
    judge(call(metadata=able), needs=needs)


# -- the order ---------------------------------------------------------------------------------------------

# One fault for each step, in the order of the steps: what it changes, and how it is refused.
FAULTS = {
    "parse": (-32700, "parse"),
    "id": (-32600, "envelope"),
    "twins": (-32600, "envelope"),
    "metadata": (-32602, "metadata"),
    "headers": (-32020, "headers"),
    "revision": (-32022, "revision"),
    "needs": (-32021, "route"),
    "method": (-32601, "route"),
    "params": (-32602, "route"),
}


def faulty(faults):
    """A call over HTTP with all these faults at once, and the needs of its tool."""
    version = "2027-01-01" if "revision" in faults else "2026-07-28"
    method = "tools/destroy" if "method" in faults else "tools/call"
    metadata = meta(version=version, capabilities=None if "metadata" in faults else {})
    message = call(method=method, metadata=metadata)
    name = "add"
    if "params" in faults:
        message["params"]["arguments"] = "eu"
        message["params"]["name"], name = ["add"], None
    if "id" in faults:
        message["id"] = None
    raw = json.dumps(message).encode()
    if "twins" in faults:
        raw = raw[:-1] + b',"x":{"a":1,"a":2}}'
    if "parse" in faults:
        raw = raw[:-1]
    region = None if "params" in faults else "eu"
    sent = "prompts/get" if "headers" in faults else method
    return raw, lines(version=version, method=sent, name=name, region=region)


# An unknown method has no parameters of its own.
PAIRS = [pair for pair in combinations(FAULTS, 2) if pair != ("method", "params")]


@pytest.mark.parametrize(("earlier", "later"), PAIRS)
def test_of_two_faults_the_one_of_the_earlier_step_is_refused(earlier, later):
    raw, headers = faulty({earlier, later})
    needs = {"sampling": {}} if "needs" in (earlier, later) else {}

    error = refusal_of(raw, headers, needs=needs)

    assert (error.code, error.step) == FAULTS[earlier]


def test_with_every_fault_at_once_the_steps_refuse_one_after_the_other_as_the_faults_are_mended():
    faults = [name for name in FAULTS if name != "params"]
    while faults:
        raw, headers = faulty(set(faults))
        error = refusal_of(raw, headers, needs={"sampling": {}} if "needs" in faults else {})
        assert (error.code, error.step) == FAULTS[faults.pop(0)]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("parse", 400),
        ("id", 400),
        ("twins", 400),
        ("metadata", 400),
        ("headers", 400),
        ("revision", 400),
        ("needs", 400),
        ("method", 404),
        ("params", 200),
    ],
)
def test_each_refusal_has_its_http_status(fault, status):
    raw, headers = faulty({fault})

    error = refusal_of(raw, headers, needs={"sampling": {}} if fault == "needs" else {})

    assert http_status_for(error) == status


# -- whatever bytes come -----------------------------------------------------------------------------------


def outcome_of(raw, headers):
    """The name of the routed method, or code and step of the refusal. Nothing else may be raised."""
    try:
        spec, _ = judge(raw, headers)
    except RpcError as error:
        return error.code, error.step
    return spec.name


CODES_OF_STEP = {
    "parse": {-32700},
    "envelope": {-32600},
    "metadata": {-32602},
    "headers": {-32020},
    "revision": {-32022},
    "route": {-32021, -32601, -32602},
}


def check_outcome(outcome):
    if isinstance(outcome, str):
        assert outcome in METHODS
    else:
        code, step = outcome
        assert step in STEPS
        assert code in CODES_OF_STEP[step]


HEADERS = st.none() | st.lists(
    st.sampled_from(lines())
    | st.tuples(st.sampled_from([b"mcp-name", b"MCP-Param-Region", b"x"]), st.binary(max_size=9)),
    max_size=6,
)
GOOD = json.dumps(call()).encode()


@settings(max_examples=200)
@given(HEADERS, st.data())
def test_a_damaged_call_is_routed_or_refused_by_exactly_one_step(headers, data):
    at = data.draw(st.integers(0, len(GOOD)))
    cut = data.draw(st.integers(0, 30))
    piece = data.draw(
        st.binary(max_size=3) | st.sampled_from([b'"', b"{}", b"null", b"1e999", b'"\\ud800"', b"[[", b"7"])
    )

    check_outcome(outcome_of(GOOD[:at] + piece + GOOD[at + cut :], headers))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": st.just(1) | JSON,
        "method": st.sampled_from([*METHODS, "initialize"]) | JSON,
        "params": JSON
        | st.fixed_dictionaries(
            {"_meta": JSON | st.just(meta())},
            optional={"name": JSON, "uri": JSON, "arguments": JSON, "cursor": JSON, "notifications": JSON},
        ),
        "result": JSON,
    },
)


@settings(max_examples=200)
@given(MESSAGES.map(lambda message: json.dumps(message).encode()) | st.binary(max_size=40), HEADERS)
def test_any_message_is_routed_or_refused_by_exactly_one_step(raw, headers):
    check_outcome(outcome_of(raw, headers))


def test_no_step_remembers_the_request_before():
    refused = call(metadata=meta(capabilities=None))
    outcomes = [
        outcome_of(json.dumps(message).encode(), None) for message in (call(), refused, call(), refused)
    ]

    assert outcomes == ["tools/call", (-32602, "metadata")] * 2
