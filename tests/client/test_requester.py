"""One request and what answers it: errors, time-outs, progress, cancellation, log messages."""

import asyncio
import json

import pytest

from mesero import Client, Server
from mesero.client.requester import OpenCall
from mesero.errors import CallTimeoutError, DisconnectedError, ProtocolError, RpcError, UsageError
from tests.client.talking import TEXT, requests_in, talk
from tests.transports.children import until

PROGRESS_TOKEN = "progressToken"


# --- errors ---


async def test_an_error_names_server_method_and_id():
    async with talk() as (client, server, _):
        server.expect("tools/call").error(-32602, "Unknown tool: any", {"hint": [1]})
        with pytest.raises(RpcError) as caught:
            await client.call_tool("any")
    assert str(caught.value) == "a scripted server: tools/call (id 2): Unknown tool: any (-32602)"
    assert caught.value.data == {"hint": [1]}


async def test_a_server_that_cancels_our_request_does_not_make_us_wait():
    async with talk() as (client, server, _):
        server.expect("tools/call").notify("notifications/cancelled", requestId=2, reason="tired")
        with pytest.raises(ProtocolError, match=r"the server cancelled a request of ours.*tired"):
            await client.call_tool("any", timeout_s=30)


async def test_a_server_that_hangs_up_fails_the_call_and_the_next_one_works():
    async with talk() as (client, server, _):
        server.expect("tools/call", name="first").hang_up()
        server.expect("tools/call", name="second").answer(content=TEXT)
        with pytest.raises(DisconnectedError, match="the server hung up"):
            await client.call_tool("first")
        assert (await client.call_tool("second")).text == "done"


# --- time-outs ---


async def test_a_timeout_says_what_was_sent_what_came_and_whose_limit_it_was():
    async with talk() as (client, server, wire):
        server.expect("tools/call").notify("notifications/message", level="info", data=1)
        server.expect("notifications/cancelled", requestId=2, reason="timed out")
        with pytest.raises(CallTimeoutError) as caught:
            await client.call_tool("slow", timeout_s=0.05)
        await until(lambda: requests_in(wire, "notifications/cancelled"))
    text = str(caught.value)
    assert "a scripted server: no answer to tools/call 'slow' within 0.05 s" in text
    assert "the limit was ours" in text
    assert "since it was sent came nothing" in text
    assert isinstance(caught.value, TimeoutError)


async def test_a_timeout_of_a_method_without_a_name_names_the_method():
    async with talk() as (client, server, _):
        server.expect("tools/list")
        with pytest.raises(CallTimeoutError, match=r"no answer to tools/list within"):
            await client.list_tools(timeout_s=0.05)


async def test_a_late_answer_is_dropped_and_recorded():
    async with talk() as (client, server, _):
        server.expect("tools/call", name="slow")
        server.expect("tools/call", name="quick").raw(
            lambda request_id: b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % (request_id - 1)
        ).answer(content=TEXT)
        with pytest.raises(CallTimeoutError):
            await client.call_tool("slow", timeout_s=0.05)
        assert (await client.call_tool("quick")).text == "done"
        assert [verdict for verdict, _ in server.dropped] == ["late"]


async def test_progress_extends_the_limit():
    seen = []

    async def report(progress):
        seen.append((progress.progress, progress.total, progress.message))
        if len(seen) < 4:
            await asyncio.sleep(0.06)
            step = {"progressToken": 2, "progress": len(seen) + 1, "message": "step"}
            client.transport._peer.send_bytes(notification(step))

    async with talk() as (client, server, _):
        server.expect("tools/call").report_progress(1, 4)
        with pytest.raises(CallTimeoutError, match=r"came \d+ notifications"):
            await client.call_tool("slow", timeout_s=0.15, on_progress=report)
    assert seen[0] == (1, 4, None)
    assert seen[1:] == [(2, None, "step"), (3, None, "step"), (4, None, "step")]


def notification(params):
    message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    return json.dumps(message).encode() + b"\n"


async def test_progress_extends_the_limit_up_to_a_total():
    async def more(progress):
        await asyncio.sleep(0.02)
        step = {"progressToken": 2, "progress": progress.progress + 1}
        client.transport._peer.send_bytes(notification(step))

    async with talk(total_timeout_s=0.25) as (client, server, _):
        server.expect("tools/call").report_progress(1)
        async with asyncio.timeout(10):
            with pytest.raises(CallTimeoutError, match=r"within 0\.25 s.*came \d+ notifications"):
                await client.call_tool("endless", timeout_s=0.1, on_progress=more)


async def test_progress_that_makes_no_sense_is_let_pass():
    seen = []
    async with talk() as (client, server, _):
        server.expect("tools/call").notify(
            "notifications/progress", progressToken=2, progress="half"
        ).report_progress(2).answer(content=TEXT)
        await client.call_tool("any", on_progress=lambda progress: seen.append(progress.progress))
    assert seen == [2]


