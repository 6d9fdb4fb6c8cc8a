"""What a client or a server declares that it can do.

A client's capabilities travel with every request and hold for that request only; a server's come from
`server/discover`. A capability is declared by its presence, so the value may be an empty object; unknown ones
are ignored. Settings whose shape the specification leaves open stay plain dicts.
"""

from msgspec import UNSET, UnsetType

from mesero.types.common import JSONObject, WireStruct

__all__ = [
    "ClientCapabilities",
    "ElicitationCapability",
    "PromptsCapability",
    "ResourcesCapability",
    "SamplingCapability",
    "ServerCapabilities",
    "ToolsCapability",
]


class ElicitationCapability(WireStruct, kw_only=True):
    """Which kinds of questions a client can put to its user.

    https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#capabilities
    """

    form: JSONObject | UnsetType = UNSET
    url: JSONObject | UnsetType = UNSET

    @property
    def may_form(self) -> bool:
        """Whether form questions may be asked; an empty capability means exactly that."""
        # https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#capabilities
        return self.form is not UNSET or self.url is UNSET

    @property
    def may_url(self) -> bool:
        """Whether the user may be sent to a URL."""
        return self.url is not UNSET


class SamplingCapability(WireStruct, kw_only=True):
    """Deprecated since 2026-07-28 (call a model provider's API instead): how a client can ask its model.

    https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#capabilities
    """

    context: JSONObject | UnsetType = UNSET
    tools: JSONObject | UnsetType = UNSET


class ClientCapabilities(WireStruct, kw_only=True):
    """What the client can do while this one request runs.

    `roots` and `sampling` are deprecated since 2026-07-28: use tool parameters or resources, and a model
    provider's API. https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities
    """

    experimental: dict[str, JSONObject] | UnsetType = UNSET
    roots: JSONObject | UnsetType = UNSET
    sampling: SamplingCapability | UnsetType = UNSET
    elicitation: ElicitationCapability | UnsetType = UNSET
    extensions: dict[str, JSONObject] | UnsetType = UNSET


class PromptsCapability(WireStruct, kw_only=True):
    """The server has prompts.
    https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#capabilities
    """

    list_changed: bool = False


class ResourcesCapability(WireStruct, kw_only=True):
    """The server has resources; `subscribe` says that single ones can be watched.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#capabilities
    """

    subscribe: bool = False
    list_changed: bool = False


class ToolsCapability(WireStruct, kw_only=True):
    """The server has tools.
    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#capabilities
    """

    list_changed: bool = False


class ServerCapabilities(WireStruct, kw_only=True):
    """What the server offers. `logging` is deprecated since 2026-07-28: use stderr or OpenTelemetry.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities
    """

    experimental: dict[str, JSONObject] | UnsetType = UNSET
    logging: JSONObject | UnsetType = UNSET
    completions: JSONObject | UnsetType = UNSET
    prompts: PromptsCapability | UnsetType = UNSET
    resources: ResourcesCapability | UnsetType = UNSET
    tools: ToolsCapability | UnsetType = UNSET
    extensions: dict[str, JSONObject] | UnsetType = UNSET
