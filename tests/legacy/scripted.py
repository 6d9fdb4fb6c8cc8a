"""A server of the handshake revisions, as a function of each message: over memory or raw HTTP."""

import asyncio
import json
from contextlib import asynccontextmanager

from mesero.client.asking import Asked
from mesero.legacy.calling import SessionCaller
from mesero.modern import methods as stateless
from mesero.transports.http_client import HttpTransport
from mesero.transports.memory import MemoryTransport
from mesero.types import Implementation
from tests.transports.children import until
from tests.transports.raw_http import END, STREAM, HangUp, chunk, event, full, serve_raw

LATEST = "2025-11-25"
ALL = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "logging": {},
    "completions": {},
}
TEXT = {"content": [{"type": "text", "text": "done"}]}


def spec(name):
    return stateless.METHODS[name]


CALL = spec("tools/call")
LIST = spec("tools/list")


def introduction(revision=LATEST, capabilities=None, **more):
    return {
        "protocolVersion": revision,
        "capabilities": ALL if capabilities is None else capabilities,
        "serverInfo": {"name": "scripted", "version": "1"},
        **more,
    }


class Side:
    """The server's end of one connection: does what its script says for each message."""

    def __init__(self, script, send, hang_up, number):
        self.script = script
        self.number = number
        self.received = []
        self._send = send
        self.hang_up = hang_up

    def receive_bytes(self, data):
        for line in data.splitlines():
            message = json.loads(line)
            self.received.append(message)
            self.script.received.append(message)
            self.script.take(self, message)

    async def aclose(self):
        self.script.closed += 1

    def write(self, message):
        self._send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write_raw(self, data):
        self._send(data)

    def answer(self, message, result):
        self.write({"id": message["id"], "result": result})

    def refuse(self, message, code, text="no", data=None):
        error = {"code": code, "message": text} | ({} if data is None else {"data": data})
        self.write({"id": message["id"], "error": error})

    def note(self, method, **params):
        self.write({"method": method, "params": params})

    def ask(self, request_id, method, **params):
        self.write({"id": request_id, "method": method, "params": params})


class Script:
    """What a server does, by method: functions of the server's end and the message."""

    def __init__(self, revision=LATEST, capabilities=None, **acts):
        self.revision = revision
        self.capabilities = capabilities
        self.acts = {name.replace("__", "/"): act for name, act in acts.items()}
        self.sides = []
        self.received = []
        self.closed = 0

    @property
    def side(self):
        return self.sides[-1]

    def connect(self, send, hang_up):
        self.sides.append(Side(self, send, hang_up, len(self.sides)))
        return self.sides[-1]

    def take(self, side, message):
        method = message.get("method", "answer")
        act = self.acts.get(method)
        if act is not None:
            act(side, message)
        elif method == "initialize":
            side.answer(message, introduction(self.revision, self.capabilities))
        elif "id" in message and "method" in message:
            side.answer(message, TEXT if method == "tools/call" else {})

    @property
    def methods(self):
        return [message.get("method", "answer") for message in self.received]

    def sent(self, method):
        return [message for message in self.received if message.get("method", "answer") == method]

    async def wait_for(self, method, count=1):
        await until(lambda: len(self.sent(method)) >= count)
        return self.sent(method)[count - 1]

    @property
    def answers(self):
        return {message["id"]: message for message in self.received if "method" not in message}


def caller_over(transport, *, asked=None, **settings):
    functions = Asked(**(asked or {}))
    return SessionCaller(
        transport,
        functions,
        info=settings.pop("info", Implementation("tester", "9")),
        capabilities=settings.pop("declared", functions.capabilities_with(())),
        **({"timeout_s": 10.0, "total_timeout_s": 60.0} | settings),
    )


@asynccontextmanager
async def open_session(script=None, *, offer=None, **settings):
    """A caller in a session with a scripted server, and the script."""
    script = Script() if script is None else script
    transport = MemoryTransport(script.connect, target="scripted")
    caller = caller_over(transport, **settings)
    try:
        await caller.begin(offer=offer or script.revision, timeout_s=5)
        yield caller, script
    finally:
        await caller.aclose()
        await transport.aclose()
    await asyncio.sleep(0)


# --- over HTTP ---


class HttpScript:
    """A server of Streamable HTTP: functions of request and connection by method, "GET" and "DELETE" too.

    Each act may return a result, or None when it wrote its answer itself. Attributes: the id of the session,
    and how many there were.
    """

    def __init__(self, revision=LATEST, capabilities=None, session_id="s-1", **acts):
        self.revision = revision
        self.capabilities = capabilities
        self.session_id = session_id
        self.acts = {name.replace("__", "/"): act for name, act in acts.items()}
        self.sessions = 0

    async def __call__(self, request, connection):
        verb = request.line.split()[0]
        key = verb
        if verb == "POST":
            key = request.json.get("method", "answer")
        act = self.acts.get(key)
        if act is not None:
            result = await act(request, connection)
            if result is not None:
                await connection.write(full({"jsonrpc": "2.0", "id": request.id, "result": result}))
        elif verb != "POST":
            await connection.write(full(b"", "405 Method Not Allowed", content_type=""))
        elif key == "initialize":
            await self.introduce(request, connection)
        elif "id" in request.json and key != "answer":
            result = TEXT if key == "tools/call" else {}
            await connection.write(full({"jsonrpc": "2.0", "id": request.id, "result": result}))
        else:
            await connection.write(full(b"", "202 Accepted", content_type=""))

    async def introduce(self, request, connection):
        self.sessions += 1
        lines = [f"Mcp-Session-Id: {self.session_id}"] if self.session_id else []
        result = introduction(self.revision, self.capabilities)
        await connection.write(full({"jsonrpc": "2.0", "id": request.id, "result": result}, "200 OK", *lines))


def verbs_of(server):
    """What came in, in order: the method of JSON-RPC, or that of HTTP."""
    return [
        request.json.get("method", "answer") if request.body else request.line.split()[0]
        for request in server.requests
    ]


def requests_of(server, verb):
    return [request for request, name in zip(server.requests, verbs_of(server), strict=True) if name == verb]


@asynccontextmanager
async def open_http_session(script=None, *, offer=None, **settings):
    """A caller in a session over HTTP, and the raw server."""
    script = HttpScript() if script is None else script
    async with serve_raw(script) as server:
        transport = HttpTransport(server.url)
        caller = caller_over(transport, **settings)
        try:
            await caller.begin(offer=offer or script.revision, timeout_s=5)
            yield caller, server
        finally:
            await caller.aclose()
            await transport.aclose()


def sse(message, *, event_id=None, retry_ms=None):
    """One event, with the fields that resumption needs."""
    head = b"" if event_id is None else b"id: " + event_id.encode() + b"\n"
    head += b"" if retry_ms is None else b"retry: %d\n" % retry_ms
    return head + (b"data: \n\n" if message is None else event(message))


async def stream(connection, *events, ends=True):
    """Write an event stream, and end it in good order or by hanging up."""
    await connection.write(STREAM)
    for one in events:
        await connection.write(chunk(one))
    if ends:
        await connection.write(END)
    else:
        raise HangUp
