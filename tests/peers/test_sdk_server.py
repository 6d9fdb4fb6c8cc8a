"""Our client against the official SDK's server, over stdio and HTTP."""

import asyncio
import contextlib
import socket
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from mesero import Client
from mesero.errors import CallTimeoutError, MissingClientCapabilityError, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVER = str(Path(__file__).with_name("sdk_server.py"))
START_WITHIN_S = 60


class Point(msgspec.Struct):
    x: int
    y: int


async def elicit(params):
    assert params.message == "How large?"
    return {"size": 3}


async def sample(params):
    return f"you said {params.messages[0].content.text!r}"


@contextlib.asynccontextmanager
async def sdk_server_over_http(python):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(python, SERVER, str(port))
    try:
        async with asyncio.timeout(START_WITHIN_S):
            await until_it_listens(process, port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def until_it_listens(process, port):
    while process.returncode is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            await writer.wait_closed()
            return
    pytest.fail(f"the SDK's server ended with code {process.returncode}")


@pytest.fixture(scope="module")
def logs():
    return []


@pytest_asyncio.fixture(params=["stdio", "http"], scope="module", loop_scope="module")
async def client(request, sdk_python, logs):
    settings = {"elicit": elicit, "sample": sample, "on_log": logs.append, "timeout_s": 20}
    async with contextlib.AsyncExitStack() as stack:
        target = [sdk_python, SERVER]
        if request.param == "http":
            target = await stack.enter_async_context(sdk_server_over_http(sdk_python))
        yield await stack.enter_async_context(Client(target, **settings))


async def test_we_speak_the_newest_revision_and_know_who_it_is(client):
    assert (client.server.era, client.server.revision) == ("modern", "2026-07-28")
    assert (client.server.name, client.server.version) == ("theirs", "1.2.3")
    assert client.server.instructions == "Be kind."


async def test_we_list_its_tools_and_get_typed_results(client):
    names = [tool.name for tool in await client.list_tools()]
    assert {"add", "mirror", "fail", "climb"} < set(names)
    result = await client.call_tool("add", {"a": 1, "b": 2})
    assert (result.text, result.structured_content) == ("3", {"result": 3})
    assert await client.call_tool("mirror", {"point": {"x": 1, "y": 2}}, returns=Point) == Point(-1, 2)


async def test_failures_of_its_tools_are_results(client):
    failed = await client.call_tool("fail")
    assert failed.is_error
    assert "it did not work" in failed.text
    assert (await client.call_tool("add", {"a": "one", "b": 2})).is_error


async def test_an_unknown_tool_fails(client):
    # The specification wants -32602; the SDK answers with a result that is marked as an error.
    try:
        result = await client.call_tool("nonsense")
    except RpcError as error:
        assert error.code == -32602  # noqa: PT017  (either of two outcomes is fine)
    else:
        assert result.is_error
        assert "nonsense" in result.text


async def test_we_hear_its_progress_and_logs(client, logs):
    heard = []
    assert (await client.call_tool("climb", on_progress=heard.append)).text == "up"
    assert [(one.progress, one.total, one.message) for one in heard] == [
        (1, 3, "step 1"),
        (2, 3, "step 2"),
        (3, 3, "step 3"),
    ]
    logs.clear()
    await client.call_tool("speak")
    assert [(one.level, one.logger, one.data) for one in logs] == [("warning", "voice", "careful")]


async def test_we_answer_its_questions_and_echo_its_state(client):
    assert (await client.call_tool("order")).text == "size 3"
    assert (await client.call_tool("ask_model")).text == "my state: you said 'Say hi'"


async def test_we_read_its_resources(client):
    assert {one.uri for one in await client.list_resources()} == {"notes://readme", "notes://icon"}
    assert [one.uri_template for one in await client.list_resource_templates()] == ["notes://{number}"]
    assert (await client.read_resource("notes://readme")).contents[0].text == "read me"
    assert (await client.read_resource("notes://icon")).contents[0].blob == "iVBORw=="
    assert (await client.read_resource("notes://7")).contents[0].text == "note 7"
    with pytest.raises(RpcError) as caught:
        await client.read_resource("other://7")
    assert caught.value.code == -32602


async def test_we_get_its_prompts_and_completions(client):
    (prompt,) = await client.list_prompts()
    assert [argument.name for argument in prompt.arguments] == ["topic", "style"]
    got = await client.get_prompt("summarize", {"topic": "bees"})
    assert got.messages[0].content.text == "Summarize bees, short."
    with pytest.raises(RpcError):
        await client.get_prompt("nonsense")
    assert (await client.complete("style", "s", prompt="summarize")).values == ["short", "silly"]


async def test_we_listen_for_its_changes(client):
    async with client.listen(tools=True, resources=["notes://1"]) as listening:
        assert listening.honoured == {"toolsListChanged": True, "resourceSubscriptions": ["notes://1"]}
        await client.call_tool("grow")
        async with asyncio.timeout(10):
            changes = [await anext(listening), await anext(listening)]
    assert {(change.kind, change.uri) for change in changes} == {("tools", None), ("resource", "notes://1")}


async def test_our_time_out_cancels_its_tool(client):
    with pytest.raises(CallTimeoutError):
        await client.call_tool("hang", timeout_s=0.3)
    assert (await client.call_tool("await_cancellation", timeout_s=10)).text == "cancelled"


async def test_it_tells_a_client_that_cannot_answer_what_it_lacks(sdk_python):
    async with Client([sdk_python, SERVER], timeout_s=20) as client:
        with pytest.raises(MissingClientCapabilityError) as caught:
            await client.call_tool("order")
    assert "elicitation" in caught.value.data["requiredCapabilities"]
