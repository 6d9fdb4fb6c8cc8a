"""Arrays of messages, which one revision has: each is served by itself, the answers go back together.

https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

import msgspec
from msgspec import Raw

from mesero.errors import InvalidRequestError, RpcError
from mesero.jsonrpc import ErrorResponse, Notification, Request, ResultResponse, decode_message, find_id
from mesero.legacy.methods import INITIALIZE
from mesero.server.reply import Reply

__all__ = ["MAX_BATCH", "BatchedReply", "read_batch", "run_batch"]

MAX_BATCH: Final = 1000
"""The most messages in one array."""

_Member = Request | Notification | ResultResponse | ErrorResponse | tuple[Any, RpcError]


def read_batch(raw: bytes) -> list[_Member]:
    """The messages in an array; what is none is the id to answer under, and the error.

    Raises:
        InvalidRequestError: no array, an empty one, or one that is too long (-32600).
    """
    try:
        members = msgspec.json.decode(raw, type=list[Raw])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidRequestError(f"not an array of messages: {error}") from None
    if not members:
        raise InvalidRequestError("an array of messages has at least one")
    if len(members) > MAX_BATCH:
        raise InvalidRequestError(f"an array of {len(members)} messages; at most {MAX_BATCH} are accepted")
    return [_read_member(bytes(member)) for member in members]


def _read_member(raw: bytes) -> _Member:
    try:
        message = decode_message(raw)
        # "The initialize request MUST NOT be part of a JSON-RPC batch".
        # https://modelcontextprotocol.io/specification/2025-03-26/basic/lifecycle#initialization
        if isinstance(message, Request) and message.method == INITIALIZE:
            raise InvalidRequestError("initialize may not be part of an array of messages")
    except RpcError as error:
        return find_id(raw), error
    return message


class BatchedReply(msgspec.Struct, eq=False):
    """The way back for one request of an array: its answer waits for the others, its notifications do not."""

    _reply: Reply
    _answers: list[bytes]
    is_over: bool = False

    @property
    def is_answered(self) -> bool:
        """See `mesero.server.reply.Reply.is_answered`."""
        return self.is_over or self._reply.is_answered

    async def notify(self, raw: bytes) -> None:
        """See `mesero.server.reply.Reply.notify`."""
        if not self.is_over:
            await self._reply.notify(raw)

    async def answer(
        self, raw: bytes, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """See `mesero.server.reply.Reply.answer`. An array has one status, which cannot be that of each."""
        del status, headers
        if not self.is_over:
            self.is_over = True
            self._answers.append(raw)


async def run_batch(works: list[Coroutine[Any, Any, None]], answers: list[bytes], reply: Reply) -> None:
    """Do everything at once and answer with all answers; with nothing where there are none.

    Args:
        works: One for each request, with a `BatchedReply` to ``answers``.
        answers: Those that are there already; grows by the others.
        reply: The way back.
    """
    tasks = [asyncio.create_task(work) for work in works]
    try:
        if tasks:
            await asyncio.wait(tasks)
    finally:
        for task in tasks:
            task.cancel()
    if answers:
        await reply.answer(b"[" + b",".join(answers) + b"]")
