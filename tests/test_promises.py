"""What can never happen with this library, whatever the era: the failures that people know from others.

Each has its test here, on real processes; the parts have their own beside them.
"""

import asyncio
import os
import subprocess
import sys

import pytest

import mesero
from tests.http_serving import serving

ERAS = ["2026-07-28", "2025-11-25", "2024-11-05"]
DEMO = [sys.executable, "-m", "mesero.demo"]
WAIT_S = 20

FRAGILE = """
import os, signal, mesero
server = mesero.Server("fragile")

@server.tool
async def die() -> str:
    os.kill(os.getpid(), signal.SIGKILL)

server.run()
"""


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def until(condition):
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110  (what is waited for happens in other processes)
            await asyncio.sleep(0.01)


@pytest.fixture
def fragile(tmp_path):
    program = tmp_path / "fragile.py"
    program.write_text(FRAGILE)
    return [sys.executable, str(program)]


# --- closing: any order, any task, any number of times ---


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_two_clients_are_closed_in_any_order_and_from_another_task(era, order):
    async with serving(mesero.Server("near").asgi()) as url:
        clients = [await mesero.Client.connect(target, era=era) for target in (DEMO, url)]
        pid = clients[0].transport.pid
        for number in order:
            # Not the task that opened it; a task group would object to that.
            await asyncio.create_task(clients[number].aclose())
            await clients[number].aclose()
    assert not is_alive(pid)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_closed_within_another_ones_block_takes_nothing_with_it(era):
    async with mesero.Client(DEMO, era=era) as outer:
        inner = await mesero.Client.connect(DEMO, era=era)
        await inner.aclose()
        assert await outer.list_tools()


# --- no request waits for ever ---


@pytest.mark.parametrize("era", ERAS)
async def test_a_request_hears_of_the_death_of_its_server(era, fragile):
    async with mesero.Client(fragile, era=era) as client:
        with pytest.raises(mesero.DisconnectedError, match="SIGKILL"):
            await asyncio.wait_for(client.call_tool("die"), WAIT_S)


@pytest.mark.parametrize("era", ERAS)
async def test_many_requests_hear_of_it_at_once(era, fragile):
    async with mesero.Client(fragile, era=era) as client:
        calls = [client.call_tool("die") for _ in range(50)]
        ends = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), WAIT_S)
    assert all(isinstance(end, mesero.DisconnectedError) for end in ends)


# --- no group hides the cause ---


@pytest.mark.parametrize("era", [None, *ERAS])
@pytest.mark.parametrize("status", [401, 404, 502])
async def test_an_http_status_is_told_as_it_is(era, status):
    async def app(scope, receive, send):
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": b"go away"})

    async with serving(app) as url:
        with pytest.raises(mesero.MeseroError) as caught:
            await asyncio.wait_for(mesero.Client.connect(url, era=era, discover=True), WAIT_S)
    assert f"→ {status}" in str(caught.value)
    assert not isinstance(caught.value, BaseExceptionGroup)


# --- no child survives ---


@pytest.mark.parametrize("era", ERAS)
async def test_no_child_is_alive_after_closing(era):
    client = await mesero.Client.connect(DEMO, era=era)
    pid = client.transport.pid
    await client.aclose()
    assert not is_alive(pid)


@pytest.mark.parametrize("era", ERAS)
async def test_no_child_is_alive_after_its_client_was_cancelled(era):
    pids = []

    async def use():
        async with mesero.Client(DEMO, era=era) as client:
            pids.append(client.transport.pid)
            await asyncio.get_running_loop().create_future()

    task = asyncio.create_task(use())
    await until(lambda: pids)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(pids[0])


FORGETFUL = """
import asyncio, sys, mesero

async def main():
    client = await mesero.Client.connect([sys.executable, "-m", "mesero.demo"], era=sys.argv[1])
    print(client.transport.pid, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("era", ERAS)
async def test_no_child_is_alive_after_the_interpreter_ended_without_closing(era):
    command = [sys.executable, "-c", FORGETFUL, era]
    run = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=WAIT_S)
    pid = int(run.stdout)
    await until(lambda: not is_alive(pid))
