"""The handshake as a state table for both roles, version negotiation, and the shapes of its three messages.

One table serves client and server, since both see the same messages in the same order; they differ in what
happens to a message that is out of order. Received requests are refused (-32600), received notifications
dropped, since nobody waits for their answer, and what this side itself would send too early is a
`UsageError`: the caller has to hold it back. A refusal never ends the session.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mesero.errors import (
    InvalidParamsError,
    InvalidRequestError,
    InvalidResultError,
    NoCommonRevisionError,
    ProtocolError,
    UsageError,
)
from mesero.legacy.methods import INITIALIZE, INITIALIZED, LOG_MESSAGE, PING
from mesero.legacy.shapes import IMPLEMENTATION, trim
from mesero.types import ClientCapabilities, Implementation, ServerCapabilities

__all__ = [
    "MOVES",
    "Event",
    "Handshake",
    "InitializeParams",
    "InitializeResult",
    "Phase",
    "Role",
    "check_agreed",
    "initialize_params",
    "initialize_result",
    "negotiate",
    "read_initialize_params",
    "read_initialize_result",
]

Role = Literal["client", "server"]
"""Which side of a session this is."""


class Phase(Enum):
    """How far a session is."""

    NEW = "nothing has been said"
    INITIALIZING = "initialize is being answered"
    ANSWERED = "initialize was answered, and notifications/initialized is still to come"
    READY = "the session is open"
    CLOSED = "the session is over"


class Event(Enum):
    """What is said, and by whom."""

    INITIALIZE = "client: initialize"
    RESULT = "server: the result of initialize"
    REFUSAL = "server: the error that answers initialize"
    INITIALIZED = "client: notifications/initialized"
    PING = "either: ping"
    LOG = "server: notifications/message"
    REQUEST = "either: another request"
    NOTIFICATION = "either: another notification"
    END = "either: the end of the connection"


# "The client SHOULD NOT send requests other than pings before the server has responded to the initialize
# request. The server SHOULD NOT send requests other than pings and logging before receiving the initialized
# notification."
# https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
MOVES: Final[Mapping[tuple[Phase, Event], Phase]] = {
    (Phase.NEW, Event.INITIALIZE): Phase.INITIALIZING,
    (Phase.NEW, Event.PING): Phase.NEW,
    (Phase.NEW, Event.LOG): Phase.NEW,
    (Phase.NEW, Event.END): Phase.CLOSED,
    (Phase.INITIALIZING, Event.RESULT): Phase.ANSWERED,
    (Phase.INITIALIZING, Event.REFUSAL): Phase.NEW,
    (Phase.INITIALIZING, Event.PING): Phase.INITIALIZING,
    (Phase.INITIALIZING, Event.LOG): Phase.INITIALIZING,
    (Phase.INITIALIZING, Event.END): Phase.CLOSED,
    (Phase.ANSWERED, Event.INITIALIZED): Phase.READY,
    (Phase.ANSWERED, Event.PING): Phase.ANSWERED,
    (Phase.ANSWERED, Event.LOG): Phase.ANSWERED,
    (Phase.ANSWERED, Event.END): Phase.CLOSED,
    (Phase.READY, Event.PING): Phase.READY,
    (Phase.READY, Event.LOG): Phase.READY,
    (Phase.READY, Event.REQUEST): Phase.READY,
    (Phase.READY, Event.NOTIFICATION): Phase.READY,
    (Phase.READY, Event.END): Phase.CLOSED,
    (Phase.CLOSED, Event.END): Phase.CLOSED,
}
"""The whole table: a pair that is not in it is out of order."""


class Handshake:
    """One session's place in the handshake.

    ``receive_*`` is for what came from the other side, ``record_*`` for what is about to be sent. Each moves
    `phase`, or raises and leaves it.

    Args:
        role: Which side this is.

    Attributes:
        phase: Where the session is.
        revision: What was agreed on; "" before.
    """

    def __init__(self, role: Role) -> None:
        self.role: Role = role
        self.phase = Phase.NEW
        self.revision = ""

    @property
    def is_ready(self) -> bool:
        """Whether everything may be said."""
        return self.phase is Phase.READY

    def receive_request(self, method: str) -> None:
        """A request of the other side.

        Raises:
            InvalidRequestError: out of order (-32600), for its answer.
        """
        event = Event.PING if method == PING else Event.REQUEST
        if method == INITIALIZE and self.role == "server":
            event = Event.INITIALIZE
        if not self._move(event):
            raise InvalidRequestError(_refusal_of(method, self.phase))

    def receive_notification(self, method: str) -> bool:
        """A notification of the other side: whether to act on it. One that is out of order is dropped."""
        return self._move(_event_of_notification(method, by_client=self.role == "server"))

    def receive_result(self, revision: str) -> None:
        """Client: `initialize` was answered with ``revision``, which `check_agreed` has let pass.

        Raises:
            ProtocolError: nobody asked.
        """
        if not self._move(Event.RESULT):
            raise ProtocolError(f"a result of initialize came, but {self.phase.value}")
        self.revision = revision

    def receive_refusal(self) -> None:
        """Client: `initialize` was answered with an error; it may be sent again.

        Raises:
            ProtocolError: nobody asked.
        """
        if not self._move(Event.REFUSAL):
            raise ProtocolError(f"an error for initialize came, but {self.phase.value}")

    def record_request(self, method: str) -> None:
        """A request is about to be sent.

        Raises:
            UsageError: it may not be sent yet, or not any more.
        """
        self._record(self._event_of_own_request(method), method)

    def record_notification(self, method: str) -> None:
        """A notification is about to be sent.

        Raises:
            UsageError: it may not be sent yet, or not any more.
        """
        self._record(_event_of_notification(method, by_client=self.role == "client"), method)

    def record_result(self, revision: str) -> None:
        """Server: `initialize` is about to be answered with ``revision``.

        Raises:
            UsageError: nobody asked.
        """
        self._record(Event.RESULT, "the result of initialize")
        self.revision = revision

    def record_refusal(self) -> None:
        """Server: `initialize` is about to be answered with an error; the client may try again.

        Raises:
            UsageError: nobody asked.
        """
        self._record(Event.REFUSAL, "the error for initialize")

    def may_request(self, method: str) -> bool:
        """Whether this side may send a request now; moves nothing."""
        return (self.phase, self._event_of_own_request(method)) in MOVES

    def may_notify(self, method: str) -> bool:
        """Whether this side may send a notification now; moves nothing."""
        event = _event_of_notification(method, by_client=self.role == "client")
        return (self.phase, event) in MOVES

    def close(self) -> None:
        """The connection ended, from either side."""
        self.phase = MOVES[self.phase, Event.END]

    def _event_of_own_request(self, method: str) -> Event:
        if method == INITIALIZE and self.role == "client":
            return Event.INITIALIZE
        return Event.PING if method == PING else Event.REQUEST

    def _record(self, event: Event, what: str) -> None:
        if not self._move(event):
            raise UsageError(f"{what} may not be sent now: {self.phase.value}")

    def _move(self, event: Event) -> bool:
        following = MOVES.get((self.phase, event))
        if following is None:
            return False
        self.phase = following
        return True


def _event_of_notification(method: str, *, by_client: bool) -> Event:
    if method == INITIALIZED and by_client:
        return Event.INITIALIZED
    return Event.LOG if method == LOG_MESSAGE and not by_client else Event.NOTIFICATION


def _refusal_of(method: str, phase: Phase) -> str:
    if method == INITIALIZE:
        return f"initialize may be sent once, at the start: {phase.value}"
    return f"{method} may not be sent now: {phase.value}"


def negotiate(offered: str, supported: Sequence[str]) -> str:
    """Server: the revision to answer with. The one that was offered when it is supported, else the newest.

    Args:
        offered: What the client's `initialize` names.
        supported: Handshake revisions that we speak, oldest first; at least one.

    https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
    """
    return offered if offered in supported else supported[-1]


def check_agreed(answered: str, supported: Sequence[str]) -> None:
    """Client: another revision than the one offered is no error, as long as we speak it.

    Raises:
        NoCommonRevisionError: we do not; both lists are named.

    https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
    """
    if answered not in supported:
        raise NoCommonRevisionError(tuple(supported), (answered,))


class InitializeParams(msgspec.Struct, frozen=True, kw_only=True):
    """What a client says at the start; ``client_info`` is for display and logs, never for decisions."""

    protocol_version: str
    capabilities: ClientCapabilities
    client_info: Implementation


class InitializeResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a server answers; ``server_info`` is for display and logs, never for decisions."""

    protocol_version: str
    capabilities: ServerCapabilities
    server_info: Implementation
    instructions: str | None = None


