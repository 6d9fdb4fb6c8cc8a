"""One exchange over HTTP: a POST, and the JSON or the event stream that answers it.

The POST runs inside `HttpExchange.receive`, in the caller's own task: cancelling the caller closes the
socket, which is how a request is cancelled over HTTP. Nothing is queued between the socket and the caller.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
"""

from __future__ import annotations

import asyncio
from collections import deque

import aiohttp

from mesero.errors import ClosedError, DisconnectedError, MeseroError, ProtocolError, RpcError, UsageError
from mesero.framing import Event, EventFramer, TooLong
from mesero.jsonrpc import Message, Notification, Request, decode_batch, decode_message
from mesero.transports import HttpFacts, Outgoing, Received
from mesero.transports.http_answers import is_answer_to, read_answer, stray_error_for
from mesero.transports.http_failures import body_failure_for
from mesero.transports.http_link import HttpLink
from mesero.transports.http_stream import Resumption, is_event_stream

__all__ = ["HttpExchange"]


class HttpExchange:
    """One request and everything that answers it; see `mesero.transports.Exchange`."""

    __slots__ = (
        "_cancels",
        "_error",
        "_facts",
        "_framer",
        "_frames",
        "_heard",
        "_last_message",
        "_link",
        "_outgoing",
        "_reader",
        "_response",
        "_resumption",
        "id",
        "is_over",
        "method",
    )

    def __init__(self, link: HttpLink, outgoing: Outgoing) -> None:
        self.id = outgoing.id
        self.method = outgoing.method
        self._link = link
        self._outgoing = outgoing
        self._response: aiohttp.ClientResponse | None = None
        self._facts: HttpFacts | None = None
        self._framer: EventFramer | None = None
        self._resumption: Resumption | None = None
        self._frames: deque[Event | TooLong] = deque()
        self._heard = 0
        self._last_message = b""
        self._error: MeseroError | None = None
        self.is_over = False
        self._reader: asyncio.Task[object] | None = None
        self._cancels = 0

    async def receive(self) -> Received:
        """See `mesero.transports.Exchange.receive`."""
        if self._error is not None:
            raise self._error
        self._begin_reading()
        try:
            return await (self._send() if self._framer is None else self._next_message())
        except asyncio.CancelledError:
            ended_by = self._find_own_cancel()
            if ended_by is not None:
                raise ended_by from None
            if self._framer is None:
                # A POST that was cut off cannot be continued; an open event stream can, until `close`.
                self._give_up("the caller gave up")
            raise
        except MeseroError as error:
            self.end(error)
            raise
        finally:
            self._reader = None

    def _begin_reading(self) -> None:
        reader = asyncio.current_task()
        if reader is None:
            raise UsageError("an exchange is read inside a task")
        self._reader = reader
        self._cancels = reader.cancelling()

    def _find_own_cancel(self) -> MeseroError | None:
        """The error that `end` left for the reader that it cancelled; None when others cancelled it, too."""
        if self._error is None or self._reader is None or self._reader.uncancel() > self._cancels:
            return None
        return self._error

    # -- reading -----------------------------------------------------------------------------------------

    async def _send(self) -> Received:
        """Send the request; the first message that answers it, or the only one."""
        link = self._link
        link.waiting.add(self)
        response = self._response = await link.post(self._outgoing.raw, self._outgoing.headers)
        if is_event_stream(response):
            self._follow(response)
            self._resumption = Resumption(link) if link.conduct.resumes else None
            return await self._next_message()
        answer = await link.read_answer(response)
        message = read_answer(answer, self.id, self.method)
        facts = link.facts_of(response)
        link.observe(answer.body, facts)
        self._finish()
        return Received(answer.body, message, facts)

    def _follow(self, response: aiohttp.ClientResponse) -> None:
        """An event stream begins, or goes on."""
        if self._link.watch is not None:
            self._link.watch.begin_stream(response)
        self._facts = self._link.facts_of(response, is_event=True)
        self._framer = EventFramer(max_bytes=self._link.max_bytes)

    async def _next_message(self) -> Received:
        while True:
            while self._frames:
                received = self._take_frame(self._frames.popleft())
                if received is not None:
                    return received
            await self._read_frames()

    async def _read_frames(self) -> None:
        framer, watch = self._framer, self._link.watch
        if framer is None:
            raise self._given_up_error()
        if self._response is None:
            # Whoever waited for the stream to go on was cancelled; the next one waits again.
            await self._resume(self._ended_early_error(framer))
            return
        try:
            data = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            failure = body_failure_for(error, self._where, came=self._came, last_message=self._last_message)
            if watch is not None:
                watch.break_off(self._response, failure)
            await self._resume(failure)
            return
        if not data:
            if watch is not None:
                watch.end(self._response, "s2c")
            await self._resume(self._ended_early_error(framer))
        frames = framer.receive(data)
        if watch is not None and self._response is not None:
            for frame in frames:
                watch.take_event(self._response, frame)
        self._frames.extend(frames)

    async def _resume(self, failure: MeseroError) -> None:
        """Go on with the stream after its last event; or raise the failure that ended it."""
        link, resumption = self._link, self._resumption
        if resumption is None or not resumption.last_event_id or link.closed.is_set():
            raise link.closed_error_or(failure)
        response, self._response = self._response, None
        if response is not None:
            link.close(response)
        self._response = response = await resumption.reopen(failure)
        self._follow(response)

    def _take_frame(self, frame: Event | TooLong) -> Received | None:
        """One event: a message to hand on, or nothing."""
        if isinstance(frame, TooLong):
            raise self._link.too_long_error(frame.beginning)
        if self._resumption is not None:
            self._resumption.note(frame)
        if not frame.data:
            return None  # An id or a retry time alone.
        try:
            message = decode_message(frame.data)
        except RpcError as error:
            batch = decode_batch(frame.data) if self._link.conduct.accepts_batches else None
            if batch is not None:
                self._frames.extendleft(Event(part) for part in reversed(batch))
                return None
            what = f"{self._where}: an event that is no message came for {self.method}: {error.message}"
            raise ProtocolError(what, excerpt=frame.data) from None
        return self._take_message(message, frame.data)

    def _take_message(self, message: Message, raw: bytes) -> Received | None:
        if isinstance(message, Request) and not self._link.conduct.passes_requests:
            # "The server MUST NOT send independent JSON-RPC requests on this stream."
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
            self._link.dropped.append(("request", raw[:200]))
            return None
        is_aside = isinstance(message, (Request, Notification))
        if not is_aside and not is_answer_to(message, self.id):
            raise stray_error_for(message, raw, self.id, self.method, self._where)
        self._heard += 1
        self._last_message = raw
        self._link.observe(raw, self._facts)
        received = Received(raw, message, self._facts)
        if not is_aside:
            self._finish()
        elif self._link.conduct.passes_requests and not _is_for_a_request(message):
            # What the server asks is answered, and what it says to everybody heard, in one place.
            self._link.inbox.put(received)
            return None
        return received

    # -- for messages to people --------------------------------------------------------------------------

    @property
    def _where(self) -> str:
        return f"POST {self._link.target}"

    @property
    def _came(self) -> str:
        if not self._heard:
            return "no message had come"
        return f"{self._heard} message{'s' if self._heard > 1 else ''} had come"

    def _ended_early_error(self, framer: EventFramer) -> DisconnectedError:
        what = f"the event stream ended without the response to {self.method} (id {self.id!r}); {self._came}"
        if any(isinstance(frame, TooLong) or frame.data for frame in framer.receive(b"\n\n")):
            what += "; the last event was not finished by an empty line"
        status = None if self._facts is None else self._facts.status
        return DisconnectedError(f"{self._where} → {what}", status=status, last_message=self._last_message)

    def _given_up_error(self, reason: str = "") -> ClosedError:
        text = f"{self.method} was given up: {reason}" if reason else f"{self.method} was given up"
        return ClosedError(text, where=self._link.target)

    # -- the end -----------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """The response has come: nothing follows it; its connection can be used again when its body ends."""
        self.is_over = True
        self._error = ClosedError(f"the response to {self.method} was read", where=self._link.target)
        self._link.waiting.discard(self)
        response, self._response = self._response, None
        if response is not None:
            self._link.drain(response)

    def end(self, error: MeseroError) -> None:
        """End the exchange at once, also under a task that waits in `receive`: that one gets the error."""
        if self._error is not None:
            return
        self.is_over = True
        self._error = error
        self._link.waiting.discard(self)
        response, self._response = self._response, None
        if response is not None:
            self._link.close(response)
        if self._reader is not None and self._reader is not asyncio.current_task():
            self._reader.cancel()

    def _give_up(self, reason: str) -> None:
        is_news = self._error is None
        self.end(self._given_up_error(reason))
        if is_news and self._link.conduct.tells_cancellation:
            self._link.tell_cancelled(self.id, reason)

    def abandon(self) -> None:
        """Give the request up without telling the server in a message of its own."""
        self.end(self._given_up_error())

    async def close(self, reason: str = "") -> None:
        """See `mesero.transports.Exchange.close`."""
        # "Closing the SSE response stream MUST be treated by the server as cancellation of that request."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#cancellation
        self._give_up(reason)


def _is_for_a_request(message: Message) -> bool:
    return isinstance(message, Notification) and message.method == "notifications/progress"
