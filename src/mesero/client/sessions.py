"""What the client needs of whoever calls inside a session, and how it finds one.

The package that speaks the revisions with a handshake may have been taken out, so it is known here by its
surface only: everything that `Caller` gives the client, and what a session needs beside that.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, cast

from mesero.client.listening import Listening
from mesero.client.requester import ProgressFunction
from mesero.eras import find_adapter, has_adapter
from mesero.errors import UsageError
from mesero.extensions import MethodSpec
from mesero.modern.headers import HeaderMark
from mesero.transports import Transport
from mesero.types import Implementation, ServerCapabilities

__all__ = ["Introduction", "SessionCalls", "has_sessions", "session_over"]


class Introduction(Protocol):
    """What a server says when the session begins: the part of an `InitializeResult` that is used here."""

    @property
    def protocol_version(self) -> str:
        """The revision of the session."""

    @property
    def capabilities(self) -> ServerCapabilities:
        """What the server offers, with what its revision had no capability for."""

    @property
    def server_info(self) -> Implementation:
        """Who it says it is."""

    @property
    def instructions(self) -> str | None:
        """Hints for the model that uses it."""


class SessionCalls(Protocol):
    """One session over one transport. It reads ``transport.unsolicited()`` itself, from `begin` on."""

    transport: Transport
    is_closed: bool
    last_id: int
    """The id of the last request; set before `begin`, so that no id is used twice on one channel."""

    async def begin(self, *, offer: str, timeout_s: float) -> Introduction:
        """Do the handshake, up to and including ``notifications/initialized``.

        Args:
            offer: The revision to offer; another one that we speak may be answered.
            timeout_s: How long the answer to ``initialize`` may take, in seconds.

        Raises:
            RpcError: the server refused ``initialize``.
            NoCommonRevisionError: it answered with a revision that we do not speak.
            MeseroError: the transport's errors and time-outs, as they are.
        """

    async def call(
        self,
        spec: MethodSpec,
        params: Mapping[str, Any],
        *,
        marks: Iterable[HeaderMark] = (),
        timeout_s: float | None = None,
        on_progress: ProgressFunction | None = None,
        meta: Mapping[str, Any] | None = None,
        on_asked: Callable[[], None] | None = None,
    ) -> Any:
        """See `mesero.client.calling.Caller.call`."""

    def listen(
        self,
        wanted: Mapping[str, Any],
        *,
        acknowledge_s: float,
        reconnect: bool,
        on_gap: Callable[[], None],
    ) -> Listening:
        """Hear of changes; ``wanted`` is a filter as in ``subscriptions/listen``."""

    async def announce_roots(self) -> None:
        """Tell the server that the client's roots have changed."""

    async def aclose(self) -> None:
        """End the session, while the transport is still open. From any task, any number of times; bounded."""


def has_sessions() -> bool:
    """Whether the package that speaks in sessions is there."""
    return has_adapter("calling")


def session_over(transport: Transport, **settings: Any) -> SessionCalls:
    """Who calls inside a session, not begun yet.

    Args:
        transport: Where to.
        settings: ``asked``, ``timeout_s``, ``total_timeout_s``, ``on_log`` as for
            `mesero.client.calling.Caller`; ``info``, ``capabilities`` and ``log_level`` as for
            `mesero.modern.client.Stamp`; ``on_notification`` hears of every change that the server
            announces, asked for or not.

    Raises:
        UsageError: the package that can do it is not there; see `has_sessions`.
    """
    calling = find_adapter("calling")
    if calling is None:
        raise UsageError("the part of mesero that speaks in sessions is not there")
    return cast("SessionCalls", calling.SessionCaller(transport, **settings))
