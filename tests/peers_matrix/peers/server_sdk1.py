"""A server on the official SDK 1.x: ``stdio``, or ``http``, ``http-stateless`` or ``sse`` and a port."""

import asyncio
import sys

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent

way, *rest = sys.argv[1:]
settings = {"log_level": "WARNING"}
if rest:
    settings["port"] = int(rest[0])
if way == "http-stateless":
    settings["stateless_http"] = True
server = FastMCP("sdk1", **settings)


@server.tool()
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def fail() -> str:
    """Fail on purpose."""
    raise ValueError("failed on purpose")


@server.tool()
async def ask(ctx: Context) -> str:
    """Ask the client's model."""
    question = SamplingMessage(role="user", content=TextContent(type="text", text="Say hello"))
    answer = await ctx.session.create_message(messages=[question], max_tokens=10)
    return answer.content.text


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


server.run({"stdio": "stdio", "sse": "sse"}.get(way, "streamable-http"))
