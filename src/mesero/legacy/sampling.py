"""Sampling messages, as each revision has them: one block a message before 2025-11-25, and no tools.

https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
"""

from __future__ import annotations

from typing import Any

from mesero.legacy.contents import SPOKEN, fit_block, fit_blocks, text_block, words_of
from mesero.legacy.schemas import fit_tool_schemas
from mesero.legacy.shapes import NOVEMBER_2025, SAMPLING_PARAMS, Loss, trim
from mesero.revisions import is_older

__all__ = ["fit_answer", "fit_sampling"]


def fit_sampling(params: dict[str, Any], revision: str, path: str, losses: list[Loss]) -> None:
    """Change the parameters of `sampling/createMessage` in place."""
    trim(params, SAMPLING_PARAMS, revision, path, losses)
    for index, tool in enumerate(params.get("tools", ())):
        # Whoever has tools in here has every member of theirs.
        fit_tool_schemas(tool, f"{path}.tools[{index}]", losses)
    messages: list[dict[str, Any]] = []
    for index, message in enumerate(params["messages"]):
        messages += _fit_message(message, revision, f"{path}.messages[{index}]", losses)
    params["messages"] = messages


def _fit_message(
    message: dict[str, Any], revision: str, path: str, losses: list[Loss]
) -> list[dict[str, Any]]:
    """The message, or several of the same speaker where a message has one block only."""
    content = message["content"]
    if not isinstance(content, list):
        return [{**message, "content": fit_block(content, revision, f"{path}.content", losses, known=SPOKEN)}]
    blocks = fit_blocks(content, revision, f"{path}.content", losses, known=SPOKEN)
    if not is_older(revision, NOVEMBER_2025):
        return [{**message, "content": blocks}]
    if len(blocks) != 1:
        losses.append(
            Loss(path, f"content of {len(blocks)} blocks (since {NOVEMBER_2025}) became as many messages")
        )
    return [{**message, "content": block} for block in blocks]


def fit_answer(answer: dict[str, Any], revision: str, losses: list[Loss]) -> None:
    """Change the answer to `sampling/createMessage` in place: more than one block becomes text."""
    content = answer["content"]
    if not isinstance(content, list):
        answer["content"] = fit_block(content, revision, "$.content", losses, known=SPOKEN)
        return
    blocks = fit_blocks(content, revision, "$.content", losses, known=SPOKEN)
    if not is_older(revision, NOVEMBER_2025):
        answer["content"] = blocks
    elif len(blocks) == 1:
        answer["content"] = blocks[0]
    else:
        losses.append(Loss("$.content", f"{len(blocks)} blocks (since {NOVEMBER_2025}) became one of text"))
        answer["content"] = text_block(words_of(blocks))
