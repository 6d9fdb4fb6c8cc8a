"""Every error that mesero raises, in one tree. The type says who is to blame; the fields say what happened.

Errors hold data and ``__str__`` makes the text: what happened, where (server, method, id, URL), whose fault,
what to do.

::

    MeseroError                        blame: who has to mend it
    ├── LocalError                     blame client: the caller of mesero
    │   ├── UsageError                 an argument or a declaration that cannot work
    │   ├── ClosedError                the connection was closed by us
    │   └── MissingCapabilityError     the server did not declare what was asked for
    ├── ProtocolError                  blame server: what it sent is not MCP
    │   ├── InvalidResultError         a result that does not fit its method or its schema
    │   └── NoCommonRevisionError      no revision that both sides speak
    ├── RpcError                       a JSON-RPC error response, raised by a server or received by a client
    │   ├── ParseError                 -32700
    │   ├── InvalidRequestError        -32600
    │   ├── MethodNotFoundError        -32601
    │   ├── InvalidParamsError         -32602
    │   │   └── ResourceNotFoundError  no such resource
    │   ├── InternalError              -32603
    │   ├── HeaderMismatchError        -32020
    │   ├── MissingClientCapabilityError  -32021
    │   └── UnsupportedRevisionError   -32022
    ├── TransportError                 blame unknown: the bytes did not get through
    │   ├── LaunchError                the server process could not be started
    │   ├── ConnectError               nothing could be reached at the URL
    │   ├── DisconnectedError          the connection ended while something waited for it
    │   └── HttpStatusError            an HTTP answer that is no MCP answer
    │       └── AuthorizationNeededError  401 or 403
    ├── CallTimeoutError               nobody to blame yet: the limit was ours
    ├── InputNeededError               blame client: the server asked what no function was given for
    └── ToolFailedError                blame server: the tool itself said that it failed
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

__all__ = [
    "HEADER_MISMATCH",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "MISSING_CLIENT_CAPABILITY",
    "PARSE_ERROR",
    "UNSUPPORTED_REVISION",
    "AuthorizationNeededError",
    "Blame",
    "CallTimeoutError",
    "ClosedError",
    "ConnectError",
    "DisconnectedError",
    "HeaderMismatchError",
    "HttpStatusError",
    "InputNeededError",
    "InternalError",
    "InvalidParamsError",
    "InvalidRequestError",
    "InvalidResultError",
    "LaunchError",
    "LocalError",
    "MeseroError",
    "MethodNotFoundError",
    "MissingCapabilityError",
    "MissingClientCapabilityError",
    "NoCommonRevisionError",
    "ParseError",
    "ProtocolError",
    "ResourceNotFoundError",
    "RpcError",
    "ToolFailedError",
    "TransportError",
    "UnsupportedRevisionError",
    "UsageError",
    "rpc_error_for",
]

Blame = Literal["client", "server", "intermediary", "unknown"]

# https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CLIENT_CAPABILITY = -32021
UNSUPPORTED_REVISION = -32022


def _two_sentences(first: str, second: str) -> str:
    return f"{first.removesuffix('.')}. {second}"


class MeseroError(Exception):
    """What all errors of mesero have in common: someone to blame, and a place.

    ``blame`` is who has to mend it; ``where`` is filled in on the way out (server, method, id, URL).
    """

    blame: Blame = "unknown"

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        # What begins with "POST https://…" names its place itself.
        names_it = not self.where or self.what.startswith(f"POST {self.where}")
        text = self.what if names_it else f"{self.where}: {self.what}"
        return _two_sentences(text, self.fix) if self.fix else text


class LocalError(MeseroError):
    """The calling program's own mistake: nothing was sent, or nothing more can be."""

    blame: Blame = "client"


class UsageError(LocalError, ValueError):
    """An argument or a declaration that cannot work, refused before anything is sent."""


class ClosedError(LocalError):
    """The connection was closed from this side."""


class MissingCapabilityError(LocalError):
    """The server did not declare the capability, so it was not asked.

    https://modelcontextprotocol.io/specification/2026-07-28/server/discover
    """

    def __init__(self, capability: str, method: str, *, where: str = "") -> None:
        super().__init__(
            f"the server does not declare {capability!r}, which {method} needs; nothing was sent", where=where
        )
        self.capability = capability
        self.method = method


