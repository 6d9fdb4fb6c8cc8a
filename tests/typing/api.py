"""The public face as type checkers see it: never run, checked by mypy --strict in test_api.py.

A wrong type that has to be noticed stands on a line with a reasoned ignore, of which mypy warns as soon
as the type is accepted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_type

import msgspec

from mesero import (
    Answer,
    Client,
    Context,
    Extension,
    Listening,
    MethodSpec,
    Progress,
    Server,
    ServerChange,
)
from mesero.testing import check_transport, echo_server, memory_pair, scripted_server
from mesero.transports.memory import MemoryTransport
from mesero.types import (
    CallToolResult,
    Completion,
    ElicitFormParams,
    GetPromptResult,
    Prompt,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    Result,
    Tool,
)


@dataclass
class Point:
    x: int
    y: int


class Size(msgspec.Struct):
    height: int


# -- a server's decorators keep what they decorate --

server = Server("notes", version="1.0.0", list_cache_scope="public")


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


@server.tool(name="size.ask", requires={"elicitation": {}})
async def ask_size(ctx: Context) -> str:
    answer = await ctx.elicit("How high?", Size)
    assert_type(answer, Answer[Size])
    if answer.content is not None:
        assert_type(answer.content, Size)
    await ctx.report_progress(1, 2, "half")
    return "asked"


@server.tool(inline=True)
def halve(value: float) -> float:
    return value / 2


@server.resource("notes://{number}", mime_type="text/plain")
async def note(number: str) -> str:
    return number


@server.prompt
def summarize(topic: str) -> str:
    return topic


@server.completion("summarize", "topic")
async def topics(value: str) -> list[str]:
    return [value]


async def decorated_functions_can_still_be_called() -> None:
    assert_type(await add(1, 2), int)
    assert_type(halve(3), float)
    assert_type(await note("1"), str)
    assert_type(summarize("bees"), str)
    assert_type(await topics("b"), list[str])
    await add("one", 2)  # type: ignore[arg-type]  # a decorated tool keeps its parameters' types


Server("notes", list_cache_scope="everybody")  # type: ignore[arg-type]  # there are two scopes


# -- a client's calls are typed --


async def answer_form(params: ElicitFormParams) -> dict[str, int]:
    assert_type(params.message, str)
    return {"height": 3}


def on_progress(progress: Progress) -> None:
    assert_type(progress.progress, float)
    assert_type(progress.total, float | None)


async def use_tools(client: Client) -> None:
    assert_type(await client.list_tools(), list[Tool])
    assert_type(await client.call_tool("add", {"a": 1}, on_progress=on_progress), CallToolResult)
    assert_type(await client.call_tool("origin", returns=Point), Point)
    assert_type(await client.call_tool("numbers", returns=list[int]), list[int])
    await client.call_tool("add", [1, 2])  # type: ignore[call-overload]  # arguments are a mapping


async def use_the_rest(client: Client) -> None:
    assert_type(await client.list_resources(), list[Resource])
    assert_type(await client.list_resource_templates(), list[ResourceTemplate])
    assert_type(await client.read_resource("notes://1"), ReadResourceResult)
    assert_type(await client.list_prompts(), list[Prompt])
    assert_type(await client.get_prompt("summarize", {"topic": "bees"}), GetPromptResult)
    assert_type(await client.complete("topic", "b", prompt="summarize"), Completion)
    listening = client.listen(tools=True, resources=["notes://1"])
    assert_type(listening, Listening)
    async for change in listening:
        assert_type(change, ServerChange)


async def connect() -> None:
    async with Client(["uvx", "mcp-server-time"], elicit=answer_form, env={"TZ": "UTC"}) as client:
        assert_type(client, Client)
        assert_type(client.server.name, str)
        await use_tools(client)
    client = await Client.connect("https://example.com/mcp", headers={"Authorization": "Bearer t"})
    await client.aclose()


# -- extensions and helpers for tests --


class Greeting(Result):
    text: str


GREETINGS = Extension(
    identifier="com.example/greetings",
    methods=(MethodSpec(name="greetings/greet", params=Size, result=Greeting, name_field="who"),),
    result_types={"queued": ("tools/call",)},
)


async def use_testing() -> None:
    with scripted_server() as script:
        script.expect("tools/call", name="add").report_progress(1).answer(content=[])
        async with Client(script, extensions=[GREETINGS]) as client:
            await client.call_tool("add")
    async with memory_pair(server) as (client, wire):
        assert_type(client, Client)
        names: Sequence[str] = [str(message["method"]) for message in wire.sent]
        assert names
    await check_transport(lambda: MemoryTransport(lambda send, _hang_up: echo_server().connect(send)))
