"""Real servers on real sockets: clients that vanish, do not read, or come by the thousand; and the end."""

import asyncio
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

import mesero
from mesero.errors import UsageError
from mesero.server import run_http as module
from mesero.server.run_http import open_http
from tests.server.raw_client import Connection

CHILD = Path(__file__).with_name("http_child.py")
# As many as a machine allows descriptors for.
LISTENERS = min(10_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 1000)


def build_server():
    return mesero.Server("notes", version="1", log=lambda _: None)


def count_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  (conditions of any kind, none of which sets an event)
            await asyncio.sleep(0.01)


@asynccontextmanager
async def nothing_left():
    """The same tasks and descriptors after as before."""
    # The first connection of a process opens what stays open for good.
    await asyncio.get_running_loop().getaddrinfo("127.0.0.1", 0)
    tasks, descriptors = len(asyncio.all_tasks()), count_descriptors()
    yield
    await until(lambda: len(asyncio.all_tasks()) == tasks and count_descriptors() <= descriptors)


# -- serving -----------------------------------------------------------------------------------------------


async def test_our_own_client_calls_our_own_server():
    server = build_server()

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    async with nothing_left(), open_http(server) as url, mesero.Client(url) as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})

    assert result.structured_content == 3


async def test_many_requests_share_a_connection_one_after_the_other():
    server = build_server()

    @server.tool
    async def echo(text: str) -> str:
        return text

    async with open_http(server) as url:
        connection = await Connection.open(url)
        for number in range(3):
            connection.send("tools/call", {"name": "echo", "arguments": {"text": "a"}}, id=number)
        answers = [await connection.read_json() for _ in range(3)]
        await connection.close()

    assert [(status, answer["id"]) for status, answer in answers] == [(200, 0), (200, 1), (200, 2)]


async def test_a_thousand_calls_at_once_are_all_answered():
    server = build_server()
    release = asyncio.Event()
    waiting = set()

    @server.tool
    async def wait(number: int) -> int:
        waiting.add(number)
        if len(waiting) == 1000:
            release.set()
        await release.wait()
        return number

    async def call(url, number):
        connection = await Connection.open(url)
        connection.send("tools/call", {"name": "wait", "arguments": {"number": number}}, id=number)
        # It may have become a stream by then.
        _, headers = await connection.read_head()
        if headers["content-type"] == "application/json":
            answer = json.loads(await connection.reader.readexactly(int(headers["content-length"])))
        else:
            answer = await connection.read_message()
        await connection.close()
        assert "result" in answer, answer
        return answer["result"]["structuredContent"]

    with enough_descriptors(3000):
        async with nothing_left(), open_http(server) as url, asyncio.timeout(50):
            results = await asyncio.gather(*(call(url, number) for number in range(1000)))

    assert results == list(range(1000))


async def test_a_result_of_fifty_megabytes_arrives_whole():
    server = build_server()

    @server.tool
    async def big() -> str:
        return "x" * 50_000_000

    async with nothing_left(), open_http(server) as url:
        connection = await Connection.open(url)
        connection.send("tools/call", {"name": "big"})
        status, answer = await connection.read_json()
        await connection.close()

    assert status == 200
    assert answer["result"]["content"][0]["text"] == "x" * 50_000_000


# -- clients that go or do not read ------------------------------------------------------------------------


@pytest.mark.parametrize("notifies", [False, True])
async def test_a_client_that_vanishes_in_the_middle_leaves_no_task_and_no_descriptor(notifies):
    server = build_server()
    running, cancelled = set(), set()

    @server.tool
    async def forever(number: int, ctx: mesero.Context) -> str:
        running.add(number)
        if notifies:
            await ctx.report_progress(1)
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.add(number)
        return "never"

    async with open_http(server) as url, nothing_left():
        connections = []
        for number in range(20):
            connection = await Connection.open(url)
            connection.send(
                "tools/call", {"name": "forever", "arguments": {"number": number}}, progressToken="p"
            )
            connections.append(connection)
        await until(lambda: len(running) == 20)
        for connection in connections:
            connection.vanish()
        began = time.monotonic()
        await until(lambda: cancelled == running)

        assert time.monotonic() - began < 2


