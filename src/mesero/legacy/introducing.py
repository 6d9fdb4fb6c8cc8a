"""The client's `initialize` and what answers it, over whatever transport.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from mesero.errors import CallTimeoutError, HttpStatusError, ProtocolError, RpcError, rpc_error_for
from mesero.jsonrpc import ErrorResponse, Id, Notification, ResultResponse, decode_value, encode_request
from mesero.legacy.answering import Session
from mesero.legacy.handshake import InitializeResult, check_agreed, initialize_params, read_initialize_result
from mesero.legacy.methods import INITIALIZE
from mesero.legacy.translate import Translator
from mesero.transports import Exchange, Outgoing, Received, Transport
from mesero.types import Implementation

__all__ = ["introduce"]


async def introduce(
    session: Session,
    transport: Transport,
    info: Implementation,
    *,
    request_id: Id,
    supported: Sequence[str],
    timeout_s: float,
) -> tuple[InitializeResult, Received]:
    """Offer the session's revision; the result and how it came. The session has the agreed revision then.

    Args:
        session: A session that nothing was said in.
        transport: Where to.
        info: What the client calls itself.
        request_id: The id to use.
        supported: The revisions that may be agreed on.
        timeout_s: How long the answer may take, in seconds.

    Raises:
        RpcError: the server refused.
        NoCommonRevisionError: it answered with a revision that we do not speak.
        InvalidResultError: it answered with something else.
        CallTimeoutError: it did not answer.
        TransportError: the connection ended.
    """
    params = initialize_params(session.translator.revision, session.declared, info)
    session.handshake.record_request(INITIALIZE)
    raw = encode_request(request_id, INITIALIZE, params)
    exchange = transport.exchange(Outgoing(request_id, INITIALIZE, raw))
    clock = asyncio.timeout(timeout_s)
    try:
        async with clock:
            received = await _response_on(exchange)
    except TimeoutError:
        if not clock.expired():
            raise
        evidence: tuple[str, ...] = getattr(transport, "evidence", tuple)()
        since = "; ".join(evidence) or "nothing"
        raise CallTimeoutError(INITIALIZE, timeout_s=timeout_s, since=since, where=transport.target) from None
    finally:
        # "The initialize request MUST NOT be cancelled by clients."
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#behavior-requirements
        if not exchange.is_over and hasattr(exchange, "abandon"):
            exchange.abandon()
    message = received.message
    if isinstance(message, ErrorResponse):
        session.handshake.receive_refusal()
        raise _refusal_from(message, received, transport.target)
    if not isinstance(message, ResultResponse):
        raise ProtocolError(f"{INITIALIZE} was answered with no response", excerpt=received.raw)
    return _agree(session, read_initialize_result(message.result), supported), received


def _refusal_from(message: ErrorResponse, received: Received, target: str) -> HttpStatusError | RpcError:
    http = received.http
    if message.id is None and http is not None:
        # What the body answers, it does not say: then there is only the status to go by.
        said = f"the server says {message.message!r}"
        return HttpStatusError(
            method="POST", url=http.url, status=http.status, headers=http.headers, what=said
        )
    data = None if message.data is UNSET else decode_value(message.data)
    where = f"{target}: {INITIALIZE} (id {message.id!r})"
    return rpc_error_for(message.code, message.message, data, where=where)


async def _response_on(exchange: Exchange) -> Received:
    """The response; what is said before it, as far as it may be, is of no use to anybody yet."""
    while True:
        received = await exchange.receive()
        if not isinstance(received.message, Notification):
            return received


def _agree(session: Session, result: InitializeResult, supported: Sequence[str]) -> InitializeResult:
    revision = result.protocol_version
    check_agreed(revision, supported)
    session.handshake.receive_result(revision)
    session.translator = Translator(revision)
    capabilities = session.translator.capabilities_up(result.capabilities)
    session.server = msgspec.structs.replace(result, capabilities=capabilities)
    return session.server
