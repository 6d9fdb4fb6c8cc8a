"""The first six steps, each by itself."""

import json

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from mesero.errors import HeaderMismatchError, InternalError, InvalidParamsError, RpcError, rpc_error_for
from mesero.extensions import MethodSpec
from mesero.jsonrpc import Notification, Request
from mesero.modern import REVISIONS
from mesero.modern.envelope import (
    check_headers,
    check_request,
    find_name,
    http_status_for,
    parse_message,
    read_metadata,
    read_params,
)
from mesero.modern.methods import METHODS
from mesero.types import ClientCapabilities, RequestMeta
from tests.modern.messages import CAPABILITIES, REGION, VERSION, call, judge, lines, meta, refusal_of

# -- 1 parse, 2 envelope -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "code", "step"),
    [
        (b"{", -32700, "parse"),
        (b"\xff", -32700, "parse"),
        (b"[]", -32600, "envelope"),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', -32600, "envelope"),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":[]}', -32600, "envelope"),
        (b'{"jsonrpc":"2.0","method":"m"}', -32600, "envelope"),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600, "envelope"),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}', -32600, "envelope"),
    ],
)
def test_what_is_no_request_is_refused_by_one_of_the_first_two_steps(raw, code, step):
    error = refusal_of(raw)

    assert (error.code, error.step) == (code, step)


def test_a_notification_is_parsed_but_is_no_request():
    message = parse_message(b'{"jsonrpc":"2.0","method":"m"}', refuse_twins=True)

    assert message == Notification("m")


def test_twins_are_refused_where_a_gateway_may_read_the_other_one_only():
    raw = json.dumps(call()).encode()[:-1] + b',"method":"tools/list"}'

    assert isinstance(parse_message(raw, refuse_twins=False), Request)
    with pytest.raises(RpcError, match="'method' occurs twice") as caught:
        parse_message(raw, refuse_twins=True)
    assert (caught.value.code, caught.value.step) == (-32600, "envelope")


def test_what_is_not_json_is_a_parse_error_even_where_twins_are_refused():
    with pytest.raises(RpcError) as caught:
        parse_message(b'{"a":1,"a":', refuse_twins=True)

    assert (caught.value.code, caught.value.step) == (-32700, "parse")


# -- 3 metadata --------------------------------------------------------------------------------------------

BAD_METADATA = [
    ({}, VERSION),
    (meta(version=None), VERSION),
    (meta(version=20260728), "params._meta"),
    (meta(capabilities=None), CAPABILITIES),
    (meta(capabilities=[]), "params._meta"),
    (meta(capabilities={"elicitation": True}), "params._meta"),
    (meta(info={"name": "x"}), "version"),
    (meta(info="x"), "params._meta"),
    ({**meta(), "io.modelcontextprotocol/logLevel": "loud"}, "params._meta"),
    ({**meta(), "progressToken": 1.5}, "params._meta"),
    ("x", "params._meta"),
    ([], "params._meta"),
]


@pytest.mark.parametrize(("metadata", "where"), BAD_METADATA)
def test_metadata_that_is_missing_or_malformed_is_refused_and_the_place_named(metadata, where):
    error = refusal_of(call(metadata=metadata))

    assert (error.code, error.step) == (-32602, "metadata")
    assert where in error.message


@pytest.mark.parametrize(
    ("params", "where"),
    [(UNSET, "`_meta` - at `params`"), (Raw(b"{}"), "`_meta`"), (Raw(b'{"_meta":1e999}'), "range")],
)
def test_a_request_without_metadata_is_told_what_this_server_speaks(params, where):
    with pytest.raises(InvalidParamsError) as caught:
        read_metadata(Request(1, "initialize", params), ["2026-07-28"])

    assert caught.value.message.startswith("initialize: the request's metadata is missing or malformed")
    assert where in caught.value.message
    assert "this server speaks 2026-07-28" in caught.value.message
    assert caught.value.data == {"supported": ["2026-07-28"]}


