"""What the client needs of whoever calls inside a session, and how it finds one.

The package that speaks the revisions with a handshake may have been taken out, so it is known here by its
surface only: everything that `Caller` gives the client, and what a session needs beside that.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, cast

from mesero.client.asking import Asked
from mesero.client.listening import Listening
from mesero.client.requester import LogFunction, ProgressFunction
from mesero.eras import find_adapter
from mesero.extensions import MethodSpec
from mesero.jsonrpc import Notification
from mesero.modern.headers import HeaderMark
from mesero.transports import Transport
from mesero.types import Implementation, LoggingLevel, ServerCapabilities

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

    async def aclose(self) -> None:
        """End the session, while the transport is still open. From any task, any number of times; bounded."""


def has_sessions() -> bool:
    """Whether the package that speaks in sessions is there."""
    return find_adapter() is not None


def session_over(
    transport: Transport,
    asked: Asked,
    *,
    info: Implementation,
    capabilities: Mapping[str, Any],
    timeout_s: float,
    total_timeout_s: float,
    on_log: LogFunction | None,
    log_level: LoggingLevel | None,
    on_notification: Callable[[Notification], None],
) -> SessionCalls | None:
    """Who calls inside a session, not begun yet; None when the package that can is not there.

    Args:
        transport: Where to.
        asked: Answers the server's questions.
        info: What the client calls itself.
        capabilities: What it declares, shaped like the capabilities of the stateless revisions.
        timeout_s, total_timeout_s: See `mesero.client.calling.Caller`.
        on_log, log_level: Takes the server's log messages, from which level on.
        on_notification: Hears of every change that the server announces, asked for or not.
    """
    calling = find_adapter("calling")
    if calling is None:
        return None
    return cast(
        "SessionCalls",
        calling.SessionCaller(
            transport,
            asked,
            info=info,
            capabilities=capabilities,
            timeout_s=timeout_s,
            total_timeout_s=total_timeout_s,
            on_log=on_log,
            log_level=log_level,
            on_notification=on_notification,
        ),
    )
