import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mesero.server import Context
from tests.server.talking import EVERYTHING, Talk, cancellation, meta, quiet_server, talking


def working_server(**options):
    server = quiet_server(**options)
    server.gate = asyncio.Event()
    server.ended = []

    @server.tool
    async def wait(ctx: Context) -> str:
        try:
            await server.gate.wait()
        except asyncio.CancelledError:
            server.ended.append("cancelled")
            await ctx.report_progress(1)
            raise
        return "waited"

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    return server


def call(talk, name, arguments=None, **options):
    return talk.request("tools/call", {"name": name, "arguments": arguments or {}}, **options)


async def test_many_requests_are_answered_as_they_are_done():
    server = working_server()
    async with talking(server) as talk:
        waiting, adding = call(talk, "wait"), call(talk, "add", {"a": 1, "b": 2})
        talk.send(waiting, adding)
        await talk.answer_to(adding)
        assert [one["id"] for one in talk.said] == [adding["id"]]
        server.gate.set()
        await talk.answer_to(waiting)


@pytest.mark.parametrize("request_id", [0, -1, 2**53, "", "ü", "1", "a" * 1000])
async def test_an_id_comes_back_exactly(request_id):
    async with talking(working_server()) as talk:
        answer = await talk.ask("server/discover", id=request_id)
    assert answer["id"] == request_id
    assert type(answer["id"]) is type(request_id)


async def test_an_id_in_flight_cannot_be_used_again_until_it_is_answered():
    server = working_server()
    async with talking(server) as talk:
        talk.send(call(talk, "wait", id=5))
        error = await talk.error("server/discover", id=5)
        assert error["code"] == -32600
        assert "in flight already" in error["message"]
        server.gate.set()
        await talk.until(lambda said: len(said) == 2)
        talk.said.clear()
        assert "supportedVersions" in await talk.result("server/discover", id=5)


async def test_the_id_of_an_answered_request_is_free_while_its_handler_still_cleans_up():
    server = working_server()
    cleaning, may_end = asyncio.Event(), asyncio.Event()

    @server.tool
    async def ask(ctx: Context) -> str:
        try:
            return (await ctx.elicit("Sure?")).action
        finally:
            cleaning.set()
            await may_end.wait()

    async with talking(server, EVERYTHING) as talk:
        await talk.ask("tools/call", {"name": "ask"}, id=5)
        await cleaning.wait()
        talk.said.clear()
        assert "supportedVersions" in await talk.result("server/discover", id=5)
        may_end.set()


async def test_one_and_the_text_one_are_different_ids():
    server = working_server()
    async with talking(server) as talk:
        talk.send(call(talk, "wait", id=1), call(talk, "wait", id="1"))
        talk.send(cancellation("1"))
        await talk.settle()
        server.gate.set()
        await talk.until(lambda said: said)
        await talk.settle()
    assert [one["id"] for one in talk.said] == [1]


async def test_a_cancelled_request_is_stopped_and_silent():
    server = working_server()
    async with talking(server) as talk:
        request = call(talk, "wait", metadata=meta(progressToken=1))
        talk.send(request)
        await talk.settle()
        talk.cancel(request)
        await talk.settle()
        assert server.ended == ["cancelled"]
        assert talk.said == []
        assert talk.connection.is_idle


async def test_a_request_that_is_cancelled_in_the_same_chunk_never_begins_and_leaves_nothing():
    server = working_server()
    async with talking(server) as talk:
        request = call(talk, "wait", id=9)
        talk.send(request, cancellation(9))
        await talk.settle()
        assert server.ended == []
        assert talk.said == []
        assert talk.connection.is_idle
        assert "supportedVersions" in await talk.result("server/discover", id=9)


@pytest.mark.parametrize(
    "params",
    [None, {}, {"requestId": None}, {"requestId": 1.5}, {"requestId": "unknown"}, [], "x", {"requestId": 77}],
)
async def test_a_cancellation_of_nothing_is_ignored(params):
    server = working_server()
    async with talking(server) as talk:
        request = call(talk, "wait")
        talk.send(request, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        await talk.settle()
        server.gate.set()
        await talk.answer_to(request)
    assert len(talk.said) == 1


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "add"}},
        {"jsonrpc": "2.0", "method": "no/such"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5},
        {"jsonrpc": "2.0", "method": "no/such", "params": [1]},
        {"jsonrpc": "2.0", "id": 3, "result": {}},
        {"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "m"}},
    ],
)
async def test_notifications_and_responses_are_never_answered(message):
    async with talking(working_server()) as talk:
        talk.send(message)
        await talk.settle()
        assert talk.said == []
        await talk.result("server/discover")


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"garbage", -32700, None),
        (b"{", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":NaN}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, 1),
        (b"[" * 100_000 + b"]" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"server/discover"}]', -32600, None),
        (b"5", -32600, None),
        (b"null", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"1.0","id":1,"method":"a"}', -32600, 1),
        (b'{"id":1,"method":"a"}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":null,"method":"a"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"a"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"a"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"a"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":"q","method":5}', -32600, "q"),
        (b'{"jsonrpc":"2.0","id":"q","method":"a","params":[]}', -32600, "q"),
        (b'{"jsonrpc":"2.0","id":"q"}', -32600, "q"),
        (b'{"method":"notifications/x"}', -32600, None),
        (b'{"jsonrpc":"2.0","method":5}', -32600, None),
    ],
)
async def test_bad_input_gets_a_clear_error_and_the_connection_goes_on(line, code, request_id):
    async with talking(working_server()) as talk:
        talk.send_bytes(line + b"\n")
        (answer,) = await talk.until(lambda said: said)
        assert answer["error"]["code"] == code
        assert answer["error"]["message"]
        assert answer.get("id") == request_id
        assert ("id" in answer) is (request_id is not None)
        await talk.result("server/discover")


