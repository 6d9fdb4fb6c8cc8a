"""Resources and resource templates: their descriptions, and the parameters and results of listing and
reading.

The contents themselves are in `content`, since results and prompts embed them too.
"""

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import Annotations, Icon, MetaObject, WireStruct
from mesero.types.content import ResourceContents
from mesero.types.inputs import InputResponseParams
from mesero.types.results import CacheableResult, PaginatedResult

__all__ = [
    "ListResourceTemplatesResult",
    "ListResourcesResult",
    "ReadResourceParams",
    "ReadResourceResult",
    "Resource",
    "ResourceTemplate",
]


class _Described(WireStruct, kw_only=True):
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mime_type: str | UnsetType = UNSET
    annotations: Annotations | UnsetType = UNSET
    icons: list[Icon] | UnsetType = UNSET
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


class Resource(_Described):
    """A resource as it is listed; `size` is in bytes, before any encoding.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource
    """

    uri: str
    name: str
    size: int | UnsetType = UNSET


class ResourceTemplate(_Described):
    """A family of resources; `uri_template` is of RFC 6570.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
    """

    uri_template: str
    name: str


class ListResourcesResult(PaginatedResult):
    """One page of resources.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#listing-resources
    """

    resources: list[Resource]


class ListResourceTemplatesResult(PaginatedResult):
    """One page of resource templates.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
    """

    resource_templates: list[ResourceTemplate]


class ReadResourceParams(InputResponseParams):
    """The parameters of `resources/read`.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources
    """

    uri: str


class ReadResourceResult(CacheableResult):
    """What a resource holds; several contents where one URI stands for several things.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources
    """

    contents: list[ResourceContents]
