"""Where what a request produces goes: notifications while it runs, one answer at its end."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Reply"]


class Reply(Protocol):
    """The way back to the client for one request. Each transport has its own."""

    @property
    def is_answered(self) -> bool:
        """Whether the answer went out: nothing may follow it."""

    async def notify(self, raw: bytes) -> None:
        """Send a notification that belongs to the request; dropped once that is answered or cancelled."""

    async def answer(
        self, raw: bytes, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """Send the response, once; a second one is dropped.

        Args:
            raw: The response's bytes.
            status: The HTTP status that it has while nothing was sent yet.
            headers: HTTP headers that go with that status.
        """
