"""A server on the official SDK 2.x: ``stdio``, or ``http``, ``http-stateless`` or ``sse`` and a port."""

import asyncio
import sys

from mcp.server.mcpserver import Context, MCPServer

way, *rest = sys.argv[1:]
server = MCPServer("sdk2", log_level="WARNING")


@server.tool()
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def fail() -> str:
    """Fail on purpose."""
    raise ValueError("failed on purpose")


@server.tool()
async def count(ctx: Context) -> str:
    """Report progress twice."""
    # With pauses: some clients drop what comes in one piece with the result, or on another stream after it.
    await ctx.report_progress(1, 2)
    await asyncio.sleep(0.1)
    await ctx.report_progress(2, 2)
    await asyncio.sleep(0.1)
    return "counted"


@server.tool()
async def slow() -> str:
    """Take half a minute."""
    await asyncio.sleep(30)
    return "slept"


@server.resource("note://one")
def note() -> str:
    """One note."""
    return "a note"


match way:
    case "stdio":
        server.run()
    case "sse":
        server.run("sse", port=int(rest[0]))
    case _:
        server.run("streamable-http", port=int(rest[0]), stateless_http=way == "http-stateless")
