"""Streamable HTTP, the server's side: an ASGI endpoint that turns each POST into one call and one reply.

It knows HTTP and server-sent events, and neither eras nor methods: a function takes the body, the header
lines and an `HttpReply`. That function runs in the request's own task, and nothing else is started for a
request that is answered at once. Only one that still runs at the second tick of the endpoint's clock gets a
task that watches for the client.

Other methods are 405 and other paths 404, unless they were asked for: those go to a second function.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from mesero.transports.http_gate import Gate, HeaderLines, Refusal, Welcome, refusal_for
from mesero.transports.http_reply import HttpReply, Send

__all__ = ["HttpEndpoint", "Receive", "ReceiveOther", "ReceivePost", "Scope", "Tap", "path_below_mount"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

ReceivePost = Callable[[bytes, HeaderLines, HttpReply], Awaitable[None]]
"""Takes a whole body, the header lines and the reply; answers before it returns."""

ReceiveOther = Callable[[Scope, bytes, HttpReply], Awaitable[None]]
"""Takes a request that is no POST to the endpoint's path: scope, whole body, reply."""

Tap = Callable[[Scope, str, Receive, Send], tuple[Receive, Send]]
"""Takes a request's scope, its path as the application sees it, and its two functions; gives two others."""

_TICK_S = 0.05
_KEEP_ALIVE_BATCH = 100


