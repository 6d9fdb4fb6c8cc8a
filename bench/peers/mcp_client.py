"""The official SDK's client with its defaults: it probes, or with `--handshake` does not."""

import asyncio

from mcp import Client, StdioServerParameters
from measure import HANDSHAKE, measure, read_arguments


async def main() -> None:
    seconds, target = read_arguments()
    over_http = isinstance(target, str)
    server = target if over_http else StdioServerParameters(command=target[0], args=target[1:])
    async with Client(server, mode="legacy" if HANDSHAKE else "auto") as client:

        async def add(a: int, b: int) -> str:
            return (await client.call_tool("add", {"a": a, "b": b})).content[0].text

        async def list_names() -> list[str]:
            return [tool.name for tool in (await client.list_tools()).tools]

        async def blob() -> str:
            return (await client.call_tool("blob", {})).content[0].text

        await measure(add, list_names, blob, seconds=seconds, over_http=over_http)


asyncio.run(main())
