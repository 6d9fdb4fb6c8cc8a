"""Questions in rounds: the handler runs from the top each time, with the answers so far.

A round ends because the server has answered `input_required` and abandons the suspended handler: it is
cancelled, so that its ``finally`` blocks run, and whatever it does after that is dropped. Nothing it could
swallow decides.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from mesero.jsonrpc import Request, check_finite, encode_result, encode_value
from mesero.modern.server import stamp_result
from mesero.server.reply import Reply
from mesero.server.state import RoundState, Sealer, binding_for
from mesero.types import InputRequest, InputRequiredResult, MetaObject

__all__ = ["Rounds"]


class Rounds:
    """The `Asker` of one stateless request.

    Args:
        request: The request.
        params: Its parameters, with ``input_responses`` and ``request_state``.
        principal: Who calls.
        sealer: Seals the state.
        server_meta: What every result's metadata carries.
        reply: The way back.

    Raises:
        InvalidParamsError: its request state does not open (-32602).
    """

    def __init__(
        self,
        *,
        request: Request,
        params: Any,
        principal: Any,
        sealer: Sealer,
        server_meta: MetaObject,
        reply: Reply,
    ) -> None:
        self._request = request
        self._principal = principal
        self._sealer = sealer
        self._server_meta = server_meta
        self._reply = reply
        self._task = asyncio.current_task()
        self.has_ended = False
        """Whether the round was ended with questions: the handler is abandoned."""
        self._state = RoundState({}, {})
        if params.request_state is not UNSET:
            self._state = sealer.open(params.request_state, self._binding())
        # "If additional, unexpected parameters are provided in the InputResponses object, the server SHOULD
        # ignore" them: only the answers to what this handler asks are ever looked at, and carried on.
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#error-handling
        self._given: dict[str, Raw] = {} if params.input_responses is UNSET else params.input_responses

    def _binding(self) -> bytes:
        return binding_for(self._principal, self._request.method, bytes(self._request.params or b"{}"))

    async def ask(self, questions: Mapping[str, InputRequest]) -> dict[str, Raw]:
        """See `mesero.server.context.Asker.ask`."""
        missing = {key: question for key, question in questions.items() if not self._has_answer(key)}
        if missing:
            await self._end_round(missing)
        return {key: self._state.answers[key] for key in questions}

    def _has_answer(self, key: str) -> bool:
        if key in self._given:
            self._state.answers[key] = self._given[key]
        return key in self._state.answers

    async def _end_round(self, questions: Mapping[str, InputRequest]) -> None:
        if not self.has_ended and not self._reply.is_answered:
            state = self._sealer.seal(self._state, self._binding())
            result = InputRequiredResult(input_requests=dict(questions), request_state=state)
            stamp_result(result, self._server_meta)
            raw = encode_result(self._request.id, result)
            self.has_ended = True
            await self._reply.answer(raw)
            if self._task is not None:
                self._task.cancel()
        # Until the cancellation arrives; for good in a handler that swallowed it and asks again.
        await asyncio.get_running_loop().create_future()

    async def once(self, key: str, make: Callable[[], Awaitable[Any] | Any]) -> Any:
        """See `mesero.server.context.Asker.once`."""
        if key not in self._state.made:
            value = make()
            if inspect.isawaitable(value):
                value = await value
            # As it will come back in the next round: through JSON.
            plain = msgspec.to_builtins(value)
            check_finite(plain)
            self._state.made[key] = msgspec.json.decode(encode_value(plain))
        return self._state.made[key]
