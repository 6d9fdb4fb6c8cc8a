"""`Server`: what an author registers, and the few ways to run it."""

from __future__ import annotations

import contextlib
import re
import sys
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from msgspec import UNSET, UnsetType

from mesero.eras import find_adapter
from mesero.errors import UsageError
from mesero.extensions import Extension, MethodSpec, listen_keys_with, methods_with, needs_of_filter
from mesero.jsonrpc import MAX_MESSAGE_BYTES, Request, encode_value
from mesero.modern import REVISIONS as STATELESS_REVISIONS
from mesero.modern import methods
from mesero.modern.envelope import find_name
from mesero.modern.headers import HeaderMark
from mesero.modern.server import read_filter, server_meta_for
from mesero.revisions import HANDSHAKE_REVISIONS, REVISIONS
from mesero.server.authorization import Authorize
from mesero.server.bus import Bus, Change, MemoryBus
from mesero.server.catalog import SortedList
from mesero.server.functions import async_function_for, read_signature
from mesero.server.operations import OPERATIONS, Operate
from mesero.server.prompts import CompletionEntry, PromptEntry
from mesero.server.registration import (
    check_cache_hints,
    prompt_entry_from,
    resource_entry_from,
    template_entry_from,
    tool_entry_from,
)
from mesero.server.reply import Reply
from mesero.server.resources import ResourceEntry, TemplateEntry
from mesero.server.rounds import Rounds
from mesero.server.state import Sealer
from mesero.server.stream import StreamConnection
from mesero.server.subscriptions import Subscriptions
from mesero.server.threads import WorkerThreads
from mesero.server.tools import ToolEntry
from mesero.transports import Observer
from mesero.transports.watching import (
    Links,
    MessageWatch,
    Trace,
    Watch,
    observer_from,
    open_recorder,
    watch_for,
)
from mesero.types import (
    CacheScope,
    Icon,
    Implementation,
    PromptsCapability,
    ResourcesCapability,
    ServerCapabilities,
    ToolsCapability,
)
from mesero.uritemplates import is_template

if TYPE_CHECKING:
    from mesero.server.http import HttpApp

__all__ = ["Server"]

F = TypeVar("F", bound=Callable[..., Any])


