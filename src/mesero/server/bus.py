"""Where change notifications travel from whoever makes a change to whoever listens.

In one process by default. Replicas share a bus of their own making: it only has to hand every published
change to every subscriber, in whatever process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

__all__ = ["Bus", "Change", "MemoryBus"]


class Change(msgspec.Struct, frozen=True):
    """Something changed.

    Args:
        method: The method of the notification that says so.
        subject: What changed, if filters may name it: the URI of a resource, for example.
        params: The notification's parameters as JSON; equal changes that wait to be sent are sent once.
    """

    method: str
    subject: str | None = None
    params: bytes = b"{}"


class Bus(Protocol):
    """Hands every published change to every subscriber."""

    def publish(self, change: Change) -> None:
        """Tell everybody. Called from any thread; must not block."""

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call ``listener`` for each change, from any thread; returns the function that ends it."""


class MemoryBus:
    """The bus of one process."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[Change], None]] = {}

    def publish(self, change: Change) -> None:
        """See `Bus.publish`."""
        for listener in list(self._listeners.values()):
            listener(change)

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """See `Bus.subscribe`."""
        token = object()
        self._listeners[token] = listener

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe
