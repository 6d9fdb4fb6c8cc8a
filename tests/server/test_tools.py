import enum
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

import msgspec
import pydantic
import pytest

import mesero
from mesero.errors import InvalidParamsError, RpcError, UsageError
from mesero.server import ToolError, header
from mesero.server.tools import checked_arguments
from mesero.types import Icon, ToolAnnotations
from tests.server.talking import quiet_server, talking


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(msgspec.Struct):
    x: int
    y: int = 0


class Line(msgspec.Struct):
    start: Point
    end: Point | None = None


@dataclass
class Size:
    width: float
    height: float = 1.0


class Filter(TypedDict):
    name: str


class Pet(pydantic.BaseModel):
    name: str
    legs: int = 4


async def listed(server, name):
    async with talking(server) as talk:
        tools = (await talk.result("tools/list"))["tools"]
    return next(tool for tool in tools if tool["name"] == name)


async def test_hints_become_an_input_schema():
    server = quiet_server()

    @server.tool
    async def plan(
        *,
        title: str,
        count: int,
        share: float,
        is_open: bool,
        color: Color,
        mode: Literal["fast", "safe"],
        tags: list[str],
        by_name: dict[str, int],
        line: Line,
        size: Size,
        where: Filter,
        pet: Pet,
        limit: Annotated[int, msgspec.Meta(ge=1, le=9, description="How many.")] = 3,
        note: str | None = None,
    ) -> str:
        return "ok"

    schema = (await listed(server, "plan"))["inputSchema"]
    fields = schema["properties"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == [name for name in fields if name not in ("limit", "note")]
    kinds = {
        name: fields[name].get("type") for name in ("title", "count", "share", "is_open", "tags", "by_name")
    }
    assert kinds == {
        "title": "string",
        "count": "integer",
        "share": "number",
        "is_open": "boolean",
        "tags": "array",
        "by_name": "object",
    }
    assert fields["mode"]["enum"] == ["fast", "safe"]
    assert fields["limit"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
        "default": 3,
        "description": "How many.",
    }
    assert fields["note"]["default"] is None
    assert fields["pet"]["properties"]["legs"]["default"] == 4
    assert {"Color", "Line", "Point", "Size", "Filter"} <= schema["$defs"].keys()


async def test_arguments_arrive_as_the_types_of_their_hints():
    server = quiet_server()
    got = {}

    @server.tool
    async def take(*, line: Line, color: Color, size: Size, where: Filter, pet: Pet, pets: list[Pet]) -> None:
        got.update(line=line, color=color, size=size, where=where, pet=pet, pets=pets)

    arguments = {
        "line": {"start": {"x": 1}},
        "color": "blue",
        "size": {"width": 2},
        "where": {"name": "a"},
        "pet": {"name": "Tom"},
        "pets": [{"name": "Rex", "legs": 3}],
    }
    async with talking(server) as talk:
        result = await talk.call("take", arguments)
    assert result["isError"] is False
    assert got == {
        "line": Line(Point(1, 0)),
        "color": Color.BLUE,
        "size": Size(2.0),
        "where": {"name": "a"},
        "pet": Pet(name="Tom"),
        "pets": [Pet(name="Rex", legs=3)],
    }


async def test_the_docstring_describes_the_tool_and_its_parameters():
    server = quiet_server()

    @server.tool
    async def add(a: int, b: Annotated[int, msgspec.Meta(description="From the hint.")]) -> int:
        """Add two numbers.

        As in school.

        Args:
            a: The first.
            b: The second.
        """
        return a + b

    tool = await listed(server, "add")
    assert tool["description"] == "Add two numbers.\n\nAs in school."
    assert tool["inputSchema"]["properties"]["a"]["description"] == "The first."
    assert tool["inputSchema"]["properties"]["b"]["description"] == "From the hint."


async def test_a_default_that_a_call_changes_is_whole_again_for_the_next_call():
    server = quiet_server()

    @server.tool
    async def collect(item: str, into: list[str] = ["first"], at: Point = Point(1)) -> list[str]:  # noqa: B006, B008
        into.append(item)
        at.x += 1
        return [*into, str(at.x)]

    async with talking(server) as talk:
        for _ in range(2):
            result = await talk.call("collect", {"item": "x"})
            assert result["structuredContent"] == ["first", "x", "2"]
    fields = (await listed(server, "collect"))["inputSchema"]["properties"]
    assert fields["into"]["default"] == ["first"]
    assert fields["at"]["default"] == {"x": 1, "y": 0}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"a": "1"}, "Expected `int`, got `str` - at `a`"),
        ({}, "missing required field `a`"),
        ({"a": 1, "b": 2}, "unknown field `b`"),
        ({"a": 99}, "<= 9"),
    ],
)
async def test_a_wrong_argument_is_told_to_the_model(arguments, words):
    server = quiet_server()

    @server.tool
    async def one(a: Annotated[int, msgspec.Meta(le=9)]) -> int:
        raise AssertionError("not reached")

    async with talking(server) as talk:
        result = await talk.call("one", arguments)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("invalid arguments for one: ")
    assert words in result["content"][0]["text"]


