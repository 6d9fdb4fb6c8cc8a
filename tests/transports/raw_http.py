"""An HTTP/1.1 server made of bytes, which can misbehave at will.

Each request that comes in is kept in `requests`; then the script writes whatever it likes to the connection.
A script that returns leaves the connection open for the next request; one that raises `HangUp` cuts it off.
"""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field

from mesero.jsonrpc import Notification, encode_request
from mesero.transports import Outgoing
from mesero.transports.http_client import HttpTransport


class HangUp(Exception):
    """Raised by a script: cut the connection."""


@dataclass
class RawRequest:
    line: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def names(self):
        return {name.lower() for name, _ in self.headers}

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def id(self):
        return self.json["id"]


@dataclass
class Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def write(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def wait_for_end(self):
        """Until the client has closed its side."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(65536):
                pass


@dataclass
class RawServer:
    script: object
    port: int = 0
    requests: list[RawRequest] = field(default_factory=list)
    connections: int = 0
    open_connections: int = 0
    scheme: str = "http"
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    tasks: set = field(default_factory=set)

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}/mcp"

    async def wait_until(self, is_so, limit_s=5.0):
        async with asyncio.timeout(limit_s), self.changed:
            await self.changed.wait_for(is_so)

    async def _tell(self):
        async with self.changed:
            self.changed.notify_all()

    async def serve_connection(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        self.connections += 1
        self.open_connections += 1
        try:
            while True:
                request = await read_request(reader)
                if request is None:
                    return
                self.requests.append(request)
                await self._tell()
                await self.script(request, Connection(reader, writer))
        except (HangUp, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.tasks.discard(task)
            self.open_connections -= 1
            writer.close()
            with contextlib.suppress(Exception):
                await self._tell()


async def read_request(reader):
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    line, *rest = head.decode("latin-1").split("\r\n")
    headers = [tuple(part.strip() for part in item.split(":", 1)) for item in rest if item]
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    body = await reader.readexactly(length)
    chunked = next((value for name, value in headers if name.lower() == "transfer-encoding"), "")
    while chunked == "chunked":
        size = int(await reader.readline(), 16)
        body += await reader.readexactly(size)
        await reader.readexactly(2)
        if size == 0:
            break
    return RawRequest(line, headers, body)


@contextlib.asynccontextmanager
async def serve_raw(script, *, tls=None):
    """A server that runs the script (an async function of request and connection) for each request."""
    raw = RawServer(script, scheme="https" if tls else "http")
    server = await asyncio.start_server(raw.serve_connection, "127.0.0.1", 0, ssl=tls)
    raw.port = server.sockets[0].getsockname()[1]
    try:
        yield raw
    finally:
        server.close()
        for task in tuple(raw.tasks):
            task.cancel()
        if raw.tasks:
            await asyncio.wait(raw.tasks, timeout=5)
        async with asyncio.timeout(5):
            # A connection whose TLS handshake failed has no task to wait for; since 3.12 wait_closed does.
            while getattr(server, "_active_count", 0):  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.001)
            await server.wait_closed()


def head(status="200 OK", *lines, **headers):
    """The beginning of a response: status line, header lines, and headers by keyword (_ for -)."""
    fields = [*lines, *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join([f"HTTP/1.1 {status}", *fields, "", ""]).encode("latin-1")


def full(body, status="200 OK", *lines, content_type="application/json"):
    """A whole response."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = [f"Content-Type: {content_type}"] if content_type else []
    return head(status, f"Content-Length: {len(body)}", *kind, *lines) + body


def result_for(request_id, value=None):
    return {"jsonrpc": "2.0", "id": request_id, "result": {"resultType": "complete", "value": value}}


def error_for(request_id, code=-32601, message="Method not found: x"):
    answer = {"jsonrpc": "2.0", "error": {"code": code, "message": message}}
    return answer if request_id is None else answer | {"id": request_id}


def chunk(data):
    """A piece of a chunked body."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


END = b"0\r\n\r\n"
STREAM = head("200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked")


def event(message):
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"event: message\ndata: " + text + b"\n\n"


def progress(step):
    return {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": 1, "progress": step},
    }


def answering(body=None, status="200 OK", *lines, **options):
    """A script that answers every request with a body, or a function of the request, else its result."""

    async def script(request, connection):
        answer = result_for(request.id) if body is None else body(request) if callable(body) else body
        await connection.write(full(answer, status, *lines, **options))

    return script


def streaming(*events, ends=True):
    """A script that answers with an event stream: bytes as they are, the rest as messages."""

    async def script(request, connection):
        await connection.write(STREAM)
        for item in events:
            made = item(request) if callable(item) else item
            await connection.write(chunk(made if isinstance(made, bytes) else event(made)))
        if ends:
            await connection.write(END)
        else:
            raise HangUp

    return script


def outgoing(request_id=1, method="tools/call", *, headers=(), size=0):
    params = {"name": "add", "padding": "x" * size} if size else {"name": "add"}
    return Outgoing(request_id, method, encode_request(request_id, method, params), tuple(headers))


@contextlib.asynccontextmanager
async def open_transport(url, **options):
    transport = HttpTransport(url, **options)
    await transport.open()
    try:
        yield transport
    finally:
        await transport.aclose()


async def receive_all(exchange, limit_s=10.0):
    """Every message of an exchange, the response last."""
    received = []
    try:
        async with asyncio.timeout(limit_s):
            while not received or isinstance(received[-1].message, Notification):
                received.append(await exchange.receive())
    finally:
        await exchange.close()
    return received


async def receive_from(script, request=None, **options):
    """Every message that a server with this script sends for one request, and the server."""
    async with serve_raw(script) as server, open_transport(server.url, **options) as transport:
        received = await receive_all(transport.exchange(request or outgoing()))
        return received, server
