"""mesero's client with its defaults, told what it talks to if that is not the newest."""

import asyncio

from measure import HANDSHAKE, measure, read_arguments

from mesero import Client


async def main() -> None:
    seconds, target = read_arguments()
    async with Client(target, era="2025-11-25" if HANDSHAKE else None) as client:

        async def add(a: int, b: int) -> str:
            return (await client.call_tool("add", {"a": a, "b": b})).content[0].text

        async def list_names() -> list[str]:
            return [tool.name for tool in await client.list_tools()]

        async def blob() -> str:
            return (await client.call_tool("blob", {})).content[0].text

        await measure(add, list_names, blob, seconds=seconds, over_http=isinstance(target, str))


asyncio.run(main())