class ProtocolError(MeseroError):
    """The server sent something that the protocol does not allow.

    ``excerpt`` holds the beginning of what it sent.
    """

    blame: Blame = "server"

    def __init__(self, what: str, *, where: str = "", fix: str = "", excerpt: bytes = b"") -> None:
        super().__init__(what, where=where, fix=fix)
        self.excerpt = excerpt[:400]

    def __str__(self) -> str:
        text = super().__str__()
        if not self.excerpt:
            return text
        return _two_sentences(text, f"It sent: {self.excerpt.decode('utf-8', 'backslashreplace')!r}")


class InvalidResultError(ProtocolError):
    """A result that does not fit its method's shape, or a tool's own ``outputSchema``."""


class NoCommonRevisionError(ProtocolError):
    """Client and server share no revision. Both lists are named."""

    blame: Blame = "unknown"

    def __init__(self, ours: tuple[str, ...], theirs: tuple[str, ...], *, where: str = "") -> None:
        theirs_text = ", ".join(theirs) or "none that it names"
        super().__init__(
            f"no common protocol revision: we speak {', '.join(ours)}; the server speaks {theirs_text}",
            where=where,
        )
        self.ours = ours
        self.theirs = theirs


class RpcError(MeseroError):
    """A JSON-RPC error response.

    A server's handler raises it to answer with exactly this error; a client's call raises what it received.

    Args:
        code: The JSON-RPC error code, an integer.
        message: One sentence for the reader.
        data: Any JSON value, or None when there is none.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-responses
    """

    blame: Blame = "server"
    default_code: ClassVar[int] = INTERNAL_ERROR

    def __init__(self, message: str, *, code: int | None = None, data: Any = None, where: str = "") -> None:
        super().__init__(message, where=where)
        self.code = self.default_code if code is None else code
        self.message = message
        self.data = data
        self.step = ""
        """On a server: the name of the step that refused the request (see `mesero.modern.envelope.STEPS`)."""

    def __str__(self) -> str:
        text = f"{self.message} ({self.code})"
        return f"{self.where}: {text}" if self.where else text


class ParseError(RpcError):
    """-32700: the bytes are not JSON."""

    blame: Blame = "client"
    default_code = PARSE_ERROR


class InvalidRequestError(RpcError):
    """-32600: JSON, but not a JSON-RPC request."""

    blame: Blame = "client"
    default_code = INVALID_REQUEST


class MethodNotFoundError(RpcError):
    """-32601: the server has no such method."""

    blame: Blame = "client"
    default_code = METHOD_NOT_FOUND


class InvalidParamsError(RpcError):
    """-32602: the method's parameters, or the request's metadata, are wrong."""

    blame: Blame = "client"
    default_code = INVALID_PARAMS


class ResourceNotFoundError(InvalidParamsError):
    """-32602 with ``data.uri``: there is no such resource. Functions of resources and templates raise it.

    https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling
    """

    def __init__(self, uri: str) -> None:
        super().__init__(f"Resource not found: {uri}", data={"uri": uri})
        self.uri = uri


class InternalError(RpcError):
    """-32603: the server failed."""

    default_code = INTERNAL_ERROR


class HeaderMismatchError(RpcError):
    """-32020: HTTP headers and body say different things.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
    """

    blame: Blame = "unknown"
    default_code = HEADER_MISMATCH


class MissingClientCapabilityError(RpcError):
    """-32021: the request needs a client capability that it did not declare.

    ``data`` is ``{"requiredCapabilities": {…}}``.
    """

    blame: Blame = "client"
    default_code = MISSING_CLIENT_CAPABILITY


class UnsupportedRevisionError(RpcError):
    """-32022: the server does not speak the request's revision.

    ``data`` is ``{"supported": […], "requested": "…"}``.
    """

    blame: Blame = "client"
    default_code = UNSUPPORTED_REVISION


