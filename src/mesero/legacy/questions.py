"""Questions of the server's own: requests to the client, each of which waits for its answer.

A question travels with the messages of the call that asks it, so that over HTTP it arrives where the client
reads. Every wait ends: by the answer, by the end of the call or of the session, or by a generous limit.

https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from mesero.calls import Ledger
from mesero.jsonrpc import (
    ErrorResponse,
    Id,
    ResultResponse,
    check_finite,
    decode_value,
    encode_notification,
    encode_request,
    encode_value,
)
from mesero.legacy.methods import CANCELLED
from mesero.legacy.translate import Translator
from mesero.server.reply import Reply
from mesero.server.tools import ToolError
from mesero.types import InputRequest

__all__ = ["ANSWER_WAIT_S", "CallAsker", "Questions", "UnansweredError"]

ANSWER_WAIT_S: Final = 1800.0
"""How long a question waits for its answer, in seconds: a person may be at lunch, but not away for good."""


class UnansweredError(ToolError):
    """A question has no answer: the client refused it, was silent for too long, or went away.

    Attributes:
        code: The client's error code, None when it did not answer at all.
        data: What the client's error carried besides.
    """

    def __init__(self, text: str, *, code: int | None = None, data: Any = None) -> None:
        super().__init__(text)
        self.code = code
        self.data = data


class Questions:
    """The open questions of one session, whichever calls ask them. Ids are of the session."""

    def __init__(self) -> None:
        self.open: Ledger[asyncio.Future[Raw]] = Ledger()
        self._last_id = 0
        self.is_closed = False

    def begin(self) -> tuple[Id, asyncio.Future[Raw]]:
        """A new question: its id, and what waits for its answer.

        Raises:
            UnansweredError: the session is over.
        """
        if self.is_closed:
            raise UnansweredError("nothing can be asked any more: the session has ended")
        self._last_id += 1
        future: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self.open.open(self._last_id, future)
        return self._last_id, future

    def receive(self, response: ResultResponse | ErrorResponse) -> bool:
        """An answer of the client; whether anybody waited for it."""
        future = None if response.id is None else self.open.close(response.id, is_answered=True)
        if future is None or future.done():
            return False
        if isinstance(response, ResultResponse):
            future.set_result(response.result)
        else:
            data = None if response.data is UNSET else decode_value(response.data)
            text = f"the client refused to answer: {response.message} ({response.code})"
            future.set_exception(UnansweredError(text, code=response.code, data=data))
        return True

    def close(self) -> None:
        """The session is over: nobody waits any longer."""
        self.is_closed = True
        for future in self.open.take_all():
            if not future.done():
                future.set_exception(UnansweredError("the session ended before the client answered"))


class CallAsker:
    """The `mesero.server.context.Asker` of one call: it really waits.

    Args:
        questions: Those of the session.
        translator: Of the session's revision.
        reply: The way back of the call that asks.
        outlet: Takes what has to be said after the call is over; None drops it.
        answer_wait_s: How long to wait for answers, in seconds.
    """

    def __init__(
        self,
        questions: Questions,
        translator: Translator,
        reply: Reply,
        *,
        outlet: Callable[[bytes], None] | None,
        answer_wait_s: float,
    ) -> None:
        self._questions = questions
        self._translator = translator
        self._reply = reply
        self._outlet = outlet
        self._answer_wait_s = answer_wait_s

    async def ask(self, questions: Mapping[str, InputRequest]) -> dict[str, Raw]:
        """See `mesero.server.context.Asker.ask`. All are asked before any is waited for.

        Raises:
            UnansweredError: one of them has no answer; the others are withdrawn.
        """
        if not questions:
            return {}
        down = [self._translator.question_down(question) for question in questions.values()]
        waits: list[tuple[Id, asyncio.Future[Raw]]] = []
        try:
            for question in down:
                waits.append(self._questions.begin())
                raw = encode_request(waits[-1][0], question.method, question.params)
                await self._reply.notify(raw)
            await self._wait_for([future for _, future in waits])
        finally:
            await self._withdraw(waits)
        return {
            key: self._translator.answer_up(question, future.result())
            for (key, question), (_, future) in zip(questions.items(), waits, strict=True)
        }

    async def _wait_for(self, futures: list[asyncio.Future[Raw]]) -> None:
        if self._reply.is_answered:
            raise UnansweredError("nothing can be asked any more: the request is over")
        done, waiting = await asyncio.wait(
            futures, timeout=self._answer_wait_s, return_when=asyncio.FIRST_EXCEPTION
        )
        for future in done:
            future.result()
        if waiting:
            raise UnansweredError(f"the client gave no answer within {self._answer_wait_s:g} s")

    async def _withdraw(self, waits: list[tuple[Id, asyncio.Future[Raw]]]) -> None:
        """Close what was not answered, and say so to the client."""
        for question_id, future in waits:
            if future.done() and not future.cancelled():
                future.exception()  # Seen: it is one of several failures, of which one is raised.
            if self._questions.open.close(question_id, is_answered=False) is None:
                continue
            future.cancel()
            # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
            params = {"requestId": question_id, "reason": "the answer is not needed any more"}
            raw = encode_notification(CANCELLED, params)
            if not self._reply.is_answered:
                await self._reply.notify(raw)
            elif self._outlet is not None:
                self._outlet(raw)

    async def once(self, key: str, make: Callable[[], Awaitable[Any] | Any]) -> Any:
        """See `mesero.server.context.Asker.once`: the handler runs once, so the value is made once."""
        del key
        value = make()
        if inspect.isawaitable(value):
            value = await value
        # In the same form as in the other era: through JSON.
        plain = msgspec.to_builtins(value)
        check_finite(plain)
        return decode_value(encode_value(plain))
