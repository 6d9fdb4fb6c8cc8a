"""Reads a result whole, even when it holds content blocks that this version does not know.

The fast way is one typed decode. Only when that fails, and the type has blocks in it, the blocks are read one
by one and the rest is read with an empty stand-in for them. What fails elsewhere is raised as msgspec found
it: a result that does not fit is never repaired by guessing.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar, cast

import msgspec

from mesero.types.content import decode_content, unknown_content_from
from mesero.types.prompts import GetPromptResult, PromptMessage
from mesero.types.sampling import (
    CreateMessageParams,
    CreateMessageResult,
    SamplingContentBlock,
    SamplingMessage,
    ToolResultContent,
)
from mesero.types.tools import CallToolResult

__all__ = ["decode_result", "decode_sampling_content"]

_T = TypeVar("_T")
_Text = bytes | msgspec.Raw


class _Part(NamedTuple):
    """The member that holds blocks: its name, how to read it, and what stands in for it meanwhile."""

    name: str
    read: Callable[[_Text], Any]
    stand_in: bytes


_DECODERS: Final[dict[type, msgspec.json.Decoder[Any]]] = {}


def _decoder_for(type_: type[_T]) -> msgspec.json.Decoder[_T]:
    decoder = _DECODERS.get(type_)
    if decoder is None:
        # Two threads may both build it; either one serves.
        decoder = _DECODERS[type_] = msgspec.json.Decoder(type_)
    return decoder


_MEMBERS_DECODER = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS_DECODER = msgspec.json.Decoder(list[msgspec.Raw])
_SAMPLING_DECODER: msgspec.json.Decoder[SamplingContentBlock] = msgspec.json.Decoder(
    cast("Any", SamplingContentBlock)
)


def decode_sampling_content(raw: bytes | msgspec.Raw) -> SamplingContentBlock:
    """Read one block of a sampling message; one that we do not know comes back as `UnknownContent`.

    Raises msgspec.ValidationError when it is no object with a text `type`, msgspec.DecodeError when it is no
    JSON. https://modelcontextprotocol.io/specification/2026-07-28/schema#samplingmessagecontentblock
    """
    try:
        return _SAMPLING_DECODER.decode(raw)
    except msgspec.ValidationError:
        block = unknown_content_from(raw)
        if block.type != "tool_result":
            return block
    try:
        return decode_result(ToolResultContent, raw)
    except msgspec.ValidationError:
        return block


def _read_items(read: Callable[[_Text], Any], raw: _Text) -> list[Any]:
    items = []
    for index, item in enumerate(_ITEMS_DECODER.decode(raw)):
        try:
            items.append(read(item))
        except msgspec.ValidationError as error:
            raise msgspec.ValidationError(f"{error} - in item {index}") from None
    return items


def _read_blocks(raw: _Text) -> list[Any]:
    return _read_items(decode_content, raw)


def _read_sampling_content(raw: _Text) -> Any:
    if bytes(memoryview(raw)[:1]) == b"[":
        return _read_items(decode_sampling_content, raw)
    return decode_sampling_content(raw)


def _read_each(type_: type[Any]) -> Callable[[_Text], list[Any]]:
    return lambda raw: _read_items(lambda item: decode_result(type_, item), raw)


_BLOCK = b'{"type":"text","text":""}'
_PARTS: Final[dict[type, _Part]] = {
    CallToolResult: _Part("content", _read_blocks, b"[]"),
    ToolResultContent: _Part("content", _read_blocks, b"[]"),
    PromptMessage: _Part("content", decode_content, _BLOCK),
    GetPromptResult: _Part("messages", _read_each(PromptMessage), b"[]"),
    SamplingMessage: _Part("content", _read_sampling_content, _BLOCK),
    CreateMessageResult: _Part("content", _read_sampling_content, _BLOCK),
    CreateMessageParams: _Part("messages", _read_each(SamplingMessage), b"[]"),
}


def decode_result(type_: type[_T], raw: bytes | msgspec.Raw) -> _T:
    """Read a result, or any Struct of the vocabulary; unknown content blocks in it become `UnknownContent`.

    Raises msgspec.ValidationError, with the path, when something else does not fit; msgspec.DecodeError when
    the text is no JSON.
    """
    try:
        return _decoder_for(type_).decode(raw)
    except msgspec.ValidationError:
        part = _PARTS.get(type_)
        if part is None:
            raise
        members = _MEMBERS_DECODER.decode(raw)
        if part.name not in members:
            raise
    return _decode_in_parts(type_, part, members)


def _decode_in_parts(type_: type[_T], part: _Part, members: dict[str, msgspec.Raw]) -> _T:
    try:
        value = part.read(members[part.name])
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(f"{error} - in `$.{part.name}`") from None
    rest = members | {part.name: msgspec.Raw(part.stand_in)}
    result = _decoder_for(type_).decode(msgspec.json.encode(rest))
    setattr(result, part.name, value)
    return result
