"""What a server says of itself in every result, pages of lists, and what a subscription hears. Pure.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#responses
"""

from __future__ import annotations

import base64
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import UNSET, Raw

from mesero.errors import InvalidParamsError
from mesero.jsonrpc import Request, encode_value
from mesero.types import SERVER_INFO_KEY, Implementation, MetaObject

__all__ = [
    "decode_cursor",
    "encode_cursor",
    "honoured_filter",
    "is_wanted",
    "page_of",
    "read_filter",
    "server_meta_for",
    "stamp_result",
]

Item = TypeVar("Item")
_CURSOR_MARK = "after:"


def server_meta_for(info: Implementation) -> MetaObject:
    """The metadata that identifies the server in every result, encoded once.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
    """
    return {SERVER_INFO_KEY: Raw(encode_value(info))}


class _HasMeta(Protocol):
    meta: Any


def stamp_result(result: _HasMeta, server_meta: MetaObject) -> None:
    """Put the server's identity into a result; what the handler put there stays."""
    result.meta = server_meta if result.meta is UNSET else {**server_meta, **result.meta}


def encode_cursor(last_key: str) -> str:
    """The cursor behind an item: its key, so that no server has to remember where a list was."""
    return base64.urlsafe_b64encode((_CURSOR_MARK + last_key).encode()).decode()


def decode_cursor(cursor: str) -> str:
    """The key behind which a page begins.

    Raises:
        InvalidParamsError: no cursor of ours (-32602).

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination#error-handling
    """
    try:
        text = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode()
    except ValueError:
        text = ""
    if not text.startswith(_CURSOR_MARK):
        raise InvalidParamsError(f"invalid cursor {cursor[:80]!r}: it was not given out by this server")
    return text.removeprefix(_CURSOR_MARK)


def page_of(
    items: Sequence[Item], keys: Sequence[str], cursor: str | None, page_size: int
) -> tuple[list[Item], Any]:
    """One page of a list that is sorted by key, and the cursor of the next one (UNSET on the last).

    Raises:
        InvalidParamsError: a bad cursor (-32602).
    """
    start = 0 if cursor is None else bisect_right(keys, decode_cursor(cursor))
    end = start + page_size
    next_cursor = encode_cursor(keys[end - 1]) if end < len(items) else UNSET
    return list(items[start:end]), next_cursor


_MAX_LISTENED = 10_000
"""How many URIs one subscription may name: each change is looked up among them."""


class _RawFilter(msgspec.Struct):
    notifications: dict[str, Any]


def read_filter(request: Request) -> dict[str, Any]:
    """The filter of a `subscriptions/listen` request with the members that only extensions know.

    Empty when it is malformed: whether it has its shape is judged elsewhere.
    """
    try:
        return msgspec.json.decode(request.params or b"", type=_RawFilter).notifications
    except (msgspec.MsgspecError, RecursionError):
        return {}


def honoured_filter(wanted: Mapping[str, Any], known: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """The part of a `subscriptions/listen` filter that the server honours.

    Raises:
        InvalidParamsError: a member of the wrong type (-32602).

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
    """
    honoured: dict[str, Any] = {}
    for key, value in wanted.items():
        if key not in known or value is False:
            continue
        is_uris = isinstance(value, list) and all(isinstance(uri, str) for uri in value)
        if value is not True and not is_uris:
            raise InvalidParamsError(
                f"subscriptions/listen: the filter's {key!r} is true or a list of strings, not {value!r}"
            )
        if is_uris and len(value) > _MAX_LISTENED:
            count = f"{len(value)} resources; {_MAX_LISTENED} at most"
            raise InvalidParamsError(f"subscriptions/listen: the filter's {key!r} names {count}")
        honoured[key] = value
    return honoured


def is_wanted(
    honoured: Mapping[str, Any], known: Mapping[str, tuple[str, ...]], method: str, subject: str | None
) -> bool:
    """Whether a subscription with this filter hears a notification; ``subject`` is what its lists name."""
    # "The server MUST NOT send notification types the client has not explicitly requested."
    return any(
        method in known[key] and (value is True or subject in value) for key, value in honoured.items()
    )
