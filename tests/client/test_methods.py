"""What can be asked of a server: what is offered, cached, learned, mirrored and typed."""

import asyncio
import dataclasses

import msgspec
import pytest

from mesero import Client
from mesero.client import methods as client_methods
from mesero.errors import (
    HeaderMismatchError,
    InvalidParamsError,
    InvalidResultError,
    MissingCapabilityError,
    ProtocolError,
    ToolFailedError,
    UsageError,
)
from mesero.extensions import Extension, MethodSpec
from mesero.modern.cache import ResponseCache
from mesero.testing import scripted_server
from mesero.types import ReadResourceParams, Result
from tests.client.talking import TEXT, asks, form, requests_in, talk

OBJECT = {"type": "object"}
POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
    "required": ["x", "y"],
}
MARKED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


def tool(name="any", **members):
    return {"name": name, "inputSchema": OBJECT, **members}


def fresh(**members):
    return {"ttlMs": 60_000, "cacheScope": "private", **members}


# --- what is offered ---


@pytest.mark.parametrize(
    ("capability", "call"),
    [
        ("tools", lambda client: client.list_tools()),
        ("tools", lambda client: client.call_tool("any")),
        ("resources", lambda client: client.list_resources()),
        ("resources", lambda client: client.list_resource_templates()),
        ("resources", lambda client: client.read_resource("a://1")),
        ("prompts", lambda client: client.list_prompts()),
        ("prompts", lambda client: client.get_prompt("any")),
        ("completions", lambda client: client.complete("a", "b", prompt="p")),
        ("tools", lambda client: client.request("tools/list")),
    ],
)
async def test_what_the_server_does_not_declare_is_not_asked_for(capability, call):
    async with talk(scripted_server(capabilities={})) as (client, _, wire):
        with pytest.raises(
            MissingCapabilityError, match=f"does not declare '{capability}'.*nothing was sent"
        ):
            await call(client)
        assert len(wire.sent) == 1


async def test_each_method_asks_what_it_is_called():
    async with talk() as (client, server, _):
        server.expect("resources/list").answer(resources=[{"uri": "a://1", "name": "one"}])
        server.expect("resources/templates/list").answer(
            resourceTemplates=[{"uriTemplate": "a://{x}", "name": "many"}]
        )
        server.expect("prompts/list").answer(prompts=[{"name": "p"}])
        server.expect("prompts/get", name="p", arguments={"a": "1"}).answer(messages=[])
        server.expect("resources/read", uri="a://1").answer(contents=[{"uri": "a://1", "text": "hello"}])
        assert [found.uri for found in await client.list_resources()] == ["a://1"]
        assert [found.uri_template for found in await client.list_resource_templates()] == ["a://{x}"]
        assert [found.name for found in await client.list_prompts()] == ["p"]
        assert (await client.get_prompt("p", {"a": "1"})).messages == []
        assert (await client.read_resource("a://1")).contents[0].text == "hello"


async def test_completion_names_what_it_belongs_to():
    async with talk() as (client, server, _):
        server.expect(
            "completion/complete",
            ref={"type": "ref/prompt", "name": "p"},
            argument={"name": "city", "value": "Vi"},
            context={"arguments": {"country": "AT"}},
        ).answer(completion={"values": ["Vienna"]})
        server.expect("completion/complete", ref={"type": "ref/resource", "uri": "a://{x}"}).answer(
            completion={"values": []}
        )
        found = await client.complete("city", "Vi", prompt="p", arguments={"country": "AT"})
        assert found.values == ["Vienna"]
        assert (await client.complete("x", "", template="a://{x}")).values == []


@pytest.mark.parametrize("belongs", [{}, {"prompt": "p", "template": "a://{x}"}])
async def test_completion_belongs_to_exactly_one_thing(belongs):
    async with talk() as (client, _, _):
        with pytest.raises(UsageError, match="either prompt= or template="):
            await client.complete("a", "b", **belongs)


# --- any method ---


class Greeting(Result):
    text: str


GREET = MethodSpec(
    name="greetings/say", params=ReadResourceParams, result=Greeting, capability="com.example/greetings"
)
GREETINGS = Extension(
    identifier="com.example/greetings",
    methods=(GREET,),
    result_types={"task": ("tools/call", "resources/read")},
)


