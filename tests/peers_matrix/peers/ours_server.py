"""Our server: ``stdio``, or ``http``, ``http-stateless`` or ``sse`` and a port. More words are ignored."""

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
