"""What a tool returned, as its result: content blocks, or structured content with its JSON as text beside it.

Structured content is checked against the output schema before it leaves: what does not fit is an error of the
tool, never a wrong result.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
"""

from __future__ import annotations

import copy
import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mesero.jsonrpc import encode_value
from mesero.schemas import SchemaCheck
from mesero.server.functions import Signature
from mesero.server.hints import decoder_for, plain_from, schema_for_type
from mesero.types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    UnknownContent,
)

__all__ = ["CONTENT_BLOCKS", "ToolOutput", "output_by_hints", "output_by_schema"]

CONTENT_BLOCKS = (TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource, UnknownContent)
"""The classes of content blocks."""

_CONTENT = (*CONTENT_BLOCKS, str, CallToolResult, type(None))


class ToolOutput:
    """What a tool promises of its results.

    Args:
        schema: The output schema, UNSET for none.
        check: Raises ValueError for JSON that does not fit it.
        is_content: Whether the return annotation says content blocks: then an empty list is no data.
    """

    __slots__ = ("_check", "_is_content", "schema")

    def __init__(
        self,
        schema: dict[str, Any] | UnsetType,
        check: Callable[[bytes], object] | None,
        *,
        is_content: bool = False,
    ) -> None:
        self.schema = schema
        self._check = check
        self._is_content = is_content

    def result_from(self, value: Any) -> CallToolResult:
        """The result for what the function returned.

        Raises:
            TypeError: no JSON form.
            ValueError: a number that is not finite, or a value that does not fit the output schema.
        """
        if isinstance(value, CallToolResult):
            return self._checked(value)
        if self._check is None:
            content = self._content_from(value)
            if content is not None:
                return CallToolResult(content=content)
        encoded = encode_value(value if isinstance(value, (int, str)) else plain_from(value))
        if self._check is not None:
            try:
                self._check(encoded)
            except ValueError as error:
                raise _misfit(error) from None
        # "a tool that returns structured content SHOULD also return the serialized JSON in a TextContent
        # block"
        # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#structured-content
        return CallToolResult(content=[TextContent(encoded.decode())], structured_content=Raw(encoded))

    def _content_from(self, value: Any) -> list[Any] | None:
        """Content blocks, if the value is such."""
        if isinstance(value, str):
            return [TextContent(value)]
        if value is None:
            return []
        if isinstance(value, CONTENT_BLOCKS):
            return [value]
        is_list = isinstance(value, (list, tuple)) and (value or self._is_content)
        if is_list and all(isinstance(item, (*CONTENT_BLOCKS, str)) for item in value):
            return [TextContent(item) if isinstance(item, str) else item for item in value]
        return None

    def _checked(self, result: CallToolResult) -> CallToolResult:
        # It may be one object for all calls, and is about to be stamped.
        result = copy.copy(result)
        if result.structured_content is not UNSET:
            result.structured_content = Raw(
                self._encoded(result.structured_content, may_misfit=result.is_error)
            )
        elif self._check is not None and not result.is_error:
            # "Servers MUST provide structured results that conform to this schema."
            # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
            raise ValueError("it declares an output schema, but returned no structured content")
        return result

    def _encoded(self, value: Any, *, may_misfit: bool = False) -> bytes:
        if isinstance(value, Raw):
            encoded = bytes(value)
        elif isinstance(value, (int, str)):
            encoded = encode_value(value)
        else:
            encoded = encode_value(plain_from(value))
        if self._check is not None and not may_misfit:
            try:
                self._check(encoded)
            except ValueError as error:
                raise _misfit(error) from None
        return encoded


def _misfit(error: ValueError) -> ValueError:
    return ValueError(f"what it returned does not fit its own output schema: {error}")


def output_by_hints(signature: Signature) -> ToolOutput:
    """The output that the return annotation promises. Content blocks, text and unannotated results have no
    schema.

    Raises:
        UsageError: the annotation has no JSON form.
    """
    returns = signature.returns
    if returns is Any:
        return ToolOutput(UNSET, None)
    if _is_content(returns):
        return ToolOutput(UNSET, None, is_content=True)
    return ToolOutput(schema_for_type(returns), decoder_for(returns))


def _is_content(hint: Any) -> bool:
    if hint in _CONTENT:
        return True
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _is_content(arguments[0])
    if origin in (list, tuple):
        # A list of texts alone is data.
        items = [item for item in arguments if item is not Ellipsis]
        return bool(items) and all(item is not str and _is_content(item) for item in items)
    return bool(arguments) and all(member in _CONTENT for member in arguments)


def output_by_schema(schema: Mapping[str, Any]) -> ToolOutput:
    """The output that a JSON Schema promises.

    Raises:
        UsageError: no usable schema.
    """
    compiled = SchemaCheck(schema)

    def check(encoded: bytes) -> None:
        errors = compiled.find_errors(msgspec.json.decode(encoded))
        if errors:
            raise ValueError("; ".join(errors))

    return ToolOutput(dict(schema), check)
