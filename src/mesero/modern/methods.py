"""The table of methods. Strings that name methods live here and nowhere else in the core.

https://modelcontextprotocol.io/specification/2026-07-28/schema
"""

from __future__ import annotations

from typing import Final

from mesero import types
from mesero.extensions import MethodSpec

__all__ = [
    "ACKNOWLEDGED",
    "CALL_TOOL",
    "CANCELLED",
    "COMPLETE",
    "CREATE_MESSAGE",
    "DISCOVER",
    "ELICIT",
    "GET_PROMPT",
    "LISTEN",
    "LISTEN_KEYS",
    "LIST_PROMPTS",
    "LIST_RESOURCES",
    "LIST_ROOTS",
    "LIST_TEMPLATES",
    "LIST_TOOLS",
    "LOG_MESSAGE",
    "METHODS",
    "PROGRESS",
    "PROMPTS_CHANGED",
    "READ_RESOURCE",
    "RESOURCES_CHANGED",
    "RESOURCE_UPDATED",
    "RESULT_TYPES",
    "TOOLS_CHANGED",
]

DISCOVER: Final = "server/discover"
LIST_TOOLS: Final = "tools/list"
CALL_TOOL: Final = "tools/call"
LIST_RESOURCES: Final = "resources/list"
LIST_TEMPLATES: Final = "resources/templates/list"
READ_RESOURCE: Final = "resources/read"
LIST_PROMPTS: Final = "prompts/list"
GET_PROMPT: Final = "prompts/get"
COMPLETE: Final = "completion/complete"
LISTEN: Final = "subscriptions/listen"

ELICIT: Final = "elicitation/create"
CREATE_MESSAGE: Final = "sampling/createMessage"
LIST_ROOTS: Final = "roots/list"

PROGRESS: Final = "notifications/progress"
LOG_MESSAGE: Final = "notifications/message"
CANCELLED: Final = "notifications/cancelled"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
TOOLS_CHANGED: Final = "notifications/tools/list_changed"
PROMPTS_CHANGED: Final = "notifications/prompts/list_changed"
RESOURCES_CHANGED: Final = "notifications/resources/list_changed"
RESOURCE_UPDATED: Final = "notifications/resources/updated"

RESULT_TYPES: Final = ("complete", "input_required")

LISTEN_KEYS: Final = {
    "toolsListChanged": (TOOLS_CHANGED,),
    "promptsListChanged": (PROMPTS_CHANGED,),
    "resourcesListChanged": (RESOURCES_CHANGED,),
    "resourceSubscriptions": (RESOURCE_UPDATED,),
}
"""https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#notification-filter"""

# name_field: which member `Mcp-Name` mirrors
# https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
# may_ask: who may be answered with input_required
# https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#supported-requests
# is_cacheable: whose results carry cache hints
# https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-results
METHODS: Final[dict[str, MethodSpec]] = {
    spec.name: spec
    for spec in (
        MethodSpec(
            name=DISCOVER, params=types.DiscoverParams, result=types.DiscoverResult, is_cacheable=True
        ),
        MethodSpec(
            name=LIST_TOOLS,
            params=types.ListParams,
            result=types.ListToolsResult,
            capability="tools",
            is_cacheable=True,
        ),
        MethodSpec(
            name=CALL_TOOL,
            params=types.CallToolParams,
            result=types.CallToolResult,
            name_field="name",
            capability="tools",
            may_ask=True,
        ),
        MethodSpec(
            name=LIST_RESOURCES,
            params=types.ListParams,
            result=types.ListResourcesResult,
            capability="resources",
            is_cacheable=True,
        ),
        MethodSpec(
            name=LIST_TEMPLATES,
            params=types.ListParams,
            result=types.ListResourceTemplatesResult,
            capability="resources",
            is_cacheable=True,
        ),
        MethodSpec(
            name=READ_RESOURCE,
            params=types.ReadResourceParams,
            result=types.ReadResourceResult,
            name_field="uri",
            capability="resources",
            may_ask=True,
            is_cacheable=True,
        ),
        MethodSpec(
            name=LIST_PROMPTS,
            params=types.ListParams,
            result=types.ListPromptsResult,
            capability="prompts",
            is_cacheable=True,
        ),
        MethodSpec(
            name=GET_PROMPT,
            params=types.GetPromptParams,
            result=types.GetPromptResult,
            name_field="name",
            capability="prompts",
            may_ask=True,
        ),
        MethodSpec(
            name=COMPLETE, params=types.CompleteParams, result=types.CompleteResult, capability="completions"
        ),
        MethodSpec(name=LISTEN, params=types.ListenParams, result=types.SubscriptionsListenResult),
    )
}