async def test_a_method_of_an_extension_is_called_by_its_name_and_its_result_typed():
    server = scripted_server(capabilities={"extensions": {"com.example/greetings": {}}})
    async with talk(server, extensions=[GREETINGS]) as (client, _, wire):
        server.expect("greetings/say", uri="x").answer(text="hello")
        meta = {"traceparent": "mine"}
        result = await client.request("greetings/say", {"uri": "x", "_meta": {"a": 1, **meta}}, meta={"b": 2})
        assert result.text == "hello"
    sent = requests_in(wire, "greetings/say")[0]["params"]["_meta"]
    assert (sent["a"], sent["b"], sent["traceparent"]) == (1, 2, "mine")
    assert sent["io.modelcontextprotocol/clientCapabilities"] == {"extensions": {"com.example/greetings": {}}}


@pytest.mark.parametrize("capabilities", [{}, {"extensions": {"com.example/other": {}}}])
async def test_an_extension_that_the_server_does_not_have_is_not_asked(capabilities):
    async with talk(scripted_server(capabilities=capabilities), extensions=[GREETINGS]) as (client, _, _):
        with pytest.raises(MissingCapabilityError, match=r"com\.example/greetings"):
            await client.request("greetings/say", {"uri": "x"})


async def test_a_result_type_of_an_extension_comes_as_it_is():
    async with talk(extensions=[GREETINGS]) as (client, server, _):
        for method in ("tools/call", "resources/read"):
            server.expect(method).answer(resultType="task", taskId="t1")
        for raw in (await client.call_tool("any", returns=int), await client.read_resource("a://1")):
            assert msgspec.json.decode(raw)["taskId"] == "t1"


async def test_a_method_that_nobody_described_is_refused():
    async with talk() as (client, _, _):
        with pytest.raises(UsageError, match="'jobs/run' is no method that this client knows"):
            await client.request("jobs/run")


# --- lists ---


async def test_all_pages_are_listed_and_an_empty_cursor_is_one():
    async with talk() as (client, server, wire):
        server.expect("tools/list").answer(tools=[tool("a")], nextCursor="")
        server.expect("tools/list", cursor="").answer(tools=[tool("b")], nextCursor="2")
        server.expect("tools/list", cursor="2").answer(tools=[tool("c")])
        assert [found.name for found in await client.list_tools()] == ["a", "b", "c"]
    assert "cursor" not in requests_in(wire, "tools/list")[0]["params"]


async def test_an_endless_list_stops_and_names_the_server():
    async with talk() as (client, server, _):
        for _ in range(2):
            server.expect("prompts/list").answer(prompts=[], nextCursor="again")
        with pytest.raises(ProtocolError, match="a scripted server: prompts/list does not end"):
            await client.list_prompts()


async def test_an_invalid_cursor_drops_the_cached_pages_and_begins_again_once():
    async with talk() as (client, server, _):
        server.expect("tools/list").answer(fresh(tools=[tool("old")], nextCursor="1"))
        server.expect("tools/list", cursor="1").error(-32602, "invalid cursor")
        server.expect("tools/list").answer(fresh(tools=[tool("new")]))
        assert [found.name for found in await client.list_tools()] == ["new"]
        assert [found.name for found in await client.list_tools()] == ["new"]


async def test_an_invalid_cursor_twice_is_an_error():
    async with talk() as (client, server, _):
        for _ in range(2):
            server.expect("tools/list").answer(fresh(tools=[], nextCursor="1"))
            server.expect("tools/list", cursor="1").error(-32602, "invalid cursor")
        with pytest.raises(InvalidParamsError, match="invalid cursor"):
            await client.list_tools()


async def test_a_first_page_that_is_refused_is_not_asked_for_again():
    async with talk() as (client, server, _):
        server.expect("tools/list").error(-32602, "no")
        with pytest.raises(InvalidParamsError):
            await client.list_tools()


# --- the cache ---


