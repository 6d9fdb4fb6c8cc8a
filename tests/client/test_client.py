"""The life of a client: connecting, closing from everywhere, and that nothing is left."""

import asyncio
import gc
import sys

import pytest

from mesero import Client
from mesero.errors import ClosedError, DisconnectedError, UsageError
from mesero.testing import scripted_server
from tests.client.older_servers import REFUSES, connected
from tests.client.talking import TEXT, requests_in, talk
from tests.transports.children import is_alive, open_descriptors, script_command, until

ANSWER = """
for request in requests():
    result(request, str(os.getpid()))
"""


# --- connecting ---


@pytest.mark.parametrize("name", ["timeout_s", "total_timeout_s", "connect_timeout_s"])
@pytest.mark.parametrize("value", [0, -1])
def test_limits_are_greater_than_nothing(name, value):
    with pytest.raises(UsageError, match="greater than 0"):
        Client(scripted_server(), **{name: value})


def test_a_client_that_is_not_connected_knows_no_server():
    with pytest.raises(UsageError, match=r"not connected yet: use 'async with' or 'await Client.connect"):
        _ = Client(scripted_server()).server


async def test_connect_and_async_with_are_the_same():
    client = await Client.connect(scripted_server(), name="tester")
    assert client.server.name == "scripted"
    await client.aclose()


async def test_async_with_on_a_connected_client_closes_it_at_the_end():
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").answer(supportedVersions=["2026-07-28"], capabilities={})
    with server:
        client = await Client.connect(server)
        async with client as same:
            assert same is client
        with pytest.raises(ClosedError):
            await client.request("server/discover")


async def test_a_closed_client_is_not_opened_again():
    client = Client(scripted_server())
    async with client:
        pass
    with pytest.raises(ClosedError, match="was closed; make another one"):
        await client.__aenter__()


async def test_a_connect_that_fails_leaves_nothing_open():
    server = scripted_server(answers_discover=False)
    server.expect("server/discover").hang_up()
    server.expect("initialize").hang_up()
    before = len(asyncio.all_tasks())
    with server, pytest.raises(DisconnectedError):
        await Client.connect(server)
    assert len(asyncio.all_tasks()) == before
    with pytest.raises(ClosedError):
        await server.open()


async def test_our_name_and_version_are_told_by_default():
    async with talk() as (_, _, wire):
        pass
    info = wire.sent[0]["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]
    assert info["name"] == "mesero"
    assert info["version"]


# --- closing ---


async def test_closing_fails_open_calls_at_once_and_refuses_new_ones():
    server = scripted_server()
    server.expect("tools/call")
    client = await Client.connect(server)
    call = asyncio.create_task(client.call_tool("slow"))
    await until(lambda: not server._left)
    await client.aclose()
    with pytest.raises(
        ClosedError, match=r"tools/call \(id 2\): the client was closed while this call was open"
    ):
        await call
    with pytest.raises(ClosedError):
        await client.call_tool("any")
    with pytest.raises(ClosedError):
        await client.listen(tools=True).start()


async def test_closing_twice_and_at_the_same_time_is_closing_once(tmp_path):
    client = await Client.connect(script_command(tmp_path, ANSWER), discover=False)
    pid = int((await client.call_tool("any")).text)
    await asyncio.gather(*(client.aclose() for _ in range(5)))
    await client.aclose()
    assert not is_alive(pid)


async def test_closing_works_from_another_task_than_the_one_that_connected(tmp_path):
    clients = []

    async def open_one():
        clients.append(await Client.connect(script_command(tmp_path, ANSWER), discover=False))

    await asyncio.gather(open_one(), open_one())
    first, second = clients
    await asyncio.create_task(first.aclose())
    assert (await second.call_tool("any")).text
    await asyncio.create_task(second.aclose())


async def test_closing_from_inside_on_progress_ends_that_call():
    server = scripted_server()
    server.expect("tools/call").report_progress(1)
    client = await Client.connect(server)

    async def close(_):
        await client.aclose()

    with pytest.raises(ClosedError):
        await asyncio.wait_for(client.call_tool("any", on_progress=close), 10)


async def test_closing_from_inside_on_log_works():
    closed = asyncio.Event()

    async def close(_):
        await client.aclose()
        closed.set()

    server = scripted_server()
    server.expect("tools/call").notify("notifications/message", level="info", data=1)
    client = await Client.connect(server, on_log=close)
    with pytest.raises(ClosedError):
        await asyncio.wait_for(client.call_tool("any"), 10)
    await asyncio.wait_for(closed.wait(), 10)


async def test_closing_from_inside_an_answer_ends_that_call():
    server = scripted_server()
    server.expect("tools/call").answer(
        resultType="input_required",
        inputRequests={
            "q": {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}}
        },
    )

    async def close(_):
        await client.aclose()
        return {}

    client = await Client.connect(server, elicit=close)
    with pytest.raises(ClosedError):
        await asyncio.wait_for(client.call_tool("any"), 10)


