"""Which HTTP requests go to sessions: the choice of the era, and the methods and paths that are theirs alone.

Without the adapter, or for a server that speaks no revision with a handshake, nothing does.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mesero.eras import INITIALIZE, choose_on_server, find_adapter
from mesero.errors import RpcError, UsageError
from mesero.jsonrpc import Message, Notification, Request, check_duplicate_members
from mesero.modern import REVISIONS
from mesero.modern.envelope import Headers
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.server.admission import encode_refusal, refusal_of_opening, refusal_of_stateless
from mesero.transports.http_gate import Refusal, refusal_for
from mesero.transports.http_reply import HttpReply
from mesero.transports.http_server import Scope, path_below_mount

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["OTHER_HEADERS", "SessionPaths", "Sessions"]

OTHER_HEADERS: Final = ("Mcp-Session-Id", "Last-Event-ID")
"""The headers that only sessions have; the first one is in answers, too."""

_SESSION_ID: Final = b"mcp-session-id"
_VERSION: Final = b"mcp-protocol-version"
_INITIALIZED: Final = "notifications/initialized"


class SessionPaths(NamedTuple):
    """Where sessions are served: on the endpoint, and on the two paths of 2024-11-05 if there are any."""

    endpoint: str
    sse: str | None = None
    messages: str | None = None


class Sessions:
    """What one application serves besides stateless requests.

    Args:
        server: Who answers.
        paths: Where.
        are_kept: Whether there are sessions; without, each request is served by itself.
        max_sessions: How many there may be.
        idle_s: How long one is kept that nobody uses, in seconds.

    Raises:
        UsageError: one of the two paths without the other, or a limit that is not positive.
    """

    def __init__(
        self, server: Server, paths: SessionPaths, *, are_kept: bool, max_sessions: int, idle_s: float
    ) -> None:
        _check(paths, max_sessions, idle_s)
        self._server = server
        self._spoken = (*server.revisions, *server.handshake_revisions)
        self._paths = paths
        self.stateless_line = (_VERSION, REVISIONS[0].encode()) if server.revisions else None
        """A header line that alone says that a message is none of ours."""
        self.others: set[tuple[str, str]] = set()
        """Paths and methods, besides POST to the endpoint."""
        self._kept: Any = None
        self._sse: Any = None
        adapter = find_adapter() if server.handshake_revisions else None
        if adapter is None:
            return
        self._kept = adapter.HttpSessions(
            server, are_kept=are_kept, max_sessions=max_sessions, idle_timeout_s=idle_s
        )
        if are_kept:
            self.others |= {(paths.endpoint, "GET"), (paths.endpoint, "DELETE")}
        if paths.sse is not None and paths.messages is not None:
            self._sse = adapter.SseSessions(server, messages_path=paths.messages, max_sessions=max_sessions)
            self.others |= {(paths.sse, "GET"), (paths.messages, "POST")}

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of the endpoint's own path."""
        return ("GET", "POST", "DELETE") if (self._paths.endpoint, "GET") in self.others else ("POST",)

    def __len__(self) -> int:
        """How many sessions are open."""
        return sum(len(one) for one in (self._kept, self._sse) if one is not None)

    # -- POST to the endpoint --------------------------------------------------------------------------------

    async def receive(self, message: Message, headers: Headers, reply: HttpReply) -> bool:
        """Take a message; False if it is for the nine steps."""
        if self._kept is None:
            return False
        found = dict(headers)
        version = found.get(_VERSION, b"").decode("latin-1") or None
        has_session = _SESSION_ID in found or not self._kept.are_kept
        selected = choose_on_server(message, version_header=version, has_session=has_session)
        if isinstance(message, Request):
            error = self._refusal_of(message, selected)
            if error is not None:
                raw = encode_refusal(self._server, message.id, error)
                await reply.answer(raw, status=400)
                return True
            if selected == "modern":
                return False
        elif not has_session and not _is_of_handshake(message, version):
            return False
        if version is not None and version not in self._spoken and not _opens(message):
            # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
            await reply.refuse(self._refusal_of_version(version))
            return True
        await self._kept.receive(message, headers, found, reply)
        return True

    def _refusal_of_version(self, version: str) -> Refusal:
        text = f"MCP-Protocol-Version {version!r} is not spoken here; these are: {', '.join(self._spoken)}"
        return refusal_for(400, text)

    def _refusal_of(self, request: Request, selected: str) -> RpcError | None:
        if selected == "modern" and not self._server.revisions:
            return refusal_of_stateless(self._server, request)
        if selected != "refused":
            return None
        error = refusal_of_opening(self._server, request)
        error.message += "; then the header Mcp-Session-Id names its session"
        return error

    async def receive_misfit(self, body: bytes, headers: Headers, reply: HttpReply) -> bool:
        """Take what is no message; False unless it is an array of them, and for a session that has those."""
        if self._kept is None or body[:64].lstrip()[:1] != b"[":
            return False
        try:
            check_duplicate_members(body)
        except RpcError as error:
            await reply.answer(encode_refusal(self._server, None, error), status=400)
            return True
        served: bool = await self._kept.receive_batch(body, headers, reply)
        return served

    # -- everything else -------------------------------------------------------------------------------------

    async def receive_other(self, scope: Scope, body: bytes, reply: HttpReply) -> None:
        """Take a request to one of `others`."""
        method = scope["method"]
        path = scope["path"] if (scope["path"], method) in self.others else path_below_mount(scope)
        if path == self._paths.sse and method == "GET":
            await self._sse.receive_get(scope, reply)
            return
        if path == self._paths.messages and method == "POST":
            await self._sse.receive_post(scope, body, reply)
            return
        version = dict(scope["headers"]).get(_VERSION, b"").decode("latin-1")
        if version in REVISIONS:
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions
            text = f"{method} is not allowed in {version}: every message is sent with POST"
            await reply.refuse(refusal_for(405, text, (b"allow", b"POST")))
        elif version and version not in self._spoken:
            await reply.refuse(self._refusal_of_version(version))
        elif method == "GET":
            await self._kept.receive_get(scope["headers"], reply)
        else:
            await self._kept.receive_delete(scope["headers"], reply)

    # -- the end ---------------------------------------------------------------------------------------------

    def end_streams(self) -> None:
        """The end has begun: streams without a request are over."""
        for one in (self._kept, self._sse):
            if one is not None:
                one.end_streams()

    async def aclose(self) -> None:
        """The end: all sessions are over."""
        if self._kept is not None:
            await self._kept.aclose()


def _is_of_handshake(message: Message, version: str | None) -> bool:
    """Whether something that is never answered, and names no session, lacks the name of one."""
    if not isinstance(message, Notification):
        return False
    return version in HANDSHAKE_REVISIONS or message.method == _INITIALIZED


def _opens(message: Message) -> bool:
    return isinstance(message, Request) and message.method == INITIALIZE


def _check(paths: SessionPaths, max_sessions: int, idle_s: float) -> None:
    if (paths.sse is None) != (paths.messages is None):
        raise UsageError("sse_path and messages_path belong together: give both, or none")
    others = [path for path in paths[1:] if path is not None]
    if any(not path.startswith("/") for path in others):
        raise UsageError("sse_path and messages_path begin with a slash")
    if max_sessions < 1 or idle_s <= 0:
        raise UsageError("max_sessions is at least 1, session_idle_s more than 0")
