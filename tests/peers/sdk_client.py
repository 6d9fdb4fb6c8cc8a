"""The official SDK's client, as a program: uses the server of our_server.py and prints what it got as JSON.

Runs with the interpreter that has the SDK, in which mesero does not exist.
Usage: sdk_client.py URL | sdk_client.py COMMAND ARGUMENT…
"""

import asyncio
import json
import sys
import warnings

import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters

warnings.simplefilter("ignore")


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


async def error_of(waiting):
    try:
        await waiting
    except MCPError as error:
        return {"code": error.error.code, "message": error.error.message}
    return None


async def elicit(_context, params):
    if "size" in params.requested_schema["properties"]:
        return types.ElicitResult(action="accept", content={"size": 3})
    return types.ElicitResult(action="decline")


async def sample(_context, _params):
    text = types.TextContent(type="text", text="hi")
    return types.CreateMessageResult(role="assistant", content=text, model="m")


async def use_tools(client):
    heard = []

    async def on_progress(progress, total, message):
        heard.append([progress, total, message])

    climbed = await client.call_tool("climb", progress_callback=on_progress)
    return {
        "tools": [tool.name for tool in (await client.list_tools()).tools],
        "add": plain(await client.call_tool("add", {"a": 1, "b": 2})),
        "mirror": plain(await client.call_tool("mirror", {"point": {"x": 1, "y": 2}})),
        "fail": plain(await client.call_tool("fail")),
        "bad_arguments": plain(await client.call_tool("add", {"a": "one", "b": 2})),
        "climb": [climbed.content[0].text, heard],
        "speak": (await client.call_tool("speak")).content[0].text,
        "order": (await client.call_tool("order")).content[0].text,
        "ask_model": (await client.call_tool("ask_model")).content[0].text,
        "unknown_tool": await error_of(client.call_tool("nonsense")),
    }


async def use_the_rest(client):
    completion = await client.complete(
        types.PromptReference(type="ref/prompt", name="summarize"), {"name": "style", "value": "s"}
    )
    return {
        "resources": [str(one.uri) for one in (await client.list_resources()).resources],
        "templates": [
            one.uri_template for one in (await client.list_resource_templates()).resource_templates
        ],
        "readme": plain(await client.read_resource("notes://readme")),
        "icon": plain(await client.read_resource("notes://icon")),
        "note": plain(await client.read_resource("notes://7")),
        "no_resource": await error_of(client.read_resource("other://7")),
        "prompts": plain(await client.list_prompts()),
        "summarize": plain(await client.get_prompt("summarize", {"topic": "bees"})),
        "no_prompt": await error_of(client.get_prompt("nonsense")),
        "completion": completion.completion.values,
    }


async def listen(client):
    async with client.listen(tools_list_changed=True, resource_subscriptions=["notes://1"]) as changes:
        await client.call_tool("grow")
        events = [type(await anext(changes)).__name__, type(await anext(changes)).__name__]
        honoured = plain(changes.honored)
    names = [tool.name for tool in (await client.list_tools()).tools]
    return {"events": sorted(events), "honoured": honoured, "has_grown": "grown" in names}


async def time_out(client):
    error = await error_of(client.call_tool("hang", read_timeout_seconds=0.3))
    told = (await client.call_tool("await_cancellation")).content[0].text
    return {"error": error, "server": told}


async def main(target):
    logs = []

    async def on_log(params):
        logs.append([params.level, params.logger, params.data])

    server = (
        target[0]
        if target[0].startswith("http")
        else StdioServerParameters(command=target[0], args=target[1:])
    )
    async with Client(
        server,
        elicitation_callback=elicit,
        sampling_callback=sample,
        logging_callback=on_log,
        log_level="info",
        read_timeout_seconds=20,
    ) as client:
        return {
            "revision": client.protocol_version,
            "server": plain(client.server_info),
            "instructions": client.instructions,
            "capabilities": plain(client.server_capabilities),
            **await use_tools(client),
            "logs": logs,
            **await use_the_rest(client),
            "listen": await listen(client),
            "time_out": await time_out(client),
        }


print(json.dumps(asyncio.run(main(sys.argv[1:]))))
