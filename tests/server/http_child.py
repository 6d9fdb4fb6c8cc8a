"""A server on HTTP in a process of its own, which says its URL on stderr: `python http_child.py OPTIONS`."""

import asyncio
import json
import resource
import sys
from pathlib import Path

import mesero
from mesero.server.run_http import run_http

# One descriptor for each of ten thousand listeners, and some more.
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

server = mesero.Server("child", version="1")


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


@server.tool
async def forever() -> str:
    await asyncio.Event().wait()
    return "never"


@server.tool
async def listeners() -> list[int]:
    """How many listen, and the process's memory in KiB."""
    lines = await asyncio.to_thread(Path("/proc/self/status").read_text)
    resident = next(line for line in lines.splitlines() if line.startswith("VmRSS"))
    return [len(server.subscriptions), int(resident.split()[1])]


run_http(server, port=0, **json.loads(sys.argv[1]))
