"""What a session is bound to: a connection on a shared channel, an id over HTTP. The client's side.

Over HTTP the server names the session in its answer to `initialize`; from then on every request says so, and
the revision, in headers. Nothing in here waits for anything, but for saying goodbye.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from mesero.errors import HttpStatusError, MeseroError, ProtocolError
from mesero.legacy.methods import has_batches
from mesero.legacy.shapes import JUNE_2025
from mesero.revisions import is_older
from mesero.transports import Conduct, Received, Transport

__all__ = ["Channel", "HttpChannel", "channel_for"]

_SESSION_ID: Final = "Mcp-Session-Id"
_REVISION: Final = "MCP-Protocol-Version"

_NOT_FOUND = 404
_BAD_REQUEST = 400
_SESSION_ID_TEXT = re.compile(r"[\x21-\x7e]+")


class Channel:
    """A session over a channel that is shared by all messages: it lives as long as the connection."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._conduct: Conduct = getattr(transport, "conduct", None) or Conduct()

    @property
    def connection(self) -> int:
        """Which connection of the transport is up: another number than before means another server."""
        count: int = getattr(self._transport, "connections", 0)
        return count

    def prepare(self, on_lost: Callable[[MeseroError], None]) -> None:
        """Before `initialize`: nothing of an earlier session is said any more."""
        self._conduct.passes_requests = True
        self._conduct.accepts_batches = False
        self._conduct.on_lost = on_lost

    def take_answer(self, received: Received, revision: str) -> None:
        """The answer to `initialize` agreed on ``revision``.

        Raises:
            ProtocolError: the server names the session in a way that no header may have.
        """
        del received  # There is nothing in it but the message.
        self._conduct.accepts_batches = has_batches(revision)

    def open(self, on_gap: Callable[[], None]) -> None:
        """The handshake is done; ``on_gap`` is called whenever changes may have been missed."""

    def is_lost(self, status: int, said: str) -> bool:
        """Whether an answer with this HTTP status and text says that the server does not know the session."""
        del status, said
        return False

    def is_lost_by(self, error: MeseroError) -> bool:
        """Whether an error says that the server does not know the session."""
        return isinstance(error, HttpStatusError) and self.is_lost(
            error.status, error.body.decode("utf-8", "replace")
        )

    async def end(self) -> None:
        """The session is over: tell the server where that is usual, and leave the transport as it was."""
        self._conduct.passes_requests = False
        self._conduct.accepts_batches = False
        self._conduct.on_lost = None


class HttpChannel(Channel):
    """A session over HTTP: it lives as long as the server knows its id, if it gave one.

    Args:
        transport: A transport that can also listen and say goodbye.
    """

    _transport: Any
    _session_id = ""

    def prepare(self, on_lost: Callable[[MeseroError], None]) -> None:
        """See `Channel.prepare`."""
        super().prepare(on_lost)
        self._transport.stop_listening()
        # "it MUST start a new session by sending a new InitializeRequest without a session ID attached"
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
        self._forget()

    def _forget(self) -> None:
        self._session_id = ""
        self._conduct.headers.pop(_SESSION_ID, None)
        self._conduct.headers.pop(_REVISION, None)
        # "The initialize request MUST NOT be cancelled by clients."
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#behavior-requirements
        self._conduct.tells_cancellation = False
        self._conduct.resumes = False

    def take_answer(self, received: Received, revision: str) -> None:
        """See `Channel.take_answer`."""
        super().take_answer(received, revision)
        headers = received.http.headers if received.http is not None else ()
        self._session_id = next((value for name, value in headers if name == _SESSION_ID.lower()), "")
        if self._session_id:
            # "The session ID MUST only contain visible ASCII characters".
            if not _SESSION_ID_TEXT.fullmatch(self._session_id):
                raise ProtocolError(
                    f"the server gave a {_SESSION_ID} that is not of visible ASCII characters",
                    where=self._transport.target,
                )
            self._conduct.headers[_SESSION_ID] = self._session_id
        # https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#protocol-version-header
        if not is_older(revision, JUNE_2025):
            self._conduct.headers[_REVISION] = revision

    def open(self, on_gap: Callable[[], None]) -> None:
        """See `Channel.open`."""
        self._conduct.tells_cancellation = True
        self._conduct.resumes = True
        self._transport.start_listening(on_gap)

    def is_lost(self, status: int, said: str) -> bool:
        """See `Channel.is_lost`."""
        # "The server MAY terminate the session at any time, after which it MUST respond to requests
        # containing that session ID with HTTP 404 Not Found." Many answer 400 "No valid session ID provided":
        # early releases of the official Python SDK, and whoever follows the examples of the TypeScript SDK.
        is_said = status == _NOT_FOUND or (status == _BAD_REQUEST and "session" in said.lower())
        return is_said and bool(self._session_id)

    async def end(self) -> None:
        """See `Channel.end`."""
        await super().end()
        self._transport.stop_listening()
        was_named, self._session_id = bool(self._session_id), ""
        if was_named:
            # "Clients that no longer need a particular session SHOULD send an HTTP DELETE."
            await self._transport.say_goodbye()
        self._forget()


def channel_for(transport: Transport) -> Channel:
    """What sessions over this transport are bound to."""
    return HttpChannel(transport) if hasattr(transport, "start_listening") else Channel(transport)
