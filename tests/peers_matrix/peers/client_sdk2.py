"""A client on the official SDK 2.x: ``stdio COMMAND…``, ``http URL`` or ``sse URL``. Prints what it saw."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.types import CreateMessageResult, TextContent

way, *target = sys.argv[1:]


async def answer(*_):
    content = TextContent(type="text", text="Hello.")
    return CreateMessageResult(role="assistant", content=content, model="none")


steps = []


async def note(progress, *_):
    steps.append(progress)


def choose_target():
    if way == "stdio":
        return StdioServerParameters(command=target[0], args=target[1:])
    if way == "sse":
        from mcp.client.sse import sse_client

        return sse_client(target[0])
    return target[0]


async def main():
    async with Client(choose_target(), sampling_callback=answer) as client:
        added = await client.call_tool("add", {"a": 2, "b": 3})
        failed = await client.call_tool("fail", {})
        seen = {
            "revision": client.protocol_version,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "sum": added.content[0].text,
            "error": failed.content[0].text if failed.is_error else "",
            "note": (await client.read_resource("note://one")).contents[0].text,
        }
        await client.call_tool("count", {}, progress_callback=note)
        seen["steps"] = steps
        try:
            await client.call_tool("slow", {}, read_timeout_seconds=0.5)
        except Exception as error:  # noqa: BLE001  (what it says is the result)
            seen["late"] = str(error)
        seen["again"] = (await client.call_tool("add", {"a": 3, "b": 4})).content[0].text
        try:
            seen["asked"] = (await client.call_tool("ask", {})).content[0].text
        except Exception as error:  # noqa: BLE001  (what it says is the result)
            seen["asked"] = str(error)
    print(json.dumps(seen))


asyncio.run(main())