async def test_a_call_of_a_cancelled_block_is_closed_with_it(tmp_path):
    pids = []

    async def use():
        async with Client(script_command(tmp_path, ANSWER), discover=False, close_wait_s=0.2) as client:
            pids.append(int((await client.call_tool("any")).text))
            await asyncio.sleep(60)

    task = asyncio.create_task(use())
    await until(lambda: pids)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert not is_alive(pids[0])


async def test_an_exception_in_the_block_comes_out_as_it_was():
    with pytest.raises(ZeroDivisionError):
        async with Client(scripted_server()):
            _ = 1 / 0


@pytest.mark.skipif(sys.platform == "win32", reason="counts descriptors the Linux way")
async def test_after_a_thousand_calls_and_subscriptions_nothing_is_left(tmp_path):
    command = script_command(tmp_path, ANSWER)
    gc.collect()
    tasks, descriptors = len(asyncio.all_tasks()), open_descriptors()
    async with Client(command, discover=False) as client:
        await asyncio.gather(*(client.call_tool("any") for _ in range(1000)))
        waiting = [asyncio.create_task(client.listen(tools=True).start()) for _ in range(10)]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting, return_exceptions=True)
    assert len(client.transport._ledger) == 0
    assert len(asyncio.all_tasks()) == tasks
    assert open_descriptors() <= descriptors


# --- logs outside of calls ---


async def test_unsolicited_messages_that_are_no_notifications_are_let_pass():
    async with talk() as (client, server, _):
        server.expect("tools/call").raw(b'{"jsonrpc":"2.0","id":9,"method":"roots/list"}\n').answer(
            content=TEXT
        )
        assert (await client.call_tool("any")).text == "done"
        # What a server of this era may not do explains a silence that follows.
        assert "roots/list" in server.evidence()[0]


async def test_the_trace_sees_what_passes_over_a_transport_of_ours(tmp_path):
    seen = []
    command = script_command(tmp_path, ANSWER)
    async with Client(command, discover=False, trace=lambda *facts: seen.append(facts)) as client:
        await client.call_tool("any")
    assert [(direction, http) for direction, _, http in seen] == [("c2s", None), ("s2c", None)]
    assert b'"tools/call"' in seen[0][1]


async def test_closing_cancels_nothing_that_was_answered():
    async with talk() as (client, server, wire):
        server.expect("tools/call").answer(content=TEXT)
        await client.call_tool("any")
    assert requests_in(wire, "notifications/cancelled") == []


# --- closing and cancelling while the era is found out ---


@pytest.mark.parametrize("waits_for", ["server/discover", "initialize"])
async def test_closing_from_another_task_ends_a_connect_that_is_under_way(older, waits_for):
    server = older("for request in logged(): pass")
    before = asyncio.all_tasks()
    client = Client(server.command, probe_s=0.1 if waits_for == "initialize" else 20, connect_timeout_s=60)
    connecting = asyncio.create_task(client.__aenter__())
    await until(lambda: waits_for in server.log)
    await client.aclose()
    with pytest.raises(ClosedError):
        await connecting
    assert asyncio.all_tasks() == before
    assert client.transport.exit_code is not None


@pytest.mark.parametrize("waits_for", ["server/discover", "initialize"])
async def test_a_cancelled_connect_leaves_nothing(older, waits_for):
    server = older("for request in logged(): pass")
    before = asyncio.all_tasks()
    client = Client(server.command, probe_s=0.1 if waits_for == "initialize" else 20, connect_timeout_s=60)
    connecting = asyncio.create_task(client.__aenter__())
    await until(lambda: waits_for in server.log)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert asyncio.all_tasks() == before
    assert client.transport.exit_code is not None


# --- roots ---


async def test_a_server_with_a_session_is_told_that_the_roots_changed(older):
    server = older(REFUSES)
    async with connected(server, roots=["/tmp"]) as client:
        await client.announce_roots()
        await client.call_tool("any")
    assert "notifications/roots/list_changed" in server.log


async def test_a_stateless_server_is_not_told_that_the_roots_changed():
    async with talk(roots=["/tmp"]) as (client, _, wire):
        await client.announce_roots()
        assert [message["method"] for message in wire.sent] == ["server/discover"]
