"""The server that the official SDK's client uses: one of each feature. As a program it serves over stdio."""

import asyncio

import msgspec

from mesero import Context, Server
from mesero.server import ToolError


class Point(msgspec.Struct):
    x: int
    y: int


class Order(msgspec.Struct):
    size: int


def build_server():
    server = Server("ours", version="1.2.3", instructions="Be kind.")
    for function in (add, mirror, fail, climb, speak, order, ask_model):
        server.tool(function)
    server.resource("notes://readme", mime_type="text/plain")(readme)
    server.resource("notes://icon", mime_type="image/png")(icon)
    server.resource("notes://{number}")(note)
    server.prompt(summarize)
    server.completion("summarize", "style")(styles)
    add_hanging(server)
    add_growing(server)
    return server


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def mirror(point: Point) -> Point:
    return Point(-point.x, point.y)


async def fail() -> str:
    raise ToolError("it did not work")


async def climb(ctx: Context) -> str:
    for step in (1, 2, 3):
        await ctx.report_progress(step, 3, f"step {step}")
    return "up"


async def speak(ctx: Context) -> str:
    await ctx.log("warning", "careful", logger="voice")
    return "spoken"


async def order(ctx: Context) -> str:
    answer = await ctx.elicit("How large?", Order)
    return f"{answer.action}: {answer.content.size if answer.content else None}"


async def ask_model(ctx: Context) -> str:
    result = await ctx.sample("Say hi")
    return result.content.text


def add_hanging(server):
    cancelled = asyncio.Event()

    @server.tool
    async def hang() -> str:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()
        return "never"

    @server.tool
    async def await_cancellation() -> str:
        await cancelled.wait()
        return "cancelled"


def add_growing(server):
    @server.tool
    async def grow() -> str:
        server.tool(name="grown")(climb)
        server.notify_resource_updated("notes://1")
        return "grown"


async def readme() -> str:
    return "read me"


async def icon() -> bytes:
    return b"\x89PNG"


async def note(number: str) -> str:
    return f"note {number}"


async def summarize(topic: str, style: str = "short") -> str:
    """Summarize something."""
    return f"Summarize {topic}, {style}."


async def styles(value: str) -> list[str]:
    return [style for style in ("long", "short", "silly") if style.startswith(value)]


if __name__ == "__main__":
    build_server().run()
