"""The client that the official conformance suite tests: ``client.py URL``.

The suite names the scenario in the environment; each one is a short use of the public `mesero.Client`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import mesero
from mesero.types import CreateMessageParams, ElicitFormParams

FIRST_STATELESS = "2026-07-28"

Scenario = Callable[[str], Awaitable[None]]


async def fill_form(question: ElicitFormParams) -> dict[str, Any]:
    """Accept every form: defaults where there are any, else something of the right type."""
    made_up: dict[str, Any] = {"boolean": True, "integer": 1, "number": 1.5, "string": "text", "array": []}
    filled = mesero.form_defaults(question.requested_schema)
    for name, field in question.requested_schema["properties"].items():
        filled.setdefault(name, (field.get("enum") or [made_up[field["type"]]])[0])
    return filled


async def answer_prompt(_: CreateMessageParams) -> str:
    """A model that always says the same."""
    return "Hello."


def connect(url: str) -> mesero.Client:
    """A client that can answer everything, as most scenarios want it.

    The suite says which revision its server speaks, and servers of the older ones answer no probe.
    """
    revision = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
    return mesero.Client(
        url,
        era=revision if revision < FIRST_STATELESS else None,
        name="mesero-conformance",
        version="1.0.0",
        elicit=fill_form,
        sample=answer_prompt,
        roots=["file:///tmp/project"],
        timeout_s=20,
    )


async def introduce(url: str) -> None:
    # Its server declares nothing, so nothing more can be asked of it.
    async with connect(url) as client:
        assert client.server.revision == os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]


async def tools_call(url: str) -> None:
    async with connect(url) as client:
        await client.list_tools()
        await client.call_tool("add_numbers", {"a": 5, "b": 3})


async def request_metadata(url: str) -> None:
    # Connecting asks server/discover: the first request is refused for its revision, the second is not.
    async with connect(url) as client:
        assert client.server.revision == "2026-07-28"


async def standard_headers(url: str) -> None:
    async with connect(url) as client:
        tools = await client.list_tools()
        await client.call_tool(tools[0].name, {})
        for resource in await client.list_resources():
            await client.read_resource(resource.uri)
        for prompt in await client.list_prompts():
            await client.get_prompt(prompt.name)


async def custom_headers(url: str) -> None:
    async with connect(url) as client:
        await client.list_tools()
        for call in json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]:
            await client.call_tool(call["name"], call["arguments"])


async def invalid_tool_headers(url: str) -> None:
    async with connect(url) as client:
        for tool in await client.list_tools():
            await client.call_tool(tool.name, {"region": "us-west1"})


async def request_state(url: str) -> None:
    async with connect(url) as client:
        await client.list_tools()
        for tool in (
            "test_mrtr_echo_state",
            "test_mrtr_unrelated",
            "test_mrtr_no_state",
            "test_mrtr_no_result_type",
        ):
            await client.call_tool(tool, {})


async def list_only(url: str) -> None:
    async with connect(url) as client:
        await client.list_tools()


async def schema_preservation(url: str) -> None:
    async with connect(url) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        schema = tools["json_schema_2020_12_tool"].input_schema
        await client.call_tool("json_schema_echo", {"schema": schema})


async def form_defaults(url: str) -> None:
    async with connect(url) as client:
        await client.list_tools()
        await client.call_tool("test_client_elicitation_defaults", {})


async def reconnection(url: str) -> None:
    async with connect(url) as client:
        await client.list_tools()
        await client.call_tool("test_reconnection", {})


SCENARIOS: dict[str, Scenario] = {
    "initialize": introduce,
    "tools_call": tools_call,
    "elicitation-sep1034-client-defaults": form_defaults,
    "sse-retry": reconnection,
    "request-metadata": request_metadata,
    "http-standard-headers": standard_headers,
    "http-custom-headers": custom_headers,
    "http-invalid-tool-headers": invalid_tool_headers,
    "sep-2322-client-request-state": request_state,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": schema_preservation,
}


def main() -> int:
    logging.basicConfig(level=logging.WARNING)
    scenario = SCENARIOS.get(os.environ.get("MCP_CONFORMANCE_SCENARIO", ""))
    if scenario is None:
        print(f"no such scenario here: {os.environ.get('MCP_CONFORMANCE_SCENARIO')!r}", file=sys.stderr)
        return 2
    try:
        asyncio.run(scenario(sys.argv[1]))
    except mesero.MeseroError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
