"""Pages that the user has to visit before a request can be carried out: -32042 of 2025-11-25.

https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec import UNSET

from mesero.client.asking import Asked
from mesero.errors import InputNeededError, RpcError
from mesero.jsonrpc import Notification, decode_value
from mesero.types import InputRequest

__all__ = ["Visits"]


class Visits:
    """The visits that one client's user makes.

    Args:
        asked: The client's functions.
        where: The server, for messages to people.
    """

    def __init__(self, asked: Asked, *, where: str) -> None:
        self._asked = asked
        self._where = where
        self._open: dict[str, asyncio.Future[None]] = {}

    async def make(self, pages: Mapping[str, InputRequest], *, limit_s: float) -> bool:
        """Send the user to pages, and wait until the server says that they are done with.

        Args:
            pages: The questions, by the id under which the server says so.
            limit_s: How long the server may take to say so after the user agreed, in seconds. It need not
                say anything, so the request is worth a try afterwards.

        Returns:
            Whether the user agreed to all of them.
        """
        loop = asyncio.get_running_loop()
        # One may be done with before the next is asked for.
        done = {key: self._open.setdefault(key, loop.create_future()) for key in pages}
        try:
            for question in pages.values():
                if not await self._agrees_to(question):
                    return False
            await asyncio.wait(done.values(), timeout=limit_s)
        finally:
            for key in pages:
                self._open.pop(key, None)
        return True

    async def _agrees_to(self, question: InputRequest) -> bool:
        try:
            answer = decode_value(await self._asked.answer(question, where=self._where))
        except InputNeededError:
            return False
        return bool(answer["action"] == "accept")

    def note(self, message: Notification) -> None:
        """The server says that a visit is over.

        https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation
        """
        try:
            params = decode_value(message.params) if message.params is not UNSET else {}
        except RpcError:
            return
        self._end(self._open.get(str(params.get("elicitationId"))))

    def end(self) -> None:
        """The server is gone: it will say nothing any more."""
        for done in tuple(self._open.values()):
            self._end(done)

    @staticmethod
    def _end(done: asyncio.Future[None] | None) -> None:
        if done is not None and not done.done():
            done.set_result(None)
