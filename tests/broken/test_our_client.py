"""What people know from other clients, and must not know from ours: P25 to P30 of the catalogue of failures.

Where a test stands elsewhere already it is named here, and not written twice.
"""

import ast
import asyncio
import socket
import sys
import time
from pathlib import Path

import pytest

import mesero
from tests.broken.endpoints import honest, serving

HERE = Path(__file__).parent
HONEST = [sys.executable, str(HERE / "P00_old.py")]
WITHIN_S = 20
CLOSED_WITHIN_S = 5.0

# Entry, the file and the test that asserts it.
ELSEWHERE = [
    ("P26", "test_promises.py", "test_two_clients_are_closed_in_any_order_and_from_another_task"),
    ("P26", "test_promises.py", "test_a_client_closed_within_another_ones_block_takes_nothing_with_it"),
    ("P26", "client/test_client.py", "test_closing_twice_and_at_the_same_time_is_closing_once"),
    ("P27", "test_promises.py", "test_a_request_hears_of_the_death_of_its_server"),
    ("P27", "test_promises.py", "test_many_requests_hear_of_it_at_once"),
]


@pytest.mark.parametrize(("entry", "path", "name"), ELSEWHERE)
def test_what_is_proved_elsewhere_is_still_there(entry, path, name):
    tree = ast.parse((HERE.parent / path).read_text())

    assert name in {each.name for each in tree.body if isinstance(each, ast.AsyncFunctionDef)}


# -- P25: closing ends -------------------------------------------------------------------------------------

STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


@pytest.mark.parametrize("before", ["", STUBBORN], ids=["deaf to the end of stdin", "and to SIGTERM"])
@pytest.mark.parametrize("era", [None, "2025-06-18"])
async def test_closing_returns_from_a_server_that_does_not_end(before, era, tmp_path):
    program = tmp_path / "server.py"
    path = f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
    program.write_text(path + before + (HERE / "P24.py").read_text())
    client = await mesero.Client.connect([sys.executable, str(program)], era=era)
    began = time.monotonic()

    await asyncio.wait_for(client.aclose(), WITHIN_S)

    assert time.monotonic() - began < CLOSED_WITHIN_S


# -- P26: any task, any order ------------------------------------------------------------------------------


@pytest.fixture
async def connected():
    client = await mesero.Client.connect(HONEST)
    yield client
    # A finaliser runs in another task than the test, and than what came before the yield.
    await client.aclose()


async def test_a_client_may_be_closed_by_a_fixture(connected):
    assert [tool.name for tool in await connected.list_tools()] == ["echo"]


# -- P28: misuse is told -----------------------------------------------------------------------------------


async def test_a_client_that_nobody_entered_works_all_the_same_and_says_what_it_does_not_know():
    client = mesero.Client(HONEST, era="2025-06-18")
    with pytest.raises(mesero.UsageError, match=r"'async with' or 'await Client\.connect"):
        assert client.server
    await client.aclose()
    async with asyncio.timeout(WITHIN_S):
        with pytest.raises(mesero.ClosedError, match="the client is closed"):
            await client.list_tools()


async def test_a_client_that_was_closed_says_so_at_once():
    client = await mesero.Client.connect(HONEST)
    await client.aclose()
    with pytest.raises(mesero.ClosedError, match="the client is closed"):
        await asyncio.wait_for(client.list_tools(), 1)
    with pytest.raises(mesero.ClosedError, match="make another one"):
        await client.__aenter__()


@pytest.mark.parametrize("era", [None, "2025-06-18", "modern"])
def test_a_client_of_another_event_loop_says_so_at_once(era):
    async def connect():
        return await mesero.Client.connect(HONEST, era=era)

    async def call(client):
        with pytest.raises(mesero.UsageError, match="another event loop") as caught:
            await asyncio.wait_for(client.list_tools(), 1)
        assert "within the same asyncio.run" in str(caught.value)

    # Also the way that people take who call from another thread.
    with asyncio.Runner() as own, asyncio.Runner() as other:
        client = own.run(connect())
        other.run(call(client))
        own.run(client.aclose())


@pytest.mark.parametrize("target", ["npx server", object()])
async def test_a_target_that_is_none_is_named_with_what_would_be_one(target):
    with pytest.raises(mesero.MeseroError) as caught:
        await mesero.Client.connect(target)
    assert "command" in str(caught.value)


# -- P29: the cause is told, and no group around it --------------------------------------------------------


@pytest.mark.parametrize("era", [None, "2025-06-18", "modern"])
@pytest.mark.parametrize("status", [401, 502])
async def test_a_status_is_told_with_its_address(era, status):
    with serving(lambda *_: (status, {}, b"")) as root, pytest.raises(mesero.MeseroError) as caught:
        await asyncio.wait_for(mesero.Client.connect(f"{root}/mcp", era=era, discover=True), WITHIN_S)

    assert f"{root}/mcp → {status}" in str(caught.value)
    assert not isinstance(caught.value, BaseExceptionGroup)
    assert "sub-exception" not in str(caught.value)


@pytest.mark.parametrize("era", [None, "2025-06-18", "modern"])
async def test_a_refused_connection_is_told_with_its_address(era):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        with pytest.raises(mesero.ConnectError) as caught:
            await asyncio.wait_for(mesero.Client.connect(url, era=era, discover=True), WITHIN_S)

    assert f"{url} → connection refused" in str(caught.value)


# -- P30: one bad server is one bad server -----------------------------------------------------------------


async def test_of_five_servers_that_are_started_together_the_good_ones_work():
    crashing, hanging = ([sys.executable, str(HERE / f"{name}.py")] for name in ("P05_key", "P22_deaf"))
    with serving(honest) as root:
        targets = [HONEST, crashing, hanging, f"{root}/mcp", HONEST]
        clients = [mesero.Client(target, connect_timeout_s=3) for target in targets]
        async with asyncio.timeout(WITHIN_S):
            ends = await asyncio.gather(*(each.__aenter__() for each in clients), return_exceptions=True)
            good = [each for each in ends if isinstance(each, mesero.Client)]
            listed = await asyncio.gather(*(each.list_tools() for each in good))
            await asyncio.gather(*(each.aclose() for each in clients))

    assert [isinstance(each, mesero.Client) for each in ends] == [True, False, False, True, True]
    assert [[tool.name for tool in tools] for tools in listed] == [["echo"], ["add"], ["echo"]]
    assert "exit" in str(ends[1])
    assert isinstance(ends[2], mesero.MeseroError)
