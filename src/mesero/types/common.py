"""What every other file of the vocabulary shares: Struct options, scalar aliases, identities, icons,
annotations.

Nothing in here knows a method or a message. Invariants of the whole package: wire names are camelCase and
made by msgspec from the snake_case field; an optional field is UNSET when it is absent (None only where null
is a value); a field equal to its default is not written; unknown members are ignored when read.
"""

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

__all__ = [
    "Annotations",
    "Cursor",
    "Icon",
    "Implementation",
    "JSONArray",
    "JSONObject",
    "JSONValue",
    "MetaObject",
    "Number",
    "ProgressToken",
    "RequestId",
    "Role",
    "WireStruct",
]

JSONValue: TypeAlias = Any
"""Any JSON value, null included."""

JSONObject: TypeAlias = dict[str, Any]
"""A JSON object whose members are not ours to name."""

JSONArray: TypeAlias = list[Any]
"""A JSON array of anything."""

MetaObject: TypeAlias = dict[str, Any]
"""The contents of a `_meta` member.
https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta"""

Number: TypeAlias = int | float
"""A JSON number; `3` and `3.0` keep their spelling."""

RequestId: TypeAlias = int | str
"""The id of a request. https://modelcontextprotocol.io/specification/2026-07-28/schema#requestid"""

ProgressToken: TypeAlias = int | str
"""Ties progress to its request.
https://modelcontextprotocol.io/specification/2026-07-28/schema#progresstoken"""

Cursor: TypeAlias = str
"""An opaque place in a list.
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination"""

Role: TypeAlias = Literal["user", "assistant"]
"""Who speaks in a conversation. https://modelcontextprotocol.io/specification/2026-07-28/schema#role"""


class WireStruct(msgspec.Struct, rename="camel", omit_defaults=True):
    """The options that every Struct of the vocabulary has; no fields of its own."""


class Icon(WireStruct):
    """A picture that may stand for a tool, resource, prompt or implementation.

    `src` is an https: or data: URI and comes from the other side: it is not to be trusted. `sizes` holds
    "48x48"-like strings or "any". https://modelcontextprotocol.io/specification/2026-07-28/basic/index#icons
    """

    src: str
    mime_type: str | UnsetType = UNSET
    sizes: list[str] | UnsetType = UNSET
    theme: Literal["light", "dark"] | UnsetType = UNSET


class Implementation(WireStruct):
    """Name and version of a client or server, as it says itself: for display and logs, never for decisions.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#implementation
    """

    name: str
    version: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    website_url: str | UnsetType = UNSET
    icons: list[Icon] | UnsetType = UNSET


class Annotations(WireStruct, kw_only=True):
    """For whom a resource or content block is meant, and how much it matters.

    `priority` runs from 0 (optional) to 1 (required); `last_modified` is an ISO 8601 text.
    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#annotations
    """

    audience: list[Role] | UnsetType = UNSET
    priority: Number | UnsetType = UNSET
    last_modified: str | UnsetType = UNSET