async def test_a_line_over_the_limit_is_skipped_with_an_error():
    async with talking(working_server(max_message_bytes=2000)) as talk:
        big = json.dumps(call(talk, "add", {"a": "x" * 3000})).encode()
        for cut in (1, 1000, 2500):
            talk.send_bytes(big[:cut])
            talk.send_bytes(big[cut:] + b"\n")
        await talk.until(lambda said: len(said) == 3)
        assert {one["error"]["code"] for one in talk.said} == {-32700}
        assert all("limit of 2000 bytes" in one["error"]["message"] for one in talk.said)
        await talk.result("server/discover")


async def test_a_last_line_without_its_end_is_a_line():
    async with talking(working_server()) as talk:
        request = talk.request("server/discover")
        talk.send_bytes(json.dumps(request).encode())
        talk.connection.receive_eof()
        await talk.answer_to(request)
        talk.connection.receive_eof()
        await talk.settle()
        assert len(talk.said) == 1


async def test_a_message_is_one_line_whatever_is_in_it():
    chunks = []
    connection = quiet_server().connect(chunks.append)
    connection.write(b'{"a":\r\n1}')
    connection.write(b"{}")
    connection.write(b"{}")
    await connection.aclose()
    assert b"".join(chunks) == b'{"a":  1}\n{}\n{}\n'
    assert len(chunks) == 2


async def test_nothing_is_said_and_nothing_heard_after_the_end():
    server = working_server()
    async with talking(server) as talk:
        talk.send(call(talk, "wait"))
        await talk.settle()
        await talk.connection.aclose()
        assert server.ended == ["cancelled"]
        talk.send(talk.request("server/discover"))
        talk.connection.write(b"{}")
        await talk.settle()
        assert talk.said == []


async def test_what_is_in_flight_may_finish_but_not_for_ever():
    server = working_server()
    async with talking(server) as talk:
        await talk.connection.finish(5)
        adding = call(talk, "add", {"a": 1, "b": 1})
        talk.send(adding)
        await talk.connection.finish(5)
        await talk.answer_to(adding)
        talk.send(call(talk, "wait"))
        await talk.connection.finish(0.01)
        assert not talk.connection.is_idle


async def test_notifications_wait_while_the_client_does_not_read():
    server = quiet_server()
    steps = []

    @server.tool
    async def work(ctx: Context) -> str:
        for step in range(1, 4):
            await ctx.report_progress(step)
            steps.append(step)
        return "done"

    async with talking(server) as talk:
        talk.connection.pause_writing()
        talk.connection.pause_writing()
        request = call(talk, "work", metadata=meta(progressToken=1))
        talk.send(request)
        await talk.settle()
        assert steps == []
        assert len(talk.said) == 1
        talk.connection.resume_writing()
        talk.connection.resume_writing()
        await talk.answer_to(request)
        assert steps == [1, 2, 3]


async def test_a_request_that_waits_for_room_can_be_cancelled():
    server = quiet_server()

    @server.tool
    async def work(ctx: Context) -> str:
        await ctx.report_progress(1)
        return "not sent"

    async with talking(server) as talk:
        talk.connection.pause_writing()
        request = call(talk, "work", metadata=meta(progressToken=1))
        talk.send(request)
        await talk.settle()
        talk.cancel(request)
        await talk.settle()
        assert talk.connection.is_idle
        talk.connection.resume_writing()
        await talk.settle()
        assert len(talk.said) == 1


