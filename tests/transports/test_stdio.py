"""The stdio transport: what the life and the death of a server process mean for its calls."""

import asyncio
import gc
import subprocess
import sys
import time

import pytest

from mesero import Client
from mesero.errors import (
    CallTimeoutError,
    ClosedError,
    DisconnectedError,
    LaunchError,
    NoCommonRevisionError,
    ProtocolError,
    UsageError,
)
from mesero.jsonrpc import encode_request
from mesero.transports import Outgoing
from mesero.transports.stdio import StdioTransport
from tests.transports.children import is_alive, open_descriptors, script_command, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="looks at processes the POSIX way")

ANSWER = "for request in requests(): result(request, str(os.getpid()))"
DIE = """
for request in requests():
    if request["params"]["name"] == "die":
        sys.stderr.write("about to die\\n")
        sys.stderr.flush()
        os._exit(3)
    if request["params"]["name"] != "wait":
        result(request, str(os.getpid()))
"""


@pytest.fixture
async def connect(tmp_path):
    clients = []

    async def start(body, **settings):
        settings = {"discover": False, "close_wait_s": 0.2, **settings}
        client = await Client.connect(script_command(tmp_path, body), **settings)
        clients.append(client)
        return client

    yield start
    for client in clients:
        await client.aclose()


async def open_and_ask(transport):
    await transport.open()
    await transport.exchange(Outgoing(1, "any", encode_request(1, "any"))).receive()


async def call(client, tool="any", **options):
    return (await client.call_tool(tool, **options)).text


# --- starting ---


@pytest.mark.parametrize("command", ["uvx some-server", b"uvx", []])
def test_a_command_is_a_list(command):
    with pytest.raises(UsageError, match="a command is a list"):
        StdioTransport(command)


async def test_an_unknown_program_is_a_launch_error():
    with pytest.raises(LaunchError, match="'no-such-program' was not found"):
        await Client.connect(["no-such-program"])


async def test_a_server_that_exits_at_once_is_quoted(connect):
    body = "write('Usage: server KEY\\n'); sys.stderr.write('no API key\\n'); sys.exit(2)"
    with pytest.raises(DisconnectedError) as caught:
        await connect(body, discover=True)
    text = str(caught.value)
    assert "exited with code 2" in text
    assert "no API key" in text
    assert "Usage: server KEY" in text
    assert "server.py" in text
    assert caught.value.exit_code == 2


async def test_a_server_that_is_gone_before_it_was_up_is_no_endless_start(tmp_path):
    transport = StdioTransport([sys.executable, "-c", "import sys; sys.exit('never')"])
    for _ in range(3):
        with pytest.raises(DisconnectedError, match="exited with code 1"):
            await open_and_ask(transport)
    await transport.aclose()


async def test_a_server_of_an_older_revision_is_named(connect):
    body = """
        for request in requests():
            send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
    """
    with pytest.raises(NoCommonRevisionError, match="Method not found"):
        await connect(body, discover=True)


async def test_a_cancelled_connect_kills_the_server(tmp_path):
    pid = tmp_path / "pid"
    command = script_command(
        tmp_path, f"open({str(pid)!r}, 'w').write(f'{{os.getpid()}}\\n'); time.sleep(60)"
    )
    connecting = asyncio.create_task(Client.connect(command, close_wait_s=0.05))
    await until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    connecting.cancel()
    await asyncio.wait({connecting})
    assert connecting.cancelled()
    await until(lambda: not is_alive(int(pid.read_text())))


async def test_a_server_that_never_answers_discover_runs_into_our_limit(connect):
    with pytest.raises(CallTimeoutError, match=r"server/discover within 0\.2 s; the limit was ours"):
        await connect("sys.stdin.read()", discover=True, connect_timeout_s=0.2)


# --- stderr ---


