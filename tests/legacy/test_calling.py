"""Calls inside a session: what is sent, what comes back, and what happens when the session is gone."""

import asyncio

import pytest

from mesero import Client
from mesero.client.asking import Asked
from mesero.errors import (
    CallTimeoutError,
    ClosedError,
    DisconnectedError,
    InvalidResultError,
    MethodNotFoundError,
    ProtocolError,
    ResourceNotFoundError,
    RpcError,
    UsageError,
)
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.revisions.judge import check_message
from mesero.transports.memory import MemoryTransport
from tests.legacy.scripted import (
    ALL,
    CALL,
    LIST,
    TEXT,
    Script,
    caller_over,
    introduction,
    open_session,
    spec,
)
from tests.transports.children import script_command, until

COMPLETE = {
    "ref": {"type": "ref/prompt", "name": "p"},
    "argument": {"name": "a", "value": ""},
    "context": {"arguments": {"b": "c"}},
}
CALLS = {
    "tools/list": {},
    "tools/call": {"name": "add", "arguments": {"a": 1}},
    "resources/list": {"cursor": "2"},
    "resources/templates/list": {},
    "resources/read": {"uri": "file:///a"},
    "prompts/list": {},
    "prompts/get": {"name": "p", "arguments": {"x": "y"}},
    "completion/complete": COMPLETE,
}
RESULTS = {
    "tools/list": {"tools": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": []},
    "prompts/list": {"prompts": []},
    "prompts/get": {"messages": []},
    "completion/complete": {"completion": {"values": []}},
}


def answering(**acts):
    """A script that answers every method with an empty result of its shape."""
    answers = {
        name.replace("/", "__"): (lambda side, message: side.answer(message, RESULTS[message["method"]]))
        for name in RESULTS
    }
    return answers | acts


# --- what is sent ---


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_every_request_fits_the_schema_of_its_revision(revision):
    async with open_session(Script(revision, **answering())) as (caller, server):
        for method, params in CALLS.items():
            meta = {"traceparent": "00-1-2-01"}
            await caller.call(spec(method), params, meta=meta, on_progress=print)
        await caller.ping()
    for message in server.received:
        assert check_message(revision, message) == []
    completion = server.sent("completion/complete")[0]["params"]
    assert ("context" in completion) == (revision >= "2025-06-18")


async def test_no_request_carries_what_only_stateless_requests_do():
    async with open_session() as (caller, server):
        await caller.call(CALL, {"name": "a"})
        forged = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "mine": 1}
        await caller.call(CALL, {"name": "b"}, meta=forged)
    plain, with_meta = server.sent("tools/call")
    assert plain["params"] == {"name": "a"}
    assert with_meta["params"]["_meta"] == {"mine": 1}


async def test_the_parameters_of_the_caller_are_not_changed():
    params = {"name": "a"}
    async with open_session() as (caller, _):
        await caller.call(CALL, params, on_progress=print, meta={"a": 1})
    assert params == {"name": "a"}


async def test_ids_go_on_behind_those_of_whoever_used_the_channel_before():
    script = Script()
    transport = MemoryTransport(script.connect)
    caller = caller_over(transport)
    caller.last_id = 41
    await caller.begin(offer="2025-11-25", timeout_s=5)
    await caller.ping()
    assert [message["id"] for message in script.received if "id" in message] == [42, 43]
    await caller.aclose()
    await transport.aclose()


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen"])
async def test_a_method_of_another_revision_is_not_asked_for(method):
    async with open_session() as (caller, server):
        with pytest.raises(UsageError, match=f"{method} does not exist in 2025-11-25"):
            await caller.call(spec(method), {})
    assert server.sent(method) == []


async def test_nothing_can_be_called_before_the_session_is_begun():
    caller = caller_over(MemoryTransport(Script().connect))
    with pytest.raises(UsageError, match="not begun"):
        await caller.call(CALL, {"name": "a"})
    with pytest.raises(UsageError, match="not begun"):
        await caller.ping()


# --- what comes back ---


