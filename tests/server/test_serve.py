import asyncio
import gc
import json

import pytest

from mesero.errors import InvalidParamsError, RpcError
from mesero.jsonrpc import Request
from mesero.modern.envelope import parse_message
from mesero.server import Context, NotAuthorizedError
from mesero.server.serve import Arrival, serve
from mesero.types import CallToolResult, RequestMeta
from tests.server.talking import EVERYTHING, REVISION, meta, quiet_server, talking


class Letterbox:
    """A reply that keeps what it is given, as HTTP would."""

    def __init__(self):
        self.answers = []
        self.notes = []

    @property
    def is_answered(self):
        return bool(self.answers)

    async def notify(self, raw):
        self.notes.append(json.loads(raw))

    async def answer(self, raw, *, status=200, headers=()):
        self.answers.append((status, headers, json.loads(raw)))


def shop(**options):
    server = quiet_server(**options)
    server.ran = []

    @server.tool
    async def buy(what: str = "milk") -> str:
        server.ran.append(what)
        return what

    @server.tool(requires={"sampling": {}})
    async def think() -> str:
        return "thought"

    return server


def message(method="tools/call", params=None, *, metadata=None, **members):
    params = {"name": "buy"} if params is None else params
    metadata = meta() if metadata is None else metadata
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": metadata}, **members}


def headers_for(body, **changes):
    """The header lines that mirror a body, with changes by name; None leaves one out."""
    params = body["params"]
    found = {
        "mcp-protocol-version": params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion"),
        "mcp-method": body["method"],
        "mcp-name": params.get("name"),
        **{name.replace("_", "-"): value for name, value in changes.items()},
    }
    return tuple((name.encode(), str(value).encode()) for name, value in found.items() if value is not None)


