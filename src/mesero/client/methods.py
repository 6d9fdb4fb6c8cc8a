"""Everything that can be asked of a server, a method each: tools, resources, prompts, completion, or by name.

What is offered, what is cached and what was learned of the tools is decided here; how a request travels is
the `Caller`'s part, the connection's life and subscriptions the `Client`'s.

https://modelcontextprotocol.io/specification/2026-07-28/server/index
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, overload

import msgspec
from msgspec import UNSET, Raw

from mesero.client.calling import Caller
from mesero.client.facts import ServerFacts
from mesero.client.lists import collect_pages
from mesero.client.requester import ProgressFunction
from mesero.client.sessions import SessionCalls
from mesero.client.toolbook import ToolBook, check_output
from mesero.errors import (
    HeaderMismatchError,
    InvalidParamsError,
    InvalidResultError,
    MissingCapabilityError,
    ToolFailedError,
    UsageError,
)
from mesero.extensions import MethodSpec
from mesero.modern import methods
from mesero.modern.cache import ResponseCache, cache_key_for
from mesero.modern.client import result_type_of
from mesero.transports import Transport
from mesero.types import (
    CallToolResult,
    CompleteResult,
    Completion,
    GetPromptResult,
    Prompt,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    Tool,
)

__all__ = ["Finish", "ServerMethods"]

T = TypeVar("T")

Finish = Callable[[Any, Raw], Awaitable[Any]]
"""An extension's function for one of its result types: from the client and the raw result to what the caller
of the method waits for."""


class ServerMethods:
    """The methods of `Client` that ask the server for something."""

    transport: Transport
    _caller: Caller | SessionCalls
    _methods: Mapping[str, MethodSpec]
    _finishes: Mapping[str, Finish]
    _cache: ResponseCache
    _cache_context: str
    _tools: ToolBook
    _offered: set[str]
    """Methods that were found to be offered, so that the next call need not look."""
    _changes: int = 0
    """How often the server said that something changed."""
    _server: ServerFacts | None = None

    # -- any method ------------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        on_progress: ProgressFunction | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call any method by its name: one of the core's, or of an extension that the client was given.

        Args:
            method: For example ``"tools/list"``.
            params: Its parameters by their wire names.
            timeout_s: How long without a sign of progress, in seconds.
            on_progress: Takes `Progress`.
            meta: Further members of ``_meta``, for example a trace context.

        Raises:
            UsageError: nobody described the method.
        """
        spec = self._methods.get(method)
        if spec is None:
            raise UsageError(f"{method!r} is no method that this client knows; an extension can describe it")
        self._check_offered(spec)
        params = params or {}
        if "_meta" in params:
            meta = {**params["_meta"], **(meta or {})}
        result = await self._caller.call(
            spec, params, timeout_s=timeout_s, on_progress=on_progress, meta=meta
        )
        return await self._finished(result) if isinstance(result, Raw) else result

    async def _finished(self, raw: Raw) -> Any:
        """What an extension makes of a result of its type; the raw result if it has no function for it."""
        finish = self._finishes.get(result_type_of(raw))
        return raw if finish is None else await finish(self, raw)

    def _check_offered(self, spec: MethodSpec) -> None:
        """A capability that the server did not declare is not asked for, and the client says so."""
        if spec.capability is None or self._server is None:
            return
        self._offered.add(spec.name)
        declared = self._server.capabilities
        if declared is None or getattr(declared, spec.capability, UNSET) is not UNSET:
            return
        # The method of an extension needs the extension's identifier.
        if declared.extensions is UNSET or spec.capability not in declared.extensions:
            self._offered.discard(spec.name)
            raise MissingCapabilityError(spec.capability, spec.name, where=self.transport.target)

    async def _cached(self, method: str, params: Mapping[str, Any], timeout_s: float | None) -> Any:
        spec = self._methods[method]
        self._check_offered(spec)
        key = cache_key_for(self.transport.target, method, params)
        if key is not None:
            found = self._cache.find(key, self._cache_context, time.monotonic())
            if found is not None:
                return found
        # "requests carrying inputResponses or requestState MUST NOT be cached"
        # https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cache-key
        questions: list[None] = []
        changes = self._changes
        result = await self._caller.call(
            spec, params, timeout_s=timeout_s, on_asked=lambda: questions.append(None)
        )
        # What changed while the answer was on its way may have changed after it was written.
        may_keep = not questions and changes == self._changes and isinstance(result, spec.result)
        if key is not None and may_keep:
            self._cache.store(key, self._cache_context, time.monotonic(), result)
        return result

    async def _pages(self, method: str, field: str, timeout_s: float | None) -> list[Any]:
        has_cursor = False

        async def fetch(params: Mapping[str, Any]) -> Any:
            nonlocal has_cursor
            has_cursor = "cursor" in params
            return await self._cached(method, params, timeout_s)

        try:
            return await collect_pages(fetch, method, field, where=self.transport.target)
        except InvalidParamsError:
            if not has_cursor:
                raise
            # "If a cursor becomes invalid, the client SHOULD discard all cached pages and re-fetch from the
            # beginning."
            # https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#interaction-with-pagination
            self._cache.drop(self.transport.target, method)
            return await collect_pages(fetch, method, field, where=self.transport.target)

    # -- tools -----------------------------------------------------------------------------------------------

    async def list_tools(self, *, timeout_s: float | None = None) -> list[Tool]:
        """All tools, all pages.

        Over HTTP, tools whose ``x-mcp-header`` marks break the rules are left out, with a warning that
        names them.
        https://modelcontextprotocol.io/specification/2026-07-28/server/tools#listing-tools
        """
        tools = await self._pages(methods.LIST_TOOLS, "tools", timeout_s)
        return self._tools.learn(tools)

    @overload
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: type[T],
        timeout_s: float | None = None,
        on_progress: ProgressFunction | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> T: ...
    @overload
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: None = None,
        timeout_s: float | None = None,
        on_progress: ProgressFunction | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallToolResult: ...
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: type[Any] | None = None,
        timeout_s: float | None = None,
        on_progress: ProgressFunction | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a tool. A tool that failed is a result with ``is_error``, not an exception, unless
        ``returns`` is given.

        Args:
            name: The tool.
            arguments: Its arguments.
            returns: A type: the structured content is returned as a value of it.
            timeout_s: How long without a sign of progress, in seconds.
            on_progress: Takes `Progress`; asks the server for it.
            meta: Further members of ``_meta``.

        Raises:
            RpcError: the server refused the call.
            CallTimeoutError: no answer in time; the call was cancelled on the wire.
            InvalidResultError: the result does not fit the tool's output schema, or ``returns``.
            ToolFailedError: ``is_error``, where ``returns`` was given.

        https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
        """
        if methods.CALL_TOOL not in self._offered:
            self._check_offered(self._methods[methods.CALL_TOOL])
        check = None
        if name in self._tools.schemas:
            check = self._tools.output_check_for(name, where=self.transport.target)
        params: dict[str, Any] = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        options: dict[str, Any] = {"timeout_s": timeout_s, "on_progress": on_progress, "meta": meta}
        spec = self._methods[methods.CALL_TOOL]
        try:
            result = await self._caller.call(spec, params, marks=self._tools.marks.get(name, ()), **options)
        except HeaderMismatchError:
            if not self.transport.mirrors_headers:
                raise
            # "the client SHOULD call tools/list to check for changes to the tool's inputSchema, then retry"
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#client-behavior
            self._cache.drop(self.transport.target, methods.LIST_TOOLS)
            await self.list_tools(timeout_s=timeout_s)
            check = self._tools.output_check_for(name, where=self.transport.target)
            result = await self._caller.call(spec, params, marks=self._tools.marks.get(name, ()), **options)
        if isinstance(result, Raw):
            result = await self._finished(result)
        if not isinstance(result, CallToolResult):
            return result  # Of a type that an extension defines and does not finish.
        if check is not None:
            check_output(check, name, result, where=self.transport.target)
        return result if returns is None else _typed(result, returns, name, self.transport.target)

    # -- resources -------------------------------------------------------------------------------------------

    async def list_resources(self, *, timeout_s: float | None = None) -> list[Resource]:
        """All resources. https://modelcontextprotocol.io/specification/2026-07-28/server/resources#listing-resources"""
        return await self._pages(methods.LIST_RESOURCES, "resources", timeout_s)

    async def list_resource_templates(self, *, timeout_s: float | None = None) -> list[ResourceTemplate]:
        """All templates.

        https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
        """
        return await self._pages(methods.LIST_TEMPLATES, "resource_templates", timeout_s)

    async def read_resource(self, uri: str, *, timeout_s: float | None = None) -> ReadResourceResult:
        """The contents behind a URI.

        Raises:
            RpcError: -32602 (or -32002 from older servers) when there is no such resource.

        https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources
        """
        result: ReadResourceResult = await self._cached(methods.READ_RESOURCE, {"uri": uri}, timeout_s)
        return result

    # -- prompts and completion ------------------------------------------------------------------------------

    async def list_prompts(self, *, timeout_s: float | None = None) -> list[Prompt]:
        """All prompts. https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#listing-prompts"""
        return await self._pages(methods.LIST_PROMPTS, "prompts", timeout_s)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout_s: float | None = None
    ) -> GetPromptResult:
        """A prompt's messages. https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt"""
        params: dict[str, Any] = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        result: GetPromptResult = await self.request(methods.GET_PROMPT, params, timeout_s=timeout_s)
        return result

    async def complete(
        self,
        argument: str,
        value: str,
        *,
        prompt: str | None = None,
        template: str | None = None,
        arguments: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> Completion:
        """Suggestions for an argument of a prompt, or for a variable of a resource template.

        Args:
            argument: The argument's name.
            value: What was typed so far.
            prompt, template: What it belongs to: a prompt's name, or a URI template. Exactly one.
            arguments: Arguments that are settled already.

        https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
        """
        if (prompt is None) == (template is None):
            raise UsageError("complete() takes either prompt= or template=")
        ref = (
            {"type": "ref/resource", "uri": template}
            if prompt is None
            else {"type": "ref/prompt", "name": prompt}
        )
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if arguments:
            params["context"] = {"arguments": dict(arguments)}
        result: CompleteResult = await self.request(methods.COMPLETE, params, timeout_s=timeout_s)
        return result.completion


def _typed(result: CallToolResult, returns: type[Any], name: str, where: str) -> Any:
    if result.is_error:
        raise ToolFailedError(name, result.text, where=where)
    if result.structured_content is UNSET:
        raise InvalidResultError(f"the tool {name!r} returned no structured content", where=where)
    try:
        return msgspec.convert(result.structured_content, returns)
    except msgspec.ValidationError as error:
        wanted = getattr(returns, "__name__", repr(returns))
        raise InvalidResultError(
            f"what the tool {name!r} returned is no {wanted}: {error}", where=where
        ) from None
