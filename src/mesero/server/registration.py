"""From a decorated function and its options to an entry of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mesero.errors import UsageError
from mesero.schemas import SchemaCheck
from mesero.server.functions import Signature, async_function_for, describe, read_signature
from mesero.server.prompts import PromptEntry
from mesero.server.resources import ResourceEntry, TemplateEntry
from mesero.server.threads import WorkerThreads
from mesero.server.tools import ToolEntry, output_of, typed_arguments
from mesero.types import (
    Annotations,
    CacheScope,
    Icon,
    Prompt,
    PromptArgument,
    Resource,
    ResourceTemplate,
    Tool,
    ToolAnnotations,
)

__all__ = ["prompt_entry_from", "resource_entry_from", "template_entry_from", "tool_entry_from"]

_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_URI_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def _given(value: Any) -> Any:
    return UNSET if value is None or value == "" or value == () else value


def tool_entry_from(  # noqa: PLR0913  (a tool's options, all keyword-only)
    function: Callable[..., Any],
    threads: WorkerThreads,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    annotations: ToolAnnotations | None = None,
    icons: Sequence[Icon] = (),
    meta: Mapping[str, Any] | None = None,
    requires: Mapping[str, Any] | None = None,
    inline: bool = False,
) -> ToolEntry:
    """A tool from a function; see `mesero.server.Server.tool`."""
    tool_name = name or function.__name__
    if not _TOOL_NAME.fullmatch(tool_name):
        # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
        raise UsageError(f"{tool_name!r} is no tool name: 1 to 128 of A-Z a-z 0-9 _ - .")
    signature = read_signature(function)
    text, of_parameters = describe(function)
    decode_arguments: Callable[[Raw | bytes], dict[str, Any]]
    if input_schema is None:
        schema, decode_arguments = typed_arguments(tool_name, signature)
        _add_descriptions(schema, of_parameters)
    else:
        schema, decode_arguments = dict(input_schema), _checked_arguments(input_schema)
    check_output: Callable[[bytes], object] | None
    if output_schema is None:
        output, check_output = output_of(signature)
    else:
        output, check_output = dict(output_schema), _checked_output(output_schema)
    tool = Tool(
        tool_name,
        schema,
        title=_given(title),
        description=_given(description or text),
        output_schema=output,
        annotations=_given(annotations),
        icons=list(icons) or UNSET,
        meta=UNSET if meta is None else dict(meta),
    )
    return ToolEntry(
        tool,
        async_function_for(function, threads, inline=inline),
        signature,
        needs=dict(requires or {}),
        decode_arguments=decode_arguments,
        check_output=check_output,
    )


def _add_descriptions(schema: dict[str, Any], descriptions: Mapping[str, str]) -> None:
    for name, field in schema.get("properties", {}).items():
        if name in descriptions and "description" not in field:
            field["description"] = descriptions[name]


def _checked_arguments(schema: Mapping[str, Any]) -> Callable[[Raw | bytes], dict[str, Any]]:
    check = SchemaCheck(schema)

    def decode(raw: Raw | bytes) -> dict[str, Any]:
        arguments: dict[str, Any] = msgspec.json.decode(raw, type=dict[str, Any])
        errors = check.find_errors(arguments)
        if errors:
            raise ValueError("; ".join(errors))
        return arguments

    return decode


def _checked_output(schema: Mapping[str, Any]) -> Callable[[bytes], object]:
    check = SchemaCheck(schema)

    def judge(encoded: bytes) -> None:
        errors = check.find_errors(msgspec.json.decode(encoded))
        if errors:
            raise ValueError("; ".join(errors))

    return judge


def _check_uri(uri: str) -> None:
    if not _URI_SCHEME.match(uri):
        raise UsageError(f"{uri!r} is no URI: it begins with a scheme, for example 'notes://{{id}}'")


def resource_entry_from(  # noqa: PLR0913  (a resource's options, all keyword-only)
    function: Callable[..., Any],
    uri: str,
    threads: WorkerThreads,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
    size: int | None = None,
    annotations: Annotations | None = None,
    icons: Sequence[Icon] = (),
    meta: Mapping[str, Any] | None = None,
    ttl_ms: int = 0,
    cache_scope: CacheScope = "private",
    inline: bool = False,
) -> ResourceEntry:
    """A resource from a function; see `mesero.server.Server.resource`."""
    _check_uri(uri)
    resource = Resource(
        uri=uri,
        name=name or function.__name__,
        title=_given(title),
        description=_given(description or describe(function)[0]),
        mime_type=_given(mime_type),
        size=_given(size),
        annotations=_given(annotations),
        icons=list(icons) or UNSET,
        meta=UNSET if meta is None else dict(meta),
    )
    called = async_function_for(function, threads, inline=inline)
    return ResourceEntry(resource, called, read_signature(function), ttl_ms=ttl_ms, cache_scope=cache_scope)


def template_entry_from(  # noqa: PLR0913  (a template's options, all keyword-only)
    function: Callable[..., Any],
    uri_template: str,
    threads: WorkerThreads,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
    annotations: Annotations | None = None,
    icons: Sequence[Icon] = (),
    meta: Mapping[str, Any] | None = None,
    ttl_ms: int = 0,
    cache_scope: CacheScope = "private",
    inline: bool = False,
) -> TemplateEntry:
    """A resource template from a function; see `mesero.server.Server.resource`."""
    _check_uri(uri_template)
    template = ResourceTemplate(
        uri_template=uri_template,
        name=name or function.__name__,
        title=_given(title),
        description=_given(description or describe(function)[0]),
        mime_type=_given(mime_type),
        annotations=_given(annotations),
        icons=list(icons) or UNSET,
        meta=UNSET if meta is None else dict(meta),
    )
    called = async_function_for(function, threads, inline=inline)
    return TemplateEntry(template, called, read_signature(function), ttl_ms=ttl_ms, cache_scope=cache_scope)


def prompt_entry_from(  # noqa: PLR0913  (a prompt's options, all keyword-only)
    function: Callable[..., Any],
    threads: WorkerThreads,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    icons: Sequence[Icon] = (),
    meta: Mapping[str, Any] | None = None,
    inline: bool = False,
) -> PromptEntry:
    """A prompt from a function; see `mesero.server.Server.prompt`."""
    signature = read_signature(function)
    text, of_parameters = describe(function)
    prompt = Prompt(
        name or function.__name__,
        title=_given(title),
        description=_given(description or text),
        arguments=_prompt_arguments(signature, of_parameters),
        icons=list(icons) or UNSET,
        meta=UNSET if meta is None else dict(meta),
    )
    return PromptEntry(prompt, async_function_for(function, threads, inline=inline), signature)


def _prompt_arguments(signature: Signature, descriptions: Mapping[str, str]) -> list[PromptArgument] | UnsetType:
    arguments = [
        PromptArgument(name, description=_given(descriptions.get(name)), required=default is msgspec.NODEFAULT)
        for name, (_, default) in signature.parameters.items()
    ]
    return arguments or UNSET
