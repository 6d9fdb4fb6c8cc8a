"""FastMCP's client with its defaults; `call_tool_mcp` is its shorter path, without result classes."""

import asyncio

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from measure import HANDSHAKE, measure, read_arguments


async def main() -> None:
    seconds, target = read_arguments()
    over_http = isinstance(target, str)
    transport = target if over_http else StdioTransport(target[0], target[1:])
    async with Client(transport, mode="legacy" if HANDSHAKE else "auto") as client:

        async def add(a: int, b: int) -> str:
            return (await client.call_tool_mcp("add", {"a": a, "b": b})).content[0].text

        async def list_names() -> list[str]:
            return [tool.name for tool in await client.list_tools()]

        async def blob() -> str:
            return (await client.call_tool_mcp("blob", {})).content[0].text

        await measure(add, list_names, blob, seconds=seconds, over_http=over_http)


asyncio.run(main())
