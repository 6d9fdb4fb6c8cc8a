"""The seam between a client and the bytes: one exchange per request, and nothing about eras.

A transport moves messages. `exchange` sends one request and hands back what answers it, message by message;
`notify` sends a notification; `unsolicited` yields what belongs to no request; `aclose` ends everything.
Third parties can write transports: this module is the whole contract, and
``mesero.testing.check_transport`` checks it.

Third-party errors are mapped to mesero's at this seam only.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

import msgspec

from mesero.errors import MeseroError
from mesero.jsonrpc import Id, Message

__all__ = [
    "Conduct",
    "Direction",
    "Exchange",
    "HttpFacts",
    "LinkObserver",
    "Observer",
    "Outgoing",
    "Received",
    "Transport",
]

Direction = Literal["c2s", "s2c"]
"""Client to server, or server to client."""


class HttpFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What HTTP said around a message.

    ``is_event`` is true when it came as a server-sent event, of the kind ``event``, with the id ``event_id``
    and the retry time ``retry_ms`` in milliseconds if it had them. ``exchange`` joins an answer with its
    request; it is 0 where nobody watches a whole link.
    """

    method: str = "POST"
    url: str = ""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    is_event: bool = False
    exchange: int = 0
    event: str = "message"
    event_id: str | None = None
    retry_ms: int | None = None

    def __repr__(self) -> str:
        # The values of headers are secrets often enough to be in no text that was not written for them.
        names = ", ".join(name for name, _ in self.headers)
        return f"HttpFacts({self.method} {self.url}, status={self.status}, headers: {names})"


class Outgoing(msgspec.Struct, frozen=True, gc=False):
    """A request ready to send: its bytes, and what a transport has to know of it without parsing them.

    ``headers`` are the mirrored HTTP headers (empty for transports that have none).
    """

    id: Id
    method: str
    raw: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Received(msgspec.Struct, frozen=True, gc=False):
    """A message as it came: the exact bytes, its decoded envelope, and what HTTP said around it."""

    raw: bytes
    message: Message
    http: HttpFacts | None = None


Observer = Callable[[Direction, bytes, HttpFacts | None], None]
"""Sees every message as it passes: the direction, the exact bytes, the HTTP facts. Must not block."""


@runtime_checkable
class LinkObserver(Protocol):
    """Sees all that happens on one connection, also what is no message. Nothing here may block.

    Called as an `Observer` with everything that stands where a message may: it is told as it came, before
    anybody made sense of it, a batch as one. An observer without all of these methods sees messages only.
    """

    def __call__(self, direction: Direction, raw: bytes, http: HttpFacts | None = None) -> None:
        """Bytes that should be a message."""

    def text(self, direction: Direction, raw: bytes) -> None:
        """The beginning of a message that is longer than the limit, or a last line that has no end."""

    def stderr(self, line: bytes) -> None:
        """A line that the server wrote to stderr."""

    def http(self, direction: Direction, http: HttpFacts, *, body: bytes = b"", error: str = "") -> None:
        """HTTP that carried no message: a status alone, an event without data, a broken connection."""

    def eof(self, direction: Direction, *, exchange: int | None = None) -> None:
        """The sender of this direction will send no more; over HTTP, on the stream of this exchange."""

    def spawn(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pid: int | None = None,
    ) -> None:
        """A server process was started, or could not be: then without ``pid``. ``env`` is what was added."""

    def exit(self, code: int) -> None:
        """The server process ended; a negative code is the number of the signal that ended it."""

    def note(self, text: str) -> None:
        """A remark."""


class Conduct(msgspec.Struct, kw_only=True):
    """What a transport does beside sending requests and handing back what answers them.

    Transports that can have one in the attribute ``conduct``; whoever speaks over it changes it as needed.

    Attributes:
        passes_requests: Whether the server may send requests, which `Transport.unsolicited` yields, with the
            notifications that cancel them; the answers go out by `Transport.notify`.
        accepts_batches: Whether an array of messages may stand where a message may.
        tells_cancellation: Over HTTP: whether giving a request up is told in a message of its own, too.
        resumes: Over HTTP: whether an event stream that ends early is asked for again, after its last event.
        headers: Over HTTP: sent with every request.
        on_lost: Called when what the server knows of us is gone, with the reason: its channel has ended, or
            it refuses the stream that it is listened to on.
    """

    passes_requests: bool = False
    accepts_batches: bool = False
    tells_cancellation: bool = False
    resumes: bool = False
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    on_lost: Callable[[MeseroError], None] | None = None


class Exchange(Protocol):
    """One request and everything that answers it, in order; the response is last.

    Attributes:
        is_over: Whether its response or its end has come: then there is nothing left to close.
    """

    is_over: bool

    async def receive(self) -> Received:
        """The next message that belongs to the request.

        Raises:
            TransportError: the connection ended first.
            ProtocolError: the server answered with something that is no valid message.
            ClosedError: the transport was closed from this side.
        """

    async def close(self, reason: str = "") -> None:
        """Give the request up if its response has not come: cancels it on the wire. Idempotent, never
        raises.
        """


class Transport(Protocol):
    """Moves messages to one server."""

    kind: str
    """``stdio``, ``http``, ``memory``, or a name of its own."""
    target: str
    """What it is connected to, for messages to people: a command, a URL."""
    mirrors_headers: bool
    """Whether `Outgoing.headers` are wanted. https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata"""

    @property
    def is_open(self) -> bool:
        """Whether an exchange can start right now. When false, `open` may bring it (back) up."""

    async def open(self) -> None:
        """Connect, or reconnect after the peer went away.

        Raises:
            TransportError: it could not be reached or started.
        """

    def exchange(self, outgoing: Outgoing) -> Exchange:
        """Send a request. Sending problems surface in `Exchange.receive`."""

    async def notify(self, raw: bytes) -> None:
        """Send a notification."""

    def unsolicited(self) -> AsyncIterator[Received]:
        """Messages that belong to no request, until the transport is closed."""

    async def aclose(self) -> None:
        """End everything: open exchanges fail with `ClosedError`. From any task, any number of times."""
