"""Answering what the server asks, while anything else goes on: `ping`, roots, sampling, elicitation.

Each question has a task of its own, so none waits for another and no call for any of them. Every question is
answered once: with what the client's functions say, or with the error that the revision prescribes; one that
the server took back is not answered at all.

https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from mesero.client.asking import Asked
from mesero.errors import (
    InputNeededError,
    InternalError,
    InvalidParamsError,
    InvalidRequestError,
    InvalidResultError,
    MeseroError,
    RpcError,
)
from mesero.jsonrpc import Id, Request, encode_error, encode_result
from mesero.legacy.handshake import Handshake, InitializeResult
from mesero.legacy.methods import PING, check_request
from mesero.legacy.translate import Translator
from mesero.legacy.upwards import fit_params
from mesero.transports import Transport
from mesero.types import InputRequest

__all__ = ["Answering", "Session"]

_MAX_OPEN: Final = 1000
"""Questions that may be open at once: a server that asks more than that does not wait for answers."""
_MAX_TASKS: Final = 10_000
"""Questions and pings that may be under way, their answers included; over HTTP each of those is a request."""
_SEND_WAIT_S: Final = 30.0

_log = logging.getLogger("mesero")


class Session(msgspec.Struct, eq=False):
    """One session, from the beginning of its handshake.

    Attributes:
        translator: Of the revision that is offered, then of the one agreed on.
        declared: What this client declares in it.
        connection: Which connection of the transport it belongs to.
        handshake: How far it is.
        server: What the server said of itself, None before it did.
        is_lost: Whether the server knows nothing of it any more.
    """

    translator: Translator
    declared: Mapping[str, Any]
    connection: int
    handshake: Handshake
    server: InitializeResult | None = None
    is_lost: bool = False

    @property
    def may_call(self) -> bool:
        """Whether requests may be sent in it."""
        return self.handshake.is_ready and not self.is_lost


class Answering:
    """The questions of one server that are being answered.

    Args:
        transport: Where the answers go.
        asked: The client's functions.
        on_busy: Called with True when the first question waits for a function, with False when none does.
    """

    def __init__(self, transport: Transport, asked: Asked, *, on_busy: Callable[[bool], None]) -> None:
        self._transport = transport
        self._asked = asked
        self._on_busy = on_busy
        self._tasks: set[asyncio.Task[None]] = set()
        self._by_id: dict[Id, asyncio.Task[None]] = {}
        self._waiting = 0

    def take(self, session: Session, request: Request) -> None:
        """Answer a question of the server, in a task of its own."""
        if len(self._tasks) >= _MAX_TASKS:
            _log.debug("%s (id %r) is not answered: too many are under way", request.method, request.id)
            return
        task = asyncio.get_running_loop().create_task(self._answer(session, request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if request.id not in self._by_id:
            self._by_id[request.id] = task
            task.add_done_callback(lambda _: self._by_id.pop(request.id))

    def cancel(self, request_id: Id) -> None:
        """The server took a question back: its answer would be for nobody.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#behavior-requirements
        """
        task = self._by_id.get(request_id)
        if task is not None:
            task.cancel()

    def cancel_all(self) -> list[asyncio.Task[None]]:
        """Whoever asked is gone; the tasks that end now. A function that ends the connection goes on."""
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        return tasks

    async def _answer(self, session: Session, request: Request) -> None:
        try:
            answer = encode_result(request.id, await self._result_for(session, request))
        except RpcError as error:
            answer = encode_error(request.id, error)
        try:
            async with asyncio.timeout(_SEND_WAIT_S):
                await self._transport.notify(answer)
        except (MeseroError, TimeoutError) as error:
            # The server learns the same from the end of the connection.
            _log.debug("the answer to %s (id %r) was not sent: %s", request.method, request.id, error)

    async def _result_for(self, session: Session, request: Request) -> Any:
        """What the question is answered with.

        Raises:
            RpcError: it is refused.
        """
        if self._by_id.get(request.id) is not asyncio.current_task():
            raise InvalidRequestError(f"the id {request.id!r} is in flight already")
        session.handshake.receive_request(request.method)
        if request.method == PING:
            # "The receiver MUST respond promptly with an empty response."
            # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping#behavior-requirements
            return {}
        if self._waiting >= _MAX_OPEN:
            raise InternalError(f"more than {_MAX_OPEN} questions are open at once")
        check_request(session.translator.revision, request.method, "s2c", session.declared)
        self._count(1)
        try:
            answer = await self._asked_for(request)
        finally:
            self._count(-1)
        return session.translator.answer_down(request.method, answer)

    def _count(self, change: int) -> None:
        was_busy = self._waiting > 0
        self._waiting += change
        if was_busy != (self._waiting > 0):
            self._on_busy(self._waiting > 0)

    async def _asked_for(self, request: Request) -> Raw:
        params = UNSET if request.params is UNSET else fit_params(request.params)
        try:
            return await self._asked.answer(
                InputRequest(request.method, params), where=self._transport.target
            )
        except RpcError:
            raise
        except (InvalidResultError, InputNeededError) as error:
            # Malformed, or of a mode that was never declared: "Clients MUST return -32602 (Invalid params)".
            # https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling
            raise InvalidParamsError(error.what) from None
        except MeseroError as error:
            raise InternalError(error.what) from None
        except Exception as error:
            _log.exception("the function that answers %s failed", request.method)
            # What failed in there is the client's own affair.
            raise InternalError(f"the client failed to answer {request.method}") from error
