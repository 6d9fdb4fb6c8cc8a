"""JSON-RPC messages inside other text: where they begin and end. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Found", "find_messages", "is_message", "may_continue"]

_BEGINNING = re.compile(r'[{\[]\s*(?:\{\s*)?"(?:jsonrpc|id|method|result|error|params)"\s*:')
_MAX_TRIES = 64
"""So many beginnings are looked at in one text; each look may read the text to its end."""

_read_prefix = json.JSONDecoder().raw_decode


class Found(NamedTuple):
    """A message: its value and where it stands, in characters."""

    value: Any
    start: int
    end: int


def is_message(value: Any) -> bool:
    """Whether this looks like a JSON-RPC message or a batch; it need not be a valid one."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) and is_message(item) for item in value)
    if not isinstance(value, dict):
        return False
    if "jsonrpc" in value:
        return bool(value.keys() & {"method", "result", "error"})
    has_answer = "id" in value and bool(value.keys() & {"result", "error"})
    return has_answer or (isinstance(value.get("method"), str) and bool(value.keys() & {"id", "params"}))


def find_messages(text: str) -> Iterator[Found]:
    """The messages in a text, in order, none inside another."""
    at = 0
    for _ in range(_MAX_TRIES):
        match = _BEGINNING.search(text, at)
        if match is None:
            return
        try:
            value, end = _read_prefix(text, match.start())
        except (ValueError, RecursionError):
            at = match.start() + 1
            continue
        if is_message(value):
            yield Found(value, match.start(), end)
            at = end
        else:
            at = match.start() + 1


def may_continue(text: str) -> int:
    """Where a message begins that this text does not end, or -1."""
    match = _BEGINNING.search(text)
    if match is None:
        stripped = text.rstrip()
        return len(stripped) - 1 if stripped.endswith("{") else -1
    try:
        _read_prefix(text, match.start())
    except (ValueError, RecursionError):
        return match.start()
    return -1
