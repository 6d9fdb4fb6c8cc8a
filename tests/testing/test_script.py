"""Scripted servers: what they answer, and what they say when the client does something else."""

import asyncio

import pytest

from mesero import Client
from mesero.errors import CallTimeoutError, DisconnectedError, InternalError, ProtocolError, RpcError
from mesero.testing import scripted_server


async def test_a_client_that_follows_the_script_gets_what_it_says():
    with scripted_server() as server:
        server.expect("tools/list").answer(tools=[])
        server.expect("tools/call", name="add", arguments={"a": 1}).answer(
            content=[{"type": "text", "text": "1"}]
        )
        async with Client(server) as client:
            assert await client.list_tools() == []
            assert (await client.call_tool("add", {"a": 1})).text == "1"


async def test_progress_goes_to_the_request_that_asked_for_it():
    heard = []
    with scripted_server() as server:
        server.expect("tools/call").report_progress(1, 2).report_progress(2).answer(content=[])
        async with Client(server) as client:
            await client.call_tool("add", on_progress=heard.append)
    assert [(one.progress, one.total) for one in heard] == [(1, 2), (2, None)]


async def test_progress_that_nobody_asked_for_is_not_sent():
    with scripted_server() as server:
        server.expect("tools/call").report_progress(1).answer(content=[])
        async with Client(server) as client:
            assert (await client.call_tool("add")).content == []


async def test_an_error_is_raised_by_the_call():
    with scripted_server() as server:
        server.expect("tools/call").error(-32602, "Unknown tool: add", {"name": "add"})
        async with Client(server) as client:
            with pytest.raises(RpcError, match="Unknown tool") as caught:
                await client.call_tool("add")
    assert (caught.value.code, caught.value.data) == (-32602, {"name": "add"})


async def test_raw_bytes_go_out_as_they_are():
    with scripted_server() as server:
        server.expect("tools/call").raw(
            lambda request_id: b'{"jsonrpc":"1.0","id":%d,"result":{}}\n' % request_id
        )
        server.expect("tools/call").raw(b"Traceback (most recent call last):\n").answer(content=[])
        async with Client(server) as client:
            with pytest.raises(ProtocolError, match=r"1\.0"):
                await client.call_tool("add")
            await client.call_tool("add")


async def test_after_hanging_up_the_script_goes_on_with_the_next_connection():
    with scripted_server() as server:
        server.expect("tools/call").hang_up()
        server.expect("tools/call").answer(content=[])
        async with Client(server) as client:
            with pytest.raises(DisconnectedError, match="hung up"):
                await client.call_tool("add")
            await client.call_tool("add")


async def test_a_line_without_an_action_stays_silent_and_cancellations_may_be_expected():
    with scripted_server() as server:
        server.expect("tools/call")
        server.expect("notifications/cancelled").notify("notifications/message", level="info", data="well")
        async with Client(server) as client:
            with pytest.raises(CallTimeoutError):
                await client.call_tool("add", timeout_s=0.05)
            await client.transport.notify(b'{"jsonrpc":"2.0","method":"notifications/cancelled"}')


async def test_a_cancellation_that_the_script_does_not_mention_is_let_pass():
    with scripted_server() as server:
        server.expect("tools/call")
        async with Client(server) as client:
            with pytest.raises(CallTimeoutError):
                await client.call_tool("add", timeout_s=0.05)


async def test_a_subscription_is_published_to():
    with scripted_server() as server:
        acknowledged, changed = "notifications/subscriptions/acknowledged", "notifications/tools/list_changed"
        listening = server.expect("subscriptions/listen", notifications={"toolsListChanged": True})
        listening.publish(acknowledged, notifications={"toolsListChanged": True}).publish(changed).answer()
        async with Client(server) as client:
            assert [change.kind async for change in client.listen(tools=True)] == ["tools"]


async def test_another_message_than_the_scripts_fails_with_the_difference():
    with pytest.raises(AssertionError) as caught:  # noqa: PT012, SIM117  (the script is checked when its block ends)
        with scripted_server() as server:
            server.expect("tools/call", name="add", arguments={"a": 1}).answer(content=[])
            async with Client(server) as client:
                with pytest.raises(InternalError, match="not in the script"):
                    await client.call_tool("add", {"a": 2})
    text = str(caught.value)
    assert '  - tools/call {"name":"add","arguments":{"a":1}}' in text
    assert '  + tools/call {"name":"add","arguments":{"a":2}}' in text
    assert '  ? params.arguments: expected {"a":1}, got {"a":2}' in text


async def test_the_fault_is_told_rather_than_what_it_led_to():
    with pytest.raises(AssertionError, match="method: expected tools/list, got tools/call"):  # noqa: PT012, SIM117  (the script is checked when its block ends)
        with scripted_server() as server:
            server.expect("tools/list")
            async with Client(server) as client:
                await client.call_tool("add")


async def test_an_error_without_a_fault_passes_through():
    with pytest.raises(ZeroDivisionError):  # noqa: PT012, SIM117  (the script is checked when its block ends)
        with scripted_server() as server:
            server.expect("tools/list")
            raise ZeroDivisionError


async def test_an_unfinished_script_fails():
    with pytest.raises(AssertionError, match=r"(?s)did not do all.*    tools/list\n  - tools/call"):  # noqa: PT012, SIM117  (the script is checked when its block ends)
        with scripted_server() as server:
            server.expect("tools/list").answer(tools=[])
            server.expect("tools/call")
            async with Client(server) as client:
                await client.list_tools()


async def test_a_message_after_the_end_of_the_script_fails():
    server = scripted_server()
    async with Client(server) as client:
        with pytest.raises(InternalError):
            await client.list_tools()
    with pytest.raises(AssertionError, match="nothing more"):
        server.check_finished()


async def test_garbage_from_the_client_fails():
    server = scripted_server()
    async with Client(server) as client:
        await client.transport.notify(b"not json")
        await client.transport.notify(b'{"jsonrpc":"2.0","id":1,"result":{}}')
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    with pytest.raises(AssertionError, match=r"(?s)not json.*clients do not send responses"):
        server.check_finished()


async def test_without_an_order_concurrent_calls_find_their_lines():
    with scripted_server(ordered=False) as server:
        for name in ("a", "b", "c"):
            server.expect("tools/call", name=name).answer(content=[{"type": "text", "text": name}])
        async with Client(server) as client:
            results = await asyncio.gather(*(client.call_tool(name) for name in ("c", "a", "b")))
    assert [result.text for result in results] == ["c", "a", "b"]


async def test_discovery_may_be_part_of_the_script():
    with scripted_server(answers_discover=False) as server:
        server.expect("server/discover").answer(
            supportedVersions=["2026-07-28"], capabilities={"prompts": {}}, instructions="be kind"
        )
        async with Client(server) as client:
            assert client.server.instructions == "be kind"


async def test_long_parameters_are_shortened_in_the_conversation():
    server = scripted_server()
    async with Client(server) as client:
        with pytest.raises(InternalError):
            await client.call_tool("add", {"text": "x" * 10_000})
    with pytest.raises(AssertionError) as caught:
        server.check_finished()
    assert "xxx…" in str(caught.value)
    assert len(str(caught.value)) < 1000
