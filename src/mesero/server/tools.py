"""A function as a tool: its input schema from its type hints, its arguments typed once, its failures as
results.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mesero.errors import RpcError, UsageError
from mesero.jsonrpc import encode_value
from mesero.modern.headers import MARK, HeaderMark, marks_of
from mesero.schemas import SchemaCheck
from mesero.server.context import Context
from mesero.server.functions import AsyncFunction, Signature, struct_field_for
from mesero.server.hints import decoder_for, schema_for_type, whole_numbers
from mesero.server.tool_results import ToolOutput
from mesero.types import CallToolResult, TextContent, Tool

__all__ = ["Arguments", "ToolEntry", "ToolError", "checked_arguments", "run_tool", "typed_arguments"]

Arguments = Callable[[Raw | bytes], Any]
"""From the raw arguments of a call to a dict or Struct of keyword arguments; raises ValueError for what does
not fit."""


class ToolError(Exception):
    """Raised by a tool whose operation failed: its text reaches the model as a result with ``isError``.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
    """


class ToolEntry:
    """A registered tool: how it is listed, and how it is called.

    Args:
        tool: As it is listed.
        function: Awaited with keyword arguments.
        context_name: The parameter that wants the `Context`, if any.
        needs: Client capabilities without which a call is refused.
        decode_arguments: From raw arguments to keyword arguments.
        output: What it promises of its results.

    Raises:
        UsageError: a header mark of the input schema breaks a rule.
    """

    __slots__ = ("context_name", "decode_arguments", "function", "marks", "needs", "output", "tool")

    def __init__(
        self,
        tool: Tool,
        function: AsyncFunction,
        *,
        context_name: str | None,
        needs: Mapping[str, Any],
        decode_arguments: Arguments,
        output: ToolOutput,
    ) -> None:
        self.tool = tool
        self.function = function
        self.context_name = context_name
        self.needs = needs
        self.decode_arguments = decode_arguments
        self.output = output
        self.marks: tuple[HeaderMark, ...] = marks_of(tool.input_schema)


def typed_arguments(name: str, signature: Signature) -> tuple[dict[str, Any], Arguments]:
    """A tool's input schema and the decoder of its arguments, both from its type hints.

    Members that the function does not know are refused.

    Raises:
        UsageError: a parameter's type has no JSON form.
    """
    fields = [
        struct_field_for(field, hint, default) for field, (hint, default) in signature.parameters.items()
    ]
    try:
        struct = msgspec.defstruct(f"{name} arguments", fields, kw_only=True, forbid_unknown_fields=True)
        schema = schema_for_type(struct)
        decode = decoder_for(struct)
        _complete_schema(schema, signature)
    except (TypeError, UsageError) as error:
        raise UsageError(f"the tool {name!r} has a parameter that JSON cannot fill: {error}") from None
    return schema, decode


def _complete_schema(schema: dict[str, Any], signature: Signature) -> None:
    """What msgspec leaves out: defaults that are made anew for each call, and the types of marked choices."""
    schema.pop("title", None)
    definitions = schema.get("$defs", {})
    for name, (_, default) in signature.parameters.items():
        field = schema["properties"][name]
        if default is not msgspec.NODEFAULT and default is not UNSET:
            field.setdefault("default", msgspec.to_builtins(default))
        if MARK not in field:
            continue
        # "x-mcp-header" stands at a primitive type, and a choice among texts is one, though msgspec writes it
        # as an enumeration without a type, perhaps somewhere else.
        target = definitions.get(str(field.get("$ref", "")).removeprefix("#/$defs/"), {})
        if "enum" in target:
            del field["$ref"]
            field.update({key: value for key, value in target.items() if key != "title"})
        choices = field.get("enum", ())
        for kind, json_type in ((str, "string"), (int, "integer")):
            if choices and all(type(choice) is kind for choice in choices):
                field.setdefault("type", json_type)


def checked_arguments(schema: Mapping[str, Any]) -> Arguments:
    """The check of a tool's arguments against a JSON Schema of its own.

    Raises:
        UsageError: no usable schema of an object.
    """
    # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
    if schema.get("type") != "object":
        raise UsageError("an input schema has the type 'object': arguments are passed by name")
    check = SchemaCheck(schema)

    def decode(raw: Raw | bytes) -> dict[str, Any]:
        arguments: dict[str, Any] = msgspec.json.decode(raw, type=dict[str, Any])
        errors = check.find_errors(arguments)
        if errors:
            raise ValueError("; ".join(errors))
        return arguments

    return decode


async def run_tool(
    entry: ToolEntry, arguments: Raw | UnsetType, context: Context | None, log: Callable[[str], None]
) -> CallToolResult:
    """Call a tool. What goes wrong inside becomes a result with ``isError``; an `RpcError` stays an error."""
    raw = b"{}" if arguments is UNSET else arguments
    try:
        kwargs = entry.decode_arguments(raw)
    except (ValueError, RecursionError) as error:
        kwargs = _reread(entry, raw, error)
    if isinstance(kwargs, Exception):
        # Input validation errors "are reported in tool results with isError: true".
        # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
        return _failed(f"invalid arguments for {entry.tool.name}: {_for_arguments(kwargs)}")
    if not isinstance(kwargs, dict):
        kwargs = msgspec.structs.asdict(kwargs)
    if entry.context_name is not None:
        kwargs[entry.context_name] = context
    try:
        return entry.output.result_from(await entry.function(**kwargs))
    except RpcError:
        raise
    except ToolError as error:
        return _failed(str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever it is reaches the model as words)
        text = "".join(traceback.format_exception(error))
        log(f"the tool {entry.tool.name!r} raised:\n{text}")
        return _failed(f"{entry.tool.name} failed: {type(error).__name__}: {error}")


def _reread(entry: ToolEntry, raw: Raw | bytes, error: Exception) -> Any:
    """The arguments once more with 3 for 3.0, or the error that stands."""
    try:
        return entry.decode_arguments(encode_value(whole_numbers(msgspec.json.decode(raw))))
    except (ValueError, RecursionError):
        return error


def _for_arguments(error: Exception) -> str:
    return str(error).replace("`$.", "`").replace(" - at `$`", "")


def _failed(text: str) -> CallToolResult:
    # A file name from the system may hold what no JSON can.
    printable = text.encode("utf-8", "backslashreplace").decode()
    return CallToolResult(content=[TextContent(printable)], is_error=True)
