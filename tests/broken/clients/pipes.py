"""A client over stdio that knows nothing by itself; the shim is between it and a small server."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
WITHIN_S = 30


class Pipe:
    """Both ends of the shim's streams; a client is a coroutine that writes and reads here."""

    def __init__(self, process):
        self._process = process
        self._next_id = 0

    def write(self, message):
        """Send a message, or text as it is."""
        line = message if isinstance(message, str) else json.dumps({"jsonrpc": "2.0", **message})
        self._process.stdin.write(line.encode() + b"\n")

    async def read(self, within_s=WITHIN_S):
        """The next message; None at the end of the stream, TimeoutError when none came in time."""
        line = await asyncio.wait_for(self._process.stdout.readline(), within_s)
        return json.loads(line) if line else None

    def ask(self, method, params=None, **members):
        """Send a request without waiting for its answer; its id."""
        self._next_id += 1
        given = {} if params is None else {"params": params}
        self.write({"id": self._next_id, "method": method, **given, **members})
        return self._next_id

    def tell(self, method, params=None):
        self.write({"method": method, **({} if params is None else {"params": params})})

    async def call(self, method, params=None):
        """Send a request; its answer. What comes before it is passed over."""
        return await self.answer_to(self.ask(method, params))

    async def answer_to(self, number, within_s=WITHIN_S):
        async with asyncio.timeout(within_s):
            while (message := await self.read()) is not None:
                if message.get("id") == number and "method" not in message:
                    return message
        return None

    async def end(self):
        """Close the server's stdin, and read what it still says."""
        self._process.stdin.close()
        while await self.read() is not None:
            pass


async def record(client, kind, path):
    """Let a client talk with the small server of this kind through the shim, recording to a file."""
    shim = [sys.executable, "-m", "mesero", "trace", "-o", str(path), "--"]
    process = await asyncio.create_subprocess_exec(
        *shim,
        *(sys.executable, "-m", "tests.broken.clients.peer", kind),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=ROOT,
        limit=1 << 20,
    )
    try:
        async with asyncio.timeout(WITHIN_S):
            await client(Pipe(process))
            process.stdin.close()
            await process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
