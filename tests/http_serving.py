"""An ASGI application on a free port of this machine, for as long as a test needs it."""

import asyncio
import socket
from contextlib import asynccontextmanager

import uvicorn

START_WITHIN_S = 10


@asynccontextmanager
async def serving(app, path="/mcp"):
    """Yields the URL of the endpoint."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
        running = asyncio.ensure_future(server.serve(sockets=[listener]))
        try:
            async with asyncio.timeout(START_WITHIN_S):
                while not server.started:
                    assert not running.done(), "uvicorn did not start"
                    await asyncio.sleep(0.005)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}{path}"
        finally:
            server.should_exit = True
            await running
