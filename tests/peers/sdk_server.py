"""The official SDK's server, as a program: one of each feature, for our client.

Runs with the interpreter that has the SDK, in which mesero does not exist. Usage: sdk_server.py [PORT]
"""

import asyncio
import sys
from typing import Annotated

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("theirs", version="1.2.3", instructions="Be kind.", log_level="WARNING")
cancelled = asyncio.Event()


class Point(BaseModel):
    x: int
    y: int


class Order(BaseModel):
    size: int


@server.tool()
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def mirror(point: Point) -> Point:
    return Point(x=-point.x, y=point.y)


@server.tool()
async def fail() -> str:
    raise ToolError("it did not work")


@server.tool()
async def climb(ctx: Context) -> str:
    for step in (1, 2, 3):
        await ctx.report_progress(step, 3, f"step {step}")
    return "up"


@server.tool()
async def speak(ctx: Context) -> str:
    await ctx.log("warning", "careful", logger_name="voice")
    return "spoken"


async def ask_size() -> Elicit[Order]:
    return Elicit("How large?", Order)


@server.tool()
async def order(order: Annotated[Order, Resolve(ask_size)]) -> str:
    return f"size {order.size}"


@server.tool()
async def ask_model(ctx: Context) -> types.CallToolResult | types.InputRequiredResult:
    if ctx.input_responses is None:
        message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Say hi"))
        params = types.CreateMessageRequestParams(messages=[message], max_tokens=10)
        request = types.CreateMessageRequest(params=params)
        return types.InputRequiredResult(input_requests={"greeting": request}, request_state="my state")
    text = f"{ctx.request_state}: {ctx.input_responses['greeting'].content.text}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


@server.tool()
async def hang() -> str:
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        cancelled.set()
    return "never"


@server.tool()
async def await_cancellation() -> str:
    await cancelled.wait()
    return "cancelled"


@server.tool()
async def grow(ctx: Context) -> str:
    await ctx.notify_tools_changed()
    await ctx.notify_resource_updated("notes://1")
    return "grown"


@server.resource("notes://readme", mime_type="text/plain")
async def readme() -> str:
    return "read me"


@server.resource("notes://icon", mime_type="image/png")
async def icon() -> bytes:
    return b"\x89PNG"


@server.resource("notes://{number}")
async def note(number: str) -> str:
    return f"note {number}"


@server.prompt()
async def summarize(topic: str, style: str = "short") -> str:
    """Summarize something."""
    return f"Summarize {topic}, {style}."


@server.completion()
async def complete(ref, argument, context):
    return types.Completion(
        values=[one for one in ("long", "short", "silly") if one.startswith(argument.value)]
    )


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run()
