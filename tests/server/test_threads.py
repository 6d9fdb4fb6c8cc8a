import asyncio
import contextvars
import subprocess
import sys
import threading

import pytest

from mesero.server import Context
from mesero.server.threads import WorkerThreads
from tests.server.talking import quiet_server, talking

PLACE = contextvars.ContextVar("PLACE", default="nowhere")


@pytest.fixture
def threads():
    pool = WorkerThreads(2)
    yield pool
    pool.close()


async def test_a_function_runs_elsewhere_with_the_callers_variables(threads):
    PLACE.set("here")
    thread, place = await threads.run(lambda: (threading.current_thread(), PLACE.get()))
    assert thread is not threading.current_thread()
    assert thread.name.startswith("mesero-")
    assert place == "here"


async def test_a_thread_that_is_free_is_used_again(threads):
    seen = {await threads.run(threading.get_ident) for _ in range(20)}
    assert len(seen) == 1


async def test_no_more_run_at_once_than_there_may_be_threads(threads):
    lock, running, most = threading.Lock(), set(), []
    gate, two_run = threading.Event(), threading.Event()

    def work(number):
        with lock:
            running.add(number)
            most.append(len(running))
        if len(most) >= 2:
            two_run.set()
        gate.wait(5)
        with lock:
            running.discard(number)

    tasks = [asyncio.ensure_future(threads.run(lambda number=number: work(number))) for number in range(6)]
    assert await asyncio.to_thread(two_run.wait, 5)
    gate.set()
    await asyncio.gather(*tasks)
    assert max(most) == 2
    assert len(most) == 6


@pytest.mark.parametrize("error", [LookupError("x"), SystemExit(1), asyncio.CancelledError()])
async def test_what_a_function_raises_reaches_the_one_who_waits(threads, error):
    def fail():
        raise error

    with pytest.raises(type(error)):
        await threads.run(fail)


async def test_a_stop_of_iteration_does_not_leave_anybody_waiting(threads):
    with pytest.raises(RuntimeError, match="StopIteration") as caught:
        await asyncio.wait_for(threads.run(lambda: next(iter(()))), 5)
    assert isinstance(caught.value.__cause__, StopIteration)


async def test_a_call_that_is_cancelled_before_it_began_never_begins():
    threads = WorkerThreads(1)
    gate, ran = threading.Event(), []
    first = asyncio.ensure_future(threads.run(lambda: gate.wait(5)))
    second = asyncio.ensure_future(threads.run(lambda: ran.append(2)))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.set()
    await first
    await threads.run(lambda: ran.append(3))
    assert ran == [3]
    threads.close()


async def test_what_waits_is_cancelled_when_the_pool_closes_and_the_pool_may_open_again():
    threads = WorkerThreads(1)
    gate, started = threading.Event(), threading.Event()

    def block():
        started.set()
        return gate.wait(5)

    first = asyncio.ensure_future(threads.run(block))
    second = asyncio.ensure_future(threads.run(lambda: None))
    assert await asyncio.to_thread(started.wait, 5)
    threads.close()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.set()
    assert await first is True
    assert await threads.run(lambda: "again") == "again"
    threads.close()
    threads.close()


async def test_the_loop_answers_others_while_a_plain_function_blocks():
    server = quiet_server()
    gate = threading.Event()

    @server.tool
    def block() -> bool:
        return gate.wait(5)

    @server.tool
    async def release() -> str:
        gate.set()
        return "released"

    async with talking(server) as talk:
        blocked = talk.request("tools/call", {"name": "block", "arguments": {}})
        talk.send(blocked)
        await talk.call("release")
        assert (await talk.answer_to(blocked))["result"]["structuredContent"] is True


async def test_a_cancelled_function_keeps_its_thread_sees_it_and_its_result_is_dropped():
    server = quiet_server(max_threads=1)
    started, gate, seen = threading.Event(), threading.Event(), []

    @server.tool
    def work(ctx: Context) -> str:
        started.set()
        gate.wait(5)
        seen.append(ctx.cancelled)
        return "not sent"

    @server.tool
    def other() -> str:
        return f"after {len(seen)}"

    async with talking(server) as talk:
        request = talk.request("tools/call", {"name": "work", "arguments": {}})
        talk.send(request)
        assert await asyncio.to_thread(started.wait, 5)
        talk.cancel(request)
        waiting = talk.request("tools/call", {"name": "other", "arguments": {}})
        talk.send(waiting)
        await talk.settle()
        assert talk.said == []
        gate.set()
        assert (await talk.answer_to(waiting))["result"]["content"][0]["text"] == "after 1"
        assert len(talk.said) == 1
    assert seen == [True]


def test_a_function_that_never_returns_does_not_keep_the_process_alive():
    program = """
import asyncio, threading
from mesero.server.threads import WorkerThreads

async def main():
    started = threading.Event()
    asyncio.ensure_future(WorkerThreads().run(lambda: (started.set(), threading.Event().wait())))
    while not started.is_set():
        await asyncio.sleep(0)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=20, check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