async def test_a_thousand_calls_at_once_are_all_answered_and_leave_no_task():
    server = working_server()
    before = len(asyncio.all_tasks())
    async with talking(server) as talk:
        requests = [call(talk, "wait") for _ in range(500)]
        requests += [call(talk, "add", {"a": number, "b": 1}) for number in range(500)]
        talk.send(*requests)
        await talk.until(lambda said: len(said) == 500)
        assert len(asyncio.all_tasks()) == before + 500
        server.gate.set()
        await talk.until(lambda said: len(said) == 1000)
        await talk.settle()
        assert len(asyncio.all_tasks()) == before
    assert sorted(one["id"] for one in talk.said) == sorted(one["id"] for one in requests)


async def test_two_clients_with_different_capabilities_are_each_judged_by_their_own_request():
    server = quiet_server()

    @server.tool
    async def ask(ctx: Context) -> str:
        await asyncio.sleep(0)
        return (await ctx.elicit("Sure?")).action

    async with talking(server) as talk:
        able, unable = meta(capabilities=EVERYTHING), meta()
        requests = [call(talk, "ask", metadata=able if number % 2 else unable) for number in range(20)]
        talk.send(*requests)
        answers = [await talk.answer_to(request) for request in requests]
    for number, answer in enumerate(answers):
        if number % 2:
            assert answer["result"]["resultType"] == "input_required"
        else:
            assert answer["error"]["code"] == -32021


# -- properties ----------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(
    [
        "server/discover",
        "tools/list",
        "tools/call",
        "resources/read",
        "prompts/get",
        "no/such",
        "initialize",
        "",
    ]
)
IDS = st.integers(-5, 5) | st.sampled_from(["a", "b", ""])
REQUESTS = st.builds(
    lambda method, request_id, params, metadata: {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": method,
        "params": {**params, "_meta": metadata},
    },
    METHODS,
    IDS,
    st.dictionaries(
        st.sampled_from(["name", "arguments", "uri", "cursor", "inputResponses", "requestState"]), JSON
    )
    | st.just({"name": "add", "arguments": {"a": 1, "b": 2}}),
    st.just(meta()) | st.just(meta(progressToken=1)) | JSON,
)
NOTIFICATIONS = st.builds(
    lambda method, params: {"jsonrpc": "2.0", "method": method, "params": params},
    st.sampled_from(["notifications/x", "notifications/initialized", "tools/call"]),
    JSON,
)
RESPONSES = st.builds(
    lambda request_id, result: {"jsonrpc": "2.0", "id": request_id, "result": result}, IDS, JSON
)


@st.composite
def mutated(draw):
    """A valid message with one member changed, added or taken away."""
    message = dict(draw(REQUESTS))
    name = draw(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "extra"]))
    if draw(st.booleans()):
        message.pop(name, None)
    else:
        message[name] = draw(JSON)
    return message


LINES = st.one_of(
    REQUESTS.map(json.dumps),
    NOTIFICATIONS.map(json.dumps),
    RESPONSES.map(json.dumps),
    mutated().map(json.dumps),
    JSON.map(json.dumps),
).map(str.encode) | st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"").replace(b"\r", b""))


def is_request_with_an_id(line):
    """Whether an answer is owed under an id; says which."""
    try:
        message = json.loads(line, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError, RecursionError):
        return None
    if not isinstance(message, dict) or "method" not in message:
        return None
    request_id = message.get("id")
    return (request_id,) if type(request_id) in (int, str) and abs(hash(request_id)) >= 0 else None


def is_answered_never(line):
    """Notifications and well-formed responses."""
    try:
        message = json.loads(line)
    except ValueError:
        return False
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    return isinstance(message.get("method"), str) and "id" not in message


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines=st.lists(LINES, max_size=12), cuts=st.lists(st.integers(1, 60), max_size=20))
def test_whatever_comes_in_whatever_chunks_the_server_answers_each_request_once_and_nothing_else(lines, cuts):
    async def scenario():
        problems = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context))
        talk = Talk(working_server())
        data = b"".join(line + b"\n" for line in lines)
        for cut in cuts:
            talk.send_bytes(data[:cut])
            data = data[cut:]
            await asyncio.sleep(0)
        talk.send_bytes(data)
        await talk.connection.finish(5)
        assert talk.connection.is_idle
        await talk.result("server/discover", id="still there")
        await talk.connection.aclose()
        assert problems == []
        return talk.said[:-1]

    said = asyncio.run(scenario())
    owed = [owed for line in lines if (owed := is_request_with_an_id(line))]
    for (request_id,) in set(owed):
        answers = [
            one
            for one in said
            if "id" in one and one["id"] == request_id and type(one["id"]) is type(request_id)
        ]
        assert len(answers) >= owed.count((request_id,))
    assert len([one for one in said if "method" not in one]) <= len(lines)
    if all(is_answered_never(line) for line in lines):
        assert said == []
    for one in said:
        assert one["jsonrpc"] == "2.0"
        assert ("result" in one) + ("error" in one) + ("method" in one) == 1
