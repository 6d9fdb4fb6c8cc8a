"""Client and server in one process, and the wire between them."""

from mesero import Server
from mesero.testing import memory_pair


async def test_the_wire_shows_what_passed_in_order():
    server = Server("notes")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    async with memory_pair(server, name="tester") as (client, wire):
        await client.call_tool("add", {"a": 1, "b": 2})
    assert [message["method"] for message in wire.sent] == ["server/discover", "tools/call"]
    assert wire.sent[-1]["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] == "tester"
    assert wire.received[-1]["result"]["structuredContent"] == 3
