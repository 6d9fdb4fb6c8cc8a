"""A client on the official SDK 1.x: ``stdio COMMAND…``, ``http URL`` or ``sse URL``. Prints what it saw."""

import asyncio
import inspect
import json
import sys
from contextlib import AsyncExitStack
from datetime import timedelta

from mcp import ClientSession, McpError, StdioServerParameters, stdio_client
from mcp.types import CreateMessageResult, TextContent

way, *target = sys.argv[1:]


async def answer(*_):
    content = TextContent(type="text", text="Hello.")
    return CreateMessageResult(role="assistant", content=content, model="none")


def open_streams():
    if way == "stdio":
        return stdio_client(StdioServerParameters(command=target[0], args=target[1:]))
    if way == "sse":
        from mcp.client.sse import sse_client

        return sse_client(target[0])
    from mcp.client import streamable_http

    connect = (
        getattr(streamable_http, "streamable_http_client", None) or streamable_http.streamablehttp_client
    )
    return connect(target[0])


async def do_more(session):
    """What calls had no options for in the first releases."""
    if "progress_callback" not in inspect.signature(session.call_tool).parameters:
        return {}
    steps = []

    async def note(progress, *_):
        steps.append(progress)

    await session.call_tool("count", {}, progress_callback=note)
    try:
        await session.call_tool("slow", {}, read_timeout_seconds=timedelta(seconds=0.5))
        late = "not at all"
    except McpError as error:
        late = str(error)
    again = await session.call_tool("add", {"a": 3, "b": 4})
    return {"steps": steps, "late": late, "again": again.content[0].text}


async def main():
    async with AsyncExitStack() as stack:
        streams = await stack.enter_async_context(open_streams())
        # The first releases cannot be asked.
        can_answer = "sampling_callback" in inspect.signature(ClientSession).parameters
        session = ClientSession(*streams[:2], **({"sampling_callback": answer} if can_answer else {}))
        await stack.enter_async_context(session)
        started = await session.initialize()
        tools = (await session.list_tools()).tools
        added = await session.call_tool("add", {"a": 2, "b": 3})
        failed = await session.call_tool("fail", {})
        seen = {
            "revision": str(started.protocolVersion),
            "tools": [tool.name for tool in tools],
            "sum": added.content[0].text,
            "error": failed.content[0].text if failed.isError else "",
            "note": (await session.read_resource("note://one")).contents[0].text,
        }
        seen |= await do_more(session)
        try:
            seen["asked"] = (await session.call_tool("ask", {})).content[0].text
        except Exception as error:  # noqa: BLE001  (what it says is the result)
            seen["asked"] = str(error)
        await session.send_ping()
    print(json.dumps(seen))


asyncio.run(main())
