"""A client on FastMCP 2, 3 or 4: ``stdio COMMAND…``, ``http URL`` or ``sse URL``. Prints what it saw."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

way, *target = sys.argv[1:]


async def answer(*_):
    return "Hello."


steps = []


async def note(progress, *_):
    steps.append(progress)


def choose_transport():
    if way == "stdio":
        return StdioTransport(target[0], target[1:], keep_alive=False)
    return (SSETransport if way == "sse" else StreamableHttpTransport)(target[0])


async def main():
    async with Client(choose_transport(), sampling_handler=answer) as client:
        # FastMCP 4 knows it of every connection, the others of the handshake's result.
        revision = getattr(client, "protocol_version", None) or client.initialize_result.protocolVersion
        added = await client.call_tool("add", {"a": 2, "b": 3})
        failed = await client.call_tool("fail", {}, raise_on_error=False)
        seen = {
            "revision": str(revision),
            "tools": [tool.name for tool in await client.list_tools()],
            "sum": added.content[0].text,
            "error": failed.content[0].text if failed.is_error else "",
            "note": (await client.read_resource("note://one"))[0].text,
        }
        await client.call_tool("count", {}, progress_handler=note)
        seen["steps"] = steps
        try:
            await client.call_tool("slow", {}, timeout=0.5)
        except Exception as error:  # noqa: BLE001  (what it says is the result)
            seen["late"] = str(error)
        seen["again"] = (await client.call_tool("add", {"a": 3, "b": 4})).content[0].text
        try:
            seen["asked"] = (await client.call_tool("ask", {})).content[0].text
        except Exception as error:  # noqa: BLE001  (what it says is the result)
            seen["asked"] = str(error)
    print(json.dumps(seen))


asyncio.run(main())
