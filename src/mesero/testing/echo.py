"""The server at the other end of a transport under test: small tools with predictable answers.

`check_transport` talks to it. Run it as a process with ``python -m mesero.testing`` (stdio), serve
``echo_server().asgi()`` over HTTP, or connect it to any stream with ``echo_server().connect(send)``.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict

from mesero.server import Context, Server

__all__ = ["echo_server"]


def echo_server() -> Server:
    """A server with the tools that `mesero.testing.check_transport` calls."""
    server = Server("echo", version="1.0.0")
    cancelled: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    @server.tool
    async def echo(value: str) -> str:
        """Give the text back."""
        return value

    @server.tool
    async def count(to: int, ctx: Context) -> str:
        """Report progress 1, 2 … and then answer."""
        for number in range(1, to + 1):
            await ctx.report_progress(number, to)
        return f"counted to {to}"

    @server.tool
    async def hang(key: str, ctx: Context) -> str:
        """Report progress once, then never answer."""
        try:
            await ctx.report_progress(1)
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cancelled[key].set()
            raise
        return "nobody gets here"

    @server.tool
    async def await_cancellation(key: str) -> str:
        """Answer as soon as the call that hangs under this key was cancelled."""
        await cancelled[key].wait()
        return key

    return server