def test_unknown_metadata_and_capabilities_are_ignored():
    metadata = {**meta(capabilities={"telepathy": {}, "extensions": {"a/b": {"x": 1}}}), "com.example/x": [1]}

    judge(call(metadata=metadata))


# -- 4 headers ---------------------------------------------------------------------------------------------

MISMATCHES = [
    (lines(version=None), "MCP-Protocol-Version is missing; the body says '2026-07-28'"),
    (lines(version="2025-11-25"), "MCP-Protocol-Version is '2025-11-25', but the body says '2026-07-28'"),
    (lines(method=None), "Mcp-Method is missing"),
    (lines(method="Tools/Call"), "Mcp-Method is 'Tools/Call', but the body says 'tools/call'"),
    (lines(name=None), "Mcp-Name is missing; the body says 'add'"),
    (lines(name="sub"), "Mcp-Name is 'sub', but the body says 'add'"),
    (lines(name="=?base64?c3Vi?="), "Mcp-Name is 'sub'"),
    (lines(name="=?base64?%?="), "Mcp-Name cannot be read"),
    (lines(name="caf\xe9"), "Mcp-Name cannot be read"),
    (lines(region=None), "Mcp-Param-Region is missing"),
    (lines(region="us"), "Mcp-Param-Region is 'us'"),
    ([*lines(), (b"mcp-method", b"tools/call")], "mcp-method is repeated"),
    ([*lines(), (b"Mcp-Name", b"add")], "mcp-name is repeated"),
    ([*lines(), (b"mcp-protocol-version", b"2026-07-28")], "mcp-protocol-version is repeated"),
    ([*lines(), (b"mcp-param-region", b"eu")], "mcp-param-region is repeated"),
]


@pytest.mark.parametrize(("headers", "why"), MISMATCHES)
def test_a_header_that_is_missing_repeated_malformed_or_different_is_a_mismatch(headers, why):
    error = refusal_of(call(), headers)

    assert (error.code, error.step) == (-32020, "headers")
    assert why in error.message


def test_the_names_of_headers_ignore_case_and_values_the_space_around_them():
    headers = [(name.title(), b" " + value + b"\t") for name, value in lines()]

    judge(call(), headers)


def test_a_header_may_be_encoded_where_it_need_not_be():
    judge(call(), lines(name="=?base64?YWRk?=", region="=?base64?ZXU=?="))


def test_other_headers_are_nobodys_business_here():
    headers = [*lines(mcp_session_id="a"), (b"mcp-session-id", b"b"), (b"accept", b"*/*"), (b"accept", b"x")]

    judge(call(), headers)


def test_a_method_that_names_nothing_needs_no_name_header():
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta()}}

    judge(message, lines(method="tools/list", name=None))


def test_an_unknown_method_is_compared_too():
    message = call(method="tools/destroy")

    assert refusal_of(message, lines(method="tools/destroy")).code == -32601
    assert refusal_of(message, lines(method="tools/call")).code == -32020


def test_a_name_that_only_the_header_has_is_a_mismatch():
    assert refusal_of(call(name=None), lines()).code == -32020
    assert refusal_of(call(name=7), lines()).code == -32020
    assert refusal_of(call(name=None), lines(name=None)).code == -32602


