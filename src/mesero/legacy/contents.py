"""Content blocks: those that a revision does not know become text, the others lose what came later.

https://modelcontextprotocol.io/specification/2026-07-28/schema#contentblock
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mesero.jsonrpc import encode_value
from mesero.legacy.schemas import fit_structured_content
from mesero.legacy.shapes import (
    ANNOTATIONS,
    CONTENTS,
    FIRST,
    JUNE_2025,
    MARCH_2025,
    NOVEMBER_2025,
    Loss,
    Shape,
    trim,
)
from mesero.revisions import is_older
from mesero.types import UnknownContent

__all__ = ["BLOCKS", "SPOKEN", "fit_block", "fit_blocks", "text_block", "words_of"]

_PLAIN: Final = Shape({"_meta": JUNE_2025}, {"annotations": ANNOTATIONS})
_EMBEDDED: Final = Shape({"_meta": JUNE_2025}, {"annotations": ANNOTATIONS, "resource": CONTENTS})
_LINK: Final = Shape({"icons": NOVEMBER_2025})

BLOCKS: Final[Mapping[str, tuple[str, Shape]]] = {
    "text": (FIRST, _PLAIN),
    "image": (FIRST, _PLAIN),
    "resource": (FIRST, _EMBEDDED),
    "audio": (MARCH_2025, _PLAIN),
    "resource_link": (JUNE_2025, _LINK),
}
"""The blocks of tool results and prompts: the revision that each came with, and its shape."""

SPOKEN: Final[Mapping[str, tuple[str, Shape]]] = {
    "text": (FIRST, _PLAIN),
    "image": (FIRST, _PLAIN),
    "audio": (MARCH_2025, _PLAIN),
    "tool_use": (NOVEMBER_2025, Shape()),
    "tool_result": (NOVEMBER_2025, Shape()),
}
"""The blocks of sampling messages."""


def text_block(text: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": text}


def fit_blocks(
    blocks: list[Any],
    revision: str,
    path: str,
    losses: list[Loss],
    *,
    known: Mapping[str, tuple[str, Shape]] = BLOCKS,
) -> list[Any]:
    """`fit_block` for each of a list; ``path`` is that of the list."""
    return [
        fit_block(block, revision, f"{path}[{index}]", losses, known=known)
        for index, block in enumerate(blocks)
    ]


def fit_block(
    block: Any,
    revision: str,
    path: str,
    losses: list[Loss],
    *,
    known: Mapping[str, tuple[str, Shape]] = BLOCKS,
) -> Any:
    """The block as ``revision`` may have it: a dict, which may be the one given, changed in place.

    Args:
        block: A dict, or an `UnknownContent`.
        revision: The revision that has to carry it.
        path: Where the block is.
        losses: Grows by what is lost.
        known: `BLOCKS`, or `SPOKEN` in sampling messages.
    """
    if isinstance(block, UnknownContent):
        losses.append(Loss(path, f"content of the unknown type {block.type!r} became text"))
        return text_block(block.raw.decode("utf-8", "replace"))
    kind = block["type"]
    found = known.get(kind)
    if found is None:
        losses.append(Loss(path, f"content of the unknown type {kind!r} became text"))
        return text_block(_json_of(block))
    since, shape = found
    if is_older(revision, since):
        losses.append(Loss(path, f"{kind} content (since {since}) became text"))
        block = _as_text(block)
        shape = _PLAIN
    elif kind == "tool_result":
        _fit_tool_result(block, revision, path, losses)
    trim(block, shape, revision, path, losses)
    return block


def _fit_tool_result(block: dict[str, Any], revision: str, path: str, losses: list[Loss]) -> None:
    block["content"] = fit_blocks(block["content"], revision, f"{path}.content", losses)
    if "structuredContent" in block:
        place = f"{path}.structuredContent"
        block["structuredContent"] = fit_structured_content(block["structuredContent"], None, place, losses)


def _words_of_media(block: dict[str, Any]) -> str:
    # The size, not the data: nobody reads base64, and a model would pay for it.
    return f"[{block['type']}, {block['mimeType']}, {len(block['data'])} characters of base64]"


_WORDS: Final[Mapping[str, Callable[[dict[str, Any]], str]]] = {
    "text": lambda block: str(block["text"]),
    "image": _words_of_media,
    "audio": _words_of_media,
    "resource_link": lambda block: f"{block['name']}: {block['uri']}",
    "tool_use": lambda block: f"[call of the tool {block['name']}: {_json_of(block['input'])}]",
    "tool_result": lambda block: words_of(block["content"]),
}


def _json_of(value: Any) -> str:
    return encode_value(value).decode()


def words_of(blocks: list[Any]) -> str:
    """Blocks in words, one below the other; JSON for what has no words."""
    known = [isinstance(block, dict) and block["type"] in _WORDS for block in blocks]
    return "\n".join(
        _WORDS[block["type"]](block) if is_known else _json_of(block)
        for block, is_known in zip(blocks, known, strict=True)
    )


def _as_text(block: dict[str, Any]) -> dict[str, Any]:
    """A block in words; annotations and metadata stay, as far as the revision has them."""
    text = text_block(_WORDS[block["type"]](block))
    for name in ("annotations", "_meta"):
        if name in block:
            text[name] = block[name]
    return text