async def test_a_number_without_a_fraction_is_an_integer_however_it_is_written():
    server = quiet_server()

    @server.tool
    async def add(numbers: list[int], share: float) -> float:
        assert all(isinstance(number, int) for number in numbers)
        return sum(numbers) + share

    async with talking(server) as talk:
        result = await talk.call("add", {"numbers": [1.0, 2], "share": 0.5})
        assert result["structuredContent"] == 3.5
        for wrong in (1.5, 1e300, "1"):
            assert (await talk.call("add", {"numbers": [wrong], "share": 1}))["isError"] is True


async def test_a_wrong_pydantic_argument_is_told_to_the_model():
    server = quiet_server()

    @server.tool
    async def greet(pet: Pet) -> str:
        return pet.name

    async with talking(server) as talk:
        result = await talk.call("greet", {"pet": {"legs": 4}})
    assert result["isError"] is True
    assert "Field required" in result["content"][0]["text"]


async def test_an_unknown_tool_is_an_error_of_the_protocol():
    server = quiet_server()
    server.tool(name="known")(lambda: None)
    async with talking(server) as talk:
        error = await talk.call_error("unknown")
    assert error == {"code": -32602, "message": "Unknown tool: unknown"}


@pytest.mark.parametrize("arguments", [None, [], 1, "{}"])
async def test_arguments_that_are_no_object_are_an_error_of_the_protocol(arguments):
    server = quiet_server()
    server.tool(name="known")(lambda: None)
    async with talking(server) as talk:
        error = await talk.error("tools/call", {"name": "known", "arguments": arguments})
    assert error["code"] == -32602


async def test_absent_arguments_are_none():
    server = quiet_server()

    @server.tool
    async def one(a: int = 7) -> int:
        return a

    async with talking(server) as talk:
        assert (await talk.result("tools/call", {"name": "one"}))["structuredContent"] == 7


async def test_what_fails_inside_a_tool_reaches_the_model_as_words_and_the_operator_as_a_traceback():
    server = quiet_server()

    @server.tool
    async def fail() -> str:
        raise LookupError("no such shelf")

    async with talking(server) as talk:
        result = await talk.call("fail")
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "fail failed: LookupError: no such shelf"}]
    assert "Traceback" in server.lines[0]
    assert "no such shelf" in server.lines[0]


async def test_a_tool_error_is_its_own_text():
    server = quiet_server()

    @server.tool
    async def fail() -> str:
        raise ToolError("The shop is closed.")

    async with talking(server) as talk:
        result = await talk.call("fail")
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "The shop is closed."}]
    assert server.lines == []


async def test_a_protocol_error_that_a_tool_raises_is_sent_as_it_is():
    server = quiet_server()

    @server.tool
    async def fail(kind: str) -> str:
        if kind == "own":
            raise RpcError("out of paper", code=-31000, data={"tray": 2})
        raise InvalidParamsError("not like this")

    async with talking(server) as talk:
        own = await talk.call_error("fail", {"kind": "own"})
        standard = await talk.call_error("fail", {"kind": "standard"})
    assert own == {"code": -31000, "message": "out of paper", "data": {"tray": 2}}
    assert standard == {"code": -32602, "message": "not like this"}


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("error", [SystemExit(3), StopIteration(), RecursionError("deep"), OSError("\udc80")])
async def test_no_exception_of_a_plain_function_leaves_the_client_waiting(error, inline):
    server = quiet_server()

    @server.tool(inline=inline)
    def fail() -> str:
        raise error

    async with talking(server) as talk:
        result = await talk.call("fail")
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("fail failed: ")


async def test_everything_that_a_tool_says_of_itself_is_listed():
    server = quiet_server()
    server.tool(
        name="shop.buy",
        title="Buy",
        description="Buys.",
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True),
        icons=[Icon("https://example.com/i.png", mime_type="image/png", sizes=["48x48"])],
        meta={"com.example/price": 3},
    )(lambda: None)
    tool = await listed(server, "shop.buy")
    assert tool == {
        "name": "shop.buy",
        "title": "Buy",
        "description": "Buys.",
        "inputSchema": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
        "annotations": {"readOnlyHint": False, "destructiveHint": True},
        "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"]}],
        "_meta": {"com.example/price": 3},
    }


OWN_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"from": {"type": "string", "minLength": 2}, "count": {"$ref": "#/$defs/count"}},
    "$defs": {"count": {"type": "integer"}},
    "required": ["from"],
    "x-vendor": [1, {"deep": None}],
}


