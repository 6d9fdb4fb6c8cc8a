from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import msgspec
import pydantic
import pytest

from mesero.errors import UsageError
from mesero.server.tool_results import output_by_schema
from mesero.types import (
    Annotations,
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    UnknownContent,
)
from tests.server.talking import quiet_server, talking


class Point(msgspec.Struct):
    x: int
    y: int = 0


@dataclass
class Size:
    width: float


class Row(TypedDict):
    name: str


class Pet(pydantic.BaseModel):
    name: str


async def result_of(value, hint=Any, **options):
    """What a client gets from a tool that returns `value`, annotated `hint`, and its output schema."""
    server = quiet_server()

    async def tool():
        return value

    if hint is not Any:
        tool.__annotations__["return"] = hint
    server.tool(**options)(tool)
    async with talking(server) as talk:
        result = await talk.call("tool")
        listed = (await talk.result("tools/list"))["tools"][0]
    return result, listed.get("outputSchema")


@pytest.mark.parametrize(
    ("value", "hint", "plain", "kind"),
    [
        (Point(1), Point, {"x": 1, "y": 0}, "object"),
        (Size(1.5), Size, {"width": 1.5}, "object"),
        ({"name": "a"}, Row, {"name": "a"}, "object"),
        (Pet(name="Tom"), Pet, {"name": "Tom"}, "object"),
        ([Pet(name="Tom")], list[Pet], [{"name": "Tom"}], "array"),
        ([Point(1), Point(2, 3)], list[Point], [{"x": 1, "y": 0}, {"x": 2, "y": 3}], "array"),
        (["a"], list[str], ["a"], "array"),
        ([], list[int], [], "array"),
        ({"a": 1}, dict[str, int], {"a": 1}, "object"),
        (3, int, 3, "integer"),
        (2.5, float, 2.5, "number"),
        (True, bool, True, "boolean"),
        (3, Annotated[int, msgspec.Meta(ge=0)], 3, "integer"),
        ({"a": [1]}, dict[str, object], {"a": [1]}, "object"),
    ],
)
async def test_data_is_structured_content_with_its_schema_and_its_json_as_text(value, hint, plain, kind):
    result, schema = await result_of(value, hint)
    assert result["structuredContent"] == plain
    assert msgspec.json.decode(result["content"][0]["text"]) == plain
    assert len(result["content"]) == 1
    assert result["isError"] is False
    assert schema["type"] == kind


async def test_null_is_a_structured_value():
    result, schema = await result_of(None, int | None)
    assert result["structuredContent"] is None
    assert "structuredContent" in result
    assert {"type": "null"} in schema["anyOf"]


@pytest.mark.parametrize("hint", [Any, None, str | None])
async def test_nothing_is_empty_content(hint):
    result, schema = await result_of(None, hint)
    assert result["content"] == []
    assert "structuredContent" not in result
    assert schema is None


@pytest.mark.parametrize("hint", [Any, str, Annotated[str, "note"], str | TextContent])
async def test_text_is_content_without_a_schema(hint):
    result, schema = await result_of("hello", hint)
    assert result["content"] == [{"type": "text", "text": "hello"}]
    assert "structuredContent" not in result
    assert schema is None


BLOCKS = [
    (TextContent("a", annotations=Annotations(audience=["user"], priority=0.5)), "text"),
    (ImageContent("aWNvbg==", "image/png"), "image"),
    (AudioContent("bm9pc2U=", "audio/wav"), "audio"),
    (ResourceLink("notes://1", "one", mime_type="text/plain"), "resource_link"),
    (EmbeddedResource(TextResourceContents("notes://1", "hi")), "resource"),
    (UnknownContent("hologram", b'{"type":"hologram","depth":3}'), "hologram"),
]


@pytest.mark.parametrize(("block", "kind"), BLOCKS)
async def test_a_content_block_is_content(block, kind):
    result, schema = await result_of(block)
    assert [one["type"] for one in result["content"]] == [kind]
    assert "structuredContent" not in result
    assert schema is None


async def test_blocks_of_every_type_come_in_their_order():
    result, _ = await result_of([block for block, _ in BLOCKS] + ["end"])
    assert [one["type"] for one in result["content"]] == [kind for _, kind in BLOCKS] + ["text"]
    assert result["content"][0]["annotations"] == {"audience": ["user"], "priority": 0.5}
    assert result["content"][5] == {"type": "hologram", "depth": 3}