async def test_a_result_of_an_older_server_is_typed_like_any_other():
    result = {"content": [{"type": "text", "text": "x", "annotations": None}], "isError": None}
    script = Script("2024-11-05", tools__call=lambda side, message: side.answer(message, result))
    async with open_session(script) as (caller, _):
        found = await caller.call(CALL, {"name": "a"})
    assert (found.text, found.is_error, found.result_type) == ("x", False, "complete")


async def test_a_result_that_has_not_its_shape_is_refused():
    script = Script(tools__list=lambda side, message: side.answer(message, {"tools": "none"}))
    async with open_session(script) as (caller, _):
        with pytest.raises(InvalidResultError, match=r"scripted: the result of tools/list"):
            await caller.call(LIST, {})


@pytest.mark.parametrize("code", [-32700, -32600, -32601, -32602, -32603, -32000])
async def test_a_protocol_error_is_raised_and_names_its_code(code):
    script = Script(tools__call=lambda side, message: side.refuse(message, code, "no"))
    async with open_session(script) as (caller, _):
        with pytest.raises(RpcError, match=rf"scripted: tools/call \(id 2\): no \({code}\)"):
            await caller.call(CALL, {"name": "a"})


async def test_the_kinds_of_errors_stay_apart():
    def act(side, message):
        kind = message["params"]["name"]
        if kind == "protocol":
            side.refuse(message, -32601)
        elif kind == "operation":
            side.answer(message, {"content": [], "isError": True})
        else:
            side.hang_up()

    async with open_session(Script(tools__call=act)) as (caller, _):
        with pytest.raises(MethodNotFoundError):
            await caller.call(CALL, {"name": "protocol"})
        assert (await caller.call(CALL, {"name": "operation"})).is_error
        with pytest.raises(DisconnectedError):
            await caller.call(CALL, {"name": "transport"})
        with pytest.raises(UsageError):
            await caller.call(spec("server/discover"), {})


async def test_a_resource_that_is_not_there_is_the_same_error_as_elsewhere():
    data = {"uri": "file:///a"}
    script = Script(resources__read=lambda side, message: side.refuse(message, -32002, "none", data))
    async with open_session(script) as (caller, _):
        with pytest.raises(ResourceNotFoundError) as caught:
            await caller.call(spec("resources/read"), data)
    assert (caught.value.code, caught.value.uri) == (-32002, "file:///a")


async def test_an_answer_to_nothing_is_recorded_and_the_session_goes_on():
    async with open_session() as (caller, server):
        server.side.write({"id": 99, "result": {}})
        server.side.write({"id": None, "error": {"code": -32600, "message": "what?"}})
        await until(lambda: caller.transport.noise.count)
        await caller.ping()
        assert [verdict for verdict, _ in caller.transport.dropped] == ["unknown"]


async def test_a_batch_is_read_in_the_one_revision_that_has_them():
    def answer_in_batch(side, message):
        answer = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}' % message["id"]
        question = b'{"jsonrpc":"2.0","id":"q","method":"ping"}'
        side.write_raw(b"[" + question + b"," + answer + b"]\n")

    async with open_session(Script("2025-03-26", tools__call=answer_in_batch)) as (caller, server):
        await caller.call(CALL, {"name": "a"})
        await server.wait_for("answer")
    async with open_session(Script("2025-06-18", tools__call=answer_in_batch)) as (caller, _):
        with pytest.raises(ProtocolError, match="array"):
            await caller.call(CALL, {"name": "a"})


# --- progress, time-outs, cancellation ---


async def test_progress_is_asked_for_under_the_id_and_extends_the_limit():
    def act(side, message):
        token = message["params"]["_meta"]["progressToken"]
        assert token == message["id"]
        side.note("notifications/progress", progressToken=token, progress=1, total=2)
        side.answer(message, TEXT)

    seen = []
    async with open_session(Script(tools__call=act)) as (caller, _):
        await caller.call(CALL, {"name": "a"}, on_progress=lambda step: seen.append(step.progress))
    assert seen == [1]


async def test_a_timeout_cancels_on_the_wire():
    async with open_session(Script(tools__call=lambda *_: None)) as (caller, server):
        with pytest.raises(CallTimeoutError, match=r"scripted: no answer to tools/call 'slow' within"):
            await caller.call(CALL, {"name": "slow"}, timeout_s=0.05)
        cancelled = await server.wait_for("notifications/cancelled")
    assert cancelled["params"] == {"requestId": 2, "reason": "timed out"}


