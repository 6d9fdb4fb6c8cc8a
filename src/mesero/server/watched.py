"""A server's connections while somebody watches: what is told is what passes, byte for byte.

Both stand outside of what they watch, a stream's connection and an ASGI application, so that those cost
nothing more when nobody does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from mesero.framing import LineFramer
from mesero.server.stream import StreamConnection
from mesero.transports import HttpFacts
from mesero.transports.http_server import Receive, Scope
from mesero.transports.watching import Watch

if TYPE_CHECKING:
    from mesero.server.server import Server
    from mesero.trace.http_tape import HttpTape

__all__ = ["HttpTap", "WatchedConnection"]

_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class WatchedConnection(StreamConnection):
    """One client on a byte stream, and who watches it.

    Args:
        server: Who answers.
        send: Puts bytes on the stream without blocking.
        watch: Whom to tell.
    """

    def __init__(self, server: Server, send: Callable[[bytes], None], watch: Watch) -> None:
        super().__init__(server, self._tell_and_send)
        self._send_on = send
        self._watch = watch
        self._heard = LineFramer(max_bytes=server.max_message_bytes)
        self._has_input_ended = False
        self._has_ended = False

    def _tell_and_send(self, data: bytes) -> None:
        # What is sent is whole lines.
        for line in data.removesuffix(b"\n").split(b"\n"):
            self._watch.message("s2c", line)
        self._send_on(data)

    def receive_bytes(self, data: bytes) -> None:
        """See `StreamConnection.receive_bytes`."""
        for frame in self._heard.receive(data):
            self._watch.frame("c2s", frame)
        super().receive_bytes(data)

    def receive_eof(self) -> None:
        """See `StreamConnection.receive_eof`."""
        self._tell_end_of_input()
        super().receive_eof()

    def _tell_end_of_input(self) -> None:
        if not self._has_input_ended:
            self._has_input_ended = True
            rest = self._heard.receive_eof()
            if rest:
                self._watch.text("c2s", rest)
            self._watch.eof("c2s")

    async def aclose(self) -> None:
        """See `StreamConnection.aclose`."""
        self._tell_end_of_input()
        await super().aclose()
        if not self._has_ended:
            self._has_ended = True
            self._watch.eof("s2c")


class HttpTap:
    """Goes between an ASGI server and an application, and tells of each request and its answer.

    Args:
        watch: Whom to tell.
        paths: The paths at which messages are taken, as the application sees them.
    """

    def __init__(self, watch: Watch, paths: frozenset[str]) -> None:
        self._watch = watch
        self._paths = paths
        self._count = 0

    def __call__(self, scope: Scope, path: str, receive: Receive, send: _Send) -> tuple[Receive, _Send]:
        """The two functions of one request, each with an ear.

        Args:
            scope: The ASGI scope of the request.
            path: Its path as the application sees it.
            receive: Its next event.
            send: Sends an event.
        """
        from mesero.trace.http_tape import HttpTape

        self._count += 1
        url = _url_of(scope)
        tape = HttpTape(
            self._tell, _explain_nothing, self._count, is_endpoint=path in self._paths, own_url=url
        )
        exchange = _Exchange(tape, scope, url, receive, send)
        return exchange.receive, exchange.send

    def _tell(self, event: str, *values: Any, bulk: int = 0) -> None:
        del bulk  # Of interest where what is told has to wait.
        if event == "message":
            direction, raw, http = values
            self._watch.message(direction, raw, _facts_from(http))
        elif event == "http":
            direction, http, body, error = values
            self._watch.http(direction, _facts_from(http), body=body, error=error)
        elif event == "end_exchange":
            direction, exchange = values
            self._watch.eof(direction, exchange=exchange)
        else:
            self._watch.note(values[0])


class _Exchange:
    """One request and its answer."""

    def __init__(self, tape: HttpTape, scope: Scope, url: str, receive: Receive, send: _Send) -> None:
        self._tape = tape
        self._scope = scope
        self._url = url
        self._receive = receive
        self._send = send
        self._parts: list[bytes] = []
        self._has_asked = False

    async def receive(self) -> MutableMapping[str, Any]:
        event = await self._receive()
        if event["type"] == "http.disconnect":
            self._ask()
            self._tape.give_up()
        elif not self._has_asked:
            self._parts.append(event.get("body", b""))
            if not event.get("more_body"):
                self._ask()
        return event

    async def send(self, event: MutableMapping[str, Any]) -> None:
        # A refusal may come before the body was read.
        self._ask()
        if event["type"] == "http.response.start":
            self._tape.begin_answer(event["status"], _headers_from(event["headers"]))
        elif event["type"] == "http.response.body":
            if event.get("body"):
                self._tape.take(event["body"])
            if not event.get("more_body"):
                self._tape.finish()
        await self._send(event)

    def _ask(self) -> None:
        if not self._has_asked:
            self._has_asked = True
            headers = _headers_from(self._scope["headers"])
            self._tape.ask(self._scope["method"], self._url, headers, b"".join(self._parts))


def _explain_nothing(subject: str, text: str) -> None:
    """Nobody stands in between here, so there is nothing to explain."""


def _url_of(scope: Scope) -> str:
    host = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
    query = scope.get("query_string", b"").decode("latin-1")
    return f"{scope.get('scheme', 'http')}://{host}{scope['path']}" + (f"?{query}" if query else "")


def _headers_from(lines: Any) -> dict[str, str | list[str]]:
    from mesero.trace.http_tape import headers_from

    return headers_from((name.decode("latin-1"), value.decode("latin-1")) for name, value in lines)


def _facts_from(http: dict[str, Any]) -> HttpFacts:
    """What the tape says, as observers get it."""
    headers = http.get("headers", {})
    pairs = ((name, one) for name, value in headers.items() for one in _each(value))
    return HttpFacts(
        method=http.get("method", "POST"),
        url=http.get("url", ""),
        status=http.get("status", 0),
        headers=tuple(pairs),
        is_event=http.get("sse", False),
        exchange=http["exchange"],
        event=http.get("event", "message"),
        event_id=http.get("event_id"),
        retry_ms=http.get("retry"),
    )


def _each(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
