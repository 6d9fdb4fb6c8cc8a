import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from mesero.server.stdio import own_stdio, serve_stdio
from tests.server.talking import REVISION, meta, quiet_server

PROGRAM = """
import asyncio, os, subprocess, sys, threading, time
import mesero

server = mesero.Server("child", version="1")

@server.tool
async def add(a: int, b: int) -> int:
    return a + b

@server.tool
def noise() -> str:
    print("printed")
    sys.stdout.write("written\\n")
    os.write(1, b"raw\\n")
    subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    program = "import sys; print(repr(sys.stdin.read()))"
    read = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    return read.stdout.decode().strip()

@server.tool
async def wait() -> str:
    print("waiting", flush=True)
    await asyncio.sleep(60)
    return "not reached"

@server.tool
def block() -> str:
    print("blocking", flush=True)
    threading.Event().wait()
    return "not reached"

@server.tool
async def slow() -> str:
    await asyncio.sleep(0.2)
    return "slow"

@server.tool
async def big(size: int) -> str:
    return "x" * size

server.run()
print("over", file=sys.stderr)
"""


def line(method, params=None, request_id=1):
    body = {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": method,
        "params": {**(params or {}), "_meta": meta()},
    }
    return json.dumps(body).encode() + b"\n"


def call(name, arguments=None, request_id=1):
    return line("tools/call", {"name": name, "arguments": arguments or {}}, request_id)


