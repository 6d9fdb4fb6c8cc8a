"""Tools: their description, a call's parameters and its result.

`CallToolParams.arguments` stays raw, so that arguments are read once, straight into what the tool wants.
"""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import Icon, JSONObject, MetaObject, WireStruct
from mesero.types.content import ContentBlock, TextContent
from mesero.types.inputs import InputResponseParams
from mesero.types.results import PaginatedResult, Result

__all__ = ["CallToolParams", "CallToolResult", "ListToolsResult", "Tool", "ToolAnnotations"]


class ToolAnnotations(WireStruct, kw_only=True):
    """Hints about what a tool does. They are claims of the server: never decide by those of one you do not
    trust.

    Absent means: not read-only, destructive, not idempotent, open world.
    https://modelcontextprotocol.io/specification/2026-07-28/schema#toolannotations
    """

    title: str | UnsetType = UNSET
    read_only_hint: bool | UnsetType = UNSET
    destructive_hint: bool | UnsetType = UNSET
    idempotent_hint: bool | UnsetType = UNSET
    open_world_hint: bool | UnsetType = UNSET


class Tool(WireStruct):
    """A tool as it is listed. Both schemas are JSON Schema, 2020-12 unless `$schema` says otherwise.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
    """

    name: str
    input_schema: JSONObject
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    output_schema: JSONObject | UnsetType = UNSET
    annotations: ToolAnnotations | UnsetType = UNSET
    icons: list[Icon] | UnsetType = UNSET
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


class ListToolsResult(PaginatedResult):
    """One page of tools. https://modelcontextprotocol.io/specification/2026-07-28/server/tools#listing-tools"""

    tools: list[Tool]


class CallToolParams(InputResponseParams):
    """The parameters of `tools/call`; absent `arguments` mean none.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
    """

    name: str
    arguments: msgspec.Raw | UnsetType = UNSET


class CallToolResult(Result):
    """What a tool answered. `is_error` says that the tool failed, in words meant for the model.

    `structured_content` is UNSET when absent, since null is a value.
    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
    """

    content: list[ContentBlock]
    structured_content: Any = UNSET
    is_error: bool = False

    @property
    def text(self) -> str:
        """The text blocks, joined by newlines."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextContent))
