"""Whose a session is: the principal that the server's hook named when it began.

"MCP Servers MUST NOT use sessions for authentication", and "SHOULD bind session IDs to user-specific
information". So whoever names a session is asked for again with everything that they send, and has to be who
began it; to anybody else it looks unknown. What is no operation of its own (a stream, an end, a notification,
a response) is judged as taking part in the session: the hook is asked what it was asked at its start,
`initialize`, with the headers of the request at hand.

https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices#session-hijacking
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mesero.errors import RpcError
from mesero.legacy.handshake import InitializeParams
from mesero.legacy.methods import INITIALIZE
from mesero.server.authorization import NotAuthorizedError, Operation, ask_hook
from mesero.server.state import identity_of
from mesero.transports.http_gate import HeaderLines, Refusal, refusal_for

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["Owner", "check_owner", "owner_for", "refusal_of", "unknown_session"]

Owner = list[Any]
"""What tells a principal from others: see `mesero.server.state.identity_of`."""


async def owner_for(server: Server, client: InitializeParams, headers: HeaderLines) -> Owner | None:
    """Who takes part in a session with these headers; None if the server has no hook, and tells nobody apart.

    Raises:
        RpcError: the hook lets nobody in with them.
    """
    if server.authorize is None:
        return None
    operation = Operation(
        method=INITIALIZE, name=None, params=client, client_info=client.client_info, headers=headers
    )
    return identity_of(await ask_hook(server, operation))


def check_owner(owner: Owner | None, found: Owner | None) -> None:
    """Whether a session is of who was found to ask for it.

    Raises:
        NotAuthorizedError: it is not; with the status of a session that is not known.
    """
    if owner is not None and owner != found:
        raise NotAuthorizedError(_UNKNOWN, status=404)


def unknown_session() -> Refusal:
    """What a session that is not there gets, and one of somebody else."""
    return refusal_for(404, _UNKNOWN)


_UNKNOWN = "no such session: it has ended, or is of another server; begin again with 'initialize'"


def refusal_of(error: RpcError) -> Refusal:
    """An error as the answer to what has no id to answer under."""
    if not isinstance(error, NotAuthorizedError):
        return refusal_for(500, error.message)
    if error.status == 404:
        return unknown_session()
    lines = ((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in error.headers)
    return refusal_for(error.status, error.message, *lines)