async def test_a_fresh_response_is_reused_and_a_stale_one_is_not(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(client_methods.time, "monotonic", lambda: now)
    async with talk() as (client, server, _):
        server.expect("tools/list").answer(tools=[tool("a")], ttlMs=500, cacheScope="private")
        server.expect("tools/list").answer(tools=[tool("b")], ttlMs=500, cacheScope="private")
        assert (await client.list_tools())[0].name == "a"
        now += 0.499
        assert (await client.list_tools())[0].name == "a"
        now += 0.001
        assert (await client.list_tools())[0].name == "b"


@pytest.mark.parametrize("ttl_ms", [0, -1])
async def test_without_a_time_to_live_nothing_is_reused(ttl_ms):
    async with talk() as (client, server, _):
        for _ in range(2):
            server.expect("resources/read").answer(contents=[], ttlMs=ttl_ms, cacheScope="public")
        await client.read_resource("a://1")
        await client.read_resource("a://1")


async def test_other_parameters_are_another_response():
    async with talk() as (client, server, _):
        server.expect("resources/read", uri="a").answer(fresh(contents=[{"uri": "a", "text": "A"}]))
        server.expect("resources/read", uri="b").answer(fresh(contents=[{"uri": "b", "text": "B"}]))
        for uri in ("a", "b", "a", "b"):
            assert (await client.read_resource(uri)).contents[0].text == uri.upper()


@pytest.mark.parametrize(("scope", "asked"), [("public", 1), ("private", 2)])
@pytest.mark.parametrize("difference", ["headers", "env", "cwd"])
async def test_the_cache_scope_says_who_may_reuse_an_answer(scope, asked, difference):
    cache = ResponseCache()
    contexts = [
        {difference: {"KEY": value}} if difference != "cwd" else {"cwd": value} for value in ("a", "b")
    ]
    total = 0
    for number, context in enumerate(contexts):
        server = scripted_server()
        if number < asked:
            server.expect("tools/list").answer(tools=[], ttlMs=60_000, cacheScope=scope)
        async with talk(server, cache=cache, **context) as (client, _, wire):
            await client.list_tools()
            await client.list_tools()
        total += len(requests_in(wire, "tools/list"))
    assert total == asked


async def test_the_same_context_shares_private_answers():
    cache = ResponseCache()
    server = scripted_server()
    server.expect("tools/list").answer(fresh(tools=[]))
    for script in (server, scripted_server()):
        async with talk(script, cache=cache, headers={"Authorization": "same"}) as (client, _, _):
            await client.list_tools()


async def test_clients_do_not_share_a_cache_unless_told():
    for _ in range(2):
        server = scripted_server()
        server.expect("tools/list").answer(tools=[], ttlMs=60_000, cacheScope="public")
        async with talk(server) as (client, _, _):
            await client.list_tools()


async def test_credentials_are_not_readable_in_the_cache():
    client = Client(scripted_server(), headers={"Authorization": "Bearer s3cret"}, env={"KEY": "s3cret"})
    assert "s3cret" not in client._cache_context


async def test_a_result_that_depended_on_answers_is_never_cached():
    async with talk(elicit=lambda _: {}) as (client, server, _):
        for _ in range(2):
            server.expect("resources/read").answer(asks("s", q=form()))
            server.expect("resources/read").answer(fresh(contents=[]))
        await client.read_resource("a://1")
        await client.read_resource("a://1")


# --- tools ---


class Point(msgspec.Struct):
    x: int
    y: int


@dataclasses.dataclass
class PlainPoint:
    x: int
    y: int


@pytest.mark.parametrize("kind", [Point, PlainPoint])
async def test_returns_gives_a_typed_value(kind):
    async with talk() as (client, server, _):
        server.expect("tools/call").answer(content=[], structuredContent={"x": 1, "y": 2})
        assert await client.call_tool("any", returns=kind) == kind(1, 2)


@pytest.mark.parametrize(("kind", "name"), [(Point, "Point"), (int | None, "int | None")])
async def test_a_value_of_another_type_is_an_invalid_result(kind, name):
    async with talk() as (client, server, _):
        server.expect("tools/call").answer(content=[], structuredContent={"x": "one"})
        with pytest.raises(InvalidResultError) as caught:
            await client.call_tool("any", returns=kind)
    assert f"returned is no {name}: " in str(caught.value)


async def test_null_is_a_value():
    async with talk() as (client, server, _):
        for _ in range(2):
            server.expect("tools/call").answer(content=[], structuredContent=None)
        assert (await client.call_tool("any")).structured_content is None
        assert await client.call_tool("any", returns=int | None) is None


async def test_a_missing_value_is_not_null():
    async with talk() as (client, server, _):
        for _ in range(2):
            server.expect("tools/call").answer(content=TEXT)
        assert (await client.call_tool("any")).structured_content is msgspec.UNSET
        with pytest.raises(InvalidResultError, match="returned no structured content"):
            await client.call_tool("any", returns=int | None)


async def test_a_tool_that_failed_is_a_result_unless_a_value_was_wanted():
    async with talk() as (client, server, _):
        for _ in range(2):
            server.expect("tools/call").answer(content=TEXT, isError=True)
        assert (await client.call_tool("any")).is_error
        with pytest.raises(ToolFailedError, match="the tool 'any' failed: done") as caught:
            await client.call_tool("any", returns=Point)
    assert caught.value.text == "done"


async def test_calling_never_lists_first_and_checks_what_was_learned():
    async with talk() as (client, server, wire):
        server.expect("tools/call").answer(content=[], structuredContent={"x": 1})
        server.expect("tools/list").answer(tools=[tool(outputSchema=POINT)])
        server.expect("tools/call").answer(content=[], structuredContent={"x": 1})
        await client.call_tool("any")
        await client.list_tools()
        with pytest.raises(InvalidResultError, match=r"does not fit its output schema.*y"):
            await client.call_tool("any")
    assert len(requests_in(wire, "tools/list")) == 1


async def test_a_tool_whose_output_schema_needs_the_network_is_not_called():
    async with talk() as (client, server, wire):
        server.expect("tools/list").answer(tools=[tool(outputSchema={"$ref": "http://127.0.0.1:9/s"})])
        await client.list_tools()
        with pytest.raises(InvalidResultError, match="Nothing was sent"):
            await client.call_tool("any")
    assert requests_in(wire, "tools/call") == []


# --- mirrored headers ---


@pytest.fixture
def mirroring():
    """A scripted server behind a transport that wants headers, and those that it was given."""
    server = scripted_server()
    server.mirrors_headers = True
    seen = []
    exchange = server.exchange

    def note(outgoing):
        seen.append(dict(outgoing.headers))
        return exchange(outgoing)

    server.exchange = note
    return server, seen


async def test_headers_mirror_the_body(mirroring):
    server, seen = mirroring
    async with talk(server) as (client, _, _):
        server.expect("tools/list").answer(tools=[tool(inputSchema=MARKED)])
        server.expect("tools/call").answer(content=[])
        server.expect("resources/read").answer(contents=[])
        await client.list_tools()
        await client.call_tool("any", {"region": "us-west1"})
        await client.read_resource("a://é")
    assert seen[1] == {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    assert seen[2] == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "any",
        "Mcp-Param-Region": "us-west1",
    }
    assert seen[3]["Mcp-Name"] == "=?base64?YTovL8Op?="


async def test_tools_with_broken_marks_are_left_out_where_headers_are_mirrored(mirroring, caplog):
    server, _ = mirroring
    broken = {"type": "object", "properties": {"r": {"type": "array", "x-mcp-header": "R"}}}
    listed = [tool("broken", inputSchema=broken), tool("fine")]
    async with talk(server) as (client, _, _):
        server.expect("tools/list").answer(tools=listed)
        assert [found.name for found in await client.list_tools()] == ["fine"]
    assert "'broken' is left out" in caplog.text
    async with talk() as (client, other, _):
        other.expect("tools/list").answer(tools=listed)
        assert len(await client.list_tools()) == 2


async def test_a_header_mismatch_lists_again_and_calls_once_more(mirroring):
    server, seen = mirroring
    async with talk(server) as (client, _, _):
        server.expect("tools/list").answer(fresh(tools=[tool()]))
        server.expect("tools/call").error(-32020, "Header mismatch")
        server.expect("tools/list").answer(fresh(tools=[tool(inputSchema=MARKED)]))
        server.expect("tools/call").answer(content=TEXT)
        await client.list_tools()
        assert (await client.call_tool("any", {"region": "eu"})).text == "done"
    assert "Mcp-Param-Region" not in seen[2]
    assert seen[4]["Mcp-Param-Region"] == "eu"


async def test_a_second_header_mismatch_is_told(mirroring):
    server, _ = mirroring
    async with talk(server) as (client, _, _):
        server.expect("tools/call").error(-32020, "Header mismatch")
        server.expect("tools/list").answer(tools=[])
        server.expect("tools/call").error(-32020, "Header mismatch")
        with pytest.raises(HeaderMismatchError):
            await client.call_tool("any")


async def test_a_header_mismatch_without_headers_is_told_at_once():
    async with talk() as (client, server, _):
        server.expect("tools/call").error(-32020, "Header mismatch")
        with pytest.raises(HeaderMismatchError):
            await client.call_tool("any")


# --- many at once ---


async def test_a_thousand_calls_at_once_each_get_their_own_answer():
    server = scripted_server(ordered=False)
    words = [f"w{number}" for number in range(1000)]
    for word in words:
        server.expect("tools/call", name=word).answer(content=[{"type": "text", "text": word}])
    async with talk(server) as (client, _, _):
        results = await asyncio.gather(*(client.call_tool(word) for word in reversed(words)))
    assert [result.text for result in results] == words[::-1]
