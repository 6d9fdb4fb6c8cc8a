"""The promises that decided which HTTP library is used; see the design. They hold for any other one, too."""

import asyncio
import os
import socket
import sys
import time
from pathlib import Path

import pytest

from mesero import Client
from mesero.errors import CallTimeoutError, ConnectError, HttpStatusError
from tests.transports.raw_http import (
    STREAM,
    HangUp,
    answering,
    chunk,
    event,
    full,
    open_transport,
    outgoing,
    progress,
    receive_all,
    serve_raw,
)

PROCESSES = min(int(os.environ.get("MESERO_GATE_PROCESSES", "20")), 200)
MOST_AT_ONCE = 4
ROOT = Path(__file__).parents[2]

CALLS_AND_EXIT = """
import asyncio, sys
from mesero.jsonrpc import encode_request
from mesero.transports import Outgoing
from mesero.transports.http_client import HttpTransport

async def call(transport, number):
    exchange = transport.exchange(Outgoing(number, "x", encode_request(number, "x", {})))
    return (await exchange.receive()).message.id

async def main():
    transport = HttpTransport(sys.argv[1])
    ids = await asyncio.gather(*(call(transport, number) for number in range(32)))
    assert ids == list(range(32)), ids
    if sys.argv[2] == "close":
        await transport.aclose()

asyncio.run(main())
"""


async def hold_before_headers(request, connection):
    await connection.wait_for_end()
    raise HangUp


async def hold_after_headers(request, connection):
    await connection.write(STREAM + chunk(event(progress(1))))
    await connection.wait_for_end()
    raise HangUp


@pytest.mark.parametrize("script", [hold_before_headers, hold_after_headers])
async def test_cancelling_a_caller_closes_the_socket_within_a_tenth_of_a_second(script):
    times_s = []
    async with serve_raw(script) as server, open_transport(server.url) as transport:
        for number in range(3):
            exchange = transport.exchange(outgoing(number))
            if script is hold_after_headers:
                await exchange.receive()
            caller = asyncio.create_task(receive_all(exchange))
            await server.wait_until(lambda number=number: len(server.requests) == number + 1)
            await asyncio.sleep(0)  # A task that never ran would be cancelled without reading.
            assert server.open_connections == 1
            started = time.monotonic()
            caller.cancel()
            await server.wait_until(lambda: server.open_connections == 0)
            times_s.append(time.monotonic() - started)
            with pytest.raises(asyncio.CancelledError):
                await caller
    # The best of three: a busy machine may take its time once.
    assert min(times_s) < 0.1


async def exit_code_of(url, how):
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-W",
        "error",
        "-c",
        CALLS_AND_EXIT,
        url,
        how,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    async with asyncio.timeout(60):
        _, stderr = await process.communicate()
    return process.returncode, stderr.decode()


async def test_processes_end_well_after_32_calls_at_once():
    gate = asyncio.Semaphore(MOST_AT_ONCE)

    async def run(url):
        async with gate:
            return await exit_code_of(url, "close")

    async with serve_raw(answering()) as server:
        ends = await asyncio.gather(*(run(server.url) for _ in range(PROCESSES)))
    assert [end for end in ends if end != (0, "")] == []


async def test_loopback_never_goes_through_a_proxy(monkeypatch):
    async with serve_raw(answering()) as proxy, serve_raw(answering()) as server:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
            async with open_transport(url) as transport:
                await receive_all(transport.exchange(outgoing()))
        assert len(server.requests) == 2
        assert proxy.connections == 0


async def test_no_redirect_referer_or_encoding_that_was_not_asked_for():
    async with serve_raw(answering()) as other:

        async def script(request, connection):
            await connection.write(full(b"", "302 Found", f"Location: {other.url}"))

        async with serve_raw(script) as server, open_transport(server.url) as transport:
            with pytest.raises(HttpStatusError):
                await receive_all(transport.exchange(outgoing()))
            unasked = {"referer", "accept-encoding", "cookie", "origin", "accept-language"}
            assert server.requests[0].names & unasked == set()
        assert other.requests == []


async def test_connect_and_response_timeouts_are_told_apart():
    # A listener that nobody accepts from: TCP connects, TLS never answers.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConnectError, match=r"no connection within 0\.3 s.*connect_timeout_s="):
            await Client.connect(f"https://127.0.0.1:{port}/mcp", connect_timeout_s=0.3)
    async with serve_raw(hold_before_headers) as server, Client(server.url, discover=False) as client:
        with pytest.raises(
            CallTimeoutError, match=r"no answer to tools/call 'add' within 0\.3 s.*timeout_s="
        ):
            await client.call_tool("add", {}, timeout_s=0.3)