_BY_CODE: dict[int, type[RpcError]] = {
    kind.default_code: kind
    for kind in (
        ParseError,
        InvalidRequestError,
        MethodNotFoundError,
        InvalidParamsError,
        InternalError,
        HeaderMismatchError,
        MissingClientCapabilityError,
        UnsupportedRevisionError,
    )
}


def rpc_error_for(code: int, message: str, data: Any = None, *, where: str = "") -> RpcError:
    """The error object for a received JSON-RPC error: of the class that the code has, else ``RpcError``."""
    return _BY_CODE.get(code, RpcError)(message, code=code, data=data, where=where)


class TransportError(MeseroError):
    """The bytes did not get through. The leaf cause is in the text, never an exception group."""


class LaunchError(TransportError):
    """The server process could not be started."""

    blame: Blame = "client"


class ConnectError(TransportError):
    """Nothing could be reached: name resolution, connection, TLS or a time-out while connecting."""


class DisconnectedError(TransportError):
    """The connection ended while something waited for it.

    For a server process: its command, exit code, last stderr lines and last message. ``status`` is that of an
    HTTP response which ended in good order, without the message that it should have carried.
    """

    blame: Blame = "server"

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        status: int | None = None,
        exit_code: int | None = None,
        stderr_tail: tuple[str, ...] = (),
        last_message: bytes = b"",
        noise: tuple[str, ...] = (),
    ) -> None:
        super().__init__(what, where=where)
        self.status = status
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail
        self.last_message = last_message[:400]
        self.noise = noise

    def __str__(self) -> str:
        lines = [super().__str__()]
        if self.stderr_tail:
            lines.append("its last words on stderr:")
            lines.extend(f"  {line}" for line in self.stderr_tail)
        if self.noise:
            lines.append("what it wrote to stdout that is no message:")
            lines.extend(f"  {line}" for line in self.noise)
        if self.last_message:
            lines.append(f"last message received: {self.last_message.decode('utf-8', 'backslashreplace')}")
        return "\n".join(lines)


class HttpStatusError(TransportError):
    """An HTTP answer that carries no MCP message: status, content type and the beginning of the body.

    ``blame`` is unknown: the server, or something between it and us, said so.
    """

    def __init__(
        self,
        *,
        method: str,
        url: str,
        status: int,
        reason: str = "",
        content_type: str = "",
        body: bytes = b"",
        headers: tuple[tuple[str, str], ...] = (),
        what: str = "",
        fix: str = "",
    ) -> None:
        self.url = url
        self.status = status
        self.reason = reason
        self.content_type = content_type
        self.body = body[:400]
        self.headers = headers
        text = f"{method} {url} → {status} {reason}".rstrip()
        super().__init__(f"{text}: {what}" if what else text, fix=fix)

    def __str__(self) -> str:
        text = super().__str__()
        if not self.body:
            return text
        kind = f" ({self.content_type})" if self.content_type else ""
        return _two_sentences(text, f"The body{kind} begins: {self.body.decode('utf-8', 'replace')!r}")


class AuthorizationNeededError(HttpStatusError):
    """401 or 403: the server wants an authorization that the request did not carry."""

    blame: Blame = "client"


class CallTimeoutError(MeseroError, TimeoutError):
    """No answer within our own limit. The call was cancelled on the wire.

    ``sent`` names the request, ``since`` what came for it in the meantime, ``timeout_s`` the limit in
    seconds.
    """

    def __init__(self, sent: str, *, timeout_s: float, since: str = "nothing", where: str = "") -> None:
        super().__init__(
            f"no answer to {sent} within {timeout_s:g} s; the limit was ours (timeout_s=); "
            f"since it was sent came {since}",
            where=where,
        )
        self.sent = sent
        self.since = since
        self.timeout_s = timeout_s


class InputNeededError(MeseroError):
    """The server asked the client something for which it was given no function, or asked for ever.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
    """

    blame: Blame = "client"


class ToolFailedError(MeseroError):
    """A tool said ``isError``, and a typed value had been asked for. ``text`` is what it said.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
    """

    blame: Blame = "server"

    def __init__(self, tool: str, text: str, *, where: str = "") -> None:
        super().__init__(f"the tool {tool!r} failed: {text}", where=where)
        self.tool = tool
        self.text = text