@pytest.mark.parametrize(
    "hint",
    [list[TextContent], list[TextContent | ImageContent], tuple[TextContent, ...], list[str | ImageContent]],
)
async def test_an_empty_list_of_blocks_is_empty_content(hint):
    result, schema = await result_of([], hint)
    assert result["content"] == []
    assert "structuredContent" not in result
    assert schema is None


async def test_data_without_an_annotation_is_structured_without_a_schema():
    result, schema = await result_of({"a": 1})
    assert result["structuredContent"] == {"a": 1}
    assert schema is None


@pytest.mark.parametrize(
    ("value", "hint", "words"),
    [
        ({"x": "no"}, Point, "Expected `int`, got `str`"),
        ({}, Row, "missing required field `name`"),
        ("text", int, "does not fit its own output schema"),
        (["a"], list[int], "does not fit its own output schema"),
        ({"legs": 4}, Pet, "Field required"),
    ],
)
async def test_what_does_not_fit_its_own_schema_is_an_error_of_the_tool(value, hint, words):
    result, _ = await result_of(value, hint)
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert words in result["content"][0]["text"]


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        {"a": [float("inf")]},
        Size(float("-inf")),
        CallToolResult([], structured_content={"a": float("nan")}),
        CallToolResult([], structured_content=[Size(float("nan"))]),
    ],
)
async def test_a_number_that_json_does_not_have_is_refused(value):
    result, _ = await result_of(value)
    assert result["isError"] is True
    assert "not finite" in result["content"][0]["text"]


async def test_what_has_no_json_form_is_an_error_of_the_tool():
    result, _ = await result_of({"a": object()})
    assert result["isError"] is True
    assert "TypeError" in result["content"][0]["text"]


async def test_a_result_that_the_function_built_itself_is_sent_as_it_is():
    built = CallToolResult(
        [TextContent("hi")], structured_content={"p": Point(1)}, is_error=True, meta={"com.example/a": 1}
    )
    result, _ = await result_of(built, CallToolResult)
    assert result["content"] == [{"type": "text", "text": "hi"}]
    assert result["structuredContent"] == {"p": {"x": 1, "y": 0}}
    assert result["isError"] is True
    assert result["_meta"]["com.example/a"] == 1


async def test_one_result_object_for_all_calls_and_servers_stays_as_it_was():
    built = CallToolResult([TextContent("hi")], structured_content=[1])
    for _ in range(2):
        await result_of(built)
    assert built == CallToolResult([TextContent("hi")], structured_content=[1])


async def test_a_built_result_may_hold_a_plain_number():
    assert (await result_of(CallToolResult([], structured_content=5)))[0]["structuredContent"] == 5


async def test_structured_content_that_is_json_already_is_passed_on():
    raw = msgspec.Raw(b'{"a": 1.50}')
    result, _ = await result_of(CallToolResult([], structured_content=raw))
    assert result["structuredContent"] == {"a": 1.5}


OWN = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}, "required": ["n"]}


async def test_an_output_schema_of_ones_own_is_listed_and_applied():
    good, schema = await result_of({"n": 5}, output_schema=OWN)
    assert schema == OWN
    assert good["structuredContent"] == {"n": 5}
    bad, _ = await result_of({"n": 6}, output_schema=OWN)
    assert bad["isError"] is True
    assert "$.n" in bad["content"][0]["text"]


@pytest.mark.parametrize(
    ("built", "is_error"),
    [
        (CallToolResult([], structured_content={"n": 1}), False),
        (CallToolResult([], structured_content={"n": "1"}), True),
        (CallToolResult([TextContent("forgot")]), True),
    ],
)
async def test_a_built_result_is_held_to_the_schema_too(built, is_error):
    result, _ = await result_of(built, CallToolResult, output_schema=OWN)
    assert result["isError"] is is_error


async def test_a_failure_need_not_fit_the_schema():
    failure = CallToolResult([TextContent("no")], is_error=True)
    assert (await result_of(failure, CallToolResult, output_schema=OWN))[0]["content"][0]["text"] == "no"
    detailed = CallToolResult([], structured_content={"why": "no"}, is_error=True)
    result, _ = await result_of(detailed, CallToolResult, output_schema=OWN)
    assert result["structuredContent"] == {"why": "no"}


def test_an_output_schema_that_cannot_be_used_is_refused():
    with pytest.raises(UsageError, match="cannot be used"):
        output_by_schema({"type": "nothing"})


def test_a_return_annotation_without_a_json_form_is_refused_when_the_tool_is_registered():
    server = quiet_server()
    with pytest.raises(UsageError, match="has no JSON"):

        @server.tool
        async def bad() -> complex:
            return 1j
