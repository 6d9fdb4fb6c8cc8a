"""Functions as prompts, and completions for their arguments and for template variables.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from mesero.errors import InvalidParamsError
from mesero.server.context import Context
from mesero.server.functions import AsyncFunction, Signature
from mesero.server.tool_results import CONTENT_BLOCKS
from mesero.types import (
    CompleteParams,
    CompleteResult,
    Completion,
    GetPromptResult,
    Prompt,
    PromptMessage,
    TextContent,
)

__all__ = ["CompletionEntry", "PromptEntry", "complete", "prompt_result_from", "render_prompt"]

_MAX_VALUES = 100


class PromptEntry:
    """A registered prompt."""

    def __init__(self, prompt: Prompt, function: AsyncFunction, signature: Signature) -> None:
        self.prompt = prompt
        self.function = function
        self.signature = signature

    def arguments_from(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The function's arguments; all come as text and are read as their types.

        Raises:
            InvalidParamsError: one is missing, unknown or unreadable (-32602).
        """
        name = self.prompt.name
        unknown = sorted(given.keys() - self.signature.parameters.keys())
        if unknown:
            raise InvalidParamsError(f"the prompt {name!r} has no argument {unknown[0]!r}")
        arguments: dict[str, Any] = {}
        for argument, (hint, default) in self.signature.parameters.items():
            if argument in given:
                try:
                    arguments[argument] = msgspec.convert(given[argument], hint, strict=False)
                except msgspec.ValidationError as error:
                    raise InvalidParamsError(f"the prompt {name!r}: argument {argument!r}: {error}") from None
            elif default is msgspec.NODEFAULT:
                # https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#error-handling
                raise InvalidParamsError(f"the prompt {name!r} needs the argument {argument!r}")
        return arguments


async def render_prompt(entry: PromptEntry, given: Mapping[str, str], context: Context) -> GetPromptResult:
    """Run a prompt's function."""
    arguments = entry.arguments_from(given)
    if entry.signature.context_name is not None:
        arguments[entry.signature.context_name] = context
    return prompt_result_from(await entry.function(**arguments), entry.prompt)


def prompt_result_from(value: Any, prompt: Prompt) -> GetPromptResult:
    """What a function returned, as messages: a text or block is one message of the user.

    Raises:
        TypeError: something else.
    """
    if isinstance(value, GetPromptResult):
        return copy.copy(value)  # It may be one object for all calls, and is about to be stamped.
    items = value if isinstance(value, (list, tuple)) else [value]
    return GetPromptResult(messages=[_message_from(item) for item in items], description=prompt.description)


def _message_from(item: Any) -> PromptMessage:
    if isinstance(item, PromptMessage):
        return item
    if isinstance(item, str):
        return PromptMessage("user", TextContent(item))
    if isinstance(item, CONTENT_BLOCKS):
        return PromptMessage("user", item)
    raise TypeError(f"a prompt returns texts, content blocks or PromptMessages, not {type(item).__name__}")


class CompletionEntry:
    """A function that completes one argument of a prompt, or one variable of a template."""

    def __init__(self, function: AsyncFunction, signature: Signature) -> None:
        self.function = function
        self.wants_arguments = len(signature.parameters) > 1
        self.context_name = signature.context_name


async def complete(entry: CompletionEntry, params: CompleteParams, context: Context) -> CompleteResult:
    """Run a completion: at most 100 values, best first."""
    arguments: list[Any] = [params.argument.value]
    if entry.wants_arguments:
        settled = UNSET if params.context is UNSET else params.context.arguments
        arguments.append({} if settled is UNSET else settled)
    kwargs = {} if entry.context_name is None else {entry.context_name: context}
    value = await entry.function(*arguments, **kwargs)
    if isinstance(value, CompleteResult):
        return CompleteResult(completion=_bounded(value.completion), meta=value.meta)
    if not isinstance(value, Completion):
        values = [value] if isinstance(value, str) else [str(item) for item in value]
        value = Completion(values, total=len(values))
    return CompleteResult(completion=_bounded(value))


def _bounded(completion: Completion) -> Completion:
    # "Maximum 100 items per response"
    # https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#completion-results
    if len(completion.values) <= _MAX_VALUES:
        return completion
    total = len(completion.values) if completion.total is UNSET else completion.total
    return Completion(completion.values[:_MAX_VALUES], total=total, has_more=True)
