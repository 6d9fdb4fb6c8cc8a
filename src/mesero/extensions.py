"""The seam for extensions: what a method is, and what an extension adds to the protocol. Pure data.

The core's own methods are described by the same `MethodSpec` as an extension's, so nothing in the core asks
which is which. Identifiers follow the ``_meta`` key rules with a mandatory prefix.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from mesero.errors import UsageError

__all__ = [
    "Extension",
    "MethodSpec",
    "listen_keys_with",
    "methods_with",
    "needs_of_filter",
    "result_types_with",
]

_LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_IDENTIFIER = re.compile(rf"{_LABEL}(?:\.{_LABEL})*/(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?")


class MethodSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One request method.

    ``params`` and ``result`` are the Structs that its parameters and complete result decode to; the latter is
    a subclass of `mesero.types.Result`. ``name_field`` is the member of the parameters that the ``Mcp-Name``
    header mirrors. ``capability`` is what a server that has the method declares. ``may_ask`` says whether an
    ``input_required`` result is allowed, ``is_cacheable`` whether the result carries cache hints. ``needs``
    are client capabilities without which the server refuses the method.
    """

    name: str
    params: type[Any]
    result: type[Any]
    name_field: str | None = None
    capability: str | None = None
    may_ask: bool = False
    is_cacheable: bool = False
    needs: Mapping[str, Any] = {}


class Extension(msgspec.Struct, frozen=True, kw_only=True):
    """What one extension adds.

    Args:
        identifier: For example ``"com.example/greetings"``.
        settings: The object declared under the identifier in ``capabilities.extensions``; empty by default.
        methods: Request methods.
        result_types: Values of ``resultType`` besides the core's two, each with the methods (of the core, or
            its own) that may be answered with it.
        listen_keys: Members of the `subscriptions/listen` filter, each with the notification methods that
            it opens. A client that uses one has to declare the extension.

    Raises:
        UsageError: the identifier is malformed.
    """

    identifier: str
    settings: Mapping[str, Any] = {}
    methods: tuple[MethodSpec, ...] = ()
    result_types: Mapping[str, tuple[str, ...]] = {}
    listen_keys: Mapping[str, tuple[str, ...]] = {}

    def __post_init__(self) -> None:
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
        if not _IDENTIFIER.fullmatch(self.identifier):
            raise UsageError(
                f"{self.identifier!r} is no extension identifier; it looks like 'com.example/name'"
            )


def methods_with(core: Mapping[str, MethodSpec], extensions: Iterable[Extension]) -> dict[str, MethodSpec]:
    """The core's methods and those of the extensions, by name.

    Raises:
        UsageError: two of them claim the same method.
    """
    methods = dict(core)
    for extension in extensions:
        for method in extension.methods:
            if method.name in methods:
                raise UsageError(f"{extension.identifier} defines {method.name!r}, which exists already")
            methods[method.name] = method
    return methods


def result_types_with(
    core: Iterable[str], extensions: Iterable[Extension], methods: Iterable[str]
) -> dict[str, frozenset[str]]:
    """The values of ``resultType`` that are understood, for each of the methods.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/index#resulttype
    """
    understood = {method: set(core) for method in methods}
    for extension in extensions:
        for result_type, answered in extension.result_types.items():
            for method in answered:
                understood.setdefault(method, set(core)).add(result_type)
    return {method: frozenset(types) for method, types in understood.items()}


def listen_keys_with(
    core: Mapping[str, tuple[str, ...]], extensions: Iterable[Extension]
) -> dict[str, tuple[str, ...]]:
    """The members of a `subscriptions/listen` filter, each with the notification methods that it opens.

    The value of a member is true, or a list of the subjects to hear of (the URIs of resources, for example).

    Raises:
        UsageError: two of them claim the same member.
    """
    keys = dict(core)
    for extension in extensions:
        for key, methods in extension.listen_keys.items():
            if key in keys:
                raise UsageError(f"{extension.identifier} defines the filter {key!r}, which exists already")
            keys[key] = methods
    return keys


def needs_of_filter(members: Iterable[str], extensions: Iterable[Extension]) -> dict[str, Any]:
    """The client capabilities that a `subscriptions/listen` filter needs: those of the extensions it uses.

    "If one party supports an extension but the other does not, the supporting party MUST either revert to
    core protocol behavior or reject the request with an appropriate error."
    https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
    """
    used = set(members)
    owners = [one.identifier for one in extensions if not used.isdisjoint(one.listen_keys)]
    return {"extensions": {owner: {} for owner in owners}} if owners else {}
