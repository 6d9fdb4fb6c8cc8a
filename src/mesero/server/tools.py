"""A function as a tool: its schemas from its type hints, its arguments typed once, its result as content.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mesero.errors import RpcError, UsageError
from mesero.jsonrpc import check_finite, encode_value
from mesero.modern.headers import HeaderMark, marks_of
from mesero.server.context import Context
from mesero.server.functions import AsyncFunction, Signature, struct_field_for
from mesero.server.hints import decoder_for, schema_for_type
from mesero.types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    Tool,
    UnknownContent,
)

__all__ = ["ToolEntry", "ToolError", "arguments_struct_for", "result_from", "run_tool"]

_BLOCKS = (TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource, UnknownContent)
_CONTENT_RETURNS = (str, CallToolResult, type(None), Any, *_BLOCKS)


class ToolError(Exception):
    """Raised by a tool whose operation failed: its text reaches the model as a result with ``isError``.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
    """


class ToolEntry:
    """A registered tool: how it is listed, and how it is called.

    Args:
        tool: As it is listed.
        function: Awaited with keyword arguments.
        signature: The function's parameters.
        needs: Client capabilities without which a call is refused.
        decode_arguments: From raw arguments to keyword arguments.
        decode_output: Checks the JSON of a structured result; None when there is nothing to check.
    """

    __slots__ = ("check_output", "context_name", "decode_arguments", "function", "is_structured", "marks", "needs", "tool")

    def __init__(
        self,
        tool: Tool,
        function: AsyncFunction,
        signature: Signature,
        *,
        needs: Mapping[str, Any],
        decode_arguments: Callable[[Raw | bytes], dict[str, Any]],
        check_output: Callable[[bytes], object] | None,
    ) -> None:
        self.tool = tool
        self.function = function
        self.context_name = signature.context_name
        self.needs = needs
        self.decode_arguments = decode_arguments
        self.check_output = check_output
        self.is_structured = tool.output_schema is not UNSET
        self.marks: tuple[HeaderMark, ...] = marks_of(tool.input_schema)


def arguments_struct_for(name: str, signature: Signature) -> type[msgspec.Struct]:
    """The Struct that a tool's arguments decode to; members it does not know are refused.

    Raises:
        UsageError: a parameter's type has no JSON form.
    """
    fields = [struct_field_for(field, hint, default) for field, (hint, default) in signature.parameters.items()]
    try:
        return msgspec.defstruct(f"{name} arguments", fields, kw_only=True, forbid_unknown_fields=True)
    except TypeError as error:
        raise UsageError(f"the tool {name!r} has a parameter that JSON cannot fill: {error}") from None


def typed_arguments(name: str, signature: Signature) -> tuple[dict[str, Any], Callable[[Raw | bytes], dict[str, Any]]]:
    """A tool's input schema and the decoder of its arguments, both from its type hints."""
    struct = arguments_struct_for(name, signature)
    schema = schema_for_type(struct)
    schema.pop("title", None)
    decode = decoder_for(struct)
    as_dict = msgspec.structs.asdict
    return schema, lambda raw: as_dict(decode(raw))


def output_of(signature: Signature) -> tuple[dict[str, Any] | UnsetType, Callable[[bytes], object] | None]:
    """A tool's output schema from its return annotation, and the check of what it returns.

    Content blocks, text and unannotated results have no schema.
    """
    returns = signature.returns
    if _is_content(returns):
        return UNSET, None
    schema = schema_for_type(returns)
    return schema, decoder_for(returns)


def _is_content(returns: Any) -> bool:
    if returns in _CONTENT_RETURNS or returns is msgspec.UNSET:
        return True
    origin = typing.get_origin(returns)
    if origin is typing.Annotated:
        return _is_content(typing.get_args(returns)[0])
    arguments = typing.get_args(returns)
    if origin in (list, tuple) and arguments:
        return all(argument in _BLOCKS or argument is Ellipsis or _is_union_of_blocks(argument) for argument in arguments)
    return _is_union_of_blocks(returns)