def initialize_params(revision: str, capabilities: Mapping[str, Any], info: Implementation) -> dict[str, Any]:
    """The parameters of `initialize`.

    Args:
        revision: The one to offer.
        capabilities: As `Translator.client_capabilities` gives them.
        info: Who we are; what the revision has no member for is left out.

    https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
    """
    return {
        "protocolVersion": revision,
        "capabilities": dict(capabilities),
        "clientInfo": _implementation_for(revision, info),
    }


def initialize_result(
    revision: str, capabilities: Mapping[str, Any], info: Implementation, instructions: str | None = None
) -> dict[str, Any]:
    """The result of `initialize`.

    Args:
        revision: As `negotiate` chose it.
        capabilities: As `Translator.server_capabilities` gives them.
        info: Who we are; what the revision has no member for is left out.
        instructions: Hints for the model that uses the server.

    https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
    """
    result = {
        "protocolVersion": revision,
        "capabilities": dict(capabilities),
        "serverInfo": _implementation_for(revision, info),
    }
    if instructions is not None:
        result["instructions"] = instructions
    return result


def _implementation_for(revision: str, info: Implementation) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(info)
    trim(plain, IMPLEMENTATION, revision, "$", [])
    return plain


class _Introduction(msgspec.Struct, rename="camel"):
    """Either message, as far as both are alike: whatever is in the members."""

    protocol_version: str
    capabilities: Any = None
    client_info: Any = None
    server_info: Any = None
    instructions: Any = None


