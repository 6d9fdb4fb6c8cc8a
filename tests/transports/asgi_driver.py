"""The ASGI server's side of one HTTP request, in this process: what an application receives and sends."""

import asyncio
import json

from mesero.framing import EventFramer

BOTH = b"application/json, text/event-stream"
GOOD_HEADERS = {
    "host": "127.0.0.1:8000",
    "content-type": "application/json",
    "accept": BOTH.decode(),
}


def lines_of(headers):
    """Header lines as ASGI has them, from a dict (None leaves one out) or from pairs."""
    pairs = headers.items() if isinstance(headers, dict) else headers
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs if value is not None]


class Exchange:
    """One request to an application. `run` waits for its end; `start` leaves it running."""

    def __init__(self, app, *, body=b"", chunks=None, headers=None, method="POST", path="/mcp", root_path=""):
        self.scope = {
            "type": "http",
            "method": method,
            "path": path,
            "root_path": root_path,
            "headers": lines_of(GOOD_HEADERS if headers is None else headers),
        }
        self._app = app
        chunks = [body] if chunks is None else chunks
        last = len(chunks) - 1
        self._events = [
            {"type": "http.request", "body": chunk, "more_body": number < last}
            for number, chunk in enumerate(chunks)
        ]
        self._over = asyncio.Event()
        self.room = asyncio.Event()
        self.room.set()
        self.sent = []
        self.broken_with = None
        self.task = None

    async def _receive(self):
        if self._events:
            return self._events.pop(0)
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def _send(self, event):
        await self.room.wait()
        if self.broken_with is not None:
            raise self.broken_with
        if self._over.is_set() and not self.is_complete:
            return
        assert not self.is_complete, f"{event} after the end"
        assert bool(self.sent) == (event["type"] == "http.response.body"), f"{event} out of order"
        self.sent.append(event)
        if self.is_complete:
            self._over.set()

    def start(self):
        self.task = asyncio.get_running_loop().create_task(self._app(self.scope, self._receive, self._send))
        return self

    async def run(self):
        async with asyncio.timeout(10):
            await self.start().task
        return self

    def disconnect(self):
        self._events.clear()
        self._over.set()

    async def until(self, condition):
        async with asyncio.timeout(10):
            while not condition():  # noqa: ASYNC110  (conditions of any kind, none of which sets an event)
                await asyncio.sleep(0.005)

    @property
    def is_complete(self):
        return len(self.sent) > 1 and not self.sent[-1].get("more_body", False)

    @property
    def status(self):
        return self.sent[0]["status"]

    @property
    def headers(self):
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self):
        return b"".join(event.get("body", b"") for event in self.sent[1:])

    @property
    def json(self):
        assert int(self.headers["content-length"]) == len(self.body)
        return json.loads(self.body)

    @property
    def events(self):
        """The messages of an event stream."""
        assert self.headers["content-type"] == "text/event-stream"
        return [json.loads(event.data) for event in EventFramer().receive(self.body)]

    @property
    def comments(self):
        return self.body.count(b":\n\n")