class Server:
    """An MCP server: tools, resources and prompts behind any transport.

    Args:
        name: What the server calls itself.
        version: Its own version.
        title, description, website_url, icons: For display.
        instructions: Advice to the model on how to use the server.
        revisions: The protocol revisions to speak, all by default. Requests of others are refused with an
            error that names these.
        page_size: The most entries on one page of a list.
        list_ttl_ms: How long clients may reuse lists and the discovery, in milliseconds.
        list_cache_scope: Who may reuse them. "public" only when they are the same for everybody.
        state_keys: Keys that seal request state; replicas share them. The first one seals, all open.
        bus: Carries change notifications; replicas share one.
        authorize: Asked before every operation; see `mesero.server.authorization`.
        extensions: Protocol extensions, each with its functions by name: of its methods, of core methods that
            it wraps, and of its filter members (``call.params`` is the member's value; returned is the part
            to honour, or None).
        max_threads: The most plain functions that run at once.
        max_message_bytes: The longest message accepted, in bytes.
        log: Takes lines for the server's operator; stderr by default.
        trace: A file to record in what passes on every connection, without its secrets; or a
            `mesero.trace.recorder.Recorder`, or a function that sees every message, as for a `mesero.Client`.

    https://modelcontextprotocol.io/specification/2026-07-28/server/index
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "0.0.0",
        title: str | None = None,
        description: str | None = None,
        website_url: str | None = None,
        icons: Sequence[Icon] = (),
        instructions: str | None = None,
        revisions: Sequence[str] = REVISIONS,
        page_size: int = 1000,
        list_ttl_ms: int = 0,
        list_cache_scope: CacheScope = "private",
        state_keys: Sequence[bytes] = (),
        bus: Bus | None = None,
        authorize: Authorize | None = None,
        extensions: Sequence[tuple[Extension, Mapping[str, Operate]]] = (),
        max_threads: int | None = None,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        log: Callable[[str], None] | None = None,
        trace: Trace | None = None,
    ) -> None:
        if page_size < 1:
            raise UsageError("page_size is at least 1")
        check_cache_hints(list_ttl_ms, list_cache_scope)
        self._speak(revisions)
        self.info = Implementation(
            name,
            version,
            title=_given(title),
            description=_given(description),
            website_url=_given(website_url),
            icons=list(icons) or UNSET,
        )
        self.instructions = instructions
        self.page_size = page_size
        self.list_ttl_ms = list_ttl_ms
        self.list_cache_scope: CacheScope = list_cache_scope
        self.authorize = authorize
        self.max_message_bytes = max_message_bytes
        self.server_meta = server_meta_for(Implementation(name, version, title=_given(title)))
        self.sealer = Sealer(state_keys)
        self.threads = WorkerThreads(max_threads)
        self._log = log or _log_to_stderr
        self._record(trace)
        self._bus: Bus = bus or MemoryBus()
        self._open_catalogue()
        self.subscriptions = Subscriptions(self._bus)
        self._add_extensions(extensions)

    def _record(self, trace: Trace | None) -> None:
        self._recorder = open_recorder(trace)
        if self._recorder is not None:
            weakref.finalize(self, self._recorder.close)
        self._trace = self._recorder or cast("Links | Observer | None", trace)

    def _open_catalogue(self) -> None:
        self.has_needs = False
        """Whether any request may need client capabilities."""
        self.methods_offered: Mapping[str, MethodSpec] = {}
        """The methods whose capability this server declares; all others are not found."""
        self.tools: SortedList[ToolEntry] = SortedList("tool", self._changer(methods.TOOLS_CHANGED))
        self.resources: SortedList[ResourceEntry] = SortedList(
            "resource", self._changer(methods.RESOURCES_CHANGED)
        )
        self.templates: SortedList[TemplateEntry] = SortedList(
            "template", self._changer(methods.RESOURCES_CHANGED)
        )
        self.prompts: SortedList[PromptEntry] = SortedList("prompt", self._changer(methods.PROMPTS_CHANGED))
        self.completions: dict[tuple[str, str], CompletionEntry] = {}

    def _speak(self, revisions: Sequence[str]) -> None:
        unknown = sorted(set(revisions) - set(REVISIONS))
        if unknown or not revisions:
            wrong = f"nobody knows {', '.join(unknown)}" if unknown else "a server speaks at least one"
            raise UsageError(f"revisions: {wrong}; there are {', '.join(REVISIONS)}")
        spoken = HANDSHAKE_REVISIONS if find_adapter() else ()
        self.revisions = tuple(one for one in STATELESS_REVISIONS if one in revisions)
        """Those in which every request stands for itself, newest first."""
        self.handshake_revisions = tuple(one for one in spoken if one in revisions)
        """Those with a handshake, oldest first."""

    def _add_extensions(self, pairs: Sequence[tuple[Extension, Mapping[str, Operate]]]) -> None:
        self.extensions = tuple(extension for extension, _ in pairs)
        self.methods: Mapping[str, MethodSpec] = methods_with(methods.METHODS, self.extensions)
        self.listen_keys = listen_keys_with(methods.LISTEN_KEYS, self.extensions)
        self.operations: dict[str, Operate] = dict(OPERATIONS)
        for extension, functions in pairs:
            missing = {spec.name for spec in extension.methods} - functions.keys()
            if missing:
                raise UsageError(f"{extension.identifier}: no function for {', '.join(sorted(missing))}")
            self.operations.update(functions)
        # An extension's methods and filter members may need the client to speak it.
        self.has_needs = bool(self.extensions)
        self._offer()

    # -- registering
    # ---------------------------------------------------------------------------------------------------

    @overload
    def tool(self, function: F) -> F: ...
    @overload
    def tool(self, **options: Any) -> Callable[[F], F]: ...
    def tool(self, function: F | None = None, **options: Any) -> F | Callable[[F], F]:
        """Register a function as a tool: ``@server.tool`` or ``@server.tool(name=…, …)``.

        Its parameters become the input schema, its docstring the descriptions, its return annotation the
        output schema. A parameter annotated `Context` gets the request's context.

        Args:
            function: The function; a plain ``def`` runs in a worker thread.
            options: ``name``, ``title``, ``description``, ``annotations``, ``icons``, ``meta``;
                ``input_schema`` and ``output_schema`` (JSON Schema, instead of those of the hints: the
                function then takes the members as keyword arguments, as they came); ``requires`` (client
                capabilities without which a call is refused, for example ``{"sampling": {}}``);
                ``inline=True`` to run a plain function in the event loop.

        Raises:
            UsageError: the name is taken, or a hint has no JSON form.

        https://modelcontextprotocol.io/specification/2026-07-28/server/tools
        """

        def register(function: F) -> F:
            entry = tool_entry_from(function, self.threads, **options)
            self.tools.add(entry.tool.name, entry)
            self.has_needs = self.has_needs or bool(entry.needs)
            return function

        return register if function is None else register(function)

    def resource(self, uri: str, **options: Any) -> Callable[[F], F]:
        """Register a function as a resource, or as a template when the URI has variables (``notes://{id}``).

        Args:
            uri: A URI, or a template of RFC 6570 whose variables are the function's parameters.
            options: ``name``, ``title``, ``description``, ``mime_type``, ``annotations``, ``icons``,
                ``meta``, ``size`` (bytes, no templates); ``ttl_ms`` and ``cache_scope`` of what is read;
                ``inline``.

        Raises:
            UsageError: the URI is taken, or its variables are not the function's parameters.

        https://modelcontextprotocol.io/specification/2026-07-28/server/resources
        """

        def register(function: F) -> F:
            if is_template(uri):
                self.templates.add(uri, template_entry_from(function, uri, self.threads, **options))
            else:
                self.resources.add(uri, resource_entry_from(function, uri, self.threads, **options))
            return function

        return register

    @overload
    def prompt(self, function: F) -> F: ...
    @overload
    def prompt(self, **options: Any) -> Callable[[F], F]: ...
    def prompt(self, function: F | None = None, **options: Any) -> F | Callable[[F], F]:
        """Register a function as a prompt: ``@server.prompt`` or ``@server.prompt(name=…, …)``.

        Args:
            function: Returns a text, content blocks, or `PromptMessage` objects. Its arguments come as text.
            options: ``name``, ``title``, ``description``, ``icons``, ``meta``, ``inline``.

        https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
        """

        def register(function: F) -> F:
            entry = prompt_entry_from(function, self.threads, **options)
            self.prompts.add(entry.prompt.name, entry)
            return function

        return register if function is None else register(function)

    def completion(self, owner: str, argument: str, *, inline: bool = False) -> Callable[[F], F]:
        """Register a function that completes an argument of a prompt, or a variable of a template.

        Args:
            owner: The prompt's name or the template's URI template.
            argument: The argument's name.
            inline: Run a plain function in the event loop.

        The function takes what was typed and, if it has a second parameter, the arguments settled before;
        it returns texts, best first. https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
        """

        def register(function: F) -> F:
            called = async_function_for(function, self.threads, inline=inline)
            self.completions[owner, argument] = CompletionEntry(called, read_signature(function))
            self._offer()
            return function

        return register

    # -- changes
    # -------------------------------------------------------------------------------------------------------

    def _changer(self, method: str) -> Callable[[], None]:
        def changed() -> None:
            self._offer()
            self._bus.publish(Change(method))

        return changed

    def notify_resource_updated(self, uri: str) -> None:
        """Tell everybody who watches this URI that its contents changed.

        https://modelcontextprotocol.io/specification/2026-07-28/server/resources#subscriptions
        """
        self.notify_changed(methods.RESOURCE_UPDATED, {"uri": uri}, subject=uri)

    def notify_changed(
        self, method: str, params: Mapping[str, Any] | None = None, *, subject: str | None = None
    ) -> None:
        """Tell everybody who listens for it that something changed.

        Args:
            method: The method of the notification.
            params: Its parameters.
            subject: What a list in a filter has to name to hear of it, for example a URI.
        """
        self._bus.publish(Change(method, subject, encode_value(params or {})))

    def end_subscriptions(self) -> None:
        """End every open `subscriptions/listen` in good order, for example before a shutdown."""
        self.subscriptions.end_all()

    # -- what the nine steps ask
    # ---------------------------------------------------------------------------------------

    @property
    def capabilities(self) -> ServerCapabilities:
        """What the server declares, from what is registered."""
        # What was there once stays declared: a set of tools "MAY be empty and MAY change over time".
        # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#capabilities
        has_resources = self.resources.was_used or self.templates.was_used
        return ServerCapabilities(
            tools=ToolsCapability(list_changed=True) if self.tools.was_used else UNSET,
            resources=ResourcesCapability(subscribe=True, list_changed=True) if has_resources else UNSET,
            prompts=PromptsCapability(list_changed=True) if self.prompts.was_used else UNSET,
            completions={} if self.completions else UNSET,
            # `Context.log` is always there.
            # https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#capabilities
            logging={},
            extensions={one.identifier: dict(one.settings) for one in self.extensions} or UNSET,
        )

    def _offer(self) -> None:
        """Look again at which methods are offered."""
        declared = self.capabilities
        self.methods_offered = {
            name: spec
            for name, spec in self.methods.items()
            if spec.capability is None or getattr(declared, spec.capability) is not UNSET
        }

    def marks_for(self, request: Request, spec: MethodSpec | None) -> tuple[HeaderMark, ...]:
        """The mirrored parameters of the tool that a request calls."""
        if spec is None or spec.name != methods.CALL_TOOL:
            return ()
        entry = self.tools.find(find_name(request, spec) or "")
        return () if entry is None else entry.marks

    def needs_of(self, request: Request, spec: MethodSpec | None) -> Mapping[str, Any]:
        """The client capabilities without which a request is refused."""
        if spec is None:
            return {}
        if spec.name == methods.CALL_TOOL:
            entry = self.tools.find(find_name(request, spec) or "")
            if entry is not None:
                return entry.needs
        if self.extensions and spec.name == methods.LISTEN:
            return needs_of_filter(read_filter(request), self.extensions)
        return spec.needs

    def rounds_for(self, request: Request, params: Any, principal: Any, reply: Reply) -> Rounds:
        """How one request asks its client."""
        return Rounds(
            request=request,
            params=params,
            principal=principal,
            sealer=self.sealer,
            server_meta=self.server_meta,
            reply=reply,
        )

    def log(self, text: str) -> None:
        """Tell the operator. Never raises: a log that is closed is no reason to leave a client waiting."""
        with contextlib.suppress(Exception):
            self._log(text)

    def log_exception(self, what: str, error: BaseException) -> None:
        """A traceback for the operator; nothing of it goes on the wire."""
        self.log(f"{what} raised:\n" + "".join(traceback.format_exception(error)))

    # -- running
    # -------------------------------------------------------------------------------------------------------

    def connect(self, send: Callable[[bytes], None], *, transport: str = "memory") -> StreamConnection:
        """A connection over any byte stream: give it bytes with ``receive_bytes``, it sends with ``send``.

        Args:
            send: Puts bytes on the stream without blocking.
            transport: What to call the stream in a recording.
        """
        watch = self.watch_for(transport, f"{self.info.name} ({transport})")
        if watch is None:
            return StreamConnection(self, send)
        from mesero.server.watched import WatchedConnection

        return WatchedConnection(self, send, watch)

    def watch_for(self, transport: str, target: str) -> Watch | None:
        """Who watches one more connection of this server; None when nobody does."""
        observer = observer_from(self._trace, self.info.name, transport, target)
        if observer is None:
            return None
        return watch_for(observer, target) or MessageWatch(observer, target)

    def run(self) -> None:
        """Serve over this process's stdin and stdout until stdin ends.

        While it runs, ``print`` and child processes write to stderr: stdout belongs to the protocol.
        """
        from mesero.server.stdio import run_stdio

        run_stdio(self)

    def run_http(self, *, host: str = "127.0.0.1", port: int = 8000, **options: Any) -> None:
        """Serve over HTTP until SIGINT or SIGTERM; needs uvicorn (``mesero[server]``).

        Args:
            host: The address to listen on; other machines do not reach that of loopback.
            port: The port; 0 for one that is free.
            options: See `mesero.server.run_http.open_http`.

        Raises:
            UsageError: the address cannot be listened on, or uvicorn is not installed.
        """
        from mesero.server.run_http import run_http

        run_http(self, host=host, port=port, **options)

    def asgi(self, *, path: str = "/mcp", **options: Any) -> HttpApp:
        """An ASGI application for uvicorn, or to mount in Starlette or FastAPI.

        Args:
            path: Where the endpoint is.
            options: See `mesero.server.http.HttpApp`.
        """
        from mesero.server.http import HttpApp

        return HttpApp(self, path=path, **options)


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""What a terminal obeys, or hides: errors quote what clients sent. Line ends and tabs are wanted."""


def _given(value: str | None) -> str | UnsetType:
    return UNSET if value is None else value


def _log_to_stderr(text: str) -> None:
    text = _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    print(text, file=sys.stderr, flush=True)  # noqa: T201  (the operator's channel)
