"""The extension seam, end to end: the toy extension of greetings.py over every transport."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from mesero import Client
from mesero.errors import (
    InvalidResultError,
    MethodNotFoundError,
    MissingClientCapabilityError,
    RpcError,
    UsageError,
)
from mesero.extensions import Extension, MethodSpec
from mesero.testing import scripted_server
from mesero.types import CallToolResult, TextContent
from tests.greetings import (
    GREETED,
    IDENTIFIER,
    Greeting,
    GreetParams,
    Queued,
    greetings,
    greetings_server,
    plain_server,
)
from tests.http_serving import serving

TOY = Path(__file__).with_name("greetings.py")
ROOT = str(Path(__file__).parents[1])

# The method and the filter member are known, so that the client can ask; the extension is not declared.
UNDECLARED = Extension(
    identifier="com.example/unrelated",
    methods=(MethodSpec(name="greetings/greet", params=GreetParams, result=Greeting, name_field="who"),),
    listen_keys={"greeted": (GREETED,)},
)


@pytest.fixture(params=["memory", "stdio", "http"])
def connected(request):
    """A function from extensions to a client that is connected to the greetings server."""

    @asynccontextmanager
    async def connect(*extensions, trace=None):
        settings = {"extensions": extensions, "trace": trace}
        if request.param == "memory":
            async with Client(greetings_server(), **settings) as client:
                yield client
        elif request.param == "stdio":
            async with Client([sys.executable, str(TOY)], env={"PYTHONPATH": ROOT}, **settings) as client:
                yield client
        else:
            async with serving(greetings_server().asgi()) as url, Client(url, **settings) as client:
                yield client

    return connect


async def test_a_method_of_the_extension_is_called_and_typed(connected):
    async with connected(greetings()) as client:
        result = await client.request("greetings/greet", {"who": "Ana"})
    assert isinstance(result, Greeting)
    assert result.text == "Hello, Ana!"


async def test_both_sides_declare_the_extension_with_its_settings(connected):
    sent = []
    async with connected(
        greetings(formal=True), trace=lambda way, raw, http: sent.append((way, raw))
    ) as client:
        assert client.server.capabilities.extensions == {IDENTIFIER: {"languages": ["en"]}}
    request = next(json.loads(raw) for way, raw in sent if way == "c2s")
    declared = request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert declared["extensions"] == {IDENTIFIER: {"formal": True}}


async def test_bad_parameters_of_the_method_are_refused(connected):
    async with connected(greetings()) as client:
        with pytest.raises(RpcError) as caught:
            await client.request("greetings/greet", {"who": 7})
    assert caught.value.code == -32602


async def test_a_client_without_the_extension_is_told_what_it_lacks(connected):
    async with connected(UNDECLARED) as client:
        with pytest.raises(MissingClientCapabilityError) as caught:
            await client.request("greetings/greet", {"who": "Ana"})
    assert caught.value.data == {"requiredCapabilities": {"extensions": {IDENTIFIER: {}}}}


async def test_a_result_type_of_the_extension_reaches_who_knows_it(connected):
    async with connected(greetings()) as client:
        greeted = await client.request("greetings/greet", {"who": "everybody"})
        called = await client.call_tool("greet_all")
    assert [msgspec.json.decode(raw, type=Queued).ticket for raw in (greeted, called)] == ["t-1", "t-2"]


async def test_an_extension_may_finish_its_results_for_the_caller(connected):
    async def finish(client, raw):
        ticket = msgspec.json.decode(raw, type=Queued).ticket
        greeting = await client.request("greetings/greet", {"who": ticket})
        return CallToolResult(content=[TextContent(greeting.text)], structured_content=greeting.text)

    async with connected((greetings(), {"queued": finish})) as client:
        assert (await client.call_tool("greet_all")).text == "Hello, t-2!"
        assert await client.call_tool("greet_all", returns=str) == "Hello, t-2!"
        assert (await client.request("greetings/greet", {"who": "everybody"})).text == "Hello, t-1!"


async def test_a_tool_answers_plainly_to_clients_without_the_extension(connected):
    async with connected() as client:
        assert (await client.call_tool("greet_all")).text == "Hello, everybody!"


async def test_who_listens_hears_of_the_subjects_of_its_list_only(connected):
    async with connected(greetings()) as client:
        listening = client.listen(greeted=["Ana", "the secret guest", "Bo"])
        await listening.start()
        assert listening.honoured == {"greeted": ["Ana", "Bo"]}
        for who in ("Carla", "Ana", "the secret guest", "Bo"):
            await client.request("greetings/greet", {"who": who})
        async with asyncio.timeout(5):
            changes = [await anext(listening), await anext(listening)]
        await listening.aclose()
    assert [change.kind for change in changes] == [GREETED, GREETED]
    assert [change.params["text"] for change in changes] == ["Hello, Ana!", "Hello, Bo!"]


async def test_a_filter_of_nothing_that_may_be_heard_is_not_honoured(connected):
    async with connected(greetings()) as client, client.listen(greeted=["the secret guest"]) as listening:
        assert listening.honoured == {}


async def test_a_filter_member_needs_a_client_that_declares_the_extension(connected):
    async with connected(UNDECLARED) as client:
        with pytest.raises(MissingClientCapabilityError) as caught:
            await client.listen(greeted=["Ana"], reconnect=False).start()
    assert caught.value.data == {"requiredCapabilities": {"extensions": {IDENTIFIER: {}}}}


async def test_over_http_mcp_name_mirrors_the_field_that_the_extension_names():
    seen = []
    async with (
        serving(greetings_server().asgi()) as url,
        Client(
            url, extensions=[greetings()], trace=lambda way, raw, http: seen.append((way, http))
        ) as client,
    ):
        await client.request("greetings/greet", {"who": "Zoë"})
    headers = {
        name.lower(): value for name, value in [http for way, http in seen if way == "c2s"][-1].headers
    }
    assert headers["mcp-method"] == "greetings/greet"
    assert headers["mcp-name"] == "=?base64?Wm/Dqw==?="


# -- a side that does not have the extension --


async def test_a_server_without_the_extension_does_not_know_its_method():
    async with Client(plain_server(), extensions=[greetings()]) as client:
        assert client.server.capabilities.extensions is msgspec.UNSET
        with pytest.raises(MethodNotFoundError) as caught:
            await client.request("greetings/greet", {"who": "Ana"})
    assert caught.value.code == -32601


async def test_a_server_without_the_extension_honours_the_rest_of_the_filter():
    async with (
        Client(plain_server(), extensions=[greetings()]) as client,
        client.listen(tools=True, greeted=["Ana"]) as listening,
    ):
        assert listening.honoured == {"toolsListChanged": True}


async def test_a_client_without_the_extension_knows_neither_method_nor_filter_member():
    async with Client(greetings_server()) as client:
        with pytest.raises(UsageError, match="greetings/greet"):
            await client.request("greetings/greet", {"who": "Ana"})
        with pytest.raises(UsageError, match="greeted"):
            client.listen(greeted=["Ana"])


async def test_a_client_without_the_extension_refuses_its_result_type():
    with scripted_server() as server:
        server.expect("tools/call").answer(resultType="queued", ticket="t-1")
        async with Client(server) as client:
            with pytest.raises(InvalidResultError, match="unknown resultType 'queued'"):
                await client.call_tool("greet_all")


async def test_a_result_type_is_refused_from_methods_that_may_not_have_it():
    with scripted_server() as server:
        server.expect("tools/list").answer(resultType="queued", ticket="t-1")
        async with Client(server, extensions=[greetings()]) as client:
            with pytest.raises(InvalidResultError, match="unknown resultType 'queued'"):
                await client.list_tools()
