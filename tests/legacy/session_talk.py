"""A client of dicts for the tests of sessions: it says what a test wants said, and answers questions."""

import asyncio
from contextlib import asynccontextmanager

from mesero.errors import ResourceNotFoundError, RpcError
from mesero.revisions.judge import check_message
from mesero.server import Context
from tests.server.talking import Talk, meta, quiet_server

HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
EVERYTHING = {
    "2024-11-05": {"roots": {"listChanged": True}, "sampling": {}},
    "2025-03-26": {"roots": {"listChanged": True}, "sampling": {}},
    "2025-06-18": {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}},
    "2025-11-25": {
        "roots": {"listChanged": True},
        "sampling": {"tools": {}, "context": {}},
        "elicitation": {"form": {}, "url": {}},
    },
}
ME = {"name": "test", "version": "1"}


def notification(method, params=None):
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def notes_server(**options):
    """A bit of everything, and a gate to wait at."""
    server = quiet_server(instructions="Be kind.", **options)
    server.gate = asyncio.Event()
    server.has_begun = asyncio.Event()
    server.ended = []

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def wait() -> str:
        server.has_begun.set()
        try:
            await server.gate.wait()
        except asyncio.CancelledError:
            server.ended.append("cancelled")
            raise
        return "waited"

    @server.tool
    async def fail(code: int) -> str:
        raise RpcError("so it is", code=code) if code else ValueError("no code")

    @server.tool
    async def work(ctx: Context) -> str:
        await ctx.log("debug", "beginning")
        await ctx.report_progress(1, 2, "half")
        await ctx.log("warning", {"is": "odd"}, logger="here")
        await ctx.report_progress(2, 2)
        return "worked"

    @server.tool
    async def who(ctx: Context) -> dict[str, str | None]:
        info = ctx.client.info
        return {"name": info and info.name, "revision": ctx.client.revision}

    @server.resource("notes://one")
    def one() -> str:
        return "first"

    @server.resource("notes://{id}")
    def note(id: str) -> str:
        raise ResourceNotFoundError(f"notes://{id}")

    @server.prompt
    def greet(name: str) -> str:
        return f"Greet {name}"

    @server.completion("greet", "name")
    def names(typed: str) -> list[str]:
        return [name for name in ("Ana", "Ben") if name.startswith(typed)]

    return server


class SessionTalk(Talk):
    """`Talk` whose requests carry nothing that a session knows."""

    def __init__(self, server, revision="2025-11-25"):
        super().__init__(server)
        self.revision = revision
        self.methods = {}
        self.stateless = set()

    def request(self, method, params=None, *, id=None, metadata=None):
        given = dict(params or {})
        if metadata is not None:
            given["_meta"] = metadata
        message = {"jsonrpc": "2.0", "id": next(self._ids) if id is None else id, "method": method}
        return {**message, "params": given} if given else message

    def send(self, *messages):
        for message in messages:
            if "method" in message and "id" in message:
                self.methods[message["id"]] = message["method"]
        super().send(*messages)

    def faults(self):
        """What does not fit the revision's official schema, of everything that the server said."""
        return [
            (message, fault)
            for one in self.said
            for message in (one if isinstance(one, list) else [one])
            if message.get("id") not in self.stateless
            for fault in check_message(self.revision, message, answers=self._method_answered_by(message))
        ]

    def _method_answered_by(self, message):
        return None if "method" in message else self.methods.get(message.get("id"))

    def stateless_request(self, method, params=None, **options):
        request = super().request(method, params, metadata=meta(), **options)
        self.stateless.add(request["id"])
        return request

    def initialize_request(self, revision="2025-11-25", capabilities=None, **options):
        declared = EVERYTHING.get(revision, {}) if capabilities is None else capabilities
        params = {"protocolVersion": revision, "capabilities": declared, "clientInfo": ME}
        return self.request("initialize", params, **options)

    async def initialize(self, revision="2025-11-25", capabilities=None):
        """The result of `initialize`."""
        request = self.initialize_request(revision, capabilities)
        self.send(request)
        answer = await self.answer_to(request)
        assert "result" in answer, answer
        return answer["result"]

    async def open(self, revision="2025-11-25", capabilities=None):
        """The whole handshake."""
        result = await self.initialize(revision, capabilities)
        self.send(notification("notifications/initialized"))
        return result

    async def question(self, method, number=0):
        """The server's request of that method, the one with that number, as a whole message."""

        def find(said):
            return [one for one in said if one.get("method") == method and "id" in one][number:]

        return (await self.until(find))[0]

    def reply(self, question, result=None, *, error=None):
        answer = {"jsonrpc": "2.0", "id": question["id"]}
        self.send({**answer, "result": result} if error is None else {**answer, "error": error})

    async def notified(self, method, count=1):
        return await self.until(
            lambda _: len(self.notifications(method)) >= count and self.notifications(method)
        )


@asynccontextmanager
async def in_session(server, revision="2025-11-25", capabilities=None, *, is_open=True):
    """A connection whose handshake is done, unless the test does it itself; it leaves nothing behind."""
    talk = SessionTalk(server, revision)
    try:
        if is_open:
            await talk.open(revision, capabilities)
        yield talk
    finally:
        async with asyncio.timeout(10):
            await talk.connection.aclose()
        server.threads.close()
    assert talk.connection.is_idle
    assert talk.faults() == []
    assert len(server.subscriptions) == 0
