"""A server over HTTP: the nine steps with headers, statuses and streams, request by request."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mesero
from mesero.errors import UsageError
from mesero.server import NotAuthorizedError
from tests.server.talking import meta
from tests.transports.asgi_driver import GOOD_HEADERS, Exchange

REQUIRED = {"elicitation": {"form": {}}}


def build_server(**options):
    server = mesero.Server("notes", version="1", log=lambda _: None, **options)

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def count(to: int, ctx: mesero.Context) -> str:
        for number in range(to):
            await ctx.report_progress(number + 1, to)
        return "counted"

    @server.tool
    async def fail() -> str:
        raise RuntimeError("the database is on fire")

    @server.tool
    async def confirm(ctx: mesero.Context) -> str:
        answer = await ctx.elicit("Sure?", key="sure")
        return answer.action

    return server


def request_of(name="add", arguments=None, *, method="tools/call", id=1, params=None, **metadata):
    given = {"name": name, "arguments": arguments or {}} if params is None else params
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**given, "_meta": meta(**metadata)}}


def headers_of(message, **changes):
    params = message.get("params", {})
    headers = {
        **GOOD_HEADERS,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": message.get("method"),
        "mcp-name": params.get("name", params.get("uri")),
    }
    headers.update({name.replace("_", "-"): value for name, value in changes.items()})
    return headers


async def post(message, *, server=None, app=None, raw=None, more_lines=(), **changes):
    """A message to a server of its own; `changes` are of its headers."""
    body = json.dumps(message).encode() if raw is None else raw
    headers = [*headers_of(message, **changes).items(), *more_lines]
    return await Exchange(app or (server or build_server()).asgi(), body=body, headers=headers).run()


def refused(exchange, status, code):
    answer = exchange.json
    assert (exchange.status, answer["error"]["code"]) == (status, code)
    assert "Traceback" not in json.dumps(answer)
    return answer["error"]


# -- answers -----------------------------------------------------------------------------------------------


async def test_a_call_is_answered_with_json():
    exchange = await post(request_of(arguments={"a": 1, "b": 2}))

    assert exchange.status == 200
    assert exchange.headers["content-type"] == "application/json"
    assert exchange.json["result"]["structuredContent"] == 3


async def test_progress_makes_it_a_stream_that_the_answer_ends():
    exchange = await post(request_of("count", {"to": 2}, progressToken="p"))

    *progress, answer = exchange.events
    assert [one["params"]["progress"] for one in progress] == [1, 2]
    assert answer["result"]["content"][0]["text"] == "counted"


async def test_progress_that_nobody_asked_for_makes_no_stream():
    assert "result" in (await post(request_of("count", {"to": 2}))).json


async def test_a_question_ends_the_round_and_the_answer_comes_with_the_next_one():
    server = build_server()
    first = (await post(request_of("confirm", capabilities=REQUIRED), server=server)).json["result"]
    assert first["resultType"] == "input_required"

    retry = request_of("confirm", id=2, capabilities=REQUIRED)
    retry["params"]["inputResponses"] = {"sure": {"action": "decline"}}
    retry["params"]["requestState"] = first["requestState"]
    second = (await post(retry, server=server)).json["result"]

    assert second["content"][0]["text"] == "decline"


async def test_the_task_of_a_round_that_ended_is_not_left_cancelled():
    app = build_server().asgi()
    exchange = await post(request_of("confirm", capabilities=REQUIRED), app=app)

    assert not exchange.task.cancelled()
    assert exchange.task.cancelling() == 0


async def test_a_tool_that_fails_is_a_result():
    result = (await post(request_of("fail"))).json["result"]

    assert result["isError"]
    assert "Traceback" not in result["content"][0]["text"]


async def test_a_server_that_fails_says_so_without_a_traceback():
    server = build_server()

    async def broken(call):
        raise RuntimeError("the database is on fire")

    server.operations["tools/list"] = broken
    error = refused(await post(request_of(method="tools/list", params={}), server=server), 200, -32603)

    assert "the database is on fire" in error["message"]


# -- what a gateway could have read otherwise --------------------------------------------------------------


async def test_a_header_that_says_one_tool_and_a_body_that_says_another_are_a_mismatch():
    error = refused(await post(request_of("add", {"a": 1, "b": 2}), mcp_name="fail"), 400, -32020)

    assert "Mcp-Name is 'fail', but the body says 'add'" in error["message"]


async def test_they_are_also_when_the_revision_is_not_supported():
    message = request_of(revision="2027-01-01")

    refused(await post(message, mcp_protocol_version="2027-01-01", mcp_name="fail"), 400, -32020)
    error = refused(await post(message, mcp_protocol_version="2027-01-01"), 400, -32022)
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2027-01-01"}


@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-method", "mcp-name"])
async def test_a_routing_header_may_not_be_repeated_even_with_the_same_value(name):
    message = request_of()

    refused(await post(message, more_lines=[(name, headers_of(message)[name])]), 400, -32020)


@pytest.mark.parametrize("name", ["mcp_protocol_version", "mcp_method", "mcp_name"])
async def test_a_routing_header_may_not_be_missing(name):
    refused(await post(request_of(), **{name: None}), 400, -32020)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","name":"fail"}}',
    ],
)
async def test_a_member_may_not_occur_twice(raw):
    error = refused(await post({"method": "tools/call"}, raw=raw), 400, -32600)

    assert "occurs twice" in error["message"]


async def test_sessions_and_resumption_are_ignored():
    exchange = await post(request_of(arguments={"a": 1, "b": 2}), mcp_session_id="s", last_event_id="9")

    assert exchange.status == 200
    assert not [name for name in exchange.headers if "session" in name]


# -- statuses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "code", "id"),
    [
        (b"{", -32700, None),
        (b"", -32700, None),
        (b"\xff", -32700, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600, None),
        (b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}', -32600, None),
        (b'{"jsonrpc":"2.0","id":"a","method":"tools/list"}', -32602, "a"),
    ],
)
async def test_what_is_no_request_of_this_revision_is_400(raw, code, id):
    exchange = await post({"method": "tools/list"}, raw=raw)

    refused(exchange, 400, code)
    assert exchange.json.get("id") == id
    assert ("id" in exchange.json) == (id is not None)


GOOD = json.dumps(request_of(arguments={"a": 1, "b": 2})).encode()
HEADER_NAMES = ["host", "origin", "accept", "content-type", "content-length", "mcp-method", "mcp-name", "x"]


@given(
    place=st.integers(0, len(GOOD)),
    length=st.integers(0, 40),
    put=st.binary(max_size=20),
    cut=st.integers(0, len(GOOD)),
    lines=st.lists(st.tuples(st.sampled_from(HEADER_NAMES), st.binary(max_size=20)), max_size=3),
)
def test_whatever_comes_is_answered_exactly_once(place, length, put, cut, lines):
    raw = GOOD[:place] + put + GOOD[place + length :]
    more = [(name, value.decode("latin-1")) for name, value in lines]
    exchange = asyncio.run(post(request_of(), raw=raw[:cut], more_lines=more))

    assert exchange.is_complete
    assert exchange.status in {200, 202, 400, 403, 404, 406, 413, 415, 421}
    assert exchange.status == 202 or exchange.json["jsonrpc"] == "2.0"


async def test_an_unknown_method_is_404_with_its_error():
    refused(await post(request_of(method="tools/destroy", params={})), 404, -32601)


async def test_a_capability_that_is_missing_is_400():
    error = refused(await post(request_of("confirm")), 400, -32021)

    assert error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


async def test_an_unknown_tool_is_the_calls_own_error():
    refused(await post(request_of("nothing")), 200, -32602)


@pytest.mark.parametrize("method", ["notifications/cancelled", "notifications/anything"])
async def test_a_notification_is_accepted_and_dropped(method):
    exchange = await post({"jsonrpc": "2.0", "method": method})

    assert (exchange.status, exchange.body) == (202, b"")


@pytest.mark.parametrize(
    ("error", "status", "challenge"),
    [
        (NotAuthorizedError("who?", status=401, challenge='Bearer realm="x"'), 401, 'Bearer realm="x"'),
        (NotAuthorizedError("not you"), 403, None),
    ],
)
async def test_who_may_not_is_told_by_status_and_challenge(error, status, challenge):
    async def authorize(operation):
        assert operation.find_header("Authorization") == "Bearer abc"
        raise error

    exchange = await post(request_of(), server=build_server(authorize=authorize), authorization="Bearer abc")

    assert exchange.status == status
    assert exchange.headers.get("www-authenticate") == challenge
    assert exchange.json["error"]["message"] == error.message


async def test_the_servers_limit_on_messages_is_that_on_bodies():
    exchange = await post(request_of(), server=build_server(max_message_bytes=50))

    assert exchange.status == 413


async def test_options_reach_the_gate():
    server = build_server()
    app = server.asgi(allowed_hosts=["notes.example"], cors_origins=["https://app.example"])
    exchange = await post(
        request_of(arguments={"a": 1, "b": 2}), app=app, host="notes.example", origin="https://app.example"
    )

    assert exchange.status == 200
    assert exchange.headers["access-control-allow-origin"] == "https://app.example"


@pytest.mark.parametrize("options", [{"path": "mcp"}, {"stream_after_s": 0}, {"keep_alive_s": -1}])
def test_options_that_cannot_work_are_refused(options):
    with pytest.raises(UsageError):
        build_server().asgi(**options)


# -- subscriptions -----------------------------------------------------------------------------------------


def listen_request(**wanted):
    return request_of(method="subscriptions/listen", params={"notifications": wanted}, id="L")


async def test_a_subscription_is_a_stream_from_its_acknowledgement_to_its_result():
    server = build_server()
    app = server.asgi(keep_alive_s=0.03)
    message = listen_request(toolsListChanged=True)
    exchange = Exchange(app, body=json.dumps(message).encode(), headers=headers_of(message)).start()
    await exchange.until(lambda: exchange.sent and exchange.comments)
    acknowledged = len(exchange.events)
    server.notify_changed("notifications/tools/list_changed")
    server.notify_changed("notifications/prompts/list_changed")
    await exchange.until(lambda: len(exchange.events) == 2)
    server.end_subscriptions()
    await exchange.task

    assert acknowledged == 1
    assert [one.get("method") for one in exchange.events] == [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        None,
    ]
    assert exchange.events[-1]["id"] == "L"
    assert exchange.is_complete
    assert not server.subscriptions


async def test_a_listener_that_vanishes_is_forgotten():
    server = build_server()
    message = listen_request(toolsListChanged=True)
    exchange = Exchange(server.asgi(), body=json.dumps(message).encode(), headers=headers_of(message)).start()
    await exchange.until(lambda: server.subscriptions)
    exchange.disconnect()
    await exchange.task

    assert not server.subscriptions


async def test_the_end_of_the_application_ends_the_subscriptions():
    server = build_server()
    app = server.asgi()
    message = listen_request(toolsListChanged=True)
    exchange = Exchange(app, body=json.dumps(message).encode(), headers=headers_of(message)).start()
    await exchange.until(lambda: server.subscriptions)
    events = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive():
        return events.pop(0)

    async def send(event):
        await asyncio.sleep(0)

    await app({"type": "lifespan"}, receive, send)
    await exchange.task

    assert "result" in exchange.events[-1]


@pytest.mark.parametrize(
    "begin", [b"[", b'{"jsonrpc":"2.0","id":', b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":']
)
async def test_a_body_of_very_many_parts_is_refused_before_it_is_read_as_a_whole(begin):
    exchange = await post(request_of(), raw=begin + b"[" + b"[] ," * 500_000 + b"1]")

    assert exchange.status == 400
    assert "at most 1000000 strings" in exchange.json["error"]["message"]
