"""A client of sessions over HTTP, against an application in this process: one exchange for each request."""

import asyncio
import json
from contextlib import asynccontextmanager

import mesero
from mesero.framing import EventFramer
from tests.transports.asgi_driver import GOOD_HEADERS, Exchange

ME = {"name": "test", "version": "1"}


def build_server(**options):
    server = mesero.Server("notes", version="1", log=lambda _: None, **options)
    server.gate = asyncio.Event()
    server.cancelled = []

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def count(to: int, ctx: mesero.Context) -> str:
        for number in range(to):
            await ctx.report_progress(number + 1, to)
        return "counted"

    @server.tool
    async def wait(ctx: mesero.Context) -> str:
        """Until the test opens the gate; says so when it starts."""
        await ctx.report_progress(0, 1)
        try:
            await server.gate.wait()
        except asyncio.CancelledError:
            server.cancelled.append(ctx.request_id)
            raise
        await ctx.report_progress(1, 1)
        return "waited"

    @server.tool
    async def silent(ctx: mesero.Context) -> str:
        """Like `wait`, without a word before its end."""
        try:
            await server.gate.wait()
        except asyncio.CancelledError:
            server.cancelled.append(ctx.request_id)
            raise
        return "silent"

    @server.tool
    async def poll(ctx: mesero.Context) -> str:
        await ctx.close_stream(retry_ms=250)
        await server.gate.wait()
        return "polled"

    @server.tool
    async def confirm(ctx: mesero.Context) -> str:
        answer = await ctx.elicit("Sure?")
        return answer.action

    @server.resource("notes://one")
    async def one() -> str:
        return "one"

    return server


def events_of(exchange):
    """The events of a stream so far, those without a message as well."""
    return EventFramer().receive(exchange.body)


def messages_of(exchange):
    return [json.loads(event.data) for event in events_of(exchange) if event.data]


def last_id_of(exchange):
    return [event.event_id for event in events_of(exchange) if event.event_id is not None][-1]


class HttpTalk:
    """One client. `initialize` first; `session_id` goes with whatever follows."""

    def __init__(self, app, revision="2025-11-25", *, path="/mcp"):
        self.app = app
        self.revision = revision
        self.path = path
        self.session_id = None
        self._last_id = 0

    def headers(self, **changes):
        headers = dict(GOOD_HEADERS)
        if self.session_id is not None:
            headers["mcp-session-id"] = self.session_id
            headers["mcp-protocol-version"] = self.revision
        headers.update({name.replace("_", "-"): value for name, value in changes.items()})
        return headers

    def start(self, method="POST", *, body=b"", **changes):
        """An exchange that runs; `changes` are of its headers, None leaves one out."""
        headers = self.headers(**changes)
        exchange = Exchange(self.app, method=method, path=self.path, body=body, headers=headers)
        exchange.is_missed = lambda: is_missed(self.app, exchange)
        return exchange.start()

    async def finish(self, exchange):
        async with asyncio.timeout(10):
            await exchange.task
        return exchange

    async def send(self, message, **changes):
        """POST a message or a batch, to its end."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return await self.finish(self.start(body=body, **changes))

    def request(self, method, params=None, *, id=None):
        if id is None:
            self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id if id is None else id, "method": method}
        return message if params is None else {**message, "params": params}

    async def initialize(self, capabilities=None, **changes):
        params = {
            "protocolVersion": self.revision,
            "capabilities": capabilities or {},
            "clientInfo": ME,
        }
        exchange = await self.send(self.request("initialize", params), **changes)
        self.session_id = exchange.headers.get("mcp-session-id")
        return exchange

    async def notify(self, method, params=None, **changes):
        message = {"jsonrpc": "2.0", "method": method}
        return await self.send(message if params is None else {**message, "params": params}, **changes)

    async def open(self, capabilities=None):
        """The whole handshake."""
        exchange = await self.initialize(capabilities)
        assert exchange.status == 200, exchange.body
        assert (await self.notify("notifications/initialized")).status == 202
        return self

    def call_of(self, name, arguments=None, *, id=None):
        """A tool call that wants to hear of progress."""
        request = self.request("tools/call", {"name": name, "arguments": arguments or {}}, id=id)
        request["params"]["_meta"] = {"progressToken": f"p{request['id']}"}
        return request

    def start_call(self, name, arguments=None, *, id=None, **changes):
        body = json.dumps(self.call_of(name, arguments, id=id)).encode()
        return self.start(body=body, **changes)

    async def call(self, name, arguments=None, *, id=None, **changes):
        return await self.finish(self.start_call(name, arguments, id=id, **changes))

    def listen(self, **changes):
        return self.start("GET", content_type=None, accept="text/event-stream", **changes)

    async def resume(self, event_id, **changes):
        return await self.finish(self.listen(last_event_id=event_id, **changes))

    async def delete(self, **changes):
        return await self.finish(self.start("DELETE", content_type=None, **changes))


def is_missed(app, exchange):
    """Whether the application has noticed that the client of an exchange left, whose call goes on."""
    replies = (*app._fresh, *app._slow, *app._streams)
    return any(reply.is_gone and reply.receive == exchange._receive for reply in replies)


def text_of(message):
    return message["result"]["content"][0]["text"]


async def until(condition):
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  (conditions of any kind, none of which sets an event)
            await asyncio.sleep(0.002)


@asynccontextmanager
async def talking(revision="2025-11-25", *, server=None, capabilities=None, **options):
    """A client whose session is open, on an application of its own, which is ended at last."""
    app = (server or build_server()).asgi(**options)
    try:
        yield await HttpTalk(app, revision).open(capabilities)
    finally:
        await app.aclose()
