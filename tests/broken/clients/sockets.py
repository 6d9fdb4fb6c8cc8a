"""A client over HTTP that knows nothing by itself: raw requests through the recording proxy to a server."""

import asyncio
import contextlib
import json
import time
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from yarl import URL

from mesero.trace.proxy import Proxy, open_proxy
from mesero.trace.scribe import ScribeSettings, Transcript

WITHIN_S = 30
BOTH = "application/json, text/event-stream"


class Answer(NamedTuple):
    """What came back; ``headers`` have their names in lower case."""

    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Wire:
    """Requests to an endpoint, each on a connection of its own. ``headers`` go with every one of them."""

    def __init__(self, url):
        self.path = urlsplit(url).path
        self._place = urlsplit(url)
        self.headers = {}

    @contextlib.asynccontextmanager
    async def opened(self, method, path=None, *, body=b"", **headers):
        """Send a request and read the head of its answer; leaving closes the connection."""
        reader, writer = await asyncio.open_connection(self._place.hostname, self._place.port)
        try:
            named = {"Host": self._place.netloc, "Connection": "close", **self.headers}
            named |= {name.replace("_", "-"): value for name, value in headers.items()}
            head = [f"{method} {path or self.path} HTTP/1.1", *(f"{k}: {v}" for k, v in named.items() if v)]
            writer.write("\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body)
            yield Stream(reader, *await _read_head(reader))
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def send(self, method, path=None, *, body=b"", **headers):
        """Send a request; the whole answer."""
        async with asyncio.timeout(WITHIN_S), self.opened(method, path, body=body, **headers) as stream:
            return Answer(stream.status, stream.headers, await stream.read())

    async def post(self, message, **headers):
        """Post a message; the whole answer."""
        return await self.send("POST", **self.posting(message, **headers))

    def posting(self, message, **headers):
        """The body and the headers of a message that is posted."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        return {"body": body, "Content_Type": "application/json", "Accept": BOTH, **headers}

    async def form(self, path, **fields):
        """Post a form."""
        kind = "application/x-www-form-urlencoded"
        return await self.send(
            "POST", path, body=urlencode(fields).encode(), Content_Type=kind, Authorization=""
        )

    async def visit(self, path, **fields):
        """What a browser does at an address."""
        return await self.send("GET", f"{path}?{urlencode(fields)}", Authorization="")


class Stream:
    """An answer whose body is read piece by piece."""

    def __init__(self, reader, status, headers):
        self._reader = reader
        self.status = status
        self.headers = headers

    async def _pieces(self):
        if self.headers.get("transfer-encoding") != "chunked":
            while data := await self._reader.read(65536):
                yield data
            return
        while size := int(await self._reader.readline() or b"0", 16):
            yield await self._reader.readexactly(size)
            await self._reader.readexactly(2)

    async def read(self):
        """All of it, or what came until the connection broke."""
        found = b""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            async for piece in self._pieces():
                found += piece
        return found

    async def read_until(self, words):
        """What came until these words did."""
        found = b""
        async with asyncio.timeout(WITHIN_S):
            async for piece in self._pieces():
                found += piece
                if words in found:
                    break
        return found


async def _read_head(reader):
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = (line.partition(":")[::2] for line in lines[1:] if line)
    return int(lines[0].split()[1]), {name.lower(): value.strip() for name, value in pairs}


class _Scribe:
    """Makes the recording that the process beside a proxy makes, in this process."""

    def __init__(self, url, path):
        settings = ScribeSettings(path=str(path), name="server", transport="http", target=url)
        self._transcript = Transcript(settings, print, t=time.monotonic())

    def tell(self, event, *values, bulk=0):
        self._transcript.t = time.monotonic()
        self._transcript.receive(event, list(values))

    def close(self):
        self._transcript.close()


async def record(client, url, path):
    """Let a client talk with the server at a URL through the proxy, recording to a file."""
    scribe = _Scribe(url, path)
    proxy = Proxy(URL(url, encoded=True), scribe, complain=lambda text: None)
    try:
        async with asyncio.timeout(WITHIN_S), open_proxy(proxy, "127.0.0.1", 0) as own:
            await client(Wire(own))
    finally:
        scribe.close()
