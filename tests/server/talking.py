"""A client of bytes and dicts for the server's tests: it says what a test wants said, right or wrong."""

import asyncio
import itertools
import json
from contextlib import asynccontextmanager

import mesero

REVISION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
SERVER_INFO = f"{PREFIX}serverInfo"
SUBSCRIPTION_ID = f"{PREFIX}subscriptionId"
EVERYTHING = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
ACCEPTED = {"action": "accept", "content": {}}


def meta(*, revision=REVISION, capabilities=None, **more):
    """The `_meta` of a request; `more` by its wire names, None leaves a member out."""
    members = {
        f"{PREFIX}protocolVersion": revision,
        f"{PREFIX}clientCapabilities": {} if capabilities is None else capabilities,
        f"{PREFIX}clientInfo": {"name": "test", "version": "1"},
        **more,
    }
    return {name: value for name, value in members.items() if value is not None}


class Talk:
    """One connection to a server in this process, and everything that it said."""

    def __init__(self, server, capabilities=None):
        self.said = []
        self.capabilities = capabilities
        self.connection = server.connect(self._hear)
        self._ids = itertools.count(101)
        self._news = asyncio.Event()

    def _hear(self, data):
        assert data.endswith(b"\n")
        self.said.extend(json.loads(line) for line in data.splitlines())
        self._news.set()

    def send_bytes(self, data):
        self.connection.receive_bytes(data)

    def send(self, *messages):
        """All in one chunk."""
        self.send_bytes(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def request(self, method, params=None, *, id=None, metadata=None):
        """A request as a dict."""
        given = dict(params or {})
        given["_meta"] = meta(capabilities=self.capabilities) if metadata is None else metadata
        number = next(self._ids) if id is None else id
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": given}

    def cancel(self, request):
        self.send(cancellation(request["id"]))

    async def until(self, is_there, timeout_s=10.0):
        """Wait until something was said; gives back what `is_there` found."""
        async with asyncio.timeout(timeout_s):
            while not (found := is_there(self.said)):
                self._news.clear()
                await self._news.wait()
        return found

    async def answer_to(self, request):
        def find(said):
            return [one for one in said if one.get("id") == request["id"] and "method" not in one]

        return (await self.until(find))[0]

    async def ask(self, method, params=None, **options):
        """Send a request and wait for its answer, a whole response."""
        request = self.request(method, params, **options)
        self.send(request)
        return await self.answer_to(request)

    async def result(self, method, params=None, **options):
        answer = await self.ask(method, params, **options)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method, params=None, **options):
        answer = await self.ask(method, params, **options)
        assert "error" in answer, answer
        return answer["error"]

    async def call(self, name, arguments=None, *, metadata=None, **params):
        """The result of a tool; `params` are further members of the parameters."""
        params = {"name": name, "arguments": arguments or {}, **params}
        return await self.result("tools/call", params, metadata=metadata)

    async def call_error(self, name, arguments=None, *, metadata=None, **params):
        params = {"name": name, "arguments": arguments or {}, **params}
        return await self.error("tools/call", params, metadata=metadata)

    def notifications(self, method):
        return [one["params"] for one in self.said if one.get("method") == method]

    async def settle(self, turns=20):
        """Let the loop run on, where the point is that nothing is said."""
        for _ in range(turns):
            await asyncio.sleep(0)


def cancellation(request_id):
    return {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": request_id, "reason": "not needed"},
    }


def quiet_server(**options):
    """A server whose log is a list."""
    log = []
    server = mesero.Server("testing", version="1.2.3", log=log.append, **options)
    server.lines = log
    return server


@asynccontextmanager
async def talking(server, capabilities=None):
    """A connection that leaves nothing behind."""
    talk = Talk(server, capabilities)
    try:
        yield talk
    finally:
        async with asyncio.timeout(10):
            await talk.connection.aclose()
        server.threads.close()
    assert talk.connection.is_idle
