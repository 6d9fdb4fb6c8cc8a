"""Subscriptions: acknowledged first, told apart, ended in good order, opened again after a loss."""

import asyncio
import json

import pytest

from mesero import Client, Server
from mesero.client import ServerChange, listening
from mesero.errors import (
    DisconnectedError,
    LaunchError,
    MethodNotFoundError,
    ProtocolError,
    RpcError,
    UsageError,
)
from mesero.extensions import Extension
from mesero.testing import scripted_server
from tests.client.talking import TEXT, requests_in, talk
from tests.transports.children import script_command, until

ACK = "notifications/subscriptions/acknowledged"
TOOLS = "notifications/tools/list_changed"
UPDATED = "notifications/resources/updated"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(listening, "_FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(listening, "_LAST_MESSAGE_WAIT_S", 0.05)


def expect_listen(server, **filter_):
    return server.expect("subscriptions/listen", notifications=filter_).publish(ACK, notifications=filter_)


async def collect(changes, count):
    async with asyncio.timeout(10):
        return [await anext(changes) for _ in range(count)]


async def rest_of(changes):
    async with asyncio.timeout(10):
        return [change async for change in changes]


# --- opening ---


async def test_the_filter_is_sent_and_what_was_honoured_is_kept():
    async with talk() as (client, server, _):
        server.expect(
            "subscriptions/listen",
            notifications={
                "toolsListChanged": True,
                "promptsListChanged": True,
                "resourceSubscriptions": ["a://1"],
            },
        ).publish(ACK, notifications={"toolsListChanged": True})
        changes = client.listen(tools=True, prompts=True, resources=["a://1"])
        assert changes.honoured is None
        await changes.start()
        await changes.start()
        assert changes.honoured == {"toolsListChanged": True}
        await changes.aclose()


async def test_resources_may_be_watched_as_a_list():
    async with talk() as (client, server, _):
        expect_listen(server, resourcesListChanged=True)
        async with client.listen(resources=True) as changes:
            assert changes.honoured == {"resourcesListChanged": True}


async def test_listening_for_nothing_is_refused():
    async with talk() as (client, _, _):
        with pytest.raises(UsageError, match="listen\\(\\) needs something to listen for"):
            client.listen()


async def test_an_unknown_filter_member_is_refused():
    async with talk() as (client, _, _):
        with pytest.raises(UsageError, match="no extension defines the filter member 'jobs'"):
            client.listen(tools=True, jobs=True)


async def test_an_extension_may_define_a_filter_member():
    extension = Extension(identifier="com.example/jobs", listen_keys={"jobs": ("notifications/jobs/done",)})
    async with talk(extensions=[extension]) as (client, server, _):
        expect_listen(server, jobs=["j1"]).publish("notifications/jobs/done", job="j1")
        async with client.listen(jobs=["j1"]) as changes:
            change = await anext(changes)
    assert change.kind == "notifications/jobs/done"
    assert change.params["job"] == "j1"


async def test_a_refusal_is_raised_as_it_came():
    async with talk() as (client, server, _):
        server.expect("subscriptions/listen").error(-32601, "no such method")
        with pytest.raises(MethodNotFoundError, match="subscriptions/listen"):
            await anext(client.listen(tools=True))


@pytest.mark.parametrize("is_answer", [True, False])
async def test_the_acknowledgement_comes_first_or_it_is_an_error(is_answer):
    async with talk() as (client, server, _):
        expectation = server.expect("subscriptions/listen")
        expectation.answer() if is_answer else expectation.publish(TOOLS)
        with pytest.raises(ProtocolError, match="must be answered with an acknowledgement first"):
            await anext(client.listen(tools=True))


async def test_a_silent_server_is_not_waited_for_longer_than_for_a_connection():
    async with talk(connect_timeout_s=0.1) as (client, server, wire):
        server.expect("subscriptions/listen")
        server.expect("notifications/cancelled", requestId=2)
        with pytest.raises(ProtocolError, match=r"not acknowledged within 0\.1 s"):
            await client.listen(tools=True).start()
        await until(lambda: requests_in(wire, "notifications/cancelled"))


async def test_an_acknowledgement_that_agrees_to_nothing_readable_honours_nothing():
    async with talk() as (client, server, _):
        server.expect("subscriptions/listen").publish(ACK, notifications="everything")
        async with client.listen(tools=True) as changes:
            assert changes.honoured == {}


# --- changes ---


async def test_changes_come_in_order_with_what_changed():
    async with talk() as (client, server, _):
        wanted = {"toolsListChanged": True, "resourceSubscriptions": ["a://1"]}
        expect_listen(server, **wanted).publish(TOOLS).publish(UPDATED, uri="a://1").publish(
            ACK, notifications={}
        ).publish("notifications/prompts/list_changed").publish("notifications/resources/list_changed")
        async with client.listen(tools=True, resources=["a://1"]) as changes:
            found = await collect(changes, 4)
    assert [change.kind for change in found] == ["tools", "resource", "prompts", "resources"]
    assert [change.uri for change in found] == [None, "a://1", None, None]


async def test_several_subscriptions_are_told_apart():
    async with talk() as (client, server, _):
        expect_listen(server, toolsListChanged=True)
        server.expect("subscriptions/listen", notifications={"resourceSubscriptions": ["a://1"]}).publish(
            ACK, notifications={}
        ).publish(UPDATED, uri="a://1").notify(TOOLS, _meta={"io.modelcontextprotocol/subscriptionId": 2})
        async with client.listen(tools=True) as first, client.listen(resources=["a://1"]) as second:
            assert (await collect(second, 1))[0].uri == "a://1"
            assert (await collect(first, 1))[0] == ServerChange("tools", None, (await_meta(2)))


def await_meta(subscription):
    return {"_meta": {"io.modelcontextprotocol/subscriptionId": subscription}}


async def test_numbers_that_nobody_can_hold_do_not_end_a_subscription():
    async with talk() as (client, server, _):
        meta = b'"_meta":{"io.modelcontextprotocol/subscriptionId":2}'
        expect_listen(server, resourceSubscriptions=["a"]).raw(
            b'{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{%s,"n":1e999}}\n' % meta
        ).raw(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n')
        async with client.listen(resources=["a"]) as changes:
            assert (await collect(changes, 1))[0] == ServerChange("resource", None, {})


async def test_a_reader_that_stops_waiting_can_go_on_inside_async_with():
    async with talk() as (client, server, _):
        expect_listen(server, toolsListChanged=True)
        async with client.listen(tools=True) as changes:
            for _ in range(2):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(anext(changes), 0.02)
            server._peer.send(b'{"jsonrpc":"2.0","method":"%s","params":{%s}}' % (TOOLS.encode(), META))
            assert (await collect(changes, 1))[0].kind == "tools"


META = b'"_meta":{"io.modelcontextprotocol/subscriptionId":2}'


async def test_a_cancelled_loop_ends_its_subscription_on_the_wire():
    async def watch(client):
        async for _ in client.listen(tools=True):
            pass

    async with talk() as (client, server, wire):
        expect_listen(server, toolsListChanged=True)
        server.expect("notifications/cancelled", requestId=2, reason="no longer listening")
        task = asyncio.create_task(watch(client))
        await until(lambda: requests_in(wire, "subscriptions/listen"))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        await until(lambda: requests_in(wire, "notifications/cancelled"))


# --- the end ---


async def test_a_result_ends_the_loop_in_good_order():
    async with talk() as (client, server, wire):
        expect_listen(server, toolsListChanged=True).publish(TOOLS).answer()
        changes = await rest_of(client.listen(tools=True))
    assert [change.kind for change in changes] == ["tools"]
    assert requests_in(wire, "notifications/cancelled") == []


async def test_an_announced_end_is_an_end_with_its_result_or_without():
    async with talk() as (client, server, _):
        for _ in range(2):
            cancelled = {"requestId": 2, "reason": "shutdown"}
            expect_listen(server, toolsListChanged=True).publish("notifications/cancelled", **cancelled)
        server._left[0].publish(TOOLS).answer()
        assert await rest_of(client.listen(tools=True)) == []
        assert await rest_of(client.listen(tools=True)) == []


async def test_an_error_at_the_end_is_raised_and_the_subscription_over():
    async with talk() as (client, server, _):
        expect_listen(server, toolsListChanged=True).error(-32603, "the bus broke")
        changes = client.listen(tools=True)
        with pytest.raises(RpcError, match="the bus broke"):
            await anext(changes)
        assert await rest_of(changes) == []


async def test_closing_from_another_task_ends_a_waiting_loop():
    async with talk() as (client, server, wire):
        expect_listen(server, toolsListChanged=True)
        server.expect("notifications/cancelled", requestId=2, reason="no longer listening")
        changes = client.listen(tools=True)
        waiting = asyncio.create_task(anext(changes, "over"))
        await until(lambda: changes.honoured is not None)
        await asyncio.gather(changes.aclose(), changes.aclose())
        assert await waiting == "over"
        await changes.aclose()
        await until(lambda: requests_in(wire, "notifications/cancelled"))
        await changes.start()
        assert len(requests_in(wire, "subscriptions/listen")) == 1


async def test_closing_from_inside_the_loop_ends_it():
    async with talk() as (client, server, _):
        expect_listen(server, toolsListChanged=True).publish(TOOLS).publish(TOOLS)
        changes = client.listen(tools=True)
        count = 0
        async for _ in changes:
            count += 1
            await changes.aclose()
    assert count == 1


async def test_closing_the_client_ends_the_loop():
    server = scripted_server()
    expect_listen(server, toolsListChanged=True)
    client = await Client.connect(server)
    changes = client.listen(tools=True)
    waiting = asyncio.create_task(anext(changes, "over"))
    await until(lambda: changes.honoured is not None)
    await client.aclose()
    assert await asyncio.wait_for(waiting, 10) == "over"


async def test_a_server_of_ours_ends_subscriptions_in_good_order():
    server = Server("notes")
    async with Client(server) as client:
        changes = client.listen(tools=True)
        await changes.start()
        server.end_subscriptions()
        assert await rest_of(changes) == []


# --- a lost stream ---


async def test_a_lost_stream_is_opened_again_and_says_so():
    async with talk() as (client, server, wire):
        expect_listen(server, toolsListChanged=True).publish(TOOLS).hang_up()
        expect_listen(server, toolsListChanged=True).publish(TOOLS)
        async with client.listen(tools=True) as changes:
            kinds = [change.kind for change in await collect(changes, 3)]
    assert kinds == ["tools", "reconnected", "tools"]
    first, second = requests_in(wire, "subscriptions/listen")
    assert first["id"] != second["id"]


async def test_a_lost_stream_is_an_error_where_that_was_asked_for():
    async with talk() as (client, server, _):
        expect_listen(server, toolsListChanged=True).hang_up()
        with pytest.raises(DisconnectedError):
            await anext(client.listen(tools=True, reconnect=False))


async def test_a_stream_that_was_never_open_is_not_opened_again():
    async with talk() as (client, server, _):
        server.expect("subscriptions/listen").hang_up()
        with pytest.raises(DisconnectedError):
            await anext(client.listen(tools=True))


async def test_opening_again_is_tried_a_few_times_and_then_told():
    async with talk() as (client, server, _):
        expect_listen(server, toolsListChanged=True).hang_up()
        for _ in range(6):
            server.expect("subscriptions/listen").error(-32603, "not now")
        with pytest.raises(RpcError, match="not now"):
            await anext(client.listen(tools=True))


async def test_opening_again_that_succeeds_late_is_still_a_success():
    async with talk() as (client, server, _):
        expect_listen(server, toolsListChanged=True).hang_up()
        server.expect("subscriptions/listen").error(-32603, "not now")
        expect_listen(server, toolsListChanged=True)
        async with client.listen(tools=True) as changes:
            assert (await collect(changes, 1))[0].kind == "reconnected"


async def test_closing_while_the_stream_is_opened_again_leaves_nothing():
    async with talk() as (client, server, wire):
        expect_listen(server, toolsListChanged=True).hang_up()
        server.expect("subscriptions/listen")
        changes = client.listen(tools=True)
        waiting = asyncio.create_task(anext(changes, "over"))
        await until(lambda: len(requests_in(wire, "subscriptions/listen")) == 2)
        await changes.aclose()
        assert await waiting == "over"
        await until(lambda: requests_in(wire, "notifications/cancelled"))


async def test_the_death_of_a_server_process_is_survived(tmp_path):
    body = f"""
        for request in requests():
            meta = {{"io.modelcontextprotocol/subscriptionId": request["id"]}}
            note({ACK!r}, _meta=meta, notifications=request["params"]["notifications"])
            note({TOOLS!r}, _meta=meta)
            os._exit(1)
    """
    command = script_command(tmp_path, body)
    async with (
        Client(command, discover=False) as client,
        client.listen(tools=True) as changes,
    ):
        kinds = [change.kind for change in await collect(changes, 5)]
        assert kinds == ["tools", "reconnected", "tools", "reconnected", "tools"]
        with pytest.raises(LaunchError, match="ended 5 times"):
            await collect(changes, 10)


# --- the cache ---


async def test_a_change_drops_what_was_cached_of_it():
    async with talk() as (client, server, _):
        for count in (1, 2):
            server.expect("resources/read", uri="a").answer(contents=[], ttlMs=60_000, n=count)
            if count == 1:
                server.expect("resources/read", uri="b").answer(contents=[], ttlMs=60_000)
                wanted = {"resourceSubscriptions": ["a"]}
                expect_listen(server, **wanted).publish(UPDATED, uri="a")
        await client.read_resource("a")
        await client.read_resource("b")
        await client.read_resource("a")
        async with client.listen(resources=["a"]) as changes:
            await collect(changes, 1)
            await client.read_resource("a")
            await client.read_resource("b")


async def test_an_answer_that_a_change_overtook_is_not_kept():
    async with talk() as (client, server, _):
        server.expect("tools/list").notify(TOOLS).notify("notifications/message", level="info", data=1)
        call = asyncio.create_task(client.list_tools())
        await until(lambda: client._changes)
        answer = {"resultType": "complete", "tools": [], "ttlMs": 60_000, "cacheScope": "private"}
        server._peer.send(json.dumps({"jsonrpc": "2.0", "id": 2, "result": answer}).encode())
        await call
        assert len(client._cache) == 0
        assert client._changes == 1


async def test_after_a_gap_nothing_that_was_cached_holds():
    async with talk() as (client, server, _):
        server.expect("tools/list").answer(tools=[], ttlMs=60_000)
        expect_listen(server, toolsListChanged=True).hang_up()
        expect_listen(server, toolsListChanged=True)
        server.expect("tools/list").answer(tools=[], ttlMs=60_000)
        await client.list_tools()
        async with client.listen(tools=True) as changes:
            await collect(changes, 1)
            await client.list_tools()
            await client.list_tools()


async def test_changes_that_are_tied_to_no_subscription_count_as_well():
    async with talk() as (client, server, _):
        server.expect("tools/list").answer(tools=[], ttlMs=60_000)
        server.expect("tools/call").notify(TOOLS).raw(
            b'{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"n":1e999}}\n'
        ).answer(content=TEXT)
        server.expect("tools/list").answer(tools=[], ttlMs=60_000)
        await client.list_tools()
        await client.list_tools()
        await client.call_tool("any")
        await until(lambda: not client._cache)
        await client.list_tools()