async def test_a_server_that_floods_stderr_does_not_stall(connect):
    body = """
        for request in requests():
            sys.stderr.write("x" * 3_000_000 + "\\n" * 1000)
            sys.stderr.flush()
            result(request, "done")
    """
    client = await connect(body)
    assert await call(client) == "done"


async def test_stderr_is_shown_and_its_tail_kept(connect):
    lines = []
    body = """
        for request in requests():
            for number in range(60):
                sys.stderr.write(f"line {number}\\n")
            sys.stderr.flush()
            result(request)
    """
    client = await connect(body, on_stderr=lines.append)
    await call(client)
    await until(lambda: len(lines) == 60)
    assert lines[0] == "line 0"
    assert client.transport.stderr_tail[0] == "line 10"
    assert client.transport.stderr_tail[-1] == "line 59"


async def test_an_on_stderr_that_fails_harms_nobody(connect, caplog):
    def fail(line):
        raise ValueError(line)

    body = """
        for request in requests():
            sys.stderr.write("a word\\n")
            sys.stderr.flush()
            result(request, "done")
    """
    client = await connect(body, on_stderr=fail)
    assert await call(client) == "done"
    await until(lambda: "on_stderr failed" in caplog.text)
    assert await call(client) == "done"


async def test_a_timeout_quotes_what_came_instead(connect):
    body = """
        for request in requests():
            write("Content-Length: 52\\n")
            sys.stderr.write("framed an answer\\n")
            sys.stderr.flush()
    """
    client = await connect(body)
    with pytest.raises(CallTimeoutError) as caught:
        await call(client, timeout_s=0.5)
    assert "Content-Length: 52" in str(caught.value)
    assert "framed an answer" in str(caught.value)


async def test_a_reply_on_stderr_fails_its_call_by_name(connect):
    body = """
        sys.stdout = sys.stderr
        for request in requests():
            result(request)
    """
    client = await connect(body)
    with pytest.raises(ProtocolError, match=r"tools/call \(id 1\) came on stderr"):
        await call(client)


async def test_a_server_that_logs_its_replies_to_stderr_is_no_reply_on_stderr(connect):
    body = """
        for request in requests():
            sys.stderr.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}) + "\\n")
            sys.stderr.write(json.dumps({"id": request["id"], "error": "structured logging"}) + "\\n")
            sys.stderr.flush()
            time.sleep(0.05)
            result(request, "done")
    """
    client = await connect(body)
    assert await call(client) == "done"


# --- death ---


async def test_every_waiter_learns_of_the_death_at_once(connect):
    client = await connect(DIE)
    first = await call(client)
    waiting = [asyncio.create_task(call(client, "wait")) for _ in range(3)]
    await asyncio.sleep(0)
    before = time.monotonic()
    with pytest.raises(DisconnectedError):
        await call(client, "die")
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert time.monotonic() - before < 5
    assert first
    for number, error in enumerate(outcomes, start=2):
        assert isinstance(error, DisconnectedError)
        assert error.exit_code == 3
        assert error.stderr_tail == ("about to die",)
        assert b'"id":1' in error.last_message.replace(b" ", b"")
        assert f"tools/call (id {number})" in str(error)
    assert len({id(error) for error in outcomes}) == 3


async def test_kill_and_restart_the_server_in_the_middle_and_the_next_request_simply_works(connect):
    client = await connect(DIE)
    first = await call(client)
    with pytest.raises(DisconnectedError, match="exited with code 3"):
        await call(client, "die")
    second = await call(client)
    assert first != second
    assert not is_alive(int(first))


async def test_a_server_that_died_while_nobody_waited_is_started_again(connect):
    client = await connect("for request in requests(): result(request, str(os.getpid())); os._exit(0)")
    first = await call(client)
    await until(lambda: not client.transport.is_open)
    assert await call(client) != first


async def test_calls_after_a_death_start_one_process_together(connect):
    client = await connect(DIE)
    with pytest.raises(DisconnectedError):
        await call(client, "die")
    pids = await asyncio.gather(*(call(client) for _ in range(20)))
    assert len(set(pids)) == 1


