"""The server that the official conformance suite tests: ``server.py --port PORT``, endpoint ``/mcp``.

Every tool, prompt and resource here exists because a scenario asks for it under exactly this name.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
from typing import Annotated, Any

import mesero
from mesero.server.run_http import run_http
from mesero.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    ResourceContents,
    Root,
    TextContent,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = base64.b64encode(
    b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0"
).decode()

server = mesero.Server("conformance", version="1.0.0", title="Conformance fixtures")


def form(**properties: Any) -> dict[str, Any]:
    """An object schema in which every property is required."""
    return {"type": "object", "properties": properties, "required": sorted(properties)}


# --- content ---


@server.tool
async def test_simple_text() -> str:
    """Returns one text."""
    return "This is a simple text response for testing."


@server.tool
async def test_image_content() -> ImageContent:
    """Returns one image."""
    return ImageContent(PNG, "image/png")


@server.tool
async def test_audio_content() -> AudioContent:
    """Returns one sound."""
    return AudioContent(WAV, "audio/wav")


@server.tool
async def test_embedded_resource() -> EmbeddedResource:
    """Returns one embedded resource."""
    contents = ResourceContents(
        uri="test://embedded-resource", text="This is an embedded resource content.", mime_type="text/plain"
    )
    return EmbeddedResource(contents)


@server.tool
async def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Returns text, an image and a resource."""
    contents = ResourceContents(
        uri="test://mixed-content-resource", text='{"test":"data","value":123}', mime_type="application/json"
    )
    return [
        TextContent("Multiple content types test:"),
        ImageContent(PNG, "image/png"),
        EmbeddedResource(contents),
    ]


@server.tool
async def test_error_handling() -> str:
    """Fails on purpose."""
    raise mesero.ToolError("This tool intentionally returns an error for testing")


JSON_SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@server.tool(input_schema=JSON_SCHEMA_2020_12)
async def json_schema_2020_12_tool(
    name: Any = None,
    address: Any = None,
    contactMethod: Any = None,  # noqa: N803  (the schema's own name)
    phone: Any = None,
    email: Any = None,
) -> str:
    """Advertises a schema with keywords of 2020-12, word for word."""
    return json.dumps([name, address, contactMethod, phone, email])


@server.tool
async def test_x_mcp_header(region: Annotated[str, mesero.header("Region")]) -> str:
    """Mirrors its region in a header."""
    return region


# --- notifications while a tool runs ---


@server.tool
async def test_tool_with_logging(ctx: mesero.Context) -> str:
    """Logs three times."""
    await ctx.log("info", "Tool execution started")
    await asyncio.sleep(0.05)
    await ctx.log("info", "Tool processing data")
    await asyncio.sleep(0.05)
    await ctx.log("info", "Tool execution completed")
    return "Logged three times."


@server.tool
async def test_tool_with_progress(ctx: mesero.Context) -> str:
    """Reports progress three times."""
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
        await asyncio.sleep(0.05)
    return "Reported three times."


@server.tool
async def test_reconnection(ctx: mesero.Context) -> str:
    """Lets go of its connection, and is done a moment later."""
    await ctx.close_stream(retry_ms=500)
    await asyncio.sleep(0.2)
    return "Reconnected."


@server.tool
async def test_logging_tool(ctx: mesero.Context) -> str:
    """Logs once, if the request asked for it."""
    await ctx.log("info", "one message")
    return "Logged."


# --- lists that change ---


@server.tool
async def test_trigger_tool_change() -> str:
    """Changes the list of tools, and back."""
    server.tool(_never_called_plainly, name="zz_dummy")
    server.tools.remove("zz_dummy")
    return "The list of tools changed."


@server.tool
async def test_trigger_prompt_change() -> str:
    """Changes the list of prompts, and back."""
    server.prompt(_never_called_plainly, name="zz_dummy")
    server.prompts.remove("zz_dummy")
    return "The list of prompts changed."


async def _never_called_plainly() -> str:
    return ""


# --- questions, both eras ---


@server.tool
async def test_sampling(prompt: str, ctx: mesero.Context) -> str:
    """Asks the client's model."""
    result = await ctx.sample(prompt, max_tokens=100)
    return f"LLM response: {getattr(result.content, 'text', result.content)}"


@server.tool
async def test_elicitation(message: str, ctx: mesero.Context) -> str:
    """Asks the user."""
    answer = await ctx.elicit(message, form(username={"type": "string"}, email={"type": "string"}))
    return f"User response: {answer.action} {json.dumps(answer.content)}"


@server.tool
async def test_elicitation_sep1034_defaults(ctx: mesero.Context) -> str:
    """Asks with a default in every field."""
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    answer = await ctx.elicit("Please review", {"type": "object", "properties": fields})
    return f"User response: {answer.action} {json.dumps(answer.content)}"