@contextmanager
def child(**options):
    """The server above as a process."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def said_by(process, data=b"", timeout_s=20):
    """Everything that the server says until it ends by itself."""
    stdout, stderr = process.communicate(data, timeout=timeout_s)
    return [json.loads(one) for one in stdout.splitlines()], stderr.decode()


def test_a_server_answers_what_is_piped_in_and_ends_with_its_input():
    with child() as process:
        said, stderr = said_by(process, call("slow", request_id=1) + call("add", {"a": 1, "b": 2}, 2))
    assert {one["id"]: one["result"]["content"][0]["text"] for one in said} == {1: "slow", 2: "3"}
    assert process.returncode == 0
    assert stderr.splitlines() == ["over"]


def test_nothing_but_messages_is_written_to_stdout_and_nobody_else_reads_stdin():
    with child() as process:
        said, stderr = said_by(process, call("noise") + line("server/discover", request_id=2))
    assert sorted(one["id"] for one in said) == [1, 2]
    result = next(one["result"] for one in said if one["id"] == 1)
    assert result["content"][0]["text"] == "''"
    assert sorted(stderr.split("\n")[:-1]) == sorted(["printed", "written", "raw", "from a child", "over"])


def test_input_and_output_may_be_files(tmp_path):
    (tmp_path / "in").write_bytes(b"".join(call("add", {"a": n, "b": 0}, n) for n in range(2000)))
    with (
        (tmp_path / "in").open("rb") as source,
        (tmp_path / "out").open("wb") as target,
        child(stdin=source, stdout=target) as process,
    ):
        assert process.wait(20) == 0
    said = [json.loads(one) for one in (tmp_path / "out").read_bytes().splitlines()]
    assert sorted(one["id"] for one in said) == list(range(2000))


@pytest.mark.parametrize(("tool", "word"), [("wait", b"waiting\n"), ("block", b"blocking\n")])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_busy_server_promptly(tool, word, number):
    with child() as process:
        process.stdin.write(call(tool))
        process.stdin.flush()
        assert process.stderr.readline() == word
        began = time.monotonic()
        process.send_signal(number)
        assert process.wait(20) == 0
        assert time.monotonic() - began < 4


def test_a_signal_after_the_end_of_input_ends_the_wait_for_what_is_in_flight():
    with child() as process:
        process.stdin.write(call("wait"))
        process.stdin.close()
        assert process.stderr.readline() == b"waiting\n"
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert time.monotonic() - began < 4


def test_a_subscription_ends_in_good_order_with_the_input():
    with child() as process:
        said, _ = said_by(
            process, line("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "s")
        )
    assert [one.get("method", "result") for one in said] == [
        "notifications/subscriptions/acknowledged",
        "notifications/cancelled",
        "result",
    ]


def test_a_client_that_stops_reading_ends_the_server():
    with child() as process:
        process.stdin.write(call("wait"))
        process.stdin.flush()
        assert process.stderr.readline() == b"waiting\n"
        process.stdout.close()
        process.stdin.write(call("add", {"a": 1, "b": 1}, 2))
        process.stdin.flush()
        assert process.wait(20) == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory from /proc")
def test_a_client_that_does_not_read_is_not_read_from_and_memory_stays_bounded():
    with child() as process:
        os.set_blocking(process.stdin.fileno(), False)
        requests = b"".join(call("big", {"size": 100_000}, n) for n in range(50))
        written, stuck_since = 0, None
        while stuck_since is None or time.monotonic() - stuck_since < 0.5:
            # 20,000 of them would make 2 GB.
            assert written < 20_000 * len(requests) // 50
            try:
                written += os.write(process.stdin.fileno(), requests) and len(requests)
                stuck_since = None
            except BlockingIOError:
                stuck_since = stuck_since or time.monotonic()
                time.sleep(0.01)
        status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        resident = next(int(one.split()[1]) for one in status if one.startswith("VmRSS"))
        assert resident < 400_000


@asynccontextmanager
async def piped(server):
    """`serve_stdio` on two pipes of this process: where to write, where to read, and the task."""
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    task = asyncio.ensure_future(serve_stdio(server, in_read, out_write))
    try:
        yield in_write, out_read, task
    finally:
        task.cancel()
        await asyncio.wait([task])
        for descriptor in (in_read, in_write, out_read, out_write):
            try:
                os.close(descriptor)
            except OSError:
                continue


def echo_server():
    server = quiet_server()
    server.tool(name="echo")(lambda text: text)
    return server


async def test_serving_on_pipes_ends_with_the_input_and_leaves_them_as_they_were():
    async with piped(echo_server()) as (in_write, out_read, task):
        os.write(in_write, call("echo", {"text": "hi"}))
        answer = json.loads(await asyncio.to_thread(os.read, out_read, 65536))
        assert answer["result"]["content"][0]["text"] == "hi"
        os.close(in_write)
        await asyncio.wait_for(task, 10)
        assert os.get_blocking(out_read)


async def test_a_large_answer_passes_through_a_pipe_that_is_read_slowly():
    size = 3_000_000
    async with piped(echo_server()) as (in_write, out_read, task):
        request = call("echo", {"text": "x" * size})
        writing = asyncio.ensure_future(asyncio.to_thread(os.write, in_write, request))
        got = b""
        while not got.endswith(b"\n"):
            got += await asyncio.to_thread(os.read, out_read, 200_000)
        await writing
        assert len(json.loads(got)["result"]["content"][0]["text"]) == size
        os.close(in_write)
        await asyncio.wait_for(task, 10)


async def test_an_answer_that_is_still_unread_when_the_input_ends_is_not_lost():
    size = 3_000_000
    async with piped(echo_server()) as (in_write, out_read, task):
        await asyncio.to_thread(os.write, in_write, call("echo", {"text": "x" * size}))
        os.close(in_write)
        got = b""
        while not got.endswith(b"\n"):
            got += await asyncio.to_thread(os.read, out_read, 200_000)
        assert len(json.loads(got)["result"]["content"][0]["text"]) == size
        await asyncio.wait_for(task, 10)


async def test_an_output_that_breaks_ends_serving_even_to_a_file(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(line("server/discover") * 3)
    with source.open("rb") as stdin, source.open("rb") as not_writable:
        await asyncio.wait_for(serve_stdio(echo_server(), stdin.fileno(), not_writable.fileno()), 10)


def test_owning_stdio_gives_everything_back():
    stdin, stdout, python_stdout = os.fstat(0), os.fstat(1), sys.stdout
    with own_stdio() as (kept_stdin, kept_stdout):
        assert os.path.samestat(os.fstat(kept_stdin), stdin)
        assert os.path.samestat(os.fstat(kept_stdout), stdout)
        assert os.path.samestat(os.fstat(0), Path(os.devnull).stat())
        assert os.path.samestat(os.fstat(1), os.fstat(2))
        assert sys.stdout is sys.stderr
    assert os.path.samestat(os.fstat(0), stdin)
    assert os.path.samestat(os.fstat(1), stdout)
    assert sys.stdout is python_stdout


def test_a_server_may_be_started_without_stderr():
    with child(stderr=None, preexec_fn=lambda: os.close(2)) as process:
        stdout, _ = process.communicate(call("noise") + line("server/discover", request_id=2), timeout=20)
    *messages, last = stdout.splitlines()
    assert sorted(json.loads(one)["id"] for one in messages) == [1, 2]
    # The program's own print, after stdout was given back to it.
    assert last == b"over"


def test_the_revision_of_these_tests_is_the_servers():
    with child() as process:
        said, _ = said_by(process, line("server/discover"))
    assert said[0]["result"]["supportedVersions"] == [REVISION]
