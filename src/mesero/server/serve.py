"""One request, nine steps, in one place and in this order. The same code serves stdio, HTTP and memory.

Steps 1 to 6 are the pure functions of `mesero.modern.envelope`. Whatever goes wrong ends in exactly one
answer; only a request that its client cancelled has none.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from mesero.errors import InternalError, RpcError
from mesero.jsonrpc import Id, Message, Request, ResultOut, encode_value
from mesero.modern.envelope import (
    Headers,
    check_headers,
    check_needs,
    check_request,
    check_revision,
    find_name,
    http_status_for,
    read_metadata,
    read_params,
    route,
)
from mesero.modern.server import stamp_result
from mesero.server.admission import encode_refusal
from mesero.server.authorization import NotAuthorizedError, Operation, ask_hook
from mesero.server.operations import Call
from mesero.server.reply import Reply
from mesero.server.rounds import Rounds
from mesero.types import RequestMeta

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["Arrival", "serve"]


class Arrival(msgspec.Struct, frozen=True, gc=False):
    """A message as it reached the server.

    ``message`` is the outcome of parsing (step 1), done once, before the era was selected: the message, or
    the error that refuses it. ``request_id`` is the id to answer under, None when it could not be read.
    ``headers`` are the HTTP header lines, None where there are none. ``is_shared_channel`` says whether other
    requests' messages travel on the same channel.
    """

    message: Message | RpcError
    request_id: Id | None = None
    headers: Headers | None = None
    is_shared_channel: bool = False

    def __repr__(self) -> str:
        # Without headers, which hold secrets, and without what was said.
        return f"Arrival({type(self.message).__name__}, request_id={self.request_id!r})"


async def serve(server: Server, arrival: Arrival, reply: Reply) -> None:
    """Serve one request from its first byte to its answer."""
    call: Call | None = None
    try:
        if isinstance(arrival.message, RpcError):  # 1 parse: done once, before the era was selected
            raise arrival.message  # noqa: TRY301  (one place for every refusal)
        request = check_request(arrival.message)  # 2 envelope
        metadata = read_metadata(request, server.revisions)  # 3 metadata
        spec = server.methods.get(request.method)
        if arrival.headers is not None:
            marks = server.marks_for(request, spec)
            check_headers(request, metadata, arrival.headers, spec=spec, marks=marks)  # 4 headers
        check_revision(metadata, server.revisions)  # 5 revision
        if server.has_needs:
            check_needs(server.needs_of(request, spec), metadata)
        params = read_params(request, route(request, server.methods_offered))  # 6 route
        principal = None
        if server.authorize is not None:
            operation = _operation_from(server, request, metadata, params, arrival)
            principal = await ask_hook(server, operation)  # 7 authorize
        call = Call(server, params, request, metadata, principal, reply, arrival.is_shared_channel)
        if getattr(params, "request_state", UNSET) is not UNSET:
            # "Servers … MUST reject state that fails verification", whether the handler looks at it or not.
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
            call.open_state()
        result = await server.operations[request.method](call)  # 8 run
        stamp_result(result, server.server_meta)
        await reply.answer(encode_value(ResultOut(request.id, result)))
    except RpcError as error:
        await _refuse(server, arrival, reply, error)
    except asyncio.CancelledError:
        if call is None or not _is_answered_by(call.rounds):
            _raise_if_cancelled()
            inner = InternalError("internal error: the work was cancelled from within the server")
            await _refuse(server, arrival, reply, inner)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (every request gets an answer)
        server.log_exception(f"request {arrival.request_id!r}", error)
        failure = InternalError(f"internal error: {type(error).__name__}: {error}")
        await _refuse(server, arrival, reply, failure)
    finally:
        if call is not None and call.seen is not None:
            call.seen.finish()  # 9 forget: the metadata goes with the request


def _operation_from(
    server: Server, request: Request, metadata: RequestMeta, params: Any, arrival: Arrival
) -> Operation:
    spec = server.methods[request.method]
    return Operation(
        method=request.method,
        name=find_name(request, spec),
        params=params,
        client_info=None if metadata.client_info is UNSET else metadata.client_info,
        headers=arrival.headers,
    )


def _is_answered_by(rounds: Rounds | None) -> bool:
    """Whether a handler that asked was abandoned by its own round: nobody cancelled the request."""
    if rounds is None or not rounds.has_ended:
        return False
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
    return True


def _raise_if_cancelled() -> None:
    """Let a cancellation of this very request through; any other that left a handler is a failure."""
    task = asyncio.current_task()
    if task is None or task.cancelling():
        raise asyncio.CancelledError


async def _refuse(server: Server, arrival: Arrival, reply: Reply, error: RpcError) -> None:
    status = http_status_for(error)
    headers: tuple[tuple[str, str], ...] = ()
    if isinstance(error, NotAuthorizedError):
        status, headers = error.status, error.headers
    raw = encode_refusal(server, arrival.request_id, error)
    await reply.answer(raw, status=status, headers=headers)
