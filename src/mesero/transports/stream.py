"""The client's end of a newline-delimited byte stream: exchanges over one shared channel.

stdio and memory are built on it; so can a socket be. It writes lines, correlates what comes back by id,
progress token and subscription id, and fails at once every call whose answer came in a form that is none.

One exchange answered by one message costs one future and no queue.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

from __future__ import annotations

import asyncio
import copy
import re
from collections import deque
from collections.abc import AsyncIterator, Callable

import msgspec

from mesero.calls import Ledger, find_owner_id
from mesero.errors import ClosedError, DisconnectedError, MeseroError, ProtocolError, RpcError
from mesero.framing import LineFramer, TooLong
from mesero.jsonrpc import (
    MAX_MESSAGE_BYTES,
    ErrorResponse,
    Id,
    Notification,
    Request,
    ResultResponse,
    decode_batch,
    decode_message,
    encode_notification,
)
from mesero.misfits import NoiseLog, find_misfit
from mesero.transports import Conduct, Direction, HttpFacts, Observer, Outgoing, Received
from mesero.transports.inbox import Inbox
from mesero.transports.watching import guarded, watch_for

__all__ = ["StreamExchange", "StreamTransport"]

_ID_AT_THE_BEGINNING = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,100}")\s*[,}]')
_STDERR_GRACE_S = 0.5
"""How long a reply on stderr waits for its twin on stdout: many servers log what they send, then send it."""
_MAX_BACKLOG = 100_000
"""Messages that may wait for their reader before the exchange fails: a reader that far behind never catches
up."""


_MAX_BACKLOG_BYTES = 256 * 1024 * 1024
"""How much of them may wait, in bytes."""


class StreamExchange(msgspec.Struct, eq=False):
    """One request on the shared channel: where it was sent, its id and its method."""

    _stream: StreamTransport
    id: Id
    method: str
    is_over: bool = False
    _waiter: asyncio.Future[Received] | None = None
    _backlog: deque[Received] | None = None
    _backlog_bytes: int = 0
    _error: MeseroError | None = None

    async def receive(self) -> Received:
        """See `mesero.transports.Exchange.receive`."""
        if self._backlog:
            first = self._backlog.popleft()
            self._backlog_bytes -= len(first.raw)
            return first
        if self._error is not None:
            raise self._error
        self._waiter = waiter = asyncio.get_running_loop().create_future()
        try:
            received: Received = await waiter
            return received
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                # It came in the same turn as the cancellation: whoever receives next gets it.
                self._keep(waiter.result(), is_first=True)
            raise
        finally:
            self._waiter = None

    def deliver(self, received: Received) -> None:
        """Hand a message to whoever waits, or keep it for them."""
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(received)
        elif self._backlog is not None and self._is_backlog_full:
            self._stream.give_up(self.id, "nobody reads what is sent for it")
            self.fail(
                ProtocolError(
                    f"{len(self._backlog)} messages for {self.method} (id {self.id!r}) wait unread; "
                    "it was given up",
                    where=self._stream.target,
                )
            )
        else:
            self._keep(received, is_first=False)

    @property
    def _is_backlog_full(self) -> bool:
        count = 0 if self._backlog is None else len(self._backlog)
        return count >= _MAX_BACKLOG or self._backlog_bytes >= _MAX_BACKLOG_BYTES

    def _keep(self, received: Received, *, is_first: bool) -> None:
        if self._backlog is None:
            self._backlog = deque()
        self._backlog_bytes += len(received.raw)
        if is_first:
            self._backlog.appendleft(received)
        else:
            self._backlog.append(received)

    def fail(self, error: MeseroError) -> None:
        """End the exchange with an error; what came before it can still be read."""
        self.is_over = True
        self._error = error
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)

    async def close(self, reason: str = "") -> None:
        """See `mesero.transports.Exchange.close`."""
        if not self.is_over:
            self._stream.give_up(self.id, reason)
            self.fail(ClosedError(f"{self.method} (id {self.id!r}) was given up", where=self._stream.target))

    def abandon(self) -> None:
        """Give the request up without telling the server."""
        if not self.is_over:
            self._stream.forget(self.id)
            self.fail(ClosedError(f"{self.method} (id {self.id!r}) was given up", where=self._stream.target))


def _send_nowhere(data: bytes) -> None:
    """For a channel that is not up: what is sent after its end is lost with it."""


class StreamTransport:
    """What stdio and memory have in common.

    A subclass provides `open` and `_send`, and calls `begin`, `receive_bytes` and `end`.

    Attributes:
        target: What it is connected to, for messages to people.
        noise: What came and was no message.
        dropped: Answers that nobody waited for any more: the verdict (late, duplicate, unknown) and how they
            begin.
        connections: How often the channel came up.
        conduct: What it does beside requests and their answers.
    """

    kind = "stream"
    mirrors_headers = False

    def __init__(
        self, target: str, *, max_bytes: int = MAX_MESSAGE_BYTES, observer: Observer | None = None
    ) -> None:
        self.target = target
        self.noise = NoiseLog()
        self.dropped: deque[tuple[str, bytes]] = deque(maxlen=100)
        self._watch = watch_for(observer, target)
        self._observer = observer if self._watch is None else None
        self._facts: HttpFacts | None = None
        self._framer = LineFramer(max_bytes=max_bytes)
        self._ledger: Ledger[StreamExchange] = Ledger()
        self._last_message = b""
        self._is_up = False
        self._is_closed = False
        self.is_open = False
        """See `mesero.transports.Transport.is_open`."""
        self.has_ended = False
        """Whether the channel was up and the other side ended it; `open` brings up another one."""
        self._send: Callable[[bytes], None] = _send_nowhere
        """Puts bytes on the channel without blocking. Given by the subclass while the channel is up."""
        self._pending: list[bytes] = []
        self._has_written = False
        self._inbox = Inbox()
        self.connections = 0
        self.conduct = Conduct()

    # -- sending ---------------------------------------------------------------------------------------------

    def exchange(self, outgoing: Outgoing) -> StreamExchange:
        """See `mesero.transports.Transport.exchange`."""
        exchange = StreamExchange(self, outgoing.id, outgoing.method)
        if not self._is_up or self._is_closed:
            exchange.fail(self._gone_error())
            return exchange
        self._ledger.open(outgoing.id, exchange)
        self._write(outgoing.raw)
        return exchange

    async def notify(self, raw: bytes) -> None:
        """See `mesero.transports.Transport.notify`."""
        if not self._is_up or self._is_closed:
            raise self._gone_error()
        self._write(raw)

    def _write(self, raw: bytes) -> None:
        """The first line of a turn of the loop goes out at once, the others of that turn together at its
        end.
        """
        if self._observer is not None:
            self._observe("c2s", raw)
        # "Messages … MUST NOT contain embedded newlines": what was encoded elsewhere may have white space.
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
        if b"\n" in raw:
            raw = raw.replace(b"\r", b" ").replace(b"\n", b" ")
        if self._watch is not None:
            self._watch.message("c2s", raw)
        if self._has_written:
            self._pending.append(raw)
            return
        self._has_written = True
        asyncio.get_running_loop().call_soon(self._flush)
        self._send(raw + b"\n")

    def _observe(self, direction: Direction, raw: bytes) -> None:
        if self._observer is not None:
            guarded(self.target, self._observer, direction, raw, self._facts)

    def _flush(self) -> None:
        self._has_written = False
        if self._pending:
            data = b"\n".join(self._pending) + b"\n"
            self._pending.clear()
            if self._is_up:
                self._send(data)

    def forget(self, request_id: Id) -> bool:
        """Stop waiting for a request; whether anybody did."""
        return self._ledger.close(request_id, is_answered=False) is not None

    def give_up(self, request_id: Id, reason: str) -> None:
        """Stop waiting for a request and tell the server so."""
        if not self.forget(request_id) or not self._is_up or self._is_closed:
            return
        # "To cancel an in-flight request, the client MUST send a notifications/cancelled notification."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#cancellation
        params: dict[str, Id] = {"requestId": request_id}
        if reason:
            params["reason"] = reason
        self._write(encode_notification("notifications/cancelled", params))

    # -- receiving -------------------------------------------------------------------------------------------

    def receive_bytes(self, data: bytes) -> None:
        """Take what the server wrote."""
        for frame in self._framer.receive(data):
            if self._watch is not None:
                self._watch.frame("s2c", frame)
            if isinstance(frame, TooLong):
                self._receive_too_long(frame)
            else:
                self._receive_line(frame)

    def _receive_line(self, raw: bytes) -> None:
        try:
            message = decode_message(raw)
        except RpcError:
            batch = decode_batch(raw) if self.conduct.accepts_batches else None
            if batch is None:
                self._receive_misfit(raw)
            else:
                for part in batch:
                    self._receive_line(part)
            return
        if self._observer is not None:
            self._observe("s2c", raw)
        self._last_message = raw
        if isinstance(message, ResultResponse):
            exchange = self._ledger.close(message.id, is_answered=True)
            if exchange is not None:
                exchange.is_over = True
                exchange.deliver(Received(raw, message))
            else:
                self._receive_stray(raw, message.id)
        elif isinstance(message, Notification):
            self._receive_notification(raw, message)
        elif isinstance(message, ErrorResponse):
            self._receive_error(raw, message)
        else:
            self._receive_request(raw, message)

    def _receive_notification(self, raw: bytes, message: Notification) -> None:
        owner_id = find_owner_id(message)
        if self.conduct.passes_requests and message.method == "notifications/cancelled":
            owner_id = None  # Who may ask may take a question back: the id is one of theirs.
        if owner_id is None:
            self._inbox.put(Received(raw, message))
            return
        exchange = self._ledger.find(owner_id)
        if exchange is not None:
            exchange.deliver(Received(raw, message))
        else:
            self.dropped.append((self._ledger.verdict_for(owner_id), raw[:200]))

    def _receive_error(self, raw: bytes, message: ErrorResponse) -> None:
        if message.id is None:
            # The server could not read the id of what it refuses. With one call open, that one is meant.
            if len(self._ledger) == 1:
                request_id = next(iter(self._ledger))
                exchange = self._ledger.close(request_id, is_answered=True)
                if exchange is not None:
                    exchange.is_over = True
                    exchange.deliver(Received(raw, message))
                    return
            self.noise.receive(raw, ())
            self._inbox.put(Received(raw, message))
            return
        exchange = self._ledger.close(message.id, is_answered=True)
        if exchange is not None:
            exchange.is_over = True
            exchange.deliver(Received(raw, message))
        else:
            self._receive_stray(raw, message.id)

    def _receive_stray(self, raw: bytes, answered: Id) -> None:
        """An answer to no open call: late or a duplicate, or it is ours under an id of another type."""
        misfit = find_misfit(raw, self._ledger)
        if misfit is not None:
            self._fail_misfit(misfit.request_id, misfit.reason, raw)
        else:
            self.dropped.append((self._ledger.verdict_for(answered), raw[:200]))

    def _receive_request(self, raw: bytes, message: Request) -> None:
        # "The server MUST NOT write JSON-RPC requests to stdout."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#receiving-messages
        if not self.conduct.passes_requests:
            self.noise.receive(raw, ())
        self._inbox.put(Received(raw, message))

    def _receive_misfit(self, raw: bytes) -> None:
        misfit = self.noise.receive(raw, self._ledger)
        if misfit is not None:
            self._fail_misfit(misfit.request_id, misfit.reason, raw)

    def _receive_too_long(self, frame: TooLong) -> None:
        text = f"in a message longer than the limit of {frame.max_bytes} bytes (max_message_bytes=)"
        found = _ID_AT_THE_BEGINNING.search(frame.beginning)
        if found is not None:
            misfit = find_misfit(b'{"id":' + found[1] + b',"result":{}}', self._ledger)
            if misfit is not None:
                self._fail_misfit(misfit.request_id, text, frame.beginning)
            return
        if len(self._ledger) > 1:
            text = f"perhaps {text}: nobody can tell whose it was"
        for request_id in list(self._ledger):
            self._fail_misfit(request_id, text, frame.beginning)

    def receive_stderr_line(self, line: bytes) -> None:
        """Look at one line of stderr: a reply written there must not leave its call waiting."""
        if line.lstrip()[:1] != b"{" or b'"jsonrpc"' not in line:
            return
        misfit = find_misfit(line, self._ledger, is_stderr=True)
        if misfit is not None:
            asyncio.get_running_loop().call_later(
                _STDERR_GRACE_S, self._fail_misfit, misfit.request_id, misfit.reason, line
            )

    def _fail_misfit(self, request_id: Id, reason: str, raw: bytes) -> None:
        exchange = self._ledger.close(request_id, is_answered=True)
        if exchange is not None:
            what = f"the answer to {exchange.method} (id {request_id!r}) came {reason}"
            exchange.fail(ProtocolError(what, where=self.target, excerpt=raw))

    # -- what belongs to no request --------------------------------------------------------------------------

    def unsolicited(self) -> AsyncIterator[Received]:
        """See `mesero.transports.Transport.unsolicited`. The last 10,000 unread ones are kept."""
        return self._inbox.read()

    # -- the end ---------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """The channel is up."""
        self._pending.clear()
        self.connections += 1
        self._is_up = True
        self.has_ended = False
        self.is_open = not self._is_closed

    def end(self, error: MeseroError) -> None:
        """The channel is gone: every waiter learns it at once, each with the name of its call."""
        self._is_up = False
        self.has_ended = True
        self.is_open = False
        self._send = _send_nowhere
        rest = self._framer.receive_eof()
        if rest:
            if self._watch is not None:
                self._watch.text("s2c", rest)
            # A last line without its newline is still looked at, so that its call fails by name.
            self._receive_line(rest)
        for exchange in self._ledger.take_all():
            own = copy.copy(error)
            own.where = f"{error.where}: {exchange.method} (id {exchange.id!r})"
            exchange.fail(own)
        if self.conduct.on_lost is not None:
            self.conduct.on_lost(error)

    @property
    def unfinished(self) -> bytes:
        """The beginning of a line whose end has not come."""
        return bytes(self._framer.unfinished)

    def evidence(self) -> tuple[str, ...]:
        """What may explain a silence: sentences about what came and could be tied to nothing."""
        found = []
        if self.noise.count:
            found.append(f"{self.noise.count} lines that answer nothing, the last: {self.noise.lines[-1]!r}")
        if self._framer.unfinished:
            beginning = self._framer.unfinished[:200].decode("utf-8", "backslashreplace")
            found.append(f"a line without its end: {beginning!r}")
        return tuple(found)

    def _gone_error(self) -> MeseroError:
        if self._is_closed:
            return ClosedError("the client is closed", where=self.target)
        return DisconnectedError(
            "the connection is not open", where=self.target, last_message=self._last_message
        )

    def mark_closed(self) -> None:
        """From now on nothing is accepted; open exchanges fail with `ClosedError`."""
        self._is_closed = True
        self.is_open = False
        for exchange in self._ledger.take_all():
            where = f"{self.target}: {exchange.method} (id {exchange.id!r})"
            exchange.fail(ClosedError("the client was closed while this call was open", where=where))
        self._inbox.close()
