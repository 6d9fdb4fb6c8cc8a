"""A server on the official SDK 2.x: ``stdio``, or ``http``, ``http-stateless`` or ``sse`` and a port."""

import sys

from mcp.server import MCPServer

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
