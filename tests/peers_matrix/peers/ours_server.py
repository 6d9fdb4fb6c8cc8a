"""Our server: ``stdio``, or ``http``, ``http-stateless`` or ``sse`` and a port. More words are ignored."""

import asyncio
import sys

import mesero

way, *rest = sys.argv[1:]
server = mesero.Server("ours", version="1.0.0")


@server.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
async def fail() -> str:
    """Fail on purpose."""
    raise mesero.ToolError("failed on purpose")


@server.tool
async def ask(ctx: mesero.Context) -> str:
    """Ask the client's model."""
    return (await ctx.sample("Say hello", max_tokens=10)).content.text


@server.tool
async def count(ctx: mesero.Context) -> str:
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


match way:
    case "stdio":
        server.run()
    case "http":
        server.run_http(port=int(rest[0]))
    case "http-stateless":
        server.run_http(port=int(rest[0]), legacy_sessions=False)
    case "sse":
        server.run_http(port=int(rest[0]), sse_path="/sse", messages_path="/messages")
