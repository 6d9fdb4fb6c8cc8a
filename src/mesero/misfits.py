"""What can be tied to a waiting call although it is no valid answer. Pure.

Such bytes must fail the call that waits for them, at once and by name; logged and dropped they would make it
wait until its time-out. Bytes that can be tied to nothing are noise: kept, counted, and quoted when something
fails.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Collection
from itertools import islice
from typing import Any, NamedTuple

from mesero.errors import RpcError
from mesero.jsonrpc import Id, decode_value

__all__ = ["Misfit", "NoiseLog", "find_misfit"]

_ANSWER = re.compile(r'\{\s*"(?:jsonrpc|id|result|error)"\s*:')
_MAX_HELD_BYTES = 1_000_000
_MAX_TRIES = 8
"""So many beginnings of an answer are looked at in one line; each look may read the line to its end."""

_read_prefix = json.JSONDecoder().raw_decode


class Misfit(NamedTuple):
    """``request_id`` is the call that the bytes were meant for; ``reason`` completes "the answer is …"."""

    request_id: Id
    reason: str


def find_misfit(raw: bytes, waiting: Collection[Id], *, is_stderr: bool = False) -> Misfit | None:
    """Tie bytes that are no valid message to one of the waiting calls, or None when they are just noise."""
    if not waiting:
        return None
    value = _find_value(raw)
    misfit = _find_glued(raw, waiting) if value is None else _misfit_of_value(value, waiting)
    if misfit is not None and is_stderr:
        return Misfit(misfit.request_id, "on stderr; messages belong on stdout")
    return misfit


def _find_value(raw: bytes) -> Any:
    try:
        return decode_value(raw)
    except RpcError:
        return None


def _misfit_of_value(value: Any, waiting: Collection[Id]) -> Misfit | None:
    if isinstance(value, list):
        for item in value:
            inner = _misfit_of_value(item, waiting) if isinstance(item, dict) else None
            if inner is not None:
                return Misfit(
                    inner.request_id, "inside an array (a batch), which this revision does not have"
                )
        return None
    if not _is_answer(value):
        return None
    answered = value.get("id")
    if answered is None:
        return Misfit(next(iter(waiting)), "without the id of its request") if len(waiting) == 1 else None
    request_id = _find_owner(answered, waiting)
    if request_id is None:
        return None
    if type(answered) is type(request_id):
        return Misfit(request_id, _fault_of(value))
    return Misfit(request_id, f"under the id {answered!r} instead of {request_id!r}: same value, other type")


def _is_answer(value: Any) -> bool:
    return isinstance(value, dict) and "method" not in value and ("result" in value or "error" in value)


def _find_owner(answered: Any, waiting: Collection[Id]) -> Id | None:
    """The waiting id that this one is, or is in another type: "7" or 7.0 for 7, 7 for "7"."""
    if isinstance(answered, float) and answered.is_integer():
        answered = int(answered)
    if isinstance(answered, bool) or not isinstance(answered, (str, int)):
        return None
    if answered in waiting:
        return answered
    return next((request_id for request_id in waiting if str(request_id) == str(answered)), None)


def _fault_of(value: dict[str, Any]) -> str:
    if value.get("jsonrpc") != "2.0":
        return f'marked "jsonrpc": {value.get("jsonrpc")!r} instead of "2.0"'
    if "result" in value and "error" in value:
        return "both a result and an error"
    return "not a valid JSON-RPC response"


def _find_glued(raw: bytes, waiting: Collection[Id]) -> Misfit | None:
    """A reply with other text on the same line, before or behind it."""
    line = raw.decode("utf-8", "replace")
    for beginning in islice(_ANSWER.finditer(line), _MAX_TRIES):
        try:
            value, _ = _read_prefix(line, beginning.start())
        except (ValueError, RecursionError):
            continue
        request_id = _find_owner(value.get("id"), waiting) if _is_answer(value) else None
        if request_id is not None:
            return Misfit(request_id, "glued to other text on the same line")
    return None


def _rise_of(line: bytes) -> int:
    """How many more braces a line opens than it closes; those in strings do not count.

    No JSON string goes over a line end, so a line can be looked at by itself.
    """
    pieces = line.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')
    return sum(piece.count(b"{") - piece.count(b"}") for piece in pieces[::2])


class NoiseLog:
    """Lines on a message channel that are no message: the last few are kept, all are counted.

    It also notices a reply that was written over several lines (pretty-printed JSON).
    """

    def __init__(self, *, kept: int = 20) -> None:
        self.count = 0
        self._lines: deque[str] = deque(maxlen=kept)
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._depth = 0

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines, shortened to 200 characters, oldest first."""
        return tuple(self._lines)

    def receive(self, raw: bytes, waiting: Collection[Id]) -> Misfit | None:
        """Take one line; a misfit when it, or what it completes, was meant for a waiting call."""
        self.count += 1
        self._lines.append(raw[:200].decode("utf-8", "backslashreplace"))
        misfit = find_misfit(raw, waiting)
        if misfit is not None:
            self._forget()
            return misfit
        return self._find_split(raw, waiting)

    def _find_split(self, raw: bytes, waiting: Collection[Id]) -> Misfit | None:
        """Hold lines from a brace at the beginning of one until the braces are even; look at them then."""
        if raw.startswith(b"{"):
            self._forget()
        elif not self._held:
            return None
        self._depth += _rise_of(raw)
        self._held.append(raw)
        self._held_bytes += len(raw)
        if self._depth > 0 and self._held_bytes <= _MAX_HELD_BYTES:
            return None
        misfit = _misfit_of_value(_find_value(b"\n".join(self._held)), waiting)
        self._forget()
        return misfit and Misfit(misfit.request_id, "split over several lines; a message is one line")

    def _forget(self) -> None:
        self._held.clear()
        self._held_bytes = 0
        self._depth = 0