@server.tool
async def test_elicitation_sep1330_enums(ctx: mesero.Context) -> str:
    """Asks with every kind of choice."""
    titled = [{"const": f"value{number}", "title": f"Value {number}"} for number in (1, 2, 3)]
    fields = {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option 1", "Option 2", "Option 3"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    answer = await ctx.elicit("Please choose", {"type": "object", "properties": fields})
    return f"User response: {answer.action} {json.dumps(answer.content)}"


# --- questions, multi round-trip ---


@server.tool(requires={"sampling": {}})
async def test_missing_capability() -> str:
    """Needs a client that can sample."""
    return "The client can sample."


@server.tool
async def test_streaming_elicitation(ctx: mesero.Context) -> str:
    """Asks at once."""
    answer = await ctx.elicit("Continue?", form(ok={"type": "boolean"}), key="ok")
    return f"The user said {answer.action}."


NAME_FORM = form(name={"type": "string"})
OK_FORM = form(ok={"type": "boolean"})


@server.tool
async def test_input_required_result_elicitation(ctx: mesero.Context) -> str:
    """Asks for a name."""
    answer = await ctx.elicit("What is your name?", NAME_FORM, key="user_name")
    return f"Hello, {answer.content['name']}!" if answer.content else "Hello, whoever you are!"


@server.tool
async def test_input_required_result_sampling(ctx: mesero.Context) -> str:
    """Asks a model."""
    result = await ctx.sample("What is the capital of France?", max_tokens=100, key="capital_question")
    return str(getattr(result.content, "text", result.content))


@server.tool
async def test_input_required_result_list_roots(ctx: mesero.Context) -> str:
    """Asks for the roots."""
    return _names_of(await ctx.roots(key="client_roots"))


def _names_of(roots: list[Root]) -> str:
    return f"{len(roots)} roots: {', '.join(root.uri for root in roots)}"


@server.tool
async def test_input_required_result_request_state(ctx: mesero.Context) -> str:
    """Asks, and needs its state back."""
    answer = await ctx.elicit("Please confirm", OK_FORM, key="confirm")
    return f"state-ok {answer.action}"


@server.tool
async def test_input_required_result_multiple_inputs(ctx: mesero.Context) -> str:
    """Asks three things in one round."""
    from mesero.types import (
        CreateMessageParams,
        ElicitFormParams,
        ListRootsParams,
        SamplingMessage,
        input_request_from,
    )

    message = SamplingMessage("user", TextContent("Say hello"))
    await ctx.ask(
        {
            "user_name": input_request_from(ElicitFormParams("What is your name?", NAME_FORM)),
            "greeting": input_request_from(CreateMessageParams(messages=[message], max_tokens=50)),
            "client_roots": input_request_from(ListRootsParams()),
        }
    )
    return "All three were answered."


@server.tool
async def test_input_required_result_multi_round(ctx: mesero.Context) -> str:
    """Asks twice, one after the other."""
    name = await ctx.elicit("What is your name?", NAME_FORM, key="step1")
    color = await ctx.elicit("Which color?", form(color={"type": "string"}), key="step2")
    return f"{name.action}, {color.action}"


@server.tool
async def test_input_required_result_tampered_state(ctx: mesero.Context) -> str:
    """Asks, and refuses a state that was changed."""
    answer = await ctx.elicit("Please confirm", OK_FORM, key="confirm")
    return f"The user said {answer.action}."


@server.tool
async def test_input_required_result_capabilities(ctx: mesero.Context) -> str:
    """Asks only what the client can answer."""
    if ctx.client.capabilities.sampling:
        result = await ctx.sample("Say hello", max_tokens=50, key="greeting")
        return str(getattr(result.content, "text", result.content))
    answer = await ctx.elicit("Please confirm", OK_FORM, key="confirm")
    return f"The user said {answer.action}."


# --- prompts ---


@server.prompt
async def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@server.prompt
async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments.

    Args:
        arg1: The first one.
        arg2: The second one.
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.completion("test_prompt_with_arguments", "arg1")
async def complete_arg1(typed: str) -> list[str]:
    return [word for word in ("paris", "park", "party") if word.startswith(typed)]


@server.prompt
async def test_prompt_with_embedded_resource(
    resourceUri: str,  # noqa: N803  (the suite's own name)
) -> list[PromptMessage]:
    """A prompt with a resource in it."""
    contents = ResourceContents(
        uri=resourceUri, text="Embedded resource content for testing.", mime_type="text/plain"
    )
    return [
        PromptMessage("user", EmbeddedResource(contents)),
        PromptMessage("user", TextContent("Please process the embedded resource above.")),
    ]


@server.prompt
async def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt with an image in it."""
    return [
        PromptMessage("user", ImageContent(PNG, "image/png")),
        PromptMessage("user", TextContent("Please analyze the image above.")),
    ]


@server.prompt
async def test_input_required_result_prompt(ctx: mesero.Context) -> str:
    """A prompt that asks first."""
    answer = await ctx.elicit("Tell me the context", form(context={"type": "string"}), key="user_context")
    return f"The context is {json.dumps(answer.content)}."


# --- resources ---


@server.resource("test://static-text", name="static-text", mime_type="text/plain")
async def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", name="static-binary", mime_type="image/png")
async def static_binary() -> bytes:
    """An image."""
    return base64.b64decode(PNG)


@server.resource("test://watched-resource", name="watched-resource", mime_type="text/plain")
async def watched_resource() -> str:
    """A text that can be watched."""
    return "Watched."


@server.resource("test://template/{id}/data", name="template", mime_type="application/json")
async def template(id: str) -> str:
    """Data by its id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    run_http(server, port=parser.parse_args().port)