async def test_a_handler_waits_for_a_client_that_does_not_read_and_others_do_not():
    server = build_server()
    told = 0

    @server.tool
    async def chatter(ctx: mesero.Context) -> str:
        nonlocal told
        for number in range(100_000):
            await ctx.report_progress(number + 1, message="x" * 10_000)
            told += 1
        return "done"

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    async with open_http(server, finish_wait_s=0.2) as url, nothing_left():
        reader = await Connection.open(url, receive_buffer_bytes=4096)
        reader.send("tools/call", {"name": "chatter"}, progressToken="p")
        before = -1
        while before != told or not told:
            before = told
            await asyncio.sleep(0.2)
        other = await Connection.open(url)
        other.send("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
        status, _ = await other.read_json()
        await other.close()
        reader.vanish()

        assert status == 200
        # What the kernel's buffers hold, not a gigabyte.
        assert told < 5_000


# -- the end -----------------------------------------------------------------------------------------------


async def test_the_end_waits_for_what_runs_then_cancels_it():
    server = build_server()
    reached = []

    @server.tool
    async def briefly() -> str:
        reached.append("briefly")
        await asyncio.sleep(0.3)
        return "in time"

    @server.tool
    async def forever() -> str:
        reached.append("forever")
        await asyncio.Event().wait()
        return "never"

    async with nothing_left():
        async with open_http(server, finish_wait_s=1.0, stream_after_s=30) as url:
            first, second = await Connection.open(url), await Connection.open(url)
            first.send("tools/call", {"name": "briefly"})
            second.send("tools/call", {"name": "forever"})
            await until(lambda: len(reached) == 2)
            answers = asyncio.gather(first.read_json(), second.read_json())
        (one, done), (two, cut) = await answers
        await first.close()
        await second.close()

    assert (one, done["result"]["content"][0]["text"]) == (200, "in time")
    assert (two, cut["error"]["message"]) == (503, "the server is shutting down")


async def test_the_end_does_not_wait_for_a_client_that_does_not_read():
    server = build_server()

    @server.tool
    async def big() -> str:
        return "x" * 50_000_000

    async with nothing_left():
        async with open_http(server, finish_wait_s=0.1) as url:
            connection = await Connection.open(url)
            connection.send("tools/call", {"name": "big"})
            await connection.read_head()
        connection.vanish()


async def test_a_port_that_is_taken_is_an_error_in_words():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=rf"cannot listen on 127.0.0.1:{port}.*Choose another port"):
            async with open_http(build_server(), port=port):
                pass


async def test_so_is_a_port_that_does_not_exist():
    with pytest.raises(UsageError, match="70000 is no port"):
        async with open_http(build_server(), port=70_000):
            pass


async def test_without_uvicorn_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(UsageError, match=r"pip install 'mesero\[server\]'"):
        async with open_http(build_server()):
            pass


async def test_the_address_that_is_listened_on_is_an_allowed_host():
    async with open_http(build_server(), host="127.0.0.2") as url:
        assert url.startswith("http://127.0.0.2:")
        connection = await Connection.open(url)
        connection.send("server/discover")
        status, _ = await connection.read_json()
        await connection.close()

    assert status == 200


async def test_an_address_of_the_sixth_version_is_bracketed():
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    async with open_http(build_server(), host="::1", path="/") as url:
        assert url.startswith("http://[::1]:")
        connection = await Connection.open(url)
        connection.send("server/discover")
        status, _ = await connection.read_json()
        await connection.close()

    assert status == 200


# -- in a process of its own -------------------------------------------------------------------------------


