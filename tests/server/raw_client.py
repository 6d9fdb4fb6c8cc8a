"""An HTTP client of bytes: it says a request, and reads as much of the answer as a test wants."""

import asyncio
import json
from urllib.parse import urlsplit

from mesero.framing import EventFramer
from tests.server.talking import meta


def request_bytes(url, method, params=None, *, id=1, headers=(), **metadata):
    """A whole request: head and body."""
    message = {
        "jsonrpc": "2.0",
        "id": id,
        "method": method,
        "params": {**(params or {}), "_meta": meta(**metadata)},
    }
    body = json.dumps(message).encode()
    parts = urlsplit(url)
    lines = [
        f"POST {parts.path} HTTP/1.1",
        f"Host: {parts.netloc}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        f"Mcp-Method: {method}",
        *([f"Mcp-Name: {params['name']}"] if params and "name" in params else []),
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Connection:
    """One connection to the server at a URL."""

    def __init__(self, reader, writer, url):
        self.reader = reader
        self.writer = writer
        self.url = url

    @classmethod
    async def open(cls, url, *, receive_buffer_bytes=None):
        parts = urlsplit(url)
        # Without a limit of its own, a reader that does not read has a lot of room before it is noticed.
        limit = 2**16 if receive_buffer_bytes is None else receive_buffer_bytes
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=limit)
        return cls(reader, writer, url)

    def send(self, method, params=None, **options):
        self.writer.write(request_bytes(self.url, method, params, **options))

    async def read_head(self):
        """The status, and the headers by lower-case name."""
        async with asyncio.timeout(20):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        return int(first.split()[1]), headers

    async def read_json(self):
        """The status and the JSON of one answer with a length."""
        status, headers = await self.read_head()
        async with asyncio.timeout(60):
            return status, json.loads(await self.reader.readexactly(int(headers["content-length"])))

    async def read_chunk(self):
        """The next chunk of a chunked body; empty at its end."""
        async with asyncio.timeout(20):
            size = int(await self.reader.readline(), 16)
            data = await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        return data

    async def read_message(self):
        """The next message of an event stream, comments left out; None at its end."""
        framer = EventFramer()
        while chunk := await self.read_chunk():
            for event in framer.receive(chunk):
                return json.loads(event.data)
        return None

    def vanish(self):
        """Like a process that was killed: the connection is reset."""
        self.writer.transport.abort()

    async def close(self):
        self.writer.close()
        await self.writer.wait_closed()
