"""Prompts: their descriptions, the parameters of getting one, and the messages it expands to."""

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import Icon, MetaObject, Role, WireStruct
from mesero.types.content import ContentBlock
from mesero.types.inputs import InputResponseParams
from mesero.types.results import PaginatedResult, Result

__all__ = [
    "GetPromptParams",
    "GetPromptResult",
    "ListPromptsResult",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
]


class PromptArgument(WireStruct):
    """An argument that a prompt takes.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#promptargument
    """

    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    required: bool = False


class Prompt(WireStruct):
    """A prompt as it is listed.
    https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#prompt
    """

    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    arguments: list[PromptArgument] | UnsetType = UNSET
    icons: list[Icon] | UnsetType = UNSET
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


class PromptMessage(WireStruct):
    """One message of a prompt, with one content block.

    https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#promptmessage
    """

    role: Role
    content: ContentBlock


class ListPromptsResult(PaginatedResult):
    """One page of prompts.

    https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#listing-prompts
    """

    prompts: list[Prompt]


class GetPromptParams(InputResponseParams):
    """The parameters of `prompts/get`; all arguments are texts.

    https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt
    """

    name: str
    arguments: dict[str, str] | UnsetType = UNSET


class GetPromptResult(Result):
    """The messages that a prompt expands to.

    https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt
    """

    messages: list[PromptMessage]
    description: str | UnsetType = UNSET
