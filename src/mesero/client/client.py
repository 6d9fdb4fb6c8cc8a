"""`Client`: one connection to one server, with a method for everything that the protocol offers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

import msgspec
from msgspec import UNSET

from mesero.client.asking import Asked, ElicitFunction, ElicitUrlFunction, RootsSource, SampleFunction
from mesero.client.calling import Caller, LogFunction, ProgressFunction
from mesero.client.discovery import discover
from mesero.client.facts import ServerFacts
from mesero.client.listening import Listening
from mesero.client.lists import collect_pages
from mesero.client.targets import TransportOptions, transport_for
from mesero.client.toolbook import ToolBook
from mesero.errors import (
    HeaderMismatchError,
    InvalidParamsError,
    InvalidResultError,
    MissingCapabilityError,
    ToolFailedError,
    UsageError,
)
from mesero.extensions import Extension, MethodSpec, listen_keys_with, methods_with, result_types_with
from mesero.jsonrpc import MAX_MESSAGE_BYTES, Notification, decode_value
from mesero.modern import REVISIONS, methods
from mesero.modern.cache import ResponseCache, cache_key_for
from mesero.modern.client import Stamp
from mesero.transports import Exchange, Observer, Transport
from mesero.types import (
    CallToolResult,
    CompleteResult,
    Completion,
    GetPromptResult,
    Implementation,
    LoggingLevel,
    Prompt,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    Tool,
)

__all__ = ["Client"]

T = TypeVar("T")


class Client:
    """A connection to one server.

    ``async with Client(target) as client: …``, or ``client = await Client.connect(target)`` and ``await client.aclose()``
    from any task, any number of times.

    Args:
        target: A URL; a command as a list (never a shell line); a `mesero.Server` of this process; or a transport.
        name, version: What the client calls itself.
        timeout_s: How long a request may take without a sign of progress, in seconds.
        total_timeout_s: How long it may take with progress, in seconds.
        connect_timeout_s: How long starting or reaching the server may take, in seconds.
        elicit, elicit_url, sample, roots: Answer the server's questions; the capabilities follow from which are given.
        on_log, log_level: Take the server's log messages, from which level on (deprecated since 2026-07-28).
        on_stderr: Takes each line of a command's stderr.
        env, cwd: For a command: variables added to a safe inherited set; the working directory.
        headers: For a URL: headers sent with every request, for example an authorization.
        allow_plain_http: For a URL: allow ``http://`` to other machines, where everybody on the way can read along.
        extensions: Protocol extensions that the client speaks.
        cache: Shared by clients that may share public results; by default one of its own.
        discover: Ask the server what it offers when connecting. Without it nothing is known and nothing is refused.
        validate_output: Check structured results against the tool's output schema, once the tools were listed.
        max_message_bytes: The longest message accepted, in bytes.
        trace: Sees every message as it passes: ``trace(direction, raw, http)``.
    """

    def __init__(  # noqa: PLR0913  (a connection's settings, all but the target keyword-only)
        self,
        target: Any,
        *,
        name: str = "mesero",
        version: str | None = None,
        timeout_s: float = 60.0,
        total_timeout_s: float = 3600.0,
        connect_timeout_s: float = 30.0,
        elicit: ElicitFunction | None = None,
        elicit_url: ElicitUrlFunction | None = None,
        sample: SampleFunction | None = None,
        roots: RootsSource | None = None,
        on_log: LogFunction | None = None,
        log_level: LoggingLevel | None = None,
        on_stderr: Callable[[str], None] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        close_wait_s: float = 2.0,
        headers: Mapping[str, str] | None = None,
        allow_plain_http: bool = False,
        extensions: Sequence[Extension] = (),
        cache: ResponseCache | None = None,
        discover: bool = True,
        validate_output: bool = True,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        trace: Observer | None = None,
    ) -> None:
        if timeout_s <= 0 or total_timeout_s <= 0 or connect_timeout_s <= 0:
            raise UsageError("time-outs are greater than 0 seconds")
        options = TransportOptions(
            env=env,
            cwd=cwd,
            headers=headers,
            allow_plain_http=allow_plain_http,
            on_stderr=on_stderr,
            close_wait_s=close_wait_s,
            connect_timeout_s=connect_timeout_s,
            max_message_bytes=max_message_bytes,
            observer=trace,
        )
        self.transport: Transport = transport_for(target, options)
        self._methods = methods_with(methods.METHODS, extensions)
        self._listen_keys = listen_keys_with(methods.LISTEN_KEYS, extensions)
        asked = Asked(elicit=elicit, elicit_url=elicit_url, sample=sample, roots=roots)
        if on_log is not None and log_level is None:
            log_level = "info"
        info = Implementation(name, version or _own_version())
        stamp = Stamp(REVISIONS[0], asked.capabilities_with(extensions), info, log_level)
        self._caller = Caller(
            self.transport,
            asked,
            stamp=stamp,
            result_types=result_types_with(methods.RESULT_TYPES, extensions, self._methods),
            timeout_s=timeout_s,
            total_timeout_s=total_timeout_s,
            on_log=on_log,
        )
        self._connect_timeout_s = connect_timeout_s
        self._wants_discovery = discover
        self._cache = cache if cache is not None else ResponseCache()
        # Private results stay with whoever presented these credentials.
        self._cache_context = repr(sorted((headers or {}).items()))
        self._tools = ToolBook(validate_output=validate_output, rejects_bad_marks=self.transport.mirrors_headers)
        self._server: ServerFacts | None = None
        self._listener: asyncio.Task[None] | None = None

    # -- the connection ------------------------------------------------------------------------------------------------

    @classmethod
    async def connect(cls, target: Any, **settings: Any) -> Client:
        """A connected client, without ``async with``; see the class for the settings."""
        client = cls(target, **settings)
        await client._open()
        return client

    async def __aenter__(self) -> Client:
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _open(self) -> None:
        try:
            await self.transport.open()
            # https://modelcontextprotocol.io/specification/2026-07-28/server/discover#when-to-call
            self._server = await discover(
                self._caller, self._methods[methods.DISCOVER], asks=self._wants_discovery, timeout_s=self._connect_timeout_s
            )
            self._listener = asyncio.get_running_loop().create_task(self._take_unsolicited())
        except BaseException:
            await self.aclose()
            raise

    async def _take_unsolicited(self) -> None:
        async for received in self.transport.unsolicited():
            if isinstance(received.message, Notification):
                self._take_change(received.message)
                with contextlib.suppress(Exception):  # A log function that fails must not end the connection.
                    await self._caller.take_log(received.message)

    @property
    def server(self) -> ServerFacts:
        """The server, as it presents itself, and how its era was decided.

        Raises:
            UsageError: not connected yet.
        """
        if self._server is None:
            raise UsageError("the client is not connected yet: use 'async with' or 'await Client.connect(…)'")
        return self._server

    async def aclose(self) -> None:
        """Refuse new calls, fail open ones with `ClosedError`, end the transport."""
        self._caller.is_closed = True
        await self.transport.aclose()
        listener = self._listener
        if listener is not None and listener is not asyncio.current_task():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({listener}, timeout=1.0)
            listener.cancel()

    # -- any method ----------------------------------------------------------------------------------------------------

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
            params: Its parameters without ``_meta``, by their wire names.
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
        return await self._caller.call(spec, params or {}, timeout_s=timeout_s, on_progress=on_progress, meta=meta)

    def _check_offered(self, spec: MethodSpec) -> None:
        # "A capability that the server did not declare is not asked for, and the client says so."
        if spec.capability is None or self._server is None or self._server.capabilities is None:
            return
        if getattr(self._server.capabilities, spec.capability) is UNSET:
            raise MissingCapabilityError(spec.capability, spec.name, where=self.transport.target)

    async def _cached(self, method: str, params: Mapping[str, Any], timeout_s: float | None) -> Any:
        spec = self._methods[method]
        self._check_offered(spec)
        key = cache_key_for(self.transport.target, method, params)
        if key is not None:
            found = self._cache.find(key, self._cache_context, time.monotonic())
            if found is not None:
                return found
        result = await self._caller.call(spec, params, timeout_s=timeout_s)
        if key is not None:
            self._cache.store(key, self._cache_context, time.monotonic(), result)
        return result

    async def _pages(self, method: str, field: str, timeout_s: float | None) -> list[Any]:
        try:
            return await collect_pages(lambda params: self._cached(method, params, timeout_s), method, field)
        except InvalidParamsError:
            # "If a cursor becomes invalid … the client SHOULD discard all cached pages."
            self._cache.drop(self.transport.target, method)
            raise

    # -- tools ---------------------------------------------------------------------------------------------------------

    async def list_tools(self, *, timeout_s: float | None = None) -> list[Tool]:
        """All tools, all pages.

        Over HTTP, tools whose ``x-mcp-header`` marks break the rules are left out, with a warning that names them.
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
        """Call a tool. A tool that failed is a result with ``is_error``, not an exception, unless ``returns`` is given.

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
        spec = self._methods[methods.CALL_TOOL]
        self._check_offered(spec)
        params: dict[str, Any] = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        try:
            result = await self._caller.call(
                spec, params, marks=self._tools.marks_for(name), timeout_s=timeout_s, on_progress=on_progress, meta=meta
            )
        except HeaderMismatchError:
            # "the client SHOULD call tools/list to check for changes to the tool's inputSchema, then retry"
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#client-behavior
            self._cache.drop(self.transport.target, methods.LIST_TOOLS)
            await self.list_tools(timeout_s=timeout_s)
            result = await self._caller.call(
                spec, params, marks=self._tools.marks_for(name), timeout_s=timeout_s, on_progress=on_progress, meta=meta
            )
        if not isinstance(result, CallToolResult):
            return result
        self._tools.check_output(name, result, where=self.transport.target)
        return result if returns is None else _typed(result, returns, name, self.transport.target)

    # -- resources -----------------------------------------------------------------------------------------------------

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

    # -- prompts and completion ----------------------------------------------------------------------------------------

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
        ref = {"type": "ref/resource", "uri": template} if prompt is None else {"type": "ref/prompt", "name": prompt}
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if arguments:
            params["context"] = {"arguments": dict(arguments)}
        result: CompleteResult = await self.request(methods.COMPLETE, params, timeout_s=timeout_s)
        return result.completion

    # -- changes -------------------------------------------------------------------------------------------------------

    def listen(
        self,
        *,
        tools: bool = False,
        prompts: bool = False,
        resources: bool | Iterable[str] = False,
        reconnect: bool = True,
        **extension_keys: Any,
    ) -> Listening:
        """Hear of changes: ``async for change in client.listen(tools=True, resources=["notes://1"]): …``.

        Args:
            tools, prompts: Whether those lists change.
            resources: True for the list of resources; URIs to watch these resources.
            reconnect: Open a lost stream again, and say so with a change of the kind ``reconnected``.
            extension_keys: Filter members that extensions define, by their wire names.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
        """
        wanted: dict[str, Any] = {}
        if tools:
            wanted["toolsListChanged"] = True
        if prompts:
            wanted["promptsListChanged"] = True
        if resources is True:
            wanted["resourcesListChanged"] = True
        elif resources:
            wanted["resourceSubscriptions"] = list(resources)
        unknown = extension_keys.keys() - self._listen_keys.keys()
        if unknown:
            raise UsageError(f"no extension defines the filter member {sorted(unknown)[0]!r}")
        wanted.update(extension_keys)
        if not wanted:
            raise UsageError("listen() needs something to listen for, for example tools=True")
        spec = self._methods[methods.LISTEN]

        async def open_exchange() -> Exchange:
            return await self._caller.start(spec, {"notifications": wanted})

        return Listening(
            open_exchange,
            where=self.transport.target,
            acknowledge_s=self._connect_timeout_s,
            reconnect=reconnect,
            on_notification=self._take_change,
        )

    def _take_change(self, notification: Notification) -> None:
        uri = None
        if notification.method == methods.RESOURCE_UPDATED and notification.params is not UNSET:
            uri = decode_value(notification.params).get("uri")
        self._cache.invalidate(self.transport.target, notification.method, uri)


def _typed(result: CallToolResult, returns: type[Any], name: str, where: str) -> Any:
    if result.is_error:
        raise ToolFailedError(name, result.text, where=where)
    if result.structured_content is UNSET:
        raise InvalidResultError(f"the tool {name!r} returned no structured content", where=where)
    try:
        return msgspec.convert(result.structured_content, returns)
    except msgspec.ValidationError as error:
        raise InvalidResultError(f"what the tool {name!r} returned is no {returns.__name__}: {error}", where=where) from None


def _own_version() -> str:
    from mesero import __version__  # noqa: PLC0415  (the package is complete by then)

    return __version__
