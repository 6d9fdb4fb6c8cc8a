"""From a decorated function and its options to an entry of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from mesero.errors import UsageError
from mesero.server.functions import Signature, async_function_for, describe, name_of, read_signature
from mesero.server.prompts import PromptEntry
from mesero.server.resources import ResourceEntry, TemplateEntry
from mesero.server.threads import WorkerThreads
from mesero.server.tool_results import output_by_hints, output_by_schema
from mesero.server.tools import ToolEntry, checked_arguments, typed_arguments
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

__all__ = [
    "check_cache_hints",
    "prompt_entry_from",
    "resource_entry_from",
    "template_entry_from",
    "tool_entry_from",
]

_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_URI_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def _given(value: Any) -> Any:
    return UNSET if value is None or value in ("", ()) else value


def tool_entry_from(
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
    tool_name = name or name_of(function)
    if not _TOOL_NAME.fullmatch(tool_name):
        # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
        raise UsageError(f"{tool_name!r} is no tool name: 1 to 128 of A-Z a-z 0-9 _ - .")
    signature = read_signature(function, may_take_any=input_schema is not None)
    text, of_parameters = describe(function)
    if input_schema is None:
        schema, decode_arguments = typed_arguments(tool_name, signature)
        _add_descriptions(schema, of_parameters)
    else:
        schema, decode_arguments = dict(input_schema), checked_arguments(input_schema)
    output = output_by_hints(signature) if output_schema is None else output_by_schema(output_schema)
    tool = Tool(
        tool_name,
        schema,
        title=_given(title),
        description=_given(description or text),
        output_schema=output.schema,
        annotations=_given(annotations),
        icons=list(icons) or UNSET,
        meta=UNSET if meta is None else dict(meta),
    )
    return ToolEntry(
        tool,
        async_function_for(function, threads, inline=inline),
        context_name=signature.context_name,
        needs=dict(requires or {}),
        decode_arguments=decode_arguments,
        output=output,
    )


def _add_descriptions(schema: dict[str, Any], descriptions: Mapping[str, str]) -> None:
    for name, field in schema.get("properties", {}).items():
        if name in descriptions and "description" not in field:
            field["description"] = descriptions[name]


def check_cache_hints(ttl_ms: int, cache_scope: str) -> None:
    """Cache hints that clients can use.

    Raises:
        UsageError: a negative time, or a scope that does not exist.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-model
    """
    if type(ttl_ms) is not int or ttl_ms < 0:
        raise UsageError(f"{ttl_ms!r} is no time to live: a whole number of milliseconds, 0 or more")
    if cache_scope not in ("public", "private"):
        raise UsageError(f"{cache_scope!r} is no cache scope: 'public' or 'private'")


def _check_uri(uri: str) -> None:
    if not _URI_SCHEME.match(uri):
        raise UsageError(f"{uri!r} is no URI: it begins with a scheme, for example 'notes://{{id}}'")


def resource_entry_from(
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
    check_cache_hints(ttl_ms, cache_scope)
    resource = Resource(
        uri=uri,
        name=name or name_of(function),
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


def template_entry_from(
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
    check_cache_hints(ttl_ms, cache_scope)
    template = ResourceTemplate(
        uri_template=uri_template,
        name=name or name_of(function),
        title=_given(title),
        description=_given(description or describe(function)[0]),
        mime_type=_given(mime_type),
        annotations=_given(annotations),
        icons=list(icons) or UNSET,
        meta=UNSET if meta is None else dict(meta),
    )
    called = async_function_for(function, threads, inline=inline)
    return TemplateEntry(template, called, read_signature(function), ttl_ms=ttl_ms, cache_scope=cache_scope)


def prompt_entry_from(
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
        name or name_of(function),
        title=_given(title),
        description=_given(description or text),
        arguments=_prompt_arguments(signature, of_parameters),
        icons=list(icons) or UNSET,
        meta=UNSET if meta is None else dict(meta),
    )
    return PromptEntry(prompt, async_function_for(function, threads, inline=inline), signature)


def _prompt_arguments(
    signature: Signature, descriptions: Mapping[str, str]
) -> list[PromptArgument] | UnsetType:
    arguments = [
        PromptArgument(
            name, description=_given(descriptions.get(name)), required=default is msgspec.NODEFAULT
        )
        for name, (_, default) in signature.parameters.items()
    ]
    return arguments or UNSET
