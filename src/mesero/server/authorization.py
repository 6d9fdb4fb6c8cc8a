"""Step 7: may this caller do exactly this? A hook, asked before the handler runs and after everything was
checked.

How tokens are checked is the hook's own affair; what it sees is the concrete operation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from mesero.errors import InternalError, RpcError
from mesero.modern.envelope import Headers
from mesero.types import Implementation

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["Authorize", "NotAuthorizedError", "Operation", "ask_hook"]


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to do.

    ``name`` is the tool, prompt or URI, None for methods that name nothing; ``params`` the typed parameters;
    ``client_info`` is what the client says of itself, no credential; ``headers`` are None outside of HTTP.
    """

    method: str
    name: str | None
    params: Any
    client_info: Implementation | None
    headers: Headers | None

    def __repr__(self) -> str:
        # It is what a hook would log, and its headers hold what nobody may read there.
        return f"Operation(method={self.method!r}, name={self.name!r}, client_info={self.client_info!r})"

    def find_header(self, name: str) -> str | None:
        """The value of an HTTP header (any case), or None."""
        wanted = name.lower().encode("latin-1")
        for key, value in self.headers or ():
            if key == wanted:
                return value.decode("latin-1")
        return None


Authorize = Callable[[Operation], Awaitable[Any]]
"""Returns the principal (anything; `Context.principal` shows it), or raises `NotAuthorizedError`.

Request states, and over HTTP the sessions of the handshake revisions, belong to the principal: one and the
same caller has to get equal data each time, without what changes with a token, such as its expiry.
"""


class NotAuthorizedError(RpcError):
    """Raised by an authorization hook: HTTP 401 or 403, elsewhere a JSON-RPC error.

    Args:
        message: Why, in words that may be shown to the caller.
        status: 401 when nobody knows who calls, 403 when that one may not.
        challenge: The value of ``WWW-Authenticate``, if any.
    """

    default_code = -31403  # Outside of the reserved ranges: the specification has no code for it.

    def __init__(self, message: str, *, status: int = 403, challenge: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.challenge = challenge

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The HTTP headers that go with the refusal."""
        return () if self.challenge is None else (("WWW-Authenticate", self.challenge),)


async def ask_hook(server: Server, operation: Operation) -> Any:
    """The principal, for a server that has a hook.

    Raises:
        RpcError: refused; or the hook failed. What it stumbled over goes to the log alone: nobody knows yet
            who asks, and tokens, secrets and addresses are what such failures tell of.
    """
    try:
        return None if server.authorize is None else await server.authorize(operation)
    except RpcError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever it is, the caller must not read it)
        server.log_exception(f"the authorization of {operation.method}", error)
        what = "internal error: the authorization hook failed; the server's log says why"
        raise InternalError(what) from None
