"""Sending the two messages that tell the era, and what each outcome is evidence of.

Nothing is decided here: `mesero.eras` does that. An error that says nothing about the server (ours, or a
closed client) is raised; all others are outcomes.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec
from msgspec import UNSET

from mesero.client.calling import Caller
from mesero.client.sessions import Introduction, SessionCalls
from mesero.eras import Answer, Discovered, Happening, Initialized, OtherResult, Refused
from mesero.errors import (
    CallTimeoutError,
    DisconnectedError,
    HttpStatusError,
    InvalidResultError,
    MeseroError,
    NoCommonRevisionError,
    ProtocolError,
    RpcError,
    TransportError,
    rpc_error_for,
)
from mesero.extensions import MethodSpec
from mesero.jsonrpc import ErrorResponse, ResultResponse, decode_value
from mesero.modern.client import read_result
from mesero.transports import Received, Transport
from mesero.types import DiscoverResult

__all__ = ["Outcome", "begin", "probe"]

_EVIDENCE = (RpcError, ProtocolError, TransportError, CallTimeoutError)
_COMPLETE = frozenset({"complete"})
_ASK_FIRST = (407, 429)
"""With 401 and 403, which transports raise themselves, what comes before any evidence in the body."""


class Outcome(msgspec.Struct, kw_only=True):
    """What became of one message: see `mesero.eras.Observation` for the first three.

    ``error`` is what to raise if nothing better comes; ``result`` the typed answer; ``took_s`` how long it
    took, in seconds.
    """

    happening: Happening = "answered"
    answer: Answer | None = None
    status: int | None = None
    error: MeseroError | None = None
    result: DiscoverResult | Introduction | None = None
    took_s: float = 0.0

    @property
    def took(self) -> str:
        """For people."""
        return f"{self.took_s * 1000:.0f} ms"


async def probe(caller: Caller, spec: MethodSpec, *, timeout_s: float) -> Outcome:
    """Send `server/discover` and wait for what comes of it.

    Args:
        caller: Sends it, under the revision of its stamp.
        spec: Its description.
        timeout_s: How long the answer may take, in seconds.
    """
    started = time.monotonic()
    clock = asyncio.timeout(timeout_s)
    try:
        async with clock:
            outcome = _outcome_of_answer(await _answer_to(caller, spec), spec, caller.transport)
    except TimeoutError as error:
        if not clock.expired():
            raise
        since = _since(caller.transport)
        late = CallTimeoutError(spec.name, timeout_s=timeout_s, since=since, where=caller.transport.target)
        late.__cause__ = error
        outcome = Outcome(happening="unreachable", error=late)
    except _EVIDENCE as error:
        outcome = _outcome_of_error(error, caller.transport)
    outcome.took_s = time.monotonic() - started
    return outcome


async def _answer_to(caller: Caller, spec: MethodSpec) -> Received:
    exchange = await caller.start(spec, {})
    try:
        while True:
            received = await exchange.receive()
            if isinstance(received.message, (ResultResponse, ErrorResponse)):
                return received
    finally:
        if not exchange.is_over:
            await exchange.close("no longer needed")


async def begin(session: SessionCalls, *, offer: str, timeout_s: float) -> Outcome:
    """Do the handshake of a session, and see what comes of it.

    Args:
        session: The one to begin; it is ended again if it does not begin.
        offer: The revision to offer.
        timeout_s: How long the answer may take, in seconds.
    """
    started = time.monotonic()
    outcome = Outcome()
    try:
        introduction = await session.begin(offer=offer, timeout_s=timeout_s)
        answer = Initialized(introduction.protocol_version)
        outcome = Outcome(answer=answer, result=introduction)
    except NoCommonRevisionError as error:
        outcome = Outcome(answer=Initialized(error.theirs[0] if error.theirs else ""), error=error)
    except _EVIDENCE as error:
        outcome = _outcome_of_error(error, session.transport)
    finally:
        if outcome.result is None:
            await session.aclose()
    outcome.took_s = time.monotonic() - started
    return outcome


def _outcome_of_answer(received: Received, spec: MethodSpec, transport: Transport) -> Outcome:
    status = received.http.status if received.http is not None else None
    message = received.message
    if received.http is not None and status in _ASK_FIRST:
        said = message.message if isinstance(message, ErrorResponse) else ""
        raise HttpStatusError(
            method="POST",
            url=received.http.url,
            status=status,
            headers=received.http.headers,
            what=f"the server says {said!r}" if said else "",
        )
    if isinstance(message, ErrorResponse):
        data = None if message.data is UNSET else decode_value(message.data)
        where = f"{transport.target}: {spec.name} (id {message.id!r})"
        error = rpc_error_for(message.code, message.message, data, where=where)
        # A body whose id is not ours is no evidence: over HTTP the status is.
        is_ours = message.id is not None or status is None
        return Outcome(status=status, answer=_refusal_from(error) if is_ours else None, error=error)
    if not isinstance(message, ResultResponse):
        raise TypeError(message)
    try:
        result: DiscoverResult = read_result(message.result, spec, _COMPLETE)
    except InvalidResultError as error:
        error.where = transport.target
        return Outcome(status=status, answer=OtherResult(), error=error)
    return Outcome(status=status, answer=Discovered(tuple(result.supported_versions)), result=result)


def _outcome_of_error(error: MeseroError, transport: Transport) -> Outcome:
    error.where = error.where or transport.target
    if isinstance(error, RpcError):
        return Outcome(answer=_refusal_from(error), error=error)
    if isinstance(error, HttpStatusError):
        # A redirect that was not followed says where the server is, not what.
        happening: Happening = "unreachable" if 300 <= error.status < 400 else "answered"
        return Outcome(happening=happening, status=error.status, error=error)
    is_stream = not transport.mirrors_headers
    if isinstance(error, DisconnectedError) and is_stream:
        return Outcome(happening="ended", error=error)
    if isinstance(error, DisconnectedError) and error.status is not None:
        # It took the message and had nothing to say to it: no outage.
        return Outcome(status=error.status, error=error)
    if isinstance(error, CallTimeoutError):
        return Outcome(happening="silent" if is_stream else "unreachable", error=error)
    if isinstance(error, ProtocolError):
        # It did answer, in a form that is none.
        return Outcome(answer=OtherResult(), error=error) if is_stream else Outcome(status=200, error=error)
    return Outcome(happening="unreachable", error=error)


def _refusal_from(error: RpcError) -> Refused:
    data: Any = error.data
    supported = data.get("supported") if isinstance(data, dict) else None
    if not isinstance(supported, list):
        return Refused(error.code)
    return Refused(error.code, tuple(one for one in supported if isinstance(one, str)))


def _since(transport: Transport) -> str:
    evidence: tuple[str, ...] = getattr(transport, "evidence", tuple)()
    return "; ".join(["nothing", *evidence])