@contextmanager
def child(**options):
    """The process, and the URL that it says."""
    command = [sys.executable, str(CHILD), json.dumps(options)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        assert line.startswith("child listening on http://127.0.0.1:"), line + process.stderr.read()
        yield process, line.split()[-1]
    finally:
        process.kill()
        process.wait(10)
        process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_subscriptions_in_good_order_and_then_the_process(number):
    with child() as (process, url):
        connection = await Connection.open(url)
        connection.send("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="L")
        await connection.read_head()
        first = await connection.read_message()
        process.send_signal(number)
        last = await connection.read_message()
        after = await connection.read_message()
        connection.vanish()
        code = await asyncio.to_thread(process.wait, 10)
        rest = process.stderr.read()

    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert last["id"] == "L"
    assert "result" in last
    assert after is None
    assert (code, rest) == (0, "")


async def test_the_end_of_the_process_is_bounded_whatever_runs():
    with child(finish_wait_s=0.3) as (process, url):
        connection = await Connection.open(url)
        connection.send("tools/call", {"name": "forever"})
        await asyncio.sleep(0.3)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        status, _ = await connection.read_json()
        connection.vanish()
        code = await asyncio.to_thread(process.wait, 10)

    assert (status, code) == (503, 0)
    assert time.monotonic() - began < 5


async def test_a_second_signal_ends_it_at_once():
    with child(finish_wait_s=60) as (process, url):
        connection = await Connection.open(url)
        connection.send("tools/call", {"name": "forever"})
        await asyncio.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        code = await asyncio.to_thread(process.wait, 10)
        connection.vanish()

    assert code == -signal.SIGTERM


def test_it_runs_without_uvloop(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvloop", None)
    lines = []

    def stop_at_once(text):
        lines.append(text)
        os.kill(os.getpid(), signal.SIGTERM)

    mesero.Server("notes", log=stop_at_once).run_http(port=0)

    assert module._loop_factory() is None
    assert lines[0].startswith("notes listening on http://127.0.0.1:")
    assert lines[0].endswith("/mcp")


async def test_outside_of_the_main_thread_signals_are_left_alone():
    def wait_for_none():
        async def wait():
            with module._signals_call(lambda: None):
                await asyncio.sleep(0)
            return "done"

        return asyncio.run(wait())

    assert await asyncio.to_thread(wait_for_none) == "done"


@contextmanager
def enough_descriptors(wanted):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < wanted:
        pytest.skip(f"this machine allows {hard} descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_ten_thousand_listen_at_once_and_cost_little():
    with child(keep_alive_s=2.0) as (process, url), enough_descriptors(LISTENERS + 200):
        observer = await Connection.open(url)

        async def look():
            observer.send("tools/call", {"name": "listeners"})
            _, answer = await observer.read_json()
            return answer["result"]["structuredContent"]

        async def listen(number):
            connection = await Connection.open(url)
            connection.send("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=number)
            await connection.read_head()
            assert (await connection.read_message())["method"] == "notifications/subscriptions/acknowledged"
            return connection

        _, empty_kib = await look()
        connections = []
        for start in range(0, LISTENERS, 100):
            numbers = range(start, min(start + 100, LISTENERS))
            connections += await asyncio.gather(*(listen(number) for number in numbers))
        # Each of them is kept alive, while others are served.
        for connection in connections:
            assert await connection.read_chunk() == b":\n\n"
        count, full_kib = await look()
        each_kib = (full_kib - empty_kib) / LISTENERS
        print(f"{each_kib:.1f} KiB for each of {count} listeners")
        process.send_signal(signal.SIGTERM)
        ends = [await connection.read_message() for connection in connections]
        for connection in [*connections, observer]:
            connection.vanish()
        code = await asyncio.to_thread(process.wait, 30)

    assert count == LISTENERS
    assert all("result" in end for end in ends)
    assert code == 0
    assert each_kib < 60, f"{each_kib:.1f} KiB for each listener"


HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    "beginning",
    [
        b"POST /",
        HEAD + b"X: ",
        HEAD,
        HEAD + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: ",
        HEAD + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2;x=",
    ],
)
async def test_a_request_whose_head_or_trailer_has_no_end_is_cut_off(beginning):
    pytest.importorskip("httptools")
    more = b"X: y\r\n" * 40_000 if beginning == HEAD else b"a" * 240_000
    async with open_http(build_server()) as url:
        port = int(url.split(":")[2].split("/")[0])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(beginning)
        sent = 0
        try:
            async with asyncio.timeout(10):
                while sent < 100 * len(more):
                    writer.write(more)
                    await writer.drain()
                    sent += len(more)
        except ConnectionError:
            pass
        assert sent < 100 * len(more)
        writer.transport.abort()
