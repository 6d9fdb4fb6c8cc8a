"""Event streams that outlive their connection, and the one that belongs to no request.

A server may end a connection before it has said everything, and goes on where it stopped when it is asked
with the id of the last event. `Resumption` remembers that id and how long to wait; `HttpListener` keeps a
stream open on which the server says what nobody asked for.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import aiohttp

from mesero.errors import ConnectError, DisconnectedError, MeseroError, RpcError, TransportError
from mesero.framing import Event, EventFramer, TooLong
from mesero.jsonrpc import Notification, Request, decode_batch, decode_message
from mesero.transports import HttpFacts, Received
from mesero.transports.http_answers import EVENT_STREAM, media_type_of
from mesero.transports.http_failures import body_failure_for
from mesero.transports.http_link import HttpLink

__all__ = ["HttpListener", "Resumption", "is_event_stream"]

_FIRST_WAIT_S = 0.2
_LONGEST_WAIT_S = 30.0
_MAX_FAILURES = 5
_MAX_RETRY_S = 3600.0
_MIN_RETRY_S = 0.01
"""A server that says 0 and closes the stream each time would keep us busy with nothing else."""
_PASSING_STATUSES = (408, 425, 429, 500, 502, 503, 504)
"""What may be over soon."""


def is_event_stream(response: aiohttp.ClientResponse) -> bool:
    """Whether a response is an event stream."""
    return 200 <= response.status < 300 and media_type_of(response.headers) == EVENT_STREAM


class Resumption:
    """Where one stream stopped, and how long to wait before it is asked for again.

    Attributes:
        last_event_id: The id of the last event, "" when events have none.
    """

    def __init__(self, link: HttpLink) -> None:
        self._link = link
        self.last_event_id = ""
        self._retry_s: float | None = None
        self._tries = 0

    def note(self, event: Event) -> None:
        """An event came: the next wait is short again, unless the server says otherwise."""
        self._tries = 0
        if event.event_id is not None:
            self.last_event_id = event.event_id
        if event.retry_ms is not None:
            self._retry_s = min(max(event.retry_ms / 1000, _MIN_RETRY_S), _MAX_RETRY_S)

    async def wait(self) -> None:
        """Wait as long as the server said; else longer and longer, up to a limit, and never in step with
        others.
        """
        wait_s = min(_FIRST_WAIT_S * 2**self._tries, _LONGEST_WAIT_S)
        self._tries = min(self._tries + 1, 20)
        if self._retry_s is not None:
            # "The client MUST respect the retry field, waiting the given number of milliseconds before
            # attempting to reconnect."
            # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
            wait_s = self._retry_s if self._tries == 1 else max(self._retry_s, wait_s)
            await asyncio.sleep(wait_s * random.uniform(1.0, 1.05))  # noqa: S311  (nothing is kept secret)
            return
        await asyncio.sleep(wait_s * random.uniform(0.75, 1.25))  # noqa: S311  (nothing is kept secret)

    async def reopen(self, failure: MeseroError) -> aiohttp.ClientResponse:
        """The stream after its last event.

        Raises:
            DisconnectedError: the ``failure`` that ended it, and why it does not go on.
        """
        for tries_left in reversed(range(_MAX_FAILURES)):
            await self.wait()
            try:
                response = await self._link.ask_for_events(last_event_id=self.last_event_id)
            except (ConnectError, DisconnectedError) as error:
                if not tries_left:
                    raise _unresumed(failure, str(error)) from None
                continue
            if is_event_stream(response):
                return response
            status, reason = response.status, response.reason or ""
            self._link.close(response)
            if status not in _PASSING_STATUSES or not tries_left:
                raise _unresumed(failure, f"GET {self._link.target} → {status} {reason}".rstrip())
        raise failure


def _unresumed(failure: MeseroError, why: str) -> DisconnectedError:
    last_message = failure.last_message if isinstance(failure, DisconnectedError) else b""
    return DisconnectedError(f"{failure.what}; it could not be resumed: {why}", last_message=last_message)


class HttpListener:
    """The stream on which a server says what belongs to no request; what comes goes to the link's inbox.

    Args:
        link: Where to.
        on_gap: Called when the stream is back, and what was said meanwhile is lost.
    """

    def __init__(self, link: HttpLink, *, on_gap: Callable[[], None] | None = None) -> None:
        self._link = link
        self._on_gap = on_gap
        self._resumption = Resumption(link)
        self._was_open = False

    async def run(self) -> None:
        """Keep the stream open until the server refuses it. Cancelling closes it."""
        while True:
            try:
                response = await self._link.ask_for_events(last_event_id=self._resumption.last_event_id)
            except TransportError:
                await self._resumption.wait()
                continue
            except MeseroError:
                return
            if is_event_stream(response):
                await self._read(response)
            elif not await self._has_to_wait(response):
                return
            await self._resumption.wait()

    async def _has_to_wait(self, response: aiohttp.ClientResponse) -> bool:
        """Whether the server may offer the stream later."""
        status = response.status
        self._link.close(response)
        if status == 404 and self._was_open and self._link.conduct.on_lost is not None:
            # At the first time it may as well say that there is no such stream.
            where = f"GET {self._link.target} → 404"
            self._link.conduct.on_lost(DisconnectedError(f"{where}: the server does not know us any more"))
        # "or else return HTTP 405 Method Not Allowed, indicating that the server does not offer an SSE
        # stream at this endpoint": then there is none, which is no fault.
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
        return status in _PASSING_STATUSES

    async def _read(self, response: aiohttp.ClientResponse) -> None:
        if self._was_open and not self._resumption.last_event_id and self._on_gap is not None:
            self._on_gap()
        self._was_open = True
        framer = EventFramer(max_bytes=self._link.max_bytes)
        facts = self._link.facts_of(response, is_event=True)
        watch = self._link.watch
        if watch is not None:
            watch.begin_stream(response)
        try:
            while data := await response.content.readany():
                for frame in framer.receive(data):
                    if watch is not None:
                        watch.take_event(response, frame)
                    self._take(frame, facts)
            if watch is not None:
                watch.end(response, "s2c")
        except (aiohttp.ClientError, OSError) as error:
            # It broke off, which is told like an end.
            if watch is not None:
                watch.break_off(
                    response, body_failure_for(error, f"GET {self._link.target}", came="the stream had begun")
                )
        finally:
            self._link.close(response)

    def _take(self, frame: Event | TooLong, facts: HttpFacts) -> None:
        if isinstance(frame, TooLong):
            self._link.dropped.append(("too long", frame.beginning[:200]))
            return
        self._resumption.note(frame)
        batch = decode_batch(frame.data) if self._link.conduct.accepts_batches else None
        for raw in batch or ([frame.data] if frame.data else []):
            self._take_message(raw, facts)

    def _take_message(self, raw: bytes, facts: HttpFacts) -> None:
        try:
            message = decode_message(raw)
        except RpcError:
            self._link.dropped.append(("no message", raw[:200]))
            return
        self._link.observe(raw, facts)
        if isinstance(message, (Request, Notification)):
            self._link.inbox.put(Received(raw, message, facts))
        else:
            # "The server MUST NOT send a JSON-RPC response on the stream unless resuming a stream
            # associated with a previous client request."
            self._link.dropped.append(("unknown", raw[:200]))
