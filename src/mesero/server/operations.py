"""What each method does: from typed parameters to a typed result. Authorization has been settled before.

https://modelcontextprotocol.io/specification/2026-07-28/server/index
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET

from mesero.errors import InternalError, InvalidParamsError, ResourceNotFoundError, RpcError
from mesero.jsonrpc import Request
from mesero.modern import methods
from mesero.modern.server import honoured_filter, read_filter, server_meta_for
from mesero.server.context import Context
from mesero.server.prompts import complete, render_prompt
from mesero.server.resources import ResourceEntry, TemplateEntry, read_resource
from mesero.server.rounds import Rounds
from mesero.server.subscriptions import Subscription, keys_offered
from mesero.server.tools import run_tool
from mesero.types import (
    CallToolParams,
    CallToolResult,
    CompleteParams,
    CompleteResult,
    Completion,
    DiscoverResult,
    GetPromptParams,
    GetPromptResult,
    ListParams,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PromptReference,
    ReadResourceParams,
    ReadResourceResult,
    RequestMeta,
    SubscriptionsListenResult,
)

if TYPE_CHECKING:
    from mesero.server.reply import Reply
    from mesero.server.server import Server

__all__ = [
    "OPERATIONS",
    "Call",
    "Operate",
    "call_tool",
    "complete_argument",
    "discover",
    "get_prompt",
    "list_prompts",
    "list_resources",
    "list_templates",
    "list_tools",
    "listen",
    "read",
]


class Call(msgspec.Struct, eq=False):
    """One request on its way through the operation: the server, what was asked and by whom, the way back."""

    server: Server
    params: Any
    request: Request
    metadata: RequestMeta
    principal: Any
    reply: Reply
    is_shared_channel: bool
    rounds: Rounds | None = None
    seen: Context | None = None
    """The context, once somebody asked for it."""
    make_context: Callable[[Call], Context] | None = None
    """Makes the context of a call whose questions do not go in rounds."""

    @property
    def context(self) -> Context:
        """The request as its handler sees it, made when somebody wants to see it."""
        if self.seen is None and self.make_context is not None:
            self.seen = self.make_context(self)
        if self.seen is None:
            if self.rounds is None and self.server.methods[self.request.method].may_ask:
                self.open_state()
            self.seen = Context(
                request_id=self.request.id,
                metadata=self.metadata,
                reply=self.reply,
                asker=self.rounds,
                log=self.server.log,
            )
            self.seen.principal = self.principal
        return self.seen

    def open_state(self) -> None:
        """Read what the client brought back from earlier rounds.

        Raises:
            InvalidParamsError: its request state does not open (-32602).
        """
        self.rounds = self.server.rounds_for(self.request, self.params, self.principal, self.reply)


Operate = Callable[[Call], Awaitable[Any]]


async def discover(call: Call) -> DiscoverResult:
    """`server/discover`. https://modelcontextprotocol.io/specification/2026-07-28/server/discover"""
    server = call.server
    return DiscoverResult(
        supported_versions=list(server.revisions),
        capabilities=server.capabilities,
        instructions=UNSET if server.instructions is None else server.instructions,
        # The whole identity here; every other result names only the essentials.
        meta=server_meta_for(server.info),
        ttl_ms=server.list_ttl_ms,
        cache_scope=server.list_cache_scope,
    )


def _cursor_of(params: ListParams) -> str | None:
    return None if params.cursor is UNSET else params.cursor


async def list_tools(call: Call) -> ListToolsResult:
    """`tools/list`. https://modelcontextprotocol.io/specification/2026-07-28/server/tools#listing-tools"""
    server = call.server
    entries, cursor = server.tools.page(_cursor_of(call.params), server.page_size)
    return ListToolsResult(
        tools=[entry.tool for entry in entries],
        next_cursor=cursor,
        ttl_ms=server.list_ttl_ms,
        cache_scope=server.list_cache_scope,
    )


async def list_resources(call: Call) -> ListResourcesResult:
    """`resources/list`. https://modelcontextprotocol.io/specification/2026-07-28/server/resources#listing-resources"""
    server = call.server
    entries, cursor = server.resources.page(_cursor_of(call.params), server.page_size)
    return ListResourcesResult(
        resources=[entry.resource for entry in entries],
        next_cursor=cursor,
        ttl_ms=server.list_ttl_ms,
        cache_scope=server.list_cache_scope,
    )


async def list_templates(call: Call) -> ListResourceTemplatesResult:
    """`resources/templates/list`.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
    """
    server = call.server
    entries, cursor = server.templates.page(_cursor_of(call.params), server.page_size)
    return ListResourceTemplatesResult(
        resource_templates=[entry.template for entry in entries],
        next_cursor=cursor,
        ttl_ms=server.list_ttl_ms,
        cache_scope=server.list_cache_scope,
    )


