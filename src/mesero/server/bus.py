"""Where change notifications travel from whoever makes a change to whoever listens.

In one process by default. Replicas share a bus of their own making: it only has to hand every published change to every
subscriber, in whatever process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

__all__ = ["Bus", "Change", "MemoryBus"]


class Change(msgspec.Struct, frozen=True):
    """Something changed: the method of the notification that says so, and the URI of a resource that was updated."""

    method: str
    uri: str | None = None


class Bus(Protocol):
    """Hands every published change to every subscriber."""

    def publish(self, change: Change) -> None:
        """Tell everybody. Must not block."""

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call ``listener`` in the server's event loop for each change; returns the function that ends it."""


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