async def test_a_call_while_the_server_is_dying_waits_for_the_next_one(connect):
    body = """
        for request in requests():
            if request["params"]["name"] == "close":
                os.close(1)
                time.sleep(60)
            result(request, str(os.getpid()))
    """
    client = await connect(body)
    first = await call(client)
    closing = asyncio.create_task(call(client, "close"))
    await until(lambda: not client.transport.is_open)
    assert await call(client) != first
    with pytest.raises(DisconnectedError, match="closed its stdout but still runs"):
        await closing
    await until(lambda: not is_alive(int(first)))


async def test_a_grandchild_that_holds_the_pipe_does_not_hide_the_death(connect):
    body = """
        for request in requests():
            start_grandchild()
            os._exit(4)
    """
    client = await connect(body)
    with pytest.raises(DisconnectedError, match="exited with code 4"):
        await call(client, timeout_s=30)


async def test_a_last_line_without_its_end_is_still_an_answer(connect):
    body = """
        for request in requests():
            write(json.dumps({"jsonrpc": "2.0", "id": request["id"],
                              "result": {"resultType": "complete", "content": []}}))
            os._exit(0)
    """
    client = await connect(body)
    assert await call(client) == ""


async def test_a_server_that_ends_again_and_again_is_left_alone(connect):
    client = await connect("for request in requests(): sys.stderr.write('oh no\\n'); os._exit(1)")
    for _ in range(5):
        with pytest.raises(DisconnectedError):
            await call(client)
    with pytest.raises(LaunchError, match=r"ended 5 times within 60 s.*code 1.*oh no"):
        await call(client)


async def test_an_exchange_on_a_process_that_is_gone_fails_with_its_death(connect):
    client = await connect(DIE)
    with pytest.raises(DisconnectedError):
        await call(client, "die")
    transport = client.transport
    exchange = transport.exchange(Outgoing(99, "any", encode_request(99, "any")))
    with pytest.raises(DisconnectedError, match="exited with code 3"):
        await exchange.receive()
    with pytest.raises(DisconnectedError, match="exited with code 3"):
        await transport.notify(b"{}")
    assert transport.pid is None
    assert transport.exit_code == 3


# --- a server that does not read ---


async def test_calls_wait_for_room_and_time_out_while_the_server_does_not_read(connect):
    client = await connect("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)")
    with pytest.raises(CallTimeoutError):
        await call(client, arguments={"text": "x" * 8_000_000}, timeout_s=0.3)
    assert not client.transport.is_open
    with pytest.raises(CallTimeoutError, match=r"within 0\.2 s"):
        await call(client, timeout_s=0.2)


async def test_who_waits_for_room_fails_when_the_client_is_closed(connect):
    client = await connect("time.sleep(60)")
    calls = [asyncio.create_task(call(client, arguments={"text": "x" * 8_000_000})) for _ in range(2)]
    await until(lambda: not client.transport.is_open)
    closing = asyncio.create_task(client.aclose())
    outcomes = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 10)
    assert [type(outcome) for outcome in outcomes] == [ClosedError, ClosedError]
    await closing


async def test_a_server_that_begins_to_read_again_gets_what_waited(connect):
    body = """
        time.sleep(0.3)
        for request in requests():
            result(request, str(len(request["params"]["arguments"]["text"])))
    """
    client = await connect(body)
    calls = [call(client, arguments={"text": "x" * 5_000_000}) for _ in range(4)]
    assert await asyncio.gather(*calls) == ["5000000"] * 4


# --- closing ---


async def test_closing_ends_the_process(connect):
    client = await connect(ANSWER)
    pid = int(await call(client))
    assert client.transport.pid == pid
    await client.aclose()
    assert not is_alive(pid)
    assert client.transport.exit_code == 0


async def test_closing_ends_a_server_that_ignores_everything(connect):
    body = """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for request in requests(): result(request, f"{os.getpid()} {start_grandchild()}")
        ignore_everything()
    """
    client = await connect(body, close_wait_s=0.05)
    pids = [int(pid) for pid in (await call(client)).split()]
    await client.aclose()
    await until(lambda: not any(is_alive(pid) for pid in pids))
    assert client.transport.exit_code == -9


async def test_closing_before_anything_was_started_is_fine(tmp_path):
    transport = StdioTransport(script_command(tmp_path, ""))
    await transport.aclose()
    assert transport.exit_code is None
    with pytest.raises(ClosedError):
        await transport.open()


async def test_a_cancelled_close_goes_on_closing(connect):
    client = await connect(f"{ANSWER}\nignore_everything()", close_wait_s=0.1)
    pid = int(await call(client))
    closing = asyncio.create_task(client.aclose())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait({closing})
    await until(lambda: not is_alive(pid))


async def test_closing_while_the_server_is_started_again_leaves_nothing(connect):
    client = await connect(DIE)
    with pytest.raises(DisconnectedError):
        await call(client, "die")
    again = asyncio.create_task(call(client))
    await asyncio.sleep(0.01)
    await client.aclose()
    outcome = (await asyncio.gather(again, return_exceptions=True))[0]
    assert isinstance(outcome, (str, ClosedError))
    assert client.transport.pid is None


async def test_neither_tasks_nor_descriptors_are_left(tmp_path):
    command = script_command(tmp_path, ANSWER)

    async def use():
        async with Client(command, discover=False) as client:
            await call(client)

    await use()
    gc.collect()
    tasks, descriptors = len(asyncio.all_tasks()), open_descriptors()
    for _ in range(5):
        await use()
    assert len(asyncio.all_tasks()) == tasks
    assert open_descriptors() <= descriptors


@pytest.mark.parametrize("ending", ["pass", "asyncio.create_task(client.aclose())"])
def test_a_loop_that_ends_before_the_client_was_closed_leaves_no_process(tmp_path, ending):
    command = script_command(tmp_path, f"{ANSWER}\nignore_everything()")
    program = tmp_path / "host.py"
    program.write_text(f"""
import asyncio
from mesero import Client

async def main():
    client = await Client.connect({command!r}, discover=False, close_wait_s=60)
    print((await client.call_tool("any")).text)
    {ending}
    await asyncio.sleep(0)

asyncio.run(main())
""")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, timeout=30, check=True)
    asyncio.run(until(lambda: not is_alive(int(done.stdout))))


# --- size and number ---


async def test_a_result_of_50_mb_comes_through(connect):
    client = await connect("for request in requests(): result(request, 'x' * 50_000_000)")
    assert len(await call(client)) == 50_000_000


async def test_a_thousand_calls_at_once_are_all_answered(connect):
    body = "for request in requests(): result(request, request['params']['arguments']['word'])"
    client = await connect(body)
    words = [str(number) for number in range(1000)]
    assert await asyncio.gather(*(call(client, arguments={"word": word}) for word in words)) == words


async def test_uvloop_runs_it_as_well(tmp_path):
    uvloop = pytest.importorskip("uvloop")
    script = tmp_path / "host.py"
    script.write_text(f"""
import uvloop
from mesero import Client
from mesero.errors import DisconnectedError

async def main():
    async with Client({script_command(tmp_path, DIE)!r}, discover=False, close_wait_s=0.2) as client:
        first = (await client.call_tool("any")).text
        try:
            await client.call_tool("die")
        except DisconnectedError as error:
            print(error.exit_code, error.stderr_tail)
        second = (await client.call_tool("any")).text
        print(first != second)
        print((await client.call_tool("any", {{"text": "x" * 5_000_000}})).is_error)
    print(client.transport.exit_code)

uvloop.run(main())
""")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(script), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await asyncio.wait_for(process.communicate(), 30)
    assert output.decode().splitlines() == ["3 ('about to die',)", "True", "False", "0"]
    assert uvloop