async def test_cancelling_the_task_cancels_on_the_wire_and_the_session_goes_on():
    async with open_session(Script(tools__call=lambda *_: None)) as (caller, server):
        task = asyncio.create_task(caller.call(CALL, {"name": "slow"}))
        await server.wait_for("tools/call")
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        await server.wait_for("notifications/cancelled")
        await caller.ping()


# --- logs ---


async def test_the_log_level_is_set_once_at_the_start_if_the_server_logs():
    async with open_session(log_level="warning", on_log=print) as (_, server):
        assert server.methods == ["initialize", "notifications/initialized", "logging/setLevel"]
        assert server.received[-1]["params"] == {"level": "warning"}
    async with open_session(Script(capabilities={}), log_level="warning") as (caller, server):
        await caller.ping()
        assert server.methods == ["initialize", "notifications/initialized", "ping"]


async def test_a_log_level_that_is_refused_is_told_and_harms_nothing(caplog):
    def refuse(side, message):
        side.refuse(message, -32603)

    async with open_session(Script(logging__setLevel=refuse), log_level="info") as (caller, _):
        await caller.ping()
    assert "did not take the log level" in caplog.text


# --- a new session ---


async def test_a_server_that_started_again_is_introduced_to_again():
    def act(side, message):
        if side.number == 0:
            side.hang_up()
        else:
            side.answer(message, TEXT)

    async with open_session(Script(tools__call=act)) as (caller, server):
        with pytest.raises(DisconnectedError):
            await caller.call(CALL, {"name": "first"})
        assert (await caller.call(CALL, {"name": "second"})).text == "done"
    assert [message["method"] for message in server.sides[1].received] == [
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]


async def test_many_calls_after_a_restart_share_one_new_session():
    async with open_session() as (caller, server):
        server.side.hang_up()
        await until(lambda: not caller.transport.is_open)
        results = await asyncio.gather(*(caller.call(CALL, {"name": str(n)}) for n in range(20)))
    assert [result.text for result in results] == ["done"] * 20
    assert server.methods.count("initialize") == 2


async def test_whoever_gives_up_waiting_for_a_new_session_does_not_take_it_from_the_others():
    def wait(side, message):
        if side.number == 0:
            side.answer(message, introduction())
        else:
            side.script.opening = message

    script = Script(initialize=wait)
    async with open_session(script) as (caller, server):
        server.side.hang_up()
        await until(lambda: not caller.transport.is_open)
        first, second = (asyncio.create_task(caller.call(CALL, {"name": "a"})) for _ in range(2))
        await server.wait_for("initialize", 2)
        first.cancel()
        await asyncio.wait({first})
        script.side.answer(script.opening, introduction("2025-03-26"))
        assert (await second).text == "done"
        assert caller.revision == "2025-03-26"
    assert "notifications/cancelled" not in server.methods


async def test_a_new_session_that_cannot_be_had_fails_the_calls_that_need_it():
    def die(side, message):
        if side.number == 0:
            side.answer(message, introduction())
        else:
            side.hang_up()

    async with open_session(Script(initialize=die)) as (caller, server):
        server.side.hang_up()
        await until(lambda: not caller.transport.is_open)
        async with asyncio.timeout(5):
            outcomes = await asyncio.gather(
                *(caller.call(CALL, {"name": "a"}) for _ in range(3)), return_exceptions=True
            )
        assert {type(outcome) for outcome in outcomes} == {DisconnectedError}


async def test_a_new_session_that_takes_too_long_is_the_callers_time_out():
    def be_silent(side, message):
        if side.number == 0:
            side.answer(message, introduction())

    async with open_session(Script(initialize=be_silent)) as (caller, server):
        server.side.hang_up()
        await until(lambda: not caller.transport.is_open)
        with pytest.raises(CallTimeoutError, match="tools/call"):
            await caller.call(CALL, {"name": "a"}, timeout_s=0.1)


# --- the end ---


