"""What a decorated function is: its parameters, where the context goes, how it is called.

A plain ``def`` runs in a worker thread unless it is declared inline, so that no function can freeze the loop.
"""

from __future__ import annotations

import copy
import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import msgspec

from mesero.errors import UsageError
from mesero.server.context import Context
from mesero.server.threads import WorkerThreads

__all__ = ["AsyncFunction", "Signature", "async_function_for", "describe", "read_signature"]

AsyncFunction = Callable[..., Awaitable[Any]]


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """A function's parameters without its context, in order: name → (type, default or NODEFAULT).

    ``context_name`` is the parameter that wants the `Context`, ``returns`` the annotation of the result or Any.
    """

    parameters: Mapping[str, tuple[Any, Any]]
    context_name: str | None
    returns: Any


def read_signature(function: Callable[..., Any]) -> Signature:
    """Look at a function once, when it is registered.

    Raises:
        UsageError: parameters that cannot be filled from a JSON object (``*args``, ``**kwargs``, positional-only), or
            annotations that cannot be resolved.
    """
    name = getattr(function, "__name__", repr(function))
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise UsageError(f"{name}: its annotations cannot be resolved: {error}") from None
    parameters: dict[str, tuple[Any, Any]] = {}
    context_name = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UsageError(f"{name}: the parameter {parameter} cannot be filled by name")
        hint = hints.get(parameter.name, Any)
        if _is_context(hint):
            context_name = parameter.name
            continue
        default = msgspec.NODEFAULT if parameter.default is parameter.empty else parameter.default
        parameters[parameter.name] = (hint, default)
    return Signature(parameters=parameters, context_name=context_name, returns=hints.get("return", Any))


def _is_context(hint: Any) -> bool:
    return hint is Context or Context in typing.get_args(hint)


def struct_field_for(name: str, hint: Any, default: Any) -> tuple[str, Any] | tuple[str, Any, Any]:
    """A field for ``msgspec.defstruct``; mutable defaults are copied for each call."""
    if default is msgspec.NODEFAULT:
        return (name, hint)
    if isinstance(default, (list, dict, set, bytearray)):
        return (name, hint, msgspec.field(default_factory=lambda: copy.deepcopy(default)))
    return (name, hint, default)


class Threads(Protocol):
    """Where plain functions run."""

    async def run(self, function: Callable[[], Any]) -> Any:
        """Call it in a worker thread."""


def async_function_for(function: Callable[..., Any], threads: WorkerThreads, *, inline: bool) -> AsyncFunction:
    """The function as something to await: coroutine functions as they are, plain ones in a thread or inline."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004  (callable objects with an async __call__)
        return function
    if inline:

        async def call_inline(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return call_inline

    async def call_in_thread(*args: Any, **kwargs: Any) -> Any:
        return await threads.run(lambda: function(*args, **kwargs))

    return call_in_thread


def describe(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """A function's docstring as a description, and the descriptions of its parameters by name."""
    text = inspect.getdoc(function) or ""
    if not text:
        return "", {}
    from docstring_parser import parse  # noqa: PLC0415  (20 ms to import, and only where docstrings are read)

    parsed = parse(text)
    parts = [part for part in (parsed.short_description, parsed.long_description) if part]
    of_parameters = {param.arg_name: param.description for param in parsed.params if param.description}
    return "\n\n".join(parts), of_parameters