class HttpEndpoint:
    """One path that accepts POST, as an ASGI application: mount it, or run it alone.

    Args:
        receive_post: Called with each message, in the request's task.
        path: The exact path, below where it is mounted.
        gate: Who may come in.
        stream_after_s: After how many seconds without an answer the event stream begins.
        keep_alive_s: How often an open stream gets a comment, in seconds.
        on_shutdown: Called when the ASGI server says that it shuts down.
        receive_other: Called with each request to one of ``others``, in the request's task.
        others: Pairs of a path and a method that are served as well.
    """

    def __init__(
        self,
        receive_post: ReceivePost,
        *,
        path: str,
        gate: Gate,
        stream_after_s: float = 1.0,
        keep_alive_s: float = 15.0,
        on_shutdown: Callable[[], None] | None = None,
        receive_other: ReceiveOther | None = None,
        others: Collection[tuple[str, str]] = (),
    ) -> None:
        self.path = path
        self._receive_post = receive_post
        self._gate = gate
        self._stream_after_s = stream_after_s
        self._keep_alive_s = keep_alive_s
        self._on_shutdown = on_shutdown
        self._receive_other = receive_other
        self._others = frozenset(others)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._clock: asyncio.TimerHandle | None = None
        self._beat: asyncio.TimerHandle | None = None
        self._fresh: set[HttpReply] = set()
        self._slow: set[HttpReply] = set()
        self._streams: set[HttpReply] = set()
        self._is_closing = False
        self.tap: Tap | None = None
        """Puts somebody who listens in between the ASGI server and each request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI scope: a request, the lifespan, or a WebSocket, which is refused."""
        if scope["type"] != "http":
            await self._serve_other(scope, receive, send)
            return
        path, method = scope["path"], scope["method"]
        if path != self.path:
            path = path_below_mount(scope)
        is_post = method == "POST" and path == self.path
        headers: HeaderLines = scope["headers"]
        if self.tap is not None:
            receive, send = self.tap(scope, path, receive, send)
        welcome = self._gate.check_post(headers) if is_post else self._check_other(scope, path)
        if isinstance(welcome, Refusal):
            await _send_refusal(send, welcome)
            return
        event = await receive()
        body = event.get("body")
        if body is None or event.get("more_body") or len(body) > self._gate.max_body_bytes:
            body = await self._read_body(event, receive)
            if isinstance(body, Refusal):
                await _send_refusal(send, body)
                return
        reply = HttpReply(receive, send, welcome, self._keep)
        if is_post or self._receive_other is None:
            await self._answer(self._receive_post(body, headers, reply), reply)
        else:
            await self._answer(self._receive_other(scope, body, reply), reply)

    def _check_other(self, scope: Scope, path: str) -> Welcome | Refusal:
        """What a request gets that is no POST to the endpoint's path."""
        method: str = scope["method"]
        if (path, method) in self._others:
            check = self._gate.check_post if method == "POST" else self._gate.check_bodiless
            return check(scope["headers"])
        allowed = ", ".join(sorted(served for other, served in self._others if other == path))
        if path != self.path and not allowed:
            return self._wrong_path(scope)
        if method == "OPTIONS":
            return self._gate.check_options(scope["headers"])
        allowed = "" if path == self.path else allowed
        return self._gate.check_other(method, scope["headers"], allowed=allowed or None)

    async def _read_body(self, event: MutableMapping[str, Any], receive: Receive) -> bytes | Refusal:
        """A body that came in several pieces, or not at all; ``event`` is its first."""
        parts: list[bytes] = []
        size = 0
        while event["type"] == "http.request":
            parts.append(event.get("body", b""))
            size += len(parts[-1])
            if size > self._gate.max_body_bytes:
                return self._gate.too_long()
            if not event.get("more_body"):
                return b"".join(parts)
            event = await receive()
        return refusal_for(400, "the connection ended within the body")

    async def _answer(self, answering: Awaitable[None], reply: HttpReply) -> None:
        loop = asyncio.get_running_loop()
        reply.task = asyncio.current_task(loop)
        self._fresh.add(reply)
        if self._clock is None or self._loop is not loop:
            self._start_clock(loop)
        try:
            await answering
        except asyncio.CancelledError:
            # The client left, or the endpoint closes: this task ends in good order. Other cancellations are
            # the affair of whoever made them.
            if not reply.is_gone and not self._is_closing:
                raise
            if reply.task is not None:
                reply.task.uncancel()
            if not reply.is_gone:
                await reply.abort()
        finally:
            self._fresh.discard(reply)
            reply.task = None
            if reply.watcher is not None or reply.has_begun_stream:
                self._forget(reply)

    # -- requests that take longer ---------------------------------------------------------------------------

    def _start_clock(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is not self._loop:
            # The application outlived an event loop; the timers of that one never fire.
            self._loop, self._beat = loop, None
        self._clock = loop.call_later(_TICK_S, self._tick)

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        for reply in list(self._fresh):
            if not reply.seen_s:
                reply.seen_s = now_s
                continue
            self._fresh.discard(reply)
            self._slow.add(reply)
            reply.watcher = loop.create_task(_watch(reply))
        for reply in list(self._slow):
            if reply.has_begun_stream:
                self._slow.discard(reply)
            elif now_s - reply.seen_s >= self._stream_after_s:
                self._slow.discard(reply)
                reply.keep_alive()
        self._clock = loop.call_later(_TICK_S, self._tick) if self._fresh or self._slow else None

    def _keep(self, reply: HttpReply) -> None:
        """A stream has begun: it gets comments from now on, all streams from one timer."""
        self._streams.add(reply)
        if self._beat is None:
            self._beat = asyncio.get_running_loop().call_later(self._keep_alive_s, self._keep_alive)

    def _keep_alive(self) -> None:
        if not self._streams:
            self._beat = None
            return
        loop = asyncio.get_running_loop()
        self._beat = loop.call_later(self._keep_alive_s, self._keep_alive)
        self._keep_alive_some(list(self._streams))

    def _keep_alive_some(self, replies: list[HttpReply]) -> None:
        """In small portions, so that ten thousand idle streams do not stop the others."""
        for reply in replies[:_KEEP_ALIVE_BATCH]:
            reply.keep_alive()
        if len(replies) > _KEEP_ALIVE_BATCH:
            asyncio.get_running_loop().call_soon(self._keep_alive_some, replies[_KEEP_ALIVE_BATCH:])

    def _forget(self, reply: HttpReply) -> None:
        self._slow.discard(reply)
        self._streams.discard(reply)
        if reply.watcher is not None:
            reply.watcher.cancel()

    def cancel_open(self) -> None:
        """Cancel every request that is still open: 503, or the end of its stream without a response."""
        self._is_closing = True
        for reply in (*self._fresh, *self._slow, *self._streams):
            if reply.task is not None and not reply.is_answered:
                reply.task.cancel()

    # -- what is no POST to the path -------------------------------------------------------------------------

    def _wrong_path(self, scope: Scope) -> Refusal:
        mount = scope.get("root_path", "").rstrip("/")
        body = f"Nothing is at {scope['path']}; the MCP endpoint is {mount}{self.path}\n".encode()
        lines = ((b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body)))
        return Refusal(404, lines, body)

    async def _serve_other(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._serve_lifespan(receive, send)
        elif scope["type"] == "websocket":
            # Before it was accepted, this makes the ASGI server answer 403.
            await send(
                {"type": "websocket.close", "code": 1002, "reason": "MCP is not spoken over WebSocket"}
            )

    async def _serve_lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            kind = (await receive())["type"]
            if kind == "lifespan.shutdown" and self._on_shutdown is not None:
                self._on_shutdown()
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return


async def _watch(reply: HttpReply) -> None:
    """Wait for the client's end. The response's own end looks the same, and does nothing."""
    while (await reply.receive())["type"] != "http.disconnect":
        pass
    reply.give_up()


def path_below_mount(scope: Scope) -> str:
    """The path of a request, as the application sees it wherever it is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", "").rstrip("/")) or "/"


async def _send_refusal(send: Send, refusal: Refusal) -> None:
    await send({"type": "http.response.start", "status": refusal.status, "headers": list(refusal.headers)})
    await send({"type": "http.response.body", "body": refusal.body})
