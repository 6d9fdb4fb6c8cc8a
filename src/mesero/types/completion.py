"""`completion/complete`: suggestions for a prompt argument or a template variable.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
"""

from typing import TypeAlias

from msgspec import UNSET, UnsetType

from mesero.types.common import WireStruct
from mesero.types.results import Result

__all__ = [
    "CompleteParams",
    "CompleteResult",
    "Completion",
    "CompletionArgument",
    "CompletionContext",
    "CompletionReference",
    "PromptReference",
    "ResourceTemplateReference",
]


class PromptReference(WireStruct, tag_field="type", tag="ref/prompt"):
    """Names the prompt whose argument is being typed.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#reference-types
    """

    name: str
    title: str | UnsetType = UNSET


class ResourceTemplateReference(WireStruct, tag_field="type", tag="ref/resource"):
    """Names the resource template (or the URI) whose variable is being typed.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#reference-types
    """

    uri: str


CompletionReference: TypeAlias = PromptReference | ResourceTemplateReference
"""What the completed argument belongs to."""


class CompletionArgument(WireStruct):
    """The argument's name, and what has been typed so far."""

    name: str
    value: str


class CompletionContext(WireStruct):
    """Arguments that have been settled already."""

    arguments: dict[str, str] | UnsetType = UNSET


class CompleteParams(WireStruct):
    """The parameters of `completion/complete`.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#requesting-completions
    """

    ref: CompletionReference
    argument: CompletionArgument
    context: CompletionContext | UnsetType = UNSET


class Completion(WireStruct):
    """Suggestions, best first: at most 100 on the wire, of `total` that there are.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#completion-results
    """

    values: list[str]
    total: int | UnsetType = UNSET
    has_more: bool = False


class CompleteResult(Result):
    """The answer to `completion/complete`.

    https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#completeresult
    """

    completion: Completion