async def test_a_closed_session_refuses_everything():
    async with open_session() as (caller, server):
        await caller.aclose()
        await caller.aclose()
        count = len(server.received)
        for attempt in (
            caller.call(CALL, {"name": "a"}),
            caller.ping(),
            caller.begin(offer="2025-11-25", timeout_s=1),
        ):
            with pytest.raises(ClosedError):
                await attempt
        assert len(server.received) == count


async def test_closing_while_a_new_session_is_on_its_way_fails_who_waits_for_it():
    def be_silent(side, message):
        if side.number == 0:
            side.answer(message, introduction())

    async with open_session(Script(initialize=be_silent)) as (caller, server):
        server.side.hang_up()
        await until(lambda: not caller.transport.is_open)
        waiting = asyncio.create_task(caller.call(CALL, {"name": "a"}))
        await server.wait_for("initialize", 2)
        await caller.aclose()
        with pytest.raises(ClosedError):
            await asyncio.wait_for(waiting, 5)


async def test_roots_that_changed_are_announced_by_whoever_has_some():
    async with open_session(asked={"roots": ["file:///a"]}) as (caller, server):
        await caller.announce_roots()
    assert server.sent("initialize")[0]["params"]["capabilities"] == {"roots": {"listChanged": True}}
    assert server.methods[-1] == "notifications/roots/list_changed"
    async with open_session() as (caller, _):
        with pytest.raises(UsageError, match="roots="):
            await caller.announce_roots()


# --- real processes ---

SERVER = """
    for message in messages():
        method = message.get("method")
        if method == "initialize":
            send({"id": message["id"], "result": {"protocolVersion": "2025-06-18",
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}})
        elif method == "tools/call":
            name = message["params"]["name"]
            if name == "die":
                os._exit(7)
            if name == "ask":
                send({"id": 1, "method": "roots/list"})
                answer = json.loads(sys.stdin.readline())
                result(message, answer["result"]["roots"][0]["uri"])
            if name == "pid":
                result(message, str(os.getpid()))
"""


async def test_a_process_asks_dies_and_comes_back_with_a_session_of_its_own(tmp_path):
    command = script_command(tmp_path, SERVER)
    async with Client(command, era="2025-06-18", roots=["file:///work"]) as client:
        assert (await client.call_tool("ask")).text == "file:///work"
        before = (await client.call_tool("pid")).text
        waiting = [asyncio.create_task(client.call_tool("silent")) for _ in range(5)]
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            with pytest.raises(DisconnectedError, match="7"):
                await client.call_tool("die")
            outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {DisconnectedError}
        assert (await client.call_tool("pid")).text != before


async def test_clients_in_sessions_are_closed_in_any_order_and_from_another_task(tmp_path):
    command = script_command(tmp_path, SERVER)
    clients = [await Client.connect(command, era="legacy") for _ in range(3)]
    pids = [client.transport.pid for client in clients]
    calls = [asyncio.create_task(client.call_tool("silent")) for client in clients]
    await asyncio.sleep(0)
    async with asyncio.timeout(20):
        await clients[1].aclose()
        await asyncio.create_task(clients[0].aclose())
        await asyncio.gather(clients[2].aclose(), clients[2].aclose())
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {ClosedError}
    assert len(set(pids)) == 3


async def test_three_servers_each_with_its_own_capabilities_are_each_known_by_their_client():
    offers = {"A": {"tools": {}}, "B": ALL, "C": {"tools": {}, "prompts": {}}}
    found = {}
    for name, offer in offers.items():
        script = Script("2025-03-26", offer)
        transport = MemoryTransport(script.connect)
        caller = caller_over(transport)
        said = await caller.begin(offer="2025-03-26", timeout_s=5)
        found[name] = [kind for kind in ("tools", "resources", "prompts") if getattr(said.capabilities, kind)]
        await caller.aclose()
        await transport.aclose()
    assert found == {"A": ["tools"], "B": ["tools", "resources", "prompts"], "C": ["tools", "prompts"]}


def test_what_is_declared_follows_from_the_functions():
    assert Asked(sample=print).capabilities_with(()) == {"sampling": {}}
