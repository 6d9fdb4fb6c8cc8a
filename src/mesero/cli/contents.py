"""Content blocks and resource contents as lines of text. What is no text is described, never dumped."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from mesero.cli.printing import json_text, safe_line
from mesero.jsonrpc import decode_value, encode_value
from mesero.types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)

__all__ = ["lines_of_block", "lines_of_contents", "lines_of_result"]


def lines_of_block(block: Any) -> list[str]:
    """One content block."""
    if isinstance(block, TextContent):
        return block.text.splitlines() or [""]
    if isinstance(block, ImageContent):
        return [f"[image {safe_line(block.mime_type)}, {_size_of(block.data)}]"]
    if isinstance(block, AudioContent):
        return [f"[audio {safe_line(block.mime_type)}, {_size_of(block.data)}]"]
    if isinstance(block, ResourceLink):
        return [f"[resource {safe_line(block.uri)} {safe_line(block.name)}]"]
    if isinstance(block, EmbeddedResource):
        return [f"[resource {safe_line(block.resource.uri)}]", *lines_of_contents(block.resource)]
    return [f"[content of the unknown type {safe_line(str(getattr(block, 'type', '?')))}]"]


def _size_of(base64_text: str) -> str:
    return f"{len(base64_text.rstrip('=')) * 3 // 4} bytes"


def lines_of_contents(contents: ResourceContents) -> list[str]:
    """What one resource holds."""
    if contents.text is not UNSET:
        return contents.text.splitlines() or [""]
    mime_type = "" if contents.mime_type is UNSET else f"{safe_line(contents.mime_type)}, "
    return [
        f"[{mime_type}{_size_of('' if contents.blob is UNSET else contents.blob)}; --output FILE saves it]"
    ]


def lines_of_result(result: CallToolResult) -> list[str]:
    """What a tool answered: its content, and the structured content unless a block says the same."""
    lines = [line for block in result.content for line in lines_of_block(block)]
    if result.structured_content is UNSET or _says_the_same(result):
        return lines or ["(nothing)"]
    return [*lines, *json_text(result.structured_content).splitlines()]


def _says_the_same(result: CallToolResult) -> bool:
    """Servers repeat structured content as JSON text, for clients that know no other.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#structured-content
    """
    value = result.structured_content
    plain = decode_value(encode_value(value))
    for block in result.content:
        if isinstance(block, TextContent):
            if block.text == value:
                return True
            try:
                if decode_value(block.text.encode()) == plain:
                    return True
            except Exception:  # noqa: BLE001, S112 - a text that is no JSON says something else
                continue
    # A single value is often wrapped as {"result": value}.
    return isinstance(value, dict) and list(value) == ["result"] and result.text == str(value["result"])
