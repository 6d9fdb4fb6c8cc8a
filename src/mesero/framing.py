"""Byte framers: chunks in, frames out. Newline-delimited JSON and server-sent events.

Pure and incremental: any chunking of the same bytes gives the same frames. Nothing is decoded here.
A frame over the limit is reported once and skipped; the stream goes on behind it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from __future__ import annotations

from typing import NamedTuple

from mesero.jsonrpc import MAX_MESSAGE_BYTES

__all__ = ["Event", "EventFramer", "LineFramer", "TooLong", "encode_event"]


class TooLong(NamedTuple):
    """Stands for a frame that was longer than the limit, which it names, and how the frame began."""

    max_bytes: int
    beginning: bytes


_MAX_BEGINNING_BYTES = 400


def _too_long(max_bytes: int, held: bytes) -> TooLong:
    # Never more than the limit: how much was held when it was passed depends on the chunks, the frames must
    # not.
    return TooLong(max_bytes, held[: min(_MAX_BEGINNING_BYTES, max_bytes)])


class LineFramer:
    r"""Splits a byte stream at ``\n``; one ``\r`` before it and empty lines are dropped.

    Args:
        max_bytes: The longest line, in bytes without its end. A longer one becomes one `TooLong`.
    """

    def __init__(self, *, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def receive(self, data: bytes) -> list[bytes | TooLong]:
        """The frames that this chunk completes, in order."""
        if not self._parts and not self._skipping and data.endswith(b"\n") and len(data) <= self.max_bytes:
            # The common case: whole lines in one chunk, nothing held over.
            lines = data.split(b"\n")
            if b"\r" in data:
                lines = [line.removesuffix(b"\r") for line in lines]
            return list(filter(None, lines))
        frames: list[bytes | TooLong] = []
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._hold(piece, frames)
            self._finish(frames)
        self._hold(rest, frames)
        return frames

    def _hold(self, piece: bytes, frames: list[bytes | TooLong]) -> None:
        if self._skipping or not piece:
            return
        self._parts.append(piece)
        self._size += len(piece)
        # One byte of grace: a "\r" before the end does not count.
        if self._size > self.max_bytes + 1:
            frames.append(_too_long(self.max_bytes, b"".join(self._parts)))
            self._parts.clear()
            self._size = 0
            self._skipping = True

    def _finish(self, frames: list[bytes | TooLong]) -> None:
        if not self._skipping and self._parts:
            line = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            line = line.removesuffix(b"\r")
            if len(line) > self.max_bytes:
                frames.append(_too_long(self.max_bytes, line))
            elif line:
                frames.append(line)
        self._parts.clear()
        self._size = 0
        self._skipping = False

    @property
    def unfinished(self) -> bytes:
        """How the line begins that has no end yet; nothing when there is none."""
        return self._parts[0][:_MAX_BEGINNING_BYTES] if self._parts else b""

    def receive_eof(self) -> bytes:
        """The bytes after the last newline: a message cut short, or nothing. The framer is empty then."""
        rest = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        self._skipping = False
        return rest


class Event(NamedTuple):
    """One server-sent event. ``data`` is the joined ``data:`` lines, empty when there were none (an event
    that only sets an id or a retry time); ``retry_ms`` is None when not sent.
    """

    data: bytes
    event: str = "message"
    event_id: str | None = None
    retry_ms: int | None = None


class EventFramer:
    """Splits a byte stream into server-sent events. Comments and unknown fields are dropped.

    Args:
        max_bytes: The most bytes of one event. A larger one becomes one `TooLong`.
    """

    def __init__(self, *, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._parts_size = 0
        self._after_cr = False
        self._may_have_bom = True
        self._reset()

    def _reset(self) -> None:
        self._data: list[bytes] = []
        self._size = 0
        self._event = "message"
        self._event_id: str | None = None
        self._retry_ms: int | None = None
        self._too_long = False

    def receive(self, data: bytes) -> list[Event | TooLong]:
        """The events that this chunk completes, in order."""
        events: list[Event | TooLong] = []
        # Lines end in LF, CR or CRLF; a CR at the end of a chunk may be half of a CRLF.
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        self._after_cr = self._after_cr or data.endswith(b"\r")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._hold(piece, events)
            self._take_line(self._held_line(), events)
        self._hold(rest, events)
        return events

    def _hold(self, piece: bytes, events: list[Event | TooLong]) -> None:
        if piece:
            self._parts.append(piece)
            self._parts_size += len(piece)
        if self._parts_size > self._max_bytes + len(b"data: "):
            held = b"".join(self._parts)
            self._note_too_long(held.removeprefix(b"data:").removeprefix(b" "), events)
            self._parts = [b":"]
            self._parts_size = 1

    def _held_line(self) -> bytes:
        line = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts = []
        self._parts_size = 0
        if self._may_have_bom:
            self._may_have_bom = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        return line

    def _take_line(self, line: bytes, events: list[Event | TooLong]) -> None:
        if not line:
            self._finish(events)
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            # The line end between two lines counts: lines without a value would cost nothing else.
            self._size += len(value) + bool(self._data)
            if self._size > self._max_bytes:
                self._note_too_long(value, events)
            elif not self._too_long:
                self._data.append(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace") or "message"
        elif name == b"id" and b"\0" not in value:
            self._event_id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit():
            self._retry_ms = int(value[:12])

    def _note_too_long(self, value: bytes, events: list[Event | TooLong]) -> None:
        if not self._too_long:
            events.append(_too_long(self._max_bytes, b"\n".join([*self._data, value])))
        self._data.clear()
        self._too_long = True

    def _finish(self, events: list[Event | TooLong]) -> None:
        has_content = self._data or self._event_id is not None or self._retry_ms is not None
        if has_content and not self._too_long:
            events.append(Event(b"\n".join(self._data), self._event, self._event_id, self._retry_ms))
        self._reset()


def encode_event(raw: bytes) -> bytes:
    """One message as a server-sent event. What we forward may have line ends, as white space."""
    if b"\n" in raw or b"\r" in raw:
        raw = b"\ndata: ".join(raw.splitlines())
    return b"event: message\ndata: " + raw + b"\n\n"
