"""A server on FastMCP 2, 3 or 4: ``stdio``, or ``http``, ``http-stateless`` or ``sse`` and a port."""

import asyncio
import sys

from fastmcp import Context, FastMCP

way, *rest = sys.argv[1:]
server = FastMCP("fastmcp")


@server.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
async def fail() -> str:
    """Fail on purpose."""
    raise ValueError("failed on purpose")


@server.tool
async def ask(ctx: Context) -> str:
    """Ask the client's model."""
    return (await ctx.sample("Say hello", max_tokens=10)).text


@server.tool
async def count(ctx: Context) -> str:
    """Report progress twice."""
    # With pauses: some clients drop what comes in one piece with the result, or on another stream after it.
    await ctx.report_progress(1, 2)
    await asyncio.sleep(0.1)
    await ctx.report_progress(2, 2)
    await asyncio.sleep(0.1)
    return "counted"


@server.tool
async def slow() -> str:
    """Take half a minute."""
    await asyncio.sleep(30)
    return "slept"


@server.resource("note://one")
def note() -> str:
    """One note."""
    return "a note"


quiet = {"show_banner": False, "log_level": "WARNING"}
match way:
    case "stdio":
        server.run(**quiet)
    case "sse":
        server.run("sse", port=int(rest[0]), **quiet)
    case _:
        server.run("http", port=int(rest[0]), stateless_http=way == "http-stateless", **quiet)
