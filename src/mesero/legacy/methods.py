"""Which methods each handshake revision has, in which direction, and which capability gates them.

Names and directions come from the generated tables of `mesero.revisions`. The gates are written here, since
the schemas do not know them. The experimental tasks of 2025-11-25 are left out: they are declined.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

from mesero.errors import MethodNotFoundError
from mesero.legacy.shapes import FIRST, MARCH_2025
from mesero.revisions import revision_module_for
from mesero.revisions.shapes import Direction

__all__ = [
    "CALL_TOOL",
    "CANCELLED",
    "COMPLETE",
    "CREATE_MESSAGE",
    "ELICIT",
    "ELICITATION_COMPLETE",
    "INITIALIZE",
    "INITIALIZED",
    "LIST_ROOTS",
    "LIST_TOOLS",
    "LOG_MESSAGE",
    "PING",
    "PROGRESS",
    "PROMPTS_CHANGED",
    "READ_RESOURCE",
    "RESOURCES_CHANGED",
    "RESOURCE_UPDATED",
    "ROOTS_CHANGED",
    "SET_LEVEL",
    "SUBSCRIBE",
    "TOOLS_CHANGED",
    "UNSUBSCRIBE",
    "Method",
    "check_request",
    "find_method",
    "find_missing_capability",
    "has_batches",
    "methods_for",
]

INITIALIZE: Final = "initialize"
PING: Final = "ping"
SET_LEVEL: Final = "logging/setLevel"
SUBSCRIBE: Final = "resources/subscribe"
UNSUBSCRIBE: Final = "resources/unsubscribe"
LIST_TOOLS: Final = "tools/list"
CALL_TOOL: Final = "tools/call"
READ_RESOURCE: Final = "resources/read"
COMPLETE: Final = "completion/complete"

LIST_ROOTS: Final = "roots/list"
CREATE_MESSAGE: Final = "sampling/createMessage"
ELICIT: Final = "elicitation/create"

INITIALIZED: Final = "notifications/initialized"
ROOTS_CHANGED: Final = "notifications/roots/list_changed"
CANCELLED: Final = "notifications/cancelled"
PROGRESS: Final = "notifications/progress"
LOG_MESSAGE: Final = "notifications/message"
TOOLS_CHANGED: Final = "notifications/tools/list_changed"
PROMPTS_CHANGED: Final = "notifications/prompts/list_changed"
RESOURCES_CHANGED: Final = "notifications/resources/list_changed"
RESOURCE_UPDATED: Final = "notifications/resources/updated"
ELICITATION_COMPLETE: Final = "notifications/elicitation/complete"

# What the answering side (of notifications: the sending side) has to have declared, outermost member first.
_GATES: Final[Mapping[str, tuple[str, ...]]] = {
    LIST_TOOLS: ("tools",),
    CALL_TOOL: ("tools",),
    TOOLS_CHANGED: ("tools", "listChanged"),
    "resources/list": ("resources",),
    "resources/templates/list": ("resources",),
    READ_RESOURCE: ("resources",),
    SUBSCRIBE: ("resources", "subscribe"),
    UNSUBSCRIBE: ("resources", "subscribe"),
    RESOURCE_UPDATED: ("resources", "subscribe"),
    RESOURCES_CHANGED: ("resources", "listChanged"),
    "prompts/list": ("prompts",),
    "prompts/get": ("prompts",),
    PROMPTS_CHANGED: ("prompts", "listChanged"),
    COMPLETE: ("completions",),
    SET_LEVEL: ("logging",),
    LOG_MESSAGE: ("logging",),
    LIST_ROOTS: ("roots",),
    ROOTS_CHANGED: ("roots", "listChanged"),
    CREATE_MESSAGE: ("sampling",),
    ELICIT: ("elicitation",),
    ELICITATION_COMPLETE: ("elicitation", "url"),
}
_DECLINED: Final = ("tasks/", "notifications/tasks/")


class Method(msgspec.Struct, frozen=True, kw_only=True):
    """One request or notification of one revision.

    ``directions`` are "c2s", "s2c" or both. ``capability`` is the path that has to be declared: by the server
    for what clients ask and servers tell, by the client for what servers ask and clients tell (and for
    `notifications/elicitation/complete`); empty for none. ``is_bare`` says that the result is ``{}``.
    """

    name: str
    kind: Literal["request", "notification"]
    directions: tuple[Direction, ...]
    capability: tuple[str, ...] = ()
    is_bare: bool = False


@cache
def methods_for(revision: str) -> Mapping[str, Method]:
    """The methods that we speak in ``revision``, by name; `UnknownRevisionError` if it does not exist."""
    return MappingProxyType(
        {
            name: Method(
                name=name,
                kind="notification" if shape.kind == "notification" else "request",
                directions=shape.directions,
                capability=_gate_of(name, revision),
                is_bare=shape.results[:1] == ("EmptyResult",),
            )
            for name, shape in revision_module_for(revision).METHODS.items()
            if not name.startswith(_DECLINED)
        }
    )


def _gate_of(name: str, revision: str) -> tuple[str, ...]:
    # The oldest revision has the method, but no capability for it.
    # https://modelcontextprotocol.io/specification/2025-03-26/changelog
    if name == COMPLETE and revision == FIRST:
        return ()
    return _GATES.get(name, ())


def find_method(revision: str, name: str, direction: Direction) -> Method | None:
    """The method, when the revision has it in that direction."""
    method = methods_for(revision).get(name)
    return method if method is not None and direction in method.directions else None


def check_request(revision: str, name: str, direction: Direction, declared: Mapping[str, Any]) -> Method:
    """The method of a request that came.

    Args:
        revision: The session's revision.
        name: The method asked for.
        direction: Who asks whom.
        declared: The capabilities that the side which was asked has declared.

    Raises:
        MethodNotFoundError: the revision has no such request, or its capability was not declared (-32601).

    https://modelcontextprotocol.io/specification/2025-11-25/client/roots#error-handling
    """
    method = find_method(revision, name, direction)
    if method is None or method.kind != "request":
        reason = "tasks are not offered" if name.startswith(_DECLINED) else f"not a request of {revision}"
        raise MethodNotFoundError(f"Method not found: {name} ({reason})")
    missing = find_missing_capability(method, declared)
    if missing is not None:
        raise MethodNotFoundError(f"Method not found: {name} (the capability {missing!r} was not declared)")
    return method


def find_missing_capability(method: Method, declared: Mapping[str, Any]) -> str | None:
    """The dotted name of the capability that the method needs and ``declared`` lacks; None if all is well."""
    found: Any = declared
    for depth, name in enumerate(method.capability, start=1):
        found = found.get(name) if isinstance(found, Mapping) else None
        # A capability is declared by its presence, an option of it by true or an object.
        if found is None or found is False:
            return ".".join(method.capability[:depth])
    return None


def has_batches(revision: str) -> bool:
    """Whether a message may be an array of messages: in one revision only.

    https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
    """
    return revision == MARCH_2025
