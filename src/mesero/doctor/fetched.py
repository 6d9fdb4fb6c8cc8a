"""What came of a request, or of a stream that was held open, as data: what fails is a fact, too. Pure."""

from __future__ import annotations

import json
from typing import Any, Final, Literal

import msgspec

__all__ = ["LEFT_ALONE", "NOT_ASKED", "Fetched", "Streamed"]

NOT_ASKED: Final = "not asked"
"""How the reason begins why a request was not sent at all."""
LEFT_ALONE: Final = f"{NOT_ASKED}: the server wants us to wait (429)"


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a request. ``status`` is 0 and ``error`` says why where nothing came.

    ``fault`` says what was wrong with the body: it is not encoded as its header says, or it broke off.
    ``head_s`` is when the head came, ``took_s`` when it was over, in seconds from the request on.
    """

    method: str
    url: str
    status: int = 0
    headers: dict[str, str] = {}
    body: bytes = b""
    error: str = ""
    fault: Literal["", "encoding", "cut"] = ""
    is_timeout: bool = False
    head_s: float = 0.0
    took_s: float = 0.0

    @property
    def kind(self) -> str:
        """The content type without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_mcp(self) -> bool:
        """Whether this is how a server of either era answers a message, a refusal included."""
        return b'"jsonrpc"' in self.body and (self.kind in ("application/json", "text/event-stream"))

    @property
    def is_old_stream(self) -> bool:
        """Whether this is the beginning of the stream of 2024-11-05."""
        return self.kind == "text/event-stream" and b"endpoint" in self.body[:200]

    @property
    def is_silent_stream(self) -> bool:
        """Whether this is an event stream on which nothing came."""
        return self.status == 200 and self.kind == "text/event-stream" and not self.body and not self.fault

    @property
    def is_withheld(self) -> bool:
        """Whether it was not sent, since no server may send us there."""
        return self.error.startswith(NOT_ASKED) and not self.is_limited

    @property
    def is_limited(self) -> bool:
        """Whether the server wants us to wait, so that nothing is known."""
        return self.status == 429 or self.error == LEFT_ALONE

    def find_document(self) -> dict[str, Any] | None:
        """The JSON object in the body of a 200, or None."""
        if self.status != 200:
            return None
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    def __str__(self) -> str:
        came = f"{self.status} {self.kind}".rstrip() if self.status else self.error
        return f"{self.method} {self.url} → {came}"


class Streamed(msgspec.Struct, frozen=True, kw_only=True):
    """A stream that was held open. Times are in seconds from the request on.

    ``pieces`` are what came and when, ``end`` how it ended: the server ended it in order, it broke off, or we
    left; ``end_s`` when.
    """

    head: Fetched
    pieces: tuple[tuple[float, bytes], ...] = ()
    end: Literal["ours", "server", "cut"] = "ours"
    end_s: float = 0.0

    @property
    def body(self) -> bytes:
        """All that came."""
        return b"".join(data for _, data in self.pieces)

    @property
    def last_s(self) -> float:
        """When something came for the last time."""
        return self.pieces[-1][0] if self.pieces else self.head.head_s