QUICK_LOOK_META = RequestMeta(protocol_version="2026-07-28", client_capabilities=ClientCapabilities())
NAMES = [None, "add", "", "a b", " add", "caf\xe9", "=?base64?YWRk?="]
HEADER_LINES = st.tuples(
    st.sampled_from(
        [b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"Mcp-Name", b"MCP-Method", b"accept"]
    ),
    st.sampled_from([b"2026-07-28", b"tools/call", b"prompts/get", b"add", b"", b"a b", b" add", b"caf\xe9"]),
)
AGREEING = [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", b"prompts/get"), (b"mcp-name", b"add")]


@given(
    name=st.sampled_from(NAMES),
    spec=st.sampled_from([None, METHODS["prompts/get"], METHODS["prompts/list"]]),
    headers=st.lists(HEADER_LINES, max_size=4) | st.permutations(AGREEING),
)
@example(name="", spec=METHODS["prompts/get"], headers=AGREEING)
@example(name=None, spec=METHODS["prompts/get"], headers=AGREEING)
def test_the_quick_look_lets_nothing_pass_that_the_careful_one_refuses(name, spec, headers):
    params = Raw(msgspec.json.encode({} if name is None else {"name": name}))
    request, metadata = Request(1, "prompts/get", params), QUICK_LOOK_META

    def outcome():
        try:
            check_headers(request, metadata, headers, spec=spec)
        except HeaderMismatchError as error:
            return error.message

    quick = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mesero.modern.envelope._agrees_at_sight", lambda *_: False)
        careful = outcome()

    assert quick == careful


@pytest.mark.parametrize("arguments", [None, {}, [], "eu", {"region": None}])
def test_without_an_argument_its_header_is_not_expected(arguments):
    request = check_request(parse_message(json.dumps(call(arguments=arguments)).encode(), refuse_twins=True))
    metadata = read_metadata(request, REVISIONS)

    check_headers(request, metadata, lines(region=None), spec=METHODS["tools/call"], marks=[REGION])
    with pytest.raises(RpcError, match="no such value"):
        check_headers(request, metadata, lines(), spec=METHODS["tools/call"], marks=[REGION])


@pytest.mark.parametrize("params", [UNSET, Raw(b'{"arguments":{"region":1e999}}')])
def test_arguments_that_cannot_be_read_mirror_nothing(params):
    metadata = RequestMeta(protocol_version="2026-07-28", client_capabilities={})

    check_headers(
        Request(1, "x", params), metadata, lines(method="x", region=None), spec=None, marks=[REGION]
    )


class Greet(msgspec.Struct):
    person: str


GREET = MethodSpec(name="greet", params=Greet, result=Greet, name_field="person")


@pytest.mark.parametrize(
    ("params", "spec", "name"),
    [
        (b'{"name":"add"}', METHODS["tools/call"], "add"),
        (b'{"name":"ask"}', METHODS["prompts/get"], "ask"),
        (b'{"uri":"notes://1","name":"x"}', METHODS["resources/read"], "notes://1"),
        (b'{"person":"Ana"}', GREET, "Ana"),
        (b'{"name":"Ana"}', GREET, None),
        (b'{"name":7}', METHODS["tools/call"], None),
        (b'{"name":1e999}', METHODS["tools/call"], None),
        (b'{"person":1e999}', GREET, None),
        (b"{}", METHODS["tools/call"], None),
        (b'{"name":"add"}', METHODS["tools/list"], None),
    ],
)
def test_the_name_of_a_request_is_the_member_that_its_method_says(params, spec, name):
    assert find_name(Request(1, spec.name, Raw(params)), spec) == name


def test_a_request_without_parameters_names_nothing():
    assert find_name(Request(1, "tools/call"), METHODS["tools/call"]) is None


# -- 5 revision --------------------------------------------------------------------------------------------


def test_a_revision_that_is_not_ours_is_refused_with_those_that_are():
    error = refusal_of(call(metadata=meta(version="1900-01-01")))

    assert (error.code, error.step) == (-32022, "revision")
    assert error.data == {"supported": ["2026-07-28"], "requested": "1900-01-01"}


# -- 6 route -----------------------------------------------------------------------------------------------

NEEDS = [
    # declared, needed, missing
    ({}, {}, None),
    ({}, {"sampling": {}}, {"sampling": {}}),
    ({"sampling": {}}, {"sampling": {}}, None),
    ({"sampling": {}}, {"sampling": {"tools": {}}}, {"sampling": {"tools": {}}}),
    ({"sampling": {"tools": {}}}, {"sampling": {"tools": {}, "context": {}}}, {"sampling": {"context": {}}}),
    ({"sampling": {}}, {"sampling": {}, "roots": {}, "elicitation": {}}, {"roots": {}, "elicitation": {}}),
    # an empty elicitation capability means forms
    ({"elicitation": {}}, {"elicitation": {}}, None),
    ({"elicitation": {}}, {"elicitation": {"form": {}}}, None),
    ({"elicitation": {}}, {"elicitation": {"form": {}, "url": {}}}, {"elicitation": {"url": {}}}),
    ({"elicitation": {"form": {}}}, {"elicitation": {"form": {}}}, None),
    ({"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}, {"elicitation": {"form": {}}}),
    ({"elicitation": {"url": {}}}, {"elicitation": {"url": {}}}, None),
    # extensions by identifier; a setting that is no object need only be there
    ({"extensions": {"a/b": {"x": 1}}}, {"extensions": {"a/b": {}}}, None),
    ({"extensions": {"a/b": {"x": 1}}}, {"extensions": {"a/b": {"x": 2}}}, None),
    ({"extensions": {"a/b": {}}}, {"extensions": {"a/b": {"x": 2}}}, {"extensions": {"a/b": {"x": 2}}}),
    ({"extensions": {"a/b": {}}}, {"extensions": {"c/d": {}}}, {"extensions": {"c/d": {}}}),
    ({"extensions": {"a/b": {"x": 1}}}, {"extensions": {"a/b": {"x": {"y": 1}}}}, None),
]


@pytest.mark.parametrize(("declared", "needed", "missing"), NEEDS)
def test_a_capability_that_is_needed_but_not_declared_is_named(declared, needed, missing):
    message = call(metadata=meta(capabilities=declared))
    if missing is None:
        judge(message, needs=needed)
        return

    error = refusal_of(message, needs=needed)

    assert (error.code, error.step) == (-32021, "route")
    assert error.data == {"requiredCapabilities": missing}
    assert all(name in error.message for name in missing)


def test_an_unknown_method_is_named():
    error = refusal_of(call(method="initialize"))

    assert (error.code, error.step, error.message) == (-32601, "route", "Method not found: initialize")


@pytest.mark.parametrize(
    ("method", "params", "where"),
    [
        ("tools/call", {}, "`name`"),
        ("tools/call", {"name": 7}, "`params.name`"),
        ("resources/read", {}, "`uri`"),
        ("prompts/get", {"name": "ask", "arguments": {"a": 1}}, "`params.arguments"),
        ("tools/list", {"cursor": 7}, "`params.cursor`"),
        ("subscriptions/listen", {}, "`notifications`"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_and_the_place_named(method, params, where):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta()}}

    error = refusal_of(message)

    assert (error.code, error.step) == (-32602, "route")
    assert error.message.startswith(f"{method}: invalid parameters: ")
    assert where in error.message


def test_absent_parameters_are_none():
    assert read_params(Request(1, "tools/list"), METHODS["tools/list"]).cursor is UNSET


@pytest.mark.parametrize("method", METHODS)
def test_the_parameters_of_every_method_can_be_read_twice(method):
    params = {"name": "a", "uri": "a:b", "notifications": {}, "_meta": meta()}
    params |= {"ref": {"type": "ref/prompt", "name": "a"}, "argument": {"name": "a", "value": ""}}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    first, second = judge(message), judge(message)

    assert first == second
    assert isinstance(first[1], METHODS[method].params)


# -- statuses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "step", "status"),
    [
        (-32700, "parse", 400),
        (-32600, "envelope", 400),
        (-32602, "metadata", 400),
        (-32020, "headers", 400),
        (-32022, "revision", 400),
        (-32021, "route", 400),
        (-32601, "route", 404),
        (-32602, "route", 200),
    ],
)
def test_each_code_has_its_http_status(code, step, status):
    error = rpc_error_for(code, "no")
    error.step = step

    assert http_status_for(error) == status


@pytest.mark.parametrize("error", [InternalError("x"), InvalidParamsError("x"), RpcError("x", code=7)])
def test_the_errors_of_the_operation_itself_are_an_answer_like_any_other(error):
    assert http_status_for(error) == 200
