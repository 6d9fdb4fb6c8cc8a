"""The bare HTTP server that clients are measured against: a raw asyncio protocol, on uvloop where it is
installed.

    http_server.py [--handshake] PORT

It reads what HTTP clients send in practice (keep-alive, `Content-Length`), answers POST with JSON and all
else with 405.
"""

from __future__ import annotations

import asyncio
import re

from wire import ARGUMENTS, HANDSHAKE, SESSION_ID, answer_to

try:
    import uvloop

    run = uvloop.run
except ImportError:
    run = asyncio.run

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_REFUSED = b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n"
_ACCEPTED = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"
_SESSION = f"mcp-session-id: {SESSION_ID}\r\n".encode() if HANDSHAKE else b""
_FOUND = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n%bcontent-length: %d\r\n\r\n%b"


class Connection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self.rest = b""

    def data_received(self, data: bytes) -> None:
        self.rest += data
        while (head_end := self.rest.find(b"\r\n\r\n")) >= 0:
            head = self.rest[:head_end]
            length = _LENGTH.search(head)
            end = head_end + 4 + (int(length[1]) if length else 0)
            if len(self.rest) < end:
                return
            body, self.rest = self.rest[head_end + 4 : end], self.rest[end:]
            self.transport.write(self.answer(head, body))

    def answer(self, head: bytes, body: bytes) -> bytes:
        if not head.startswith(b"POST "):
            return _REFUSED
        answer = answer_to(body)
        return _FOUND % (_SESSION, len(answer), answer) if answer else _ACCEPTED


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    run(serve(int(ARGUMENTS[0])))