async def list_prompts(call: Call) -> ListPromptsResult:
    """`prompts/list`. https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#listing-prompts"""
    server = call.server
    entries, cursor = server.prompts.page(_cursor_of(call.params), server.page_size)
    return ListPromptsResult(
        prompts=[entry.prompt for entry in entries],
        next_cursor=cursor,
        ttl_ms=server.list_ttl_ms,
        cache_scope=server.list_cache_scope,
    )


async def call_tool(call: Call) -> CallToolResult:
    """`tools/call`. https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools"""
    params: CallToolParams = call.params
    entry = call.server.tools.find(params.name)
    if entry is None:
        # https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
        raise InvalidParamsError(f"Unknown tool: {params.name}")
    arguments = params.arguments
    if arguments is not UNSET and memoryview(arguments)[0] != ord("{"):
        raise InvalidParamsError("tools/call: params.arguments must be an object")
    context = None if entry.context_name is None else call.context
    return await run_tool(entry, arguments, context, call.server.log)


async def read(call: Call) -> ReadResourceResult:
    """`resources/read`. https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources"""
    params: ReadResourceParams = call.params
    found = _find_resource(call.server, params.uri)
    if found is None:
        # A resource that does not exist is -32602, never an empty answer.
        # https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling
        raise ResourceNotFoundError(params.uri)
    entry, arguments = found
    with _words_for(call.server, f"the resource {params.uri!r}"):
        return await read_resource(entry, params.uri, arguments, call.context)


def _find_resource(
    server: Server, uri: str
) -> tuple[ResourceEntry | TemplateEntry, Mapping[str, Any]] | None:
    entry = server.resources.find(uri)
    if entry is not None:
        return entry, {}
    matches = ((entry, entry.find_arguments(uri)) for entry in server.templates.entries)
    found = [(entry, arguments) for entry, arguments in matches if arguments is not None]
    # The template that fits most closely: one whose variables take whole paths comes last.
    return min(found, key=lambda match: match[0].is_greedy, default=None)


async def get_prompt(call: Call) -> GetPromptResult:
    """`prompts/get`. https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt"""
    params: GetPromptParams = call.params
    entry = call.server.prompts.find(params.name)
    if entry is None:
        raise InvalidParamsError(f"Unknown prompt: {params.name}")
    given = {} if params.arguments is UNSET else params.arguments
    with _words_for(call.server, f"the prompt {params.name!r}"):
        return await render_prompt(entry, given, call.context)


async def complete_argument(call: Call) -> CompleteResult:
    """`completion/complete`. https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion"""
    params: CompleteParams = call.params
    is_prompt = isinstance(params.ref, PromptReference)
    owner = params.ref.name if isinstance(params.ref, PromptReference) else params.ref.uri
    server = call.server
    known = (
        server.prompts.find(owner)
        if is_prompt
        else server.templates.find(owner) or server.resources.find(owner)
    )
    if known is None:
        # https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#error-handling
        raise InvalidParamsError(f"Unknown {'prompt' if is_prompt else 'resource template'}: {owner}")
    entry = server.completions.get((owner, params.argument.name))
    if entry is None:
        return CompleteResult(completion=_NOTHING)
    with _words_for(server, f"the completion of {params.argument.name!r} of {owner!r}"):
        return await complete(entry, params, call.context)


async def listen(call: Call) -> SubscriptionsListenResult:
    """`subscriptions/listen`.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
    """
    server = call.server
    keys = keys_offered(server.listen_keys, server.capabilities)
    honoured = honoured_filter(read_filter(call.request), keys)
    request_id = call.context.request_id
    for key in honoured.keys() & server.operations.keys():
        # The extension that the member belongs to knows who may hear of what.
        part = await server.operations[key](msgspec.structs.replace(call, params=honoured.pop(key)))
        if part is not None:
            honoured[key] = part
    subscription = Subscription(
        request_id=request_id,
        honoured=honoured,
        known=keys,
        reply=call.reply,
        is_shared_channel=call.is_shared_channel,
    )
    with server.subscriptions.holding(subscription):
        return await subscription.run()


class _words_for:  # noqa: N801  (used like a function in "with")
    """Turns what a handler raises into an internal error in words; the traceback goes to the log alone."""

    def __init__(self, server: Server, what: str) -> None:
        self._server = server
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, RpcError) or not isinstance(error, (Exception, SystemExit)):
            return
        self._server.log_exception(self._what, error)
        raise InternalError(f"{self._what} failed: {type(error).__name__}: {error}") from None


_NOTHING: Final = Completion([], total=0)

OPERATIONS: Final[Mapping[str, Operate]] = {
    methods.DISCOVER: discover,
    methods.LIST_TOOLS: list_tools,
    methods.CALL_TOOL: call_tool,
    methods.LIST_RESOURCES: list_resources,
    methods.LIST_TEMPLATES: list_templates,
    methods.READ_RESOURCE: read,
    methods.LIST_PROMPTS: list_prompts,
    methods.GET_PROMPT: get_prompt,
    methods.COMPLETE: complete_argument,
    methods.LISTEN: listen,
}
"""The core's methods; a server adds those of its extensions."""
