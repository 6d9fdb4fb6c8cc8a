"""Functions as resources: one URI, or a template that many URIs match.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from mesero.errors import ResourceNotFoundError, UsageError
from mesero.jsonrpc import encode_value
from mesero.server.context import Context
from mesero.server.functions import AsyncFunction, Signature
from mesero.server.hints import plain_from
from mesero.types import CacheScope, ReadResourceResult, Resource, ResourceContents, ResourceTemplate
from mesero.uritemplates import UriTemplate

__all__ = ["ResourceEntry", "TemplateEntry", "contents_from", "read_resource"]


class ResourceEntry:
    """A registered resource.

    Args:
        resource: As it is listed.
        function: Awaited for its contents.
        signature: The function's parameters; only a context is possible.
        ttl_ms: How long a client may reuse what it read, in milliseconds.
        cache_scope: Who may reuse it.
    """

    def __init__(
        self,
        resource: Resource,
        function: AsyncFunction,
        signature: Signature,
        *,
        ttl_ms: int,
        cache_scope: CacheScope,
    ) -> None:
        if signature.parameters:
            taken = list(signature.parameters)
            raise UsageError(f"{resource.uri}: a resource without variables takes no parameters, not {taken}")
        self.resource = resource
        self.mime_type = resource.mime_type
        self.function = function
        self.context_name = signature.context_name
        self.ttl_ms = ttl_ms
        self.cache_scope = cache_scope


class TemplateEntry:
    """A registered resource template; its function takes the template's variables by name.

    Raises:
        UsageError: the function's parameters are not the template's variables.
    """

    def __init__(
        self,
        template: ResourceTemplate,
        function: AsyncFunction,
        signature: Signature,
        *,
        ttl_ms: int,
        cache_scope: CacheScope,
    ) -> None:
        self.template = template
        self.matcher = UriTemplate(template.uri_template)
        self.is_greedy = "{+" in template.uri_template or "{#" in template.uri_template
        required = {
            name for name, (_, default) in signature.parameters.items() if default is msgspec.NODEFAULT
        }
        if not required <= set(self.matcher.names) <= set(signature.parameters):
            raise UsageError(
                f"{template.uri_template}: its variables are {list(self.matcher.names)}, "
                f"but the function takes {list(signature.parameters)}"
            )
        self.mime_type = template.mime_type
        self.function = function
        self.parameters = signature.parameters
        self.context_name = signature.context_name
        self.ttl_ms = ttl_ms
        self.cache_scope = cache_scope

    def find_arguments(self, uri: str) -> dict[str, Any] | None:
        """The function's arguments for a URI; None when it does not match, or a value not its type."""
        texts = self.matcher.match(uri)
        if texts is None:
            return None
        try:
            return {
                name: msgspec.convert(text, self.parameters[name][0], strict=False)
                for name, text in texts.items()
            }
        except msgspec.ValidationError:
            return None


async def read_resource(
    entry: ResourceEntry | TemplateEntry, uri: str, arguments: Mapping[str, Any], context: Context
) -> ReadResourceResult:
    """Run a resource's function for one URI.

    Raises:
        ResourceNotFoundError: the function returned None: there is nothing under this URI (-32602).
    """
    kwargs = dict(arguments)
    if entry.context_name is not None:
        kwargs[entry.context_name] = context
    value = await entry.function(**kwargs)
    if isinstance(value, ReadResourceResult):
        if not value.contents:
            # A resource that does not exist never has an empty array of contents.
            # https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling
            raise ResourceNotFoundError(uri)
        return copy.copy(value)  # It may be one object for all calls, and is about to be stamped.
    if value is None:
        raise ResourceNotFoundError(uri)
    contents = contents_from(value, uri, entry.mime_type)
    return ReadResourceResult(contents=contents, ttl_ms=entry.ttl_ms, cache_scope=entry.cache_scope)


def contents_from(value: Any, uri: str, mime_type: Any) -> list[ResourceContents]:
    """What a function returned, as contents: text, bytes, contents as they are, or JSON of anything else.

    Raises:
        TypeError: no JSON form.
        ValueError: a number that is not finite.
    """
    if isinstance(value, ResourceContents):
        return [value]
    if isinstance(value, Sequence) and value and all(isinstance(item, ResourceContents) for item in value):
        return list(value)
    if isinstance(value, str):
        return [
            ResourceContents(uri=uri, text=value, mime_type="text/plain" if mime_type is UNSET else mime_type)
        ]
    if isinstance(value, (bytes, bytearray, memoryview)):
        kind = "application/octet-stream" if mime_type is UNSET else mime_type
        return [ResourceContents(uri=uri, blob=base64.b64encode(value).decode(), mime_type=kind)]
    kind = "application/json" if mime_type is UNSET else mime_type
    return [ResourceContents(uri=uri, text=encode_value(plain_from(value)).decode(), mime_type=kind)]
