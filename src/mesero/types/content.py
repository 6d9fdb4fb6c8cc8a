"""Content blocks: what tools return and prompts are made of, and how to read blocks that we do not know.

A block is told by its `type`. One that this version does not know, or can not read, becomes an
`UnknownContent` that keeps its exact JSON text, so that nothing is lost when it is forwarded. msgspec can not
decode a union with such a class in it: `ContentBlock` contains it for type checkers only, `decode_content`
returns it at run time, and encoders need `enc_hook`.
"""

import base64
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from mesero.types.common import Annotations, Icon, MetaObject, WireStruct

__all__ = [
    "AudioContent",
    "BlobResourceContents",
    "ContentBlock",
    "EmbeddedResource",
    "ImageContent",
    "ResourceContents",
    "ResourceLink",
    "TextContent",
    "TextResourceContents",
    "UnknownContent",
    "decode_content",
    "enc_hook",
    "unknown_content_from",
]


class _Annotated(WireStruct, kw_only=True):
    annotations: Annotations | UnsetType = UNSET
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


class TextContent(_Annotated, tag_field="type", tag="text"):
    """Text. https://modelcontextprotocol.io/specification/2026-07-28/server/tools#text-content"""

    text: str


class ImageContent(_Annotated, tag_field="type", tag="image"):
    """An image; `data` is base64.
    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#image-content
    """

    data: str
    mime_type: str


class AudioContent(_Annotated, tag_field="type", tag="audio"):
    """Sound; `data` is base64.
    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#audio-content
    """

    data: str
    mime_type: str


class ResourceLink(_Annotated, tag_field="type", tag="resource_link"):
    """A pointer to a resource, which need not be in the server's list; `size` is in bytes, unencoded.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#resource-links
    """

    uri: str
    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mime_type: str | UnsetType = UNSET
    size: int | UnsetType = UNSET
    icons: list[Icon] | UnsetType = UNSET


class _Contents(WireStruct, kw_only=True):
    text: str | UnsetType = UNSET
    blob: str | UnsetType = UNSET
    mime_type: str | UnsetType = UNSET
    meta: MetaObject | UnsetType = msgspec.field(name="_meta", default=UNSET)


class ResourceContents(_Contents):
    """What a resource holds: `text`, or `blob` in base64.

    The specification has two shapes that nothing but the member's name tells apart, hence one Struct here;
    build it with `TextResourceContents` or `BlobResourceContents`.
    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-contents
    """

    uri: str

    @property
    def is_text(self) -> bool:
        """Whether the contents are text."""
        return self.text is not UNSET

    @property
    def is_blob(self) -> bool:
        """Whether the contents are binary."""
        return self.blob is not UNSET

    @property
    def data(self) -> bytes:
        """The bytes of the resource: decoded base64, or the text as UTF-8.

        Raises ValueError when `blob` is no base64.
        """
        if self.blob is not UNSET:
            return base64.b64decode(self.blob, validate=True)
        return b"" if self.text is UNSET else self.text.encode()


def TextResourceContents(  # noqa: N802 - the specification's name of a shape, used like a class
    uri: str,
    text: str,
    *,
    mime_type: str | UnsetType = UNSET,
    meta: MetaObject | UnsetType = UNSET,
) -> ResourceContents:
    """Build text contents.
    https://modelcontextprotocol.io/specification/2026-07-28/schema#textresourcecontents
    """
    return ResourceContents(uri, text=text, mime_type=mime_type, meta=meta)


def BlobResourceContents(  # noqa: N802 - the specification's name of a shape, used like a class
    uri: str,
    blob: bytes | str,
    *,
    mime_type: str | UnsetType = UNSET,
    meta: MetaObject | UnsetType = UNSET,
) -> ResourceContents:
    """Build binary contents from bytes, or from text that is base64 already.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#blobresourcecontents
    """
    text = blob if isinstance(blob, str) else base64.b64encode(blob).decode()
    return ResourceContents(uri, blob=text, mime_type=mime_type, meta=meta)


class EmbeddedResource(_Annotated, tag_field="type", tag="resource"):
    """A resource with its contents, inside a prompt or a result.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#embedded-resources
    """

    resource: ResourceContents


class UnknownContent:
    """A block that this version can not read: its `type`, and `raw`, its exact JSON text.

    Forward it as it is (`enc_hook` does); what it means is for whoever knows the type.
    """

    __slots__ = ("raw", "type")

    def __init__(self, type: str, raw: bytes) -> None:
        self.type = type
        self.raw = raw

    def __eq__(self, other: object) -> bool:
        """Blocks are equal when their JSON text is."""
        return isinstance(other, UnknownContent) and self.raw == other.raw

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(self.raw)

    def __repr__(self) -> str:
        """Name the type and the size only: the text may be long and comes from the other side."""
        return f"UnknownContent(type={self.type!r}, raw=<{len(self.raw)} bytes>)"


if TYPE_CHECKING:
    ContentBlock: TypeAlias = (
        TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownContent
    )
else:
    ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


class _Typed(msgspec.Struct):
    type: str


_BLOCK_DECODER: msgspec.json.Decoder[ContentBlock] = msgspec.json.Decoder(ContentBlock)
_TYPE_DECODER = msgspec.json.Decoder(_Typed)


def unknown_content_from(raw: bytes | msgspec.Raw) -> UnknownContent:
    """Keep a block as it came.

    Raises msgspec.ValidationError when it is no object with a text `type`, since then it is no block at all.
    """
    return UnknownContent(_TYPE_DECODER.decode(raw).type, bytes(raw))


def decode_content(raw: bytes | msgspec.Raw) -> ContentBlock:
    """Read one content block; one that we do not know or can not read comes back as `UnknownContent`.

    Raises msgspec.ValidationError when it is no object with a text `type`, msgspec.DecodeError when it is no
    JSON. https://modelcontextprotocol.io/specification/2026-07-28/schema#contentblock
    """
    try:
        return _BLOCK_DECODER.decode(raw)
    except msgspec.ValidationError:
        return unknown_content_from(raw)


def enc_hook(obj: Any) -> Any:
    """Give `msgspec.json.Encoder(enc_hook=...)` the exact text of an `UnknownContent`.

    Raises TypeError for anything else that has no JSON form.
    """
    if isinstance(obj, UnknownContent):
        return msgspec.Raw(obj.raw)
    message = f"a value of type {type(obj).__qualname__} has no JSON form; convert it before it is sent"
    raise TypeError(message)
