"""The event streams of one HTTP session: what was sent on each, kept for whoever comes back for the rest.

A stream outlives its connections: messages are appended to it, and the connection that follows it at the
moment carries them; another finds out by its ``Last-Event-ID`` what it missed. An event id is
``<number of the stream>-<number of the event>``, so it names one place in one stream of the session.

What is kept is bounded, in bytes and in streams. The oldest goes first; what a connection has still to write
stays.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
"""

from __future__ import annotations

import asyncio
import re
from collections import deque

from mesero.framing import encode_event
from mesero.transports.http_reply import HttpReply

__all__ = ["MAX_LAG_BYTES", "MAX_STREAMS", "EventStore", "EventStream"]

MAX_LAG_BYTES = 1024 * 1024
"""How much may wait for a connection that does not read, in bytes, before whoever sends waits as well."""

MAX_STREAMS = 256
"""How many streams of one session are kept."""

_EVENT_ID = re.compile(r"(\d{1,18})-(\d{1,18})")


class EventStream:
    """One stream: its latest messages, and the connection that follows it, if one does.

    Args:
        store: Where it is kept, once an event id of it was sent.
        number: Its number in the session.
        primes: Whether a connection begins with an event that has only an id, so that the client can come
            back even before the first message.
        is_once: Whether nobody can come back at all.
    """

    __slots__ = (
        "_is_suspended",
        "_kept",
        "_lag",
        "_reader",
        "_retry_ms",
        "_room",
        "_start",
        "_store",
        "_wake",
        "count",
        "is_complete",
        "is_kept",
        "is_once",
        "number",
        "primes",
        "size",
        "was_spare",
        "written",
    )

    def __init__(self, store: EventStore, number: int, *, primes: bool, is_once: bool = False) -> None:
        self.number = number
        self.primes = primes
        self.is_once = is_once
        self.count = 0
        """How many messages there were so far: the number of the last one."""
        self.written = 0
        """The number of the last message that a connection took."""
        self.size = 0
        """The bytes of the messages that are kept."""
        self.is_kept = False
        """Whether clients can come back to it."""
        self.is_complete = False
        """Whether nothing will follow."""
        self.was_spare = False
        """Whether it was spare already when somebody looked last."""
        self._store = store
        self._kept: deque[bytes] = deque()
        self._lag = 0
        self._start = 0
        self._reader: object | None = None
        self._wake: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._is_suspended = False
        self._retry_ms = 0

    @property
    def oldest(self) -> int:
        """The number of the oldest message that is still here."""
        return self.count - len(self._kept) + 1

    @property
    def has_reader(self) -> bool:
        """Whether a connection follows it."""
        return self._reader is not None

    @property
    def is_lost(self) -> bool:
        """Whether nobody follows it, or can ever do so again."""
        return self._reader is None and not self.is_kept

    @property
    def is_spare(self) -> bool:
        """Whether nobody is known to wait for what is kept."""
        return self.is_complete and self.written == self.count

    # -- what is sent ----------------------------------------------------------------------------------------

    def append(self, raw: bytes, *, is_last: bool = False) -> None:
        """Send a message: now, or when somebody comes for it."""
        if self.is_complete:
            return
        self.count += 1
        self.is_complete = is_last
        if not self.is_lost:
            self._kept.append(raw)
            self.size += len(raw)
            self._lag += len(raw)
            if self.is_kept:
                self._store.note(len(raw))
            self._tell()

    def end(self) -> None:
        """Nothing follows, and nothing has to."""
        self.is_complete = True
        self._tell()
        self._tell_room()

    async def drain(self) -> None:
        """Wait while the connection that follows does not take what is there."""
        while self._reader is not None and self._lag > MAX_LAG_BYTES and not self.is_complete:
            if self._room is None:
                self._room = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._room)

    def suspend(self, retry_ms: int) -> None:
        """Close the connection that follows, without ending the stream: the client comes back for the rest.

        Does nothing where the client could not come back.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
        """
        if self.primes and self._reader is not None and not self.is_complete:
            self._is_suspended = True
            self._retry_ms = retry_ms
            self._tell()

    # -- who follows -----------------------------------------------------------------------------------------

    def attach(self, *, after: int = 0) -> object:
        """Follow from behind that message on; whoever followed before does not any more."""
        self._reader = mark = object()
        self._is_suspended = False
        self.written = self._start = min(after, self.count)
        self._lag = sum(len(raw) for _, raw in self._fresh()) if self.count else 0
        self._tell()
        self._tell_room()
        return mark

    def detach(self, mark: object) -> None:
        """Stop following, unless somebody else does by now."""
        if self._reader is mark:
            self._reader = None
            self._is_suspended = False
            self._tell_room()

    async def wait(self) -> None:
        """Until there is a message, or an end, or somebody else follows. For the connection that follows."""
        self._wake = asyncio.get_running_loop().create_future()
        await self._wake

    def _tell(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def _tell_room(self) -> None:
        if self._room is not None:
            self._room.set_result(None)
            self._room = None

    def opening(self) -> bytes:
        """What a connection begins with; from here on, a client can come back.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
        """
        self._store.keep(self)
        return b"id: %d-%d\ndata: \n\n" % (self.number, self._start) if self.primes else b""

    def _fresh(self) -> list[tuple[int, bytes]]:
        """What the connection has not yet taken, with its numbers."""
        first = max(self.written + 1, self.oldest)
        skipped = len(self._kept) - (self.count - first + 1)
        return [(first + place, self._kept[skipped + place]) for place in range(self.count - first + 1)]

    def take(self) -> bytes:
        """The events that the connection has not yet taken; b"" if there are none."""
        fresh = self._fresh()
        self.written = self.count
        self._lag = 0
        if self.is_once:
            self._kept.clear()
            self.size = 0
        return b"".join(b"id: %d-%d\n" % (self.number, number) + encode_event(raw) for number, raw in fresh)

    async def follow(self, reply: HttpReply, mark: object) -> None:
        """Write what is there and what comes, until it ends or is suspended, or somebody else follows."""
        try:
            while self._reader is mark:
                events = self.take()
                if self.is_complete:
                    await reply.finish(events)
                elif self._is_suspended:
                    # "it SHOULD send an SSE event with a standard retry field before closing"
                    await reply.finish(events + b"retry: %d\n\n" % self._retry_ms)
                elif events:
                    await reply.write(events)
                    self._tell_room()
                    continue
                else:
                    await self.wait()
                    continue
                return
            await reply.finish()
        finally:
            self.detach(mark)

    def take_only(self) -> bytes | None:
        """The one message that there was, when it was the last; None if there is more to tell."""
        if self.is_complete and self.count == 1 and len(self._kept) == 1:
            self.written = 1
            return self._kept[0]
        return None

    # -- what is forgotten -----------------------------------------------------------------------------------

    def may_forget_oldest(self) -> bool:
        """Whether there is a message that no connection has still to write."""
        return bool(self._kept) and (self._reader is None or self.oldest <= self.written)

    def forget_oldest(self) -> int:
        """Forget the oldest message; its size in bytes."""
        size = len(self._kept.popleft())
        self.size -= size
        return size


class EventStore:
    """The streams of one session.

    Args:
        max_bytes: The most bytes that are kept, besides what is on its way to a connection. A single message
            of any size is kept, if it is the latest.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._streams: dict[int, EventStream] = {}
        self._last_number = 0
        self.size = 0
        """The bytes that are kept."""

    def __len__(self) -> int:
        return len(self._streams)

    def open(self, *, primes: bool, is_once: bool = False) -> EventStream:
        """A new stream. It is kept from its `EventStream.opening` on."""
        self._last_number += 1
        return EventStream(self, self._last_number, primes=primes, is_once=is_once)

    def keep(self, stream: EventStream) -> None:
        """Keep a stream from now on."""
        if not stream.is_kept:
            stream.is_kept = True
            self._streams[stream.number] = stream
            self.note(stream.size)

    def find(self, event_id: str) -> tuple[EventStream, int] | None:
        """The stream that an event id names, and the number of the event; None if it is not kept."""
        parts = _EVENT_ID.fullmatch(event_id)
        stream = self._streams.get(int(parts[1])) if parts else None
        if parts is None or stream is None or int(parts[2]) > stream.count:
            return None
        return stream, int(parts[2])

    def end_all(self) -> None:
        """The session is over."""
        for stream in tuple(self._streams.values()):
            stream.end()
            self.forget(stream)

    def forget(self, stream: EventStream) -> None:
        """Keep a stream no longer."""
        if self._streams.pop(stream.number, None) is not None:
            stream.is_kept = False
            self.size -= stream.size

    def forget_spare(self) -> None:
        """Keep no longer what was written to the end before this was called last."""
        for stream in tuple(self._streams.values()):
            if stream.was_spare and not stream.has_reader:
                self.forget(stream)
            stream.was_spare = stream.is_spare

    def note(self, added_bytes: int) -> None:
        """So much more is kept: the oldest is forgotten, until it is within the bounds again."""
        self.size += added_bytes
        if self.size > self._max_bytes:
            for stream in sorted(self._streams.values(), key=_worth):
                self._shrink(stream)
        if len(self._streams) > MAX_STREAMS:
            self._forget_one()

    def _shrink(self, stream: EventStream) -> None:
        while self.size > self._max_bytes and stream.may_forget_oldest():
            if stream.size == self.size and stream.oldest == stream.count:
                return
            self.size -= stream.forget_oldest()

    def _forget_one(self) -> None:
        candidates = [one for one in self._streams.values() if one.is_complete and not one.has_reader]
        if candidates:
            self.forget(min(candidates, key=_worth))


def _worth(stream: EventStream) -> tuple[bool, bool, bool, int]:
    """What is over and was written goes first; then what is over, then the older."""
    return (stream.has_reader, not stream.is_complete, not stream.is_spare, stream.number)