async def test_progress_is_asked_for_only_by_who_listens():
    async with talk() as (client, server, wire):
        server.expect("tools/call").answer(content=TEXT)
        server.expect("tools/call").notify("notifications/progress", progressToken=3, progress=1).answer(
            content=TEXT
        )
        await client.call_tool("any", on_progress=print)
        await client.call_tool("any")
    with_token, without = requests_in(wire, "tools/call")
    assert with_token["params"]["_meta"][PROGRESS_TOKEN] == with_token["id"]
    assert PROGRESS_TOKEN not in without["params"]["_meta"]


async def test_a_timeout_of_a_callback_is_not_taken_for_ours():
    async def fail(_):
        raise TimeoutError("of the callback")

    async with talk() as (client, server, wire):
        server.expect("tools/call").report_progress(1)
        with pytest.raises(TimeoutError, match="of the callback") as caught:
            await client.call_tool("any", on_progress=fail)
        assert not isinstance(caught.value, CallTimeoutError)
        await until(lambda: requests_in(wire, "notifications/cancelled"))


# --- giving up ---


async def test_cancelling_the_callers_task_cancels_on_the_wire():
    async with talk() as (client, server, wire):
        server.expect("tools/call")
        server.expect("notifications/cancelled", requestId=2, reason="the caller gave up")
        task = asyncio.create_task(client.call_tool("slow"))
        await until(lambda: requests_in(wire, "tools/call"))
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        await until(lambda: requests_in(wire, "notifications/cancelled"))


async def test_a_limit_of_the_callers_own_is_the_callers_error():
    async with talk() as (client, server, _):
        server.expect("tools/call")
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(0.05):
                await client.call_tool("slow")
        assert not isinstance(caught.value, CallTimeoutError)


# --- logs ---


async def test_log_messages_reach_on_log_also_outside_of_a_call():
    seen = []

    async def take(params):
        seen.append((params.level, params.data))

    async with talk(on_log=take, log_level="debug") as (client, server, wire):
        server.expect("tools/call").notify("notifications/message", level="error", data={"a": 1}).notify(
            "notifications/message", level="no such level", data=2
        ).answer(content=TEXT)
        await client.call_tool("any")
        await until(lambda: seen)
    assert seen == [("error", {"a": 1})]
    meta = requests_in(wire, "tools/call")[0]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/logLevel"] == "debug"


async def test_a_log_message_that_is_tied_to_a_call_is_passed_on_as_well():
    seen = []
    tie = {"_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
    async with talk(on_log=seen.append) as (client, server, wire):
        server.expect("tools/call").notify("notifications/message", level="info", data=1, **tie).answer(
            content=TEXT
        )
        await client.call_tool("any")
    assert [params.data for params in seen] == [1]
    meta = requests_in(wire, "tools/call")[0]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/logLevel"] == "info"


async def test_an_on_log_that_fails_harms_nobody(caplog):
    def fail(_):
        raise ValueError

    async with talk(on_log=fail) as (client, server, _):
        server.expect("tools/call").notify("notifications/message", level="info", data=1).answer(content=TEXT)
        assert (await client.call_tool("any")).text == "done"
        await until(lambda: "on_log failed" in caplog.text)


# --- a clock that waits for somebody ---


async def open_call(limit_s, total_s):
    loop = asyncio.get_running_loop()
    return OpenCall(asyncio.timeout(limit_s), limit_s, loop.time() + total_s, None)


async def test_the_time_of_a_pause_does_not_count():
    call = await open_call(0.1, 0.2)
    async with call.clock:
        call.pause()
        call.pause()
        assert call.clock.when() is None
        call.extend()
        assert call.clock.when() is None
        await asyncio.sleep(0.3)
        call.resume()
        call.resume()
        left_s = call.clock.when() - asyncio.get_running_loop().time()
    assert 0.05 < left_s <= 0.1


async def test_a_clock_that_has_run_out_is_neither_paused_nor_extended():
    call = await open_call(0, 1)

    async def touch():
        async with call.clock:
            try:
                await asyncio.sleep(5)
            finally:
                call.pause()
                call.extend()
                call.resume()

    with pytest.raises(TimeoutError):
        await touch()
    assert call.paused_at is None


def near() -> str:
    return "here"


def test_a_client_stays_in_the_event_loop_that_it_was_first_used_in():
    server = Server("near")
    server.tool(near)
    client = Client(server)

    assert [tool.name for tool in asyncio.run(client.list_tools())] == ["near"]
    with pytest.raises(UsageError, match="another event loop"):
        asyncio.run(client.list_tools())