def _is_union_of_blocks(hint: Any) -> bool:
    members = typing.get_args(hint)
    return bool(members) and all(member in (*_BLOCKS, str, CallToolResult, type(None)) for member in members)


async def run_tool(entry: ToolEntry, arguments: Raw | UnsetType, context: Context, log: Callable[[str], None]) -> CallToolResult:
    """Call a tool. What goes wrong inside becomes a result with ``isError``; a raised `RpcError` stays an error."""
    try:
        kwargs = entry.decode_arguments(b"{}" if arguments is UNSET else arguments)
    except (msgspec.ValidationError, ValueError) as error:
        # "Input validation errors … are reported in tool results with isError: true."
        # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
        return _failed(f"invalid arguments for {entry.tool.name}: {_for_arguments(error)}")
    if entry.context_name is not None:
        kwargs[entry.context_name] = context
    try:
        return result_from(await entry.function(**kwargs), entry)
    except RpcError:
        raise
    except ToolError as error:
        return _failed(str(error))
    except Exception as error:  # noqa: BLE001  (whatever a tool raises must reach the model as words, not end the server)
        log(_traceback_of(entry.tool.name, error))
        return _failed(f"{entry.tool.name} failed: {type(error).__name__}: {error}")


def _for_arguments(error: Exception) -> str:
    return str(error).replace("`$.", "`").replace(" - at `$`", "")


def _traceback_of(name: str, error: Exception) -> str:
    import traceback  # noqa: PLC0415  (only when something failed)

    return f"the tool {name!r} raised:\n" + "".join(traceback.format_exception(error))


def _failed(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text)], is_error=True)


def result_from(value: Any, entry: ToolEntry) -> CallToolResult:
    """What a tool returned, as its result.

    Text and content blocks are content; anything else is structured, with its JSON as text beside it.

    Raises:
        TypeError: no JSON form.
        ValueError: a number that is not finite, or a value that does not fit the tool's output schema.
    """
    if isinstance(value, CallToolResult):
        if entry.check_output is not None and not value.is_error:
            _check_output(entry, encode_value(_structured_of(value, entry)))
        return value
    if not entry.is_structured:
        content = _content_from(value)
        if content is not None:
            return CallToolResult(content=content)
    return _structured(value, entry)


def _content_from(value: Any) -> list[Any] | None:
    if value is None:
        return []
    if isinstance(value, str):
        return [TextContent(value)]
    if isinstance(value, _BLOCKS):
        return [value]
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, (*_BLOCKS, str)) for item in value):
        return [TextContent(item) if isinstance(item, str) else item for item in value]
    return None


def _structured_of(value: CallToolResult, entry: ToolEntry) -> Any:
    # "Servers MUST provide structured results that conform to this schema."
    # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
    if value.structured_content is UNSET:
        raise ValueError(f"{entry.tool.name} declares an output schema but returned no structured content")
    check_finite(value.structured_content)
    return value.structured_content


def _structured(value: Any, entry: ToolEntry) -> CallToolResult:
    if isinstance(value, (int, str)):
        encoded = encode_value(value)
    else:
        plain = _plain(value)
        check_finite(plain)
        encoded = encode_value(plain)
    if entry.check_output is not None:
        _check_output(entry, encoded)
    # "a tool that returns structured content SHOULD also return the serialized JSON in a TextContent block"
    # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#structured-content
    return CallToolResult(content=[TextContent(encoded.decode())], structured_content=Raw(encoded))


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json", by_alias=True)
    return msgspec.to_builtins(value, enc_hook=_dump_model)


def _dump_model(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json", by_alias=True)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def _check_output(entry: ToolEntry, encoded: bytes) -> None:
    if entry.check_output is None:
        return
    try:
        entry.check_output(encoded)
    except (msgspec.ValidationError, ValueError) as error:
        raise ValueError(f"what it returned does not fit its own output schema: {error}") from None
