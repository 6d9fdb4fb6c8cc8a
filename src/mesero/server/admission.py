"""What happens to a request between its metadata and its function, for callers that settled those otherwise.

`mesero.server.serve` has these steps inline, since the order is its subject and each call on its path costs.
A session knows the metadata of its requests from the handshake; from there on the same functions serve it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mesero.errors import InvalidParamsError, InvalidRequestError, RpcError
from mesero.jsonrpc import Id, Request, check_finite, encode_error
from mesero.modern.envelope import Headers, check_needs, find_name, read_params, route
from mesero.server.authorization import Operation, ask_hook
from mesero.server.operations import Call
from mesero.server.reply import Reply
from mesero.types import PROTOCOL_VERSION_KEY, RequestMeta

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["admit", "encode_refusal", "refusal_of_opening", "refusal_of_stateless"]


async def admit(
    server: Server,
    request: Request,
    metadata: RequestMeta,
    reply: Reply,
    *,
    headers: Headers | None = None,
) -> Call:
    """Check the needs, the route and the parameters of a request, and who asks; gives the call to run.

    Raises:
        RpcError: for its answer.
    """
    spec = server.methods.get(request.method)
    if server.has_needs:
        check_needs(server.needs_of(request, spec), metadata)
    params = read_params(request, route(request, server.methods_offered))
    principal: Any = None
    if server.authorize is not None and spec is not None:
        operation = Operation(
            method=request.method,
            name=find_name(request, spec),
            params=params,
            client_info=metadata.client_info or None,
            headers=headers,
        )
        principal = await ask_hook(server, operation)
    return Call(server, params, request, metadata, principal, reply, is_shared_channel=True)


def encode_refusal(server: Server, request_id: Id | None, error: RpcError) -> bytes:
    """The bytes of an error, whatever is in it: what cannot be written is left out."""
    try:
        check_finite(error.data)
        return encode_error(request_id, error)
    except (TypeError, ValueError, RecursionError) as cause:
        # The client waits for an answer all the same.
        server.log_exception(f"request {request_id!r}: an error without a JSON form", cause)
        text = error.message.encode("utf-8", "backslashreplace").decode()
        return encode_error(request_id, RpcError(text, code=error.code))


def refusal_of_opening(server: Server, request: Request) -> RpcError:
    """The refusal of a request that neither declares its revision nor belongs to a session: both ways in.

    Its code is that of missing metadata, which is what newer clients left out.
    """
    ways = [f"it begins with 'initialize' ({', '.join(server.handshake_revisions)})"]
    if server.revisions:
        ways.insert(
            0,
            f"every request declares its revision ({', '.join(server.revisions)}) in params._meta under "
            f"{PROTOCOL_VERSION_KEY!r}",
        )
    ways_in = " or ".join(ways)
    what = f"{request.method}: nothing says which revision this is of. Either {ways_in}"
    return InvalidParamsError(what, data={"supported": [*server.revisions, *server.handshake_revisions]})


def refusal_of_stateless(server: Server, request: Request) -> RpcError:
    """The refusal of a request that declares its revision, by a server that only speaks others.

    Not -32022, which tells clients that there is no handshake to fall back to.
    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility
    """
    spoken = ", ".join(server.handshake_revisions)
    return InvalidRequestError(
        f"{request.method}: this server speaks {spoken}, which begin with 'initialize'",
        data={"supported": list(server.handshake_revisions)},
    )