def read_initialize_params(raw: Raw | bytes | UnsetType) -> InitializeParams:
    """What the client says. Only its revision is indispensable; what is malformed elsewhere counts as absent.

    Raises:
        InvalidParamsError: no revision in it (-32602).
    """
    try:
        read = msgspec.json.decode(b"{}" if raw is UNSET else raw, type=_Introduction)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidParamsError(f"initialize: {error}") from None
    return InitializeParams(
        protocol_version=read.protocol_version,
        capabilities=_members_of(ClientCapabilities, read.capabilities),
        client_info=_implementation_from(read.client_info),
    )


def read_initialize_result(raw: Raw | bytes) -> InitializeResult:
    """What the server says. Only its revision is indispensable; what is malformed elsewhere counts as absent.

    Raises:
        InvalidResultError: no revision in it.
    """
    try:
        read = msgspec.json.decode(raw, type=_Introduction)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidResultError(
            f"the result of initialize does not fit: {error}", excerpt=bytes(raw)
        ) from None
    return InitializeResult(
        protocol_version=read.protocol_version,
        capabilities=_members_of(ServerCapabilities, read.capabilities),
        server_info=_implementation_from(read.server_info),
        instructions=read.instructions if isinstance(read.instructions, str) else None,
    )


_Fields = TypeVar("_Fields", bound=msgspec.Struct)


def _members_of(kind: type[_Fields], value: Any, **defaults: Any) -> _Fields:
    """A Struct of those members of an object that fit it: one bad member does not spoil the others."""
    found: dict[str, Any] = dict(defaults)
    for field in msgspec.structs.fields(kind):
        if isinstance(value, dict) and field.encode_name in value:
            try:
                found[field.name] = msgspec.convert(value[field.encode_name], field.type)
            except msgspec.ValidationError:
                continue
    return kind(**found)


def _implementation_from(value: Any) -> Implementation:
    return _members_of(Implementation, value, name="", version="")