async def test_an_input_schema_of_ones_own_is_listed_word_for_word_and_applied():
    server = quiet_server()

    @server.tool(input_schema=OWN_SCHEMA)
    async def move(**members: object) -> dict[str, object]:
        return members

    async with talking(server) as talk:
        good = await talk.call("move", {"from": "here", "count": 2})
        bad = await talk.call("move", {"from": "x", "count": "2"})
    assert (await listed(server, "move"))["inputSchema"] == OWN_SCHEMA
    assert good["structuredContent"] == {"from": "here", "count": 2}
    assert bad["isError"] is True
    assert "$.from" in bad["content"][0]["text"]
    assert "$.count" in bad["content"][0]["text"]


def test_an_input_schema_is_of_an_object():
    with pytest.raises(UsageError, match="type 'object'"):
        checked_arguments({"type": "string"})


async def test_deeply_nested_arguments_are_told_to_the_model():
    server = quiet_server()

    @server.tool(input_schema={"type": "object"})
    async def take(**members: object) -> str:
        return "taken"

    deep = []
    for _ in range(300):
        deep = [deep]
    async with talking(server) as talk:
        result = await talk.call("take", {"deep": deep})
    assert result["isError"] is True
    assert "nested more deeply" in result["content"][0]["text"]


async def test_parameters_can_be_marked_for_headers():
    server = quiet_server()

    @server.tool
    async def query(
        region: Annotated[str, header("Region", description="Where.")],
        mode: Annotated[Literal["a", "b"], header("Mode")],
        color: Annotated[Color, header("Color")],
        level: Annotated[Literal[1, 2], header("Level")] = 1,
    ) -> str:
        return f"{region} {mode} {color.value} {level}"

    fields = (await listed(server, "query"))["inputSchema"]["properties"]
    assert fields["region"] == {"type": "string", "x-mcp-header": "Region", "description": "Where."}
    assert fields["mode"] == {"type": "string", "x-mcp-header": "Mode", "enum": ["a", "b"]}
    assert fields["color"]["type"] == "string"
    assert fields["level"]["type"] == "integer"
    entry = server.tools.find("query")
    assert [mark.header for mark in entry.marks] == ["Region", "Mode", "Color", "Level"]
    async with talking(server) as talk:
        result = await talk.call("query", {"region": "eu", "mode": "b", "color": "red"})
    assert result["content"][0]["text"] == "eu b red 1"


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (Annotated[float, header("Share")], "only string, integer, boolean"),
        (Annotated[str, header("")], "non-empty"),
        (Annotated[str, header("a b")], "characters"),
        (Annotated[list[str], header("List")], "only string, integer, boolean"),
        (list[Annotated[str, header("Inner")]], "not reachable"),
    ],
)
def test_a_mark_that_breaks_a_rule_is_refused_when_the_tool_is_registered(hint, words):
    server = quiet_server()

    async def query(value):
        return value

    query.__annotations__ = {"value": hint}
    with pytest.raises(UsageError, match=words):
        server.tool(query)
    assert len(server.tools) == 0


def test_the_same_header_cannot_be_marked_twice():
    server = quiet_server()
    with pytest.raises(UsageError, match="twice"):

        @server.tool
        async def query(a: Annotated[str, header("Region")], b: Annotated[str, header("region")]) -> str:
            return a + b


async def test_a_tool_that_needs_a_capability_is_refused_without_it():
    server = quiet_server()

    @server.tool(requires={"sampling": {}})
    async def summarize() -> str:
        return "short"

    @server.tool
    async def free() -> str:
        return "free"

    async with talking(server) as talk:
        error = await talk.call_error("summarize")
        assert (await talk.call("free"))["content"][0]["text"] == "free"
    async with talking(server, {"sampling": {}}) as talk:
        assert (await talk.call("summarize"))["content"][0]["text"] == "short"
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"sampling": {}}}


def test_a_parameter_that_json_cannot_fill_is_refused_when_the_tool_is_registered():
    server = quiet_server()
    with pytest.raises(UsageError, match="the tool 'bad' has a parameter that JSON cannot fill"):

        @server.tool
        async def bad(number: complex) -> str:
            return str(number)

    with pytest.raises(UsageError, match="JSON cannot fill"):

        @server.tool
        async def ambiguous(value: Point | Line) -> str:
            return str(value)


async def test_a_parameter_without_a_hint_takes_anything():
    server = quiet_server()

    @server.tool
    async def echo(value, ctx: mesero.Context):
        return {"value": value, "id": ctx.request_id}

    async with talking(server) as talk:
        result = await talk.call("echo", {"value": [1, {"a": None}]})
    assert result["structuredContent"]["value"] == [1, {"a": None}]


async def test_a_number_that_nobody_can_hold_is_told_to_the_model():
    server = quiet_server()

    @server.tool
    async def echo(value: float) -> float:
        return value

    async with talking(server) as talk:
        request = talk.request("tools/call", {"name": "echo", "arguments": {"value": 1}})
        raw = msgspec.json.encode(request).replace(b'"value":1', b'"value":1e999')
        talk.send_bytes(raw + b"\n")
        answer = await talk.answer_to(request)
    assert answer["result"]["isError"] is True
