"""What a decorated function is: its parameters, where the context goes, how it is called.

A plain ``def`` runs in a worker thread unless it is declared inline, so that no function can freeze the loop.
"""

from __future__ import annotations

import copy
import functools
import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from mesero.errors import UsageError
from mesero.server.context import Context
from mesero.server.threads import WorkerThreads

__all__ = [
    "AsyncFunction",
    "Signature",
    "async_function_for",
    "describe",
    "name_of",
    "read_signature",
    "struct_field_for",
]

AsyncFunction = Callable[..., Awaitable[Any]]


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """A function's parameters without its context, in order: name → (type, default or NODEFAULT).

    ``context_name`` is the parameter that wants the `Context`, ``returns`` the annotation of the result or
    Any.
    """

    parameters: Mapping[str, tuple[Any, Any]]
    context_name: str | None
    returns: Any


def _written_function(function: Any) -> Any:
    """The function that somebody wrote: inside of a partial, or the ``__call__`` of an object."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called, in lists and in messages to people."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def read_signature(function: Callable[..., Any], *, may_take_any: bool = False) -> Signature:
    """Look at a function once, when it is registered.

    Args:
        function: The function.
        may_take_any: Allow ``**kwargs``, where the names come from somebody else.

    Raises:
        UsageError: parameters that cannot be filled from a JSON object (``*args``, ``**kwargs``,
            positional-only), or annotations that cannot be resolved.
    """
    name = name_of(function)
    try:
        hints = typing.get_type_hints(_written_function(function), include_extras=True)
    except (NameError, TypeError) as error:
        where = "classes in annotations stand at the top of a module"
        raise UsageError(f"{name}: its annotations cannot be resolved: {error}; {where}") from None
    parameters: dict[str, tuple[Any, Any]] = {}
    context_name = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and may_take_any:
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UsageError(f"{name}: the parameter {parameter} cannot be filled by name")
        hint = hints.get(parameter.name, Any)
        if hint is Context or Context in typing.get_args(hint):
            context_name = parameter.name
            continue
        default = msgspec.NODEFAULT if parameter.default is parameter.empty else parameter.default
        parameters[parameter.name] = (hint, default)
    return Signature(parameters=parameters, context_name=context_name, returns=hints.get("return", Any))


_NEVER_CHANGE = (type(None), bool, int, float, str, bytes, tuple, frozenset)


def struct_field_for(name: str, hint: Any, default: Any) -> tuple[str, Any] | tuple[str, Any, Any]:
    """A field for ``msgspec.defstruct``; a default that could be changed is copied for each call."""
    if default is msgspec.NODEFAULT:
        return (name, hint)
    if isinstance(default, _NEVER_CHANGE):
        return (name, hint, default)
    return (name, hint, msgspec.field(default_factory=lambda: copy.deepcopy(default)))


def async_function_for(
    function: Callable[..., Any], threads: WorkerThreads, *, inline: bool
) -> AsyncFunction:
    """The function as something to await: async ones as they are, plain ones in a thread or inline."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(_written_function(function)):
        return function

    async def call_inline(*args: Any, **kwargs: Any) -> Any:
        value = function(*args, **kwargs)
        return await value if inspect.isawaitable(value) else value

    async def call_in_thread(*args: Any, **kwargs: Any) -> Any:
        value = await threads.run(lambda: function(*args, **kwargs))
        # A plain wrapper around an async function gives back what is to be awaited.
        return await value if inspect.isawaitable(value) else value

    return call_inline if inline else call_in_thread


def describe(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """A function's docstring as a description, and the descriptions of its parameters by name."""
    text = inspect.getdoc(_written_function(function)) or ""
    if not text:
        return "", {}
    from docstring_parser import parse

    parsed = parse(text)
    parts = [part for part in (parsed.short_description, parsed.long_description) if part]
    of_parameters = {param.arg_name: param.description for param in parsed.params if param.description}
    return "\n\n".join(parts), of_parameters
