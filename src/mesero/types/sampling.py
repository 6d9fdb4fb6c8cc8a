"""Sampling: the server asks the client's model. Messages, preferences, and the model's answer.

Deprecated since 2026-07-28: call a model provider's API from the server.
https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
"""

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import JSONObject, MetaObject, Number, Role, WireStruct
from mesero.types.content import AudioContent, ContentBlock, ImageContent, TextContent, UnknownContent
from mesero.types.tools import Tool

__all__ = [
    "CreateMessageParams",
    "CreateMessageResult",
    "ModelHint",
    "ModelPreferences",
    "SamplingContentBlock",
    "SamplingMessage",
    "ToolChoice",
    "ToolResultContent",
    "ToolUseContent",
]


class ToolUseContent(WireStruct, tag_field="type", tag="tool_use"):
    """The model wants a tool called. Deprecated: use a model provider's API.

    https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#sampling-with-tools
    """

    id: str
    name: str
    input: JSONObject
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


class ToolResultContent(WireStruct, tag_field="type", tag="tool_result"):
    """What the tool answered, for the model. Deprecated: use a model provider's API.

    https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#tool-result-messages
    """

    tool_use_id: str
    content: list[ContentBlock]
    structured_content: Any = UNSET
    is_error: bool = False
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


if TYPE_CHECKING:
    SamplingContentBlock: TypeAlias = (
        TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent | UnknownContent
    )
else:
    # msgspec can not decode a union with UnknownContent in it; `decode` puts it in afterwards.
    SamplingContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent


class _Spoken(WireStruct, kw_only=True):
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


class SamplingMessage(_Spoken):
    """One message of the conversation; `content` is one block or several, as it came.

    Deprecated: use a model provider's API.
    https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#messages
    """

    role: Role
    content: SamplingContentBlock | list[SamplingContentBlock]


class ModelHint(WireStruct):
    """A part of a model's name that the server would like. Deprecated: use a model provider's API.

    https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#model-hints
    """

    name: str | UnsetType = UNSET


class ModelPreferences(WireStruct, kw_only=True):
    """What matters in the choice of a model: each priority from 0 to 1, the first fitting hint first.

    Deprecated: use a model provider's API.
    https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#model-preferences
    """

    hints: list[ModelHint] | UnsetType = UNSET
    cost_priority: Number | UnsetType = UNSET
    speed_priority: Number | UnsetType = UNSET
    intelligence_priority: Number | UnsetType = UNSET


class ToolChoice(WireStruct):
    """Whether the model may, must or must not use tools. Deprecated: use a model provider's API.

    https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#tool-choice-modes
    """

    mode: Literal["auto", "required", "none"] | UnsetType = UNSET


class CreateMessageParams(WireStruct, kw_only=True):
    """The parameters of `sampling/createMessage`. Deprecated: use a model provider's API.

    `include_context` other than "none" is deprecated on its own: leave it out, and put the context into
    `messages`. https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#creating-messages
    """

    messages: list[SamplingMessage]
    max_tokens: int
    model_preferences: ModelPreferences | UnsetType = UNSET
    system_prompt: str | UnsetType = UNSET
    include_context: Literal["none", "thisServer", "allServers"] | UnsetType = UNSET
    temperature: Number | UnsetType = UNSET
    stop_sequences: list[str] | UnsetType = UNSET
    metadata: JSONObject | UnsetType = UNSET
    tools: list[Tool] | UnsetType = UNSET
    tool_choice: ToolChoice | UnsetType = UNSET


class CreateMessageResult(_Spoken):
    """The model's answer; known stop reasons are "endTurn", "stopSequence", "maxTokens" and "toolUse".

    Deprecated: use a model provider's API.
    https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#result-fields
    """

    role: Role
    content: SamplingContentBlock | list[SamplingContentBlock]
    model: str
    stop_reason: str | UnsetType = UNSET
