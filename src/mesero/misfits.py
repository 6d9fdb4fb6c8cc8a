"""What can be tied to a waiting call although it is no valid answer. Pure.

Such bytes must fail the call that waits for them, at once and by name; logged and dropped they would make it wait
until its time-out. Bytes that can be tied to nothing are noise: kept, counted, and quoted when something fails.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

from mesero.errors import RpcError
from mesero.jsonrpc import Id, decode_value

__all__ = ["Misfit", "NoiseLog", "find_misfit"]

_ANSWER = re.compile(rb'\{\s*"(?:jsonrpc|id|result|error)"\s*:')
_MAX_HELD = 1_000_000


class Misfit(NamedTuple):
    """``request_id`` is the call that the bytes were meant for; ``reason`` completes "the answer is …"."""

    request_id: Id
    reason: str


def find_misfit(raw: bytes, waiting: Collection[Id], *, is_stderr: bool = False) -> Misfit | None:
    """Tie bytes that are no valid message to one of the waiting calls, or None when they are just noise."""
    if not waiting:
        return None
    value = _find_value(raw)
    if value is not None:
        misfit = _misfit_of_value(value, waiting)
    else:
        misfit = _find_glued(raw, waiting)
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
    if not isinstance(value, dict) or "method" in value or not ("result" in value or "error" in value):
        return None
    answered = value.get("id")
    if answered is None:
        if len(waiting) == 1:
            return Misfit(next(iter(waiting)), "without the id of its request")
        return None
    for request_id in waiting:
        if type(answered) is type(request_id) and answered == request_id:
            return Misfit(request_id, _fault_of(value))
        if _is_disguised(answered, request_id):
            return Misfit(
                request_id, f"under the id {answered!r} instead of {request_id!r}: same value, other type"
            )
    return None


def _fault_of(value: dict[str, Any]) -> str:
    if value.get("jsonrpc") != "2.0":
        return f'marked "jsonrpc": {value.get("jsonrpc")!r} instead of "2.0"'
    if "result" in value and "error" in value:
        return "both a result and an error"
    return "not a valid JSON-RPC response"


def _is_disguised(answered: Any, request_id: Id) -> bool:
    """Whether an id is one of ours in another type: "7" or 7.0 for 7, 7 for "7"."""
    if isinstance(answered, bool) or not isinstance(answered, (str, int, float)):
        return False
    if isinstance(answered, float) and answered.is_integer():
        answered = int(answered)
    return str(answered) == str(request_id)


def _find_glued(raw: bytes, waiting: Collection[Id]) -> Misfit | None:
    """A reply with other text on the same line, before or behind it."""
    found = _ANSWER.search(raw)
    if found is None:
        return None
    text = raw[found.start() :]
    for end in range(len(text), 0, -1) if len(text) < 400 else (text.rfind(b"}") + 1,):
        if text[end - 1 : end] != b"}":
            continue
        value = _find_value(text[:end])
        if isinstance(value, dict) and ("result" in value or "error" in value):
            for request_id in waiting:
                if value.get("id") == request_id or _is_disguised(value.get("id"), request_id):
                    return Misfit(request_id, "glued to other text on the same line")
            return None
    return None


class NoiseLog:
    """Lines on a message channel that are no message: the last few are kept, all are counted.

    It also notices a reply that was written over several lines (pretty-printed JSON).
    """

    def __init__(self, *, kept: int = 20) -> None:
        self.count = 0
        self._kept = kept
        self._lines: list[str] = []
        self._open: list[bytes] = []
        self._open_size = 0

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines, shortened to 200 characters, oldest first."""
        return tuple(self._lines)

    def receive(self, raw: bytes, waiting: Collection[Id]) -> Misfit | None:
        """Take one line; a misfit when it, or what it completes, was meant for a waiting call."""
        self.count += 1
        self._lines.append(raw[:200].decode("utf-8", "backslashreplace"))
        del self._lines[: -self._kept]
        misfit = find_misfit(raw, waiting)
        if misfit is not None:
            self._forget()
            return misfit
        return self._find_split(raw, waiting)

    def _find_split(self, raw: bytes, waiting: Collection[Id]) -> Misfit | None:
        line = raw.strip()
        if not self._open and not line.startswith(b"{"):
            return None
        self._open.append(raw)
        self._open_size += len(raw)
        if self._open_size > _MAX_HELD:
            self._forget()
            return None
        if not line.endswith(b"}"):
            return None
        value = _find_value(b"\n".join(self._open))
        if value is None:
            return None
        self._forget()
        misfit = _misfit_of_value(value, waiting)
        return misfit and Misfit(misfit.request_id, "split over several lines; a message is one line")

    def _forget(self) -> None:
        self._open.clear()
        self._open_size = 0