async def served(server, body, headers=None):
    """The one answer that a message gets: HTTP status, headers, response."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        parsed = parse_message(raw, refuse_twins=False)
    except RpcError as error:
        arrival = Arrival(error, None, headers)
    else:
        arrival = Arrival(parsed, parsed.id, headers)
    reply = Letterbox()
    await serve(server, arrival, reply)
    (answer,) = reply.answers
    return answer


async def code_of(server, body, headers=None):
    return (await served(server, body, headers))[2]["error"]["code"]


# -- the lesson's exercises ----------------------------------------------------------------------------------


async def test_another_revision_is_refused_by_naming_what_was_asked_and_what_is_spoken():
    status, _, answer = await served(shop(), message(metadata=meta(revision="2027-01-01")))
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"requested": "2027-01-01", "supported": [REVISION]}
    assert status == 400


async def test_a_second_request_without_capabilities_is_refused_and_nothing_of_the_first_is_used():
    server = shop()
    async with talking(server, EVERYTHING) as talk:
        await talk.result("tools/call", {"name": "buy"})
        without = meta(**{"io.modelcontextprotocol/clientCapabilities": None})
        error = await talk.error("tools/call", {"name": "buy"}, metadata=without)
    assert error["code"] == -32602
    assert "clientCapabilities" in error["message"]
    assert server.ran == ["milk"]


async def test_a_request_without_client_info_is_valid():
    without = meta(**{"io.modelcontextprotocol/clientInfo": None})
    assert "result" in (await served(shop(), message(metadata=without)))[2]


async def test_a_header_that_says_another_tool_than_the_body_is_a_mismatch_even_for_an_unknown_revision():
    server = shop()
    for revision in (REVISION, "2027-01-01"):
        body = message(metadata=meta(revision=revision))
        status, _, answer = await served(server, body, headers_for(body, mcp_name="think"))
        assert (status, answer["error"]["code"]) == (400, -32020)
    assert server.ran == []


async def test_a_request_just_works_on_a_server_that_was_started_again_in_the_middle():
    for _ in range(2):
        async with talking(shop()) as talk:
            assert (await talk.call("buy"))["content"][0]["text"] == "milk"


# -- the order of the steps ----------------------------------------------------------------------------------

BAD_META = {"io.modelcontextprotocol/protocolVersion": 5}


@pytest.mark.parametrize(
    ("body", "changes", "code", "status"),
    [
        (b"{", {}, -32700, 400),
        (message(jsonrpc="1.0", method=5, metadata=BAD_META), {}, -32600, 400),
        (message("no/such", metadata=BAD_META), {"mcp_method": "other"}, -32602, 400),
        (message("no/such", metadata=meta(revision="2027-01-01")), {"mcp_method": "other"}, -32020, 400),
        (message("no/such", metadata=meta(revision="2027-01-01")), {}, -32022, 400),
        (message(params={"name": "think", "arguments": 5}), {}, -32021, 400),
        (message("no/such", {"name": 5}), {"mcp_name": None}, -32601, 404),
        (message(params={"name": 5}), {"mcp_name": None}, -32602, 200),
    ],
)
async def test_what_is_wrong_in_several_ways_is_refused_by_the_first_step_that_sees_it(
    body, changes, code, status
):
    asked = []

    async def authorize(operation):
        asked.append(operation)
        raise NotAuthorizedError("no")

    headers = () if isinstance(body, bytes) else headers_for(body, **changes)
    got, _, answer = await served(shop(authorize=authorize), body, headers)
    assert (answer["error"]["code"], got) == (code, status)
    assert asked == []


async def test_authorization_comes_before_the_handler_and_after_everything_else():
    async def authorize(operation):
        raise NotAuthorizedError("who are you?", status=401, challenge='Bearer realm="shop"')

    server = shop(authorize=authorize)
    body = message()
    status, headers, answer = await served(server, body, headers_for(body))
    assert status == 401
    assert headers == (("WWW-Authenticate", 'Bearer realm="shop"'),)
    assert answer["error"]["message"] == "who are you?"
    assert server.ran == []


async def test_headers_that_mirror_the_body_let_it_through():
    body = message()
    assert (await served(shop(), body, headers_for(body)))[0] == 200


@pytest.mark.parametrize("params", [None, [], 5])
async def test_a_request_without_parameters_lacks_its_metadata(params):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert await code_of(shop(), body) == -32602
    assert await code_of(shop(), {**body, "params": params}) == -32600


async def test_a_response_is_no_request():
    assert await code_of(shop(), {"jsonrpc": "2.0", "id": 1, "result": {}}) == -32600


# -- exactly one answer, whatever a handler does ------------------------------------------------------------


def failing(error):
    server = quiet_server()

    @server.prompt
    async def fail() -> str:
        raise error

    return server, message("prompts/get", {"name": "fail"})


@pytest.mark.parametrize(
    "error", [LookupError("x"), SystemExit(3), RecursionError(), asyncio.CancelledError(), OSError("\udc80")]
)
async def test_whatever_a_handler_raises_is_answered_without_a_traceback(error):
    server, body = failing(error)
    _, _, answer = await served(server, body)
    assert answer["id"] == 1
    assert answer["error"]["code"] == -32603
    assert "Traceback" not in json.dumps(answer)
    assert 'File "' not in json.dumps(answer)


async def test_a_protocol_error_of_a_handler_is_sent_word_for_word():
    server, body = failing(RpcError("too hot", code=451, data={"celsius": 99}))
    status, _, answer = await served(server, body)
    assert answer["error"] == {"code": 451, "message": "too hot", "data": {"celsius": 99}}
    assert status == 200


@pytest.mark.parametrize(
    "error",
    [
        RpcError("odd", code=7, data=object()),
        RpcError("odd", code=7, data=float("nan")),
        RpcError("odd", code=7, data={"a": ["\udc80"]}),
        RpcError("odd\udc80", code=7),
    ],
)
async def test_an_error_without_a_json_form_is_answered_without_what_cannot_be_written(error):
    server, body = failing(error)
    _, _, answer = await served(server, body)
    assert answer["error"]["code"] == 7
    assert answer["error"]["message"].startswith("odd")
    assert "data" not in answer["error"]
    assert "without a JSON form" in server.lines[0]


async def test_a_result_without_a_json_form_is_answered_too():
    server = quiet_server()

    @server.tool
    async def odd() -> CallToolResult:
        return CallToolResult([object()])

    _, _, answer = await served(server, message(params={"name": "odd"}))
    assert answer["error"]["code"] == -32603
    assert "Traceback" in server.lines[0]


async def test_a_log_that_fails_does_not_keep_the_answer_back():
    def broken(text):
        raise OSError("disk full")

    import mesero

    server = mesero.Server("s", log=broken)

    @server.prompt
    async def fail() -> str:
        raise LookupError("x")

    assert await code_of(server, message("prompts/get", {"name": "fail"})) == -32603


async def test_work_that_somebody_else_cancelled_is_a_failure_and_not_silence():
    server = quiet_server()

    @server.tool
    async def wait() -> str:
        task = asyncio.ensure_future(asyncio.sleep(60))
        asyncio.get_running_loop().call_soon(task.cancel)
        await task
        return "not reached"

    _, _, answer = await served(server, message(params={"name": "wait"}))
    assert answer["error"]["code"] == -32603
    assert "cancelled" in answer["error"]["message"]


async def test_a_request_that_is_cancelled_has_no_answer():
    server = quiet_server()
    started = asyncio.Event()

    @server.tool
    async def wait() -> str:
        started.set()
        await asyncio.sleep(60)
        return "not reached"

    reply = Letterbox()
    parsed = parse_message(json.dumps(message(params={"name": "wait"})).encode(), refuse_twins=False)
    task = asyncio.ensure_future(serve(server, Arrival(parsed, 1), reply))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reply.answers == []


async def test_the_end_of_a_round_is_no_cancellation_for_whoever_serves():
    server = quiet_server()

    @server.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.elicit("Sure?")).action

    body = message(params={"name": "ask"}, metadata=meta(capabilities=EVERYTHING))
    task = asyncio.ensure_future(served(server, body))
    _, _, answer = await task
    assert answer["result"]["resultType"] == "input_required"
    assert task.cancelling() == 0


async def test_a_lack_that_shows_late_is_told_with_the_status_of_a_bad_request():
    server = quiet_server()

    @server.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.elicit("Sure?")).action

    status, _, answer = await served(server, message(params={"name": "ask"}))
    assert (status, answer["error"]["code"]) == (400, -32021)


async def test_a_state_that_does_not_open_is_refused_even_where_nothing_is_asked():
    server = shop()
    body = message(params={"name": "buy", "requestState": "forged"})
    assert await code_of(server, body) == -32602
    assert server.ran == []


async def test_nothing_of_a_requests_metadata_is_left_when_it_was_answered():
    server = shop()
    metadata = meta(**{"io.modelcontextprotocol/clientInfo": {"name": "forget me", "version": "1"}})
    async with talking(server, EVERYTHING) as talk:
        for _ in range(3):
            await talk.call("buy", metadata=metadata)
        await talk.settle()
        gc.collect()
        left = [one for one in gc.get_objects() if isinstance(one, RequestMeta)]
        assert [one for one in left if one.client_info and one.client_info.name == "forget me"] == []


def test_an_error_knows_the_step_that_refused_it():
    assert InvalidParamsError("x").step == ""


def test_an_arrival_shows_no_headers_and_nothing_of_what_was_said():
    shown = repr(Arrival(Request(1, "tools/call"), 1, [(b"authorization", b"Bearer geheim")]))
    assert shown == "Arrival(Request, request_id=1)"
