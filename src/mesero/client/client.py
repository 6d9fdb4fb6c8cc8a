"""`Client`: one connection to one server, with a method for everything that the protocol offers."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, cast

from msgspec import UNSET

from mesero.client.asking import Asked, ElicitFunction, ElicitUrlFunction, RootsSource, SampleFunction
from mesero.client.calling import Caller
from mesero.client.deciding import Decider, Settled
from mesero.client.facts import Decision, ServerFacts
from mesero.client.listening import Listening
from mesero.client.methods import Finish, ServerMethods
from mesero.client.pinning import pin_from
from mesero.client.remembering import book_for
from mesero.client.requester import LogFunction
from mesero.client.sessions import SessionCalls, has_sessions, session_over
from mesero.client.targets import TransportOptions, events_transport_for, transport_for
from mesero.client.toolbook import ToolBook
from mesero.eras import MODERN_REVISIONS
from mesero.errors import (
    ClosedError,
    RpcError,
    UsageError,
)
from mesero.extensions import Extension, listen_keys_with, methods_with, result_types_with
from mesero.jsonrpc import MAX_MESSAGE_BYTES, Notification, decode_value
from mesero.modern import methods
from mesero.modern.cache import ResponseCache
from mesero.modern.client import Stamp
from mesero.transports import Exchange, Observer, Transport
from mesero.transports.watching import Links, Trace, open_recorder
from mesero.types import (
    Implementation,
    LoggingLevel,
)

__all__ = ["Client"]

_GRACE_S = 0.5
"""What the first answer gets beyond the limit on connecting: a transport's own error says more."""

_CHANGES = (
    methods.TOOLS_CHANGED,
    methods.PROMPTS_CHANGED,
    methods.RESOURCES_CHANGED,
    methods.RESOURCE_UPDATED,
)


class Client(ServerMethods):
    """A connection to one server.

    ``async with Client(target) as client: …``, or ``client = await Client.connect(target)`` and ``await
    client.aclose()`` from any task, any number of times.

    Args:
        target: A URL; a command as a list (never a shell line); a `mesero.Server` of this process; or a
            transport.
        name, version: What the client calls itself.
        timeout_s: How long a request may take without a sign of progress, in seconds.
        total_timeout_s: How long it may take with progress, in seconds.
        connect_timeout_s: How long starting or reaching the server may take, in seconds.
        elicit, elicit_url, sample, roots: Answer the server's questions; the capabilities follow from which
            are given.
        on_log, log_level: Take the server's log messages, from which level on (deprecated since 2026-07-28).
        on_stderr: Takes each line of a command's stderr.
        env, cwd: For a command: variables added to a safe inherited set; the working directory.
        headers: For a URL: headers sent with every request, for example an authorization.
        allow_plain_http: For a URL: allow ``http://`` to other machines, where everybody on the way can
            read along.
        extensions: Protocol extensions that the client speaks; each may come in a pair with functions by
            ``resultType`` that finish results of its types (without one they are returned raw).
        cache: Shared by clients that may share public results; by default one of its own.
        discover: Ask the server what it offers when connecting: by default unless ``era`` says what it
            speaks. Without it the server is taken for a stateless one, of which nothing is known and to
            which nothing is refused.
        era: What the server speaks, so that it is not found out: ``"modern"`` (stateless), ``"legacy"`` (with
            a handshake), or a revision. Or a `Decision` of an earlier connection, as a hint.
        probe_s: How long a command may be silent before the handshake is tried, too, in seconds.
        remember: Keep what was learnt of a command (not of its arguments) in the user's cache folder, and of
            a URL in this process.
        validate_output: Check structured results against the tool's output schema, once the tools were
            listed.
        max_message_bytes: The longest message accepted, in bytes.
        trace: A file to record what passes in, without its secrets; it is there from the first message on,
            and an earlier one is put aside. Or a `mesero.trace.recorder.Recorder` with settings of its own,
            which stays open. Or a function that sees every message: ``trace(direction, raw, http)``.
    """

    _listener: asyncio.Task[None] | None = None
    _session: SessionCalls | None = None

    def __init__(
        self,
        target: Any,
        *,
        name: str = "mesero",
        version: str | None = None,
        timeout_s: float = 60.0,
        total_timeout_s: float = 3600.0,
        connect_timeout_s: float = 30.0,
        elicit: ElicitFunction | None = None,
        elicit_url: ElicitUrlFunction | None = None,
        sample: SampleFunction | None = None,
        roots: RootsSource | None = None,
        on_log: LogFunction | None = None,
        log_level: LoggingLevel | None = None,
        on_stderr: Callable[[str], None] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        close_wait_s: float = 2.0,
        headers: Mapping[str, str] | None = None,
        allow_plain_http: bool = False,
        extensions: Sequence[Extension | tuple[Extension, Mapping[str, Finish]]] = (),
        cache: ResponseCache | None = None,
        discover: bool | None = None,
        era: str | Decision | None = None,
        probe_s: float = 2.0,
        remember: bool = True,
        validate_output: bool = True,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        trace: Trace | None = None,
    ) -> None:
        _check_limits(timeout_s, total_timeout_s, connect_timeout_s, probe_s)
        self._pin = pin_from(era)
        self._recorder = open_recorder(trace)
        self._options = TransportOptions(
            env=env,
            cwd=cwd,
            headers=headers,
            allow_plain_http=allow_plain_http,
            on_stderr=on_stderr,
            close_wait_s=close_wait_s,
            connect_timeout_s=connect_timeout_s,
            max_message_bytes=max_message_bytes,
            trace=self._recorder or cast("Links | Observer | None", trace),
        )
        self._target = target
        self.transport: Transport = transport_for(target, self._options)
        self._transports = [self.transport]
        self._learn_extensions(extensions)
        asked = Asked(elicit=elicit, elicit_url=elicit_url, sample=sample, roots=roots)
        info = Implementation(name, version or _own_version())
        limits = {"timeout_s": timeout_s, "total_timeout_s": total_timeout_s}
        self._set_up_calls(asked, info, log_level or ("info" if on_log else None), on_log=on_log, **limits)
        self._connect_timeout_s, self._probe_s = connect_timeout_s, probe_s
        self._remembers = remember
        self._wants_discovery = (self._pin.era is None) if discover is None else discover
        self._cache = ResponseCache() if cache is None else cache
        self._cache_context = _context_of(headers, env, cwd)
        mirrors = self.transport.mirrors_headers
        self._tools = ToolBook(validate_output=validate_output, rejects_bad_marks=mirrors)

    def _set_up_calls(
        self, asked: Asked, info: Implementation, log_level: LoggingLevel | None, **settings: Any
    ) -> None:
        """Both ways to call: the one that needs no session, and how to get the other one."""
        declared = asked.capabilities_with(self._extensions)
        revision = self._pin.revision if self._pin.era == "modern" else MODERN_REVISIONS[0]
        self._caller = self._stateless = Caller(
            self.transport,
            asked,
            stamp=Stamp(revision, declared, info, log_level),
            result_types=result_types_with(methods.RESULT_TYPES, self._extensions, self._methods),
            **settings,
        )
        self._open_session = functools.partial(
            session_over,
            asked=asked,
            info=info,
            capabilities=declared,
            log_level=log_level,
            on_notification=self._take_change,
            **settings,
        )

    def _learn_extensions(
        self, extensions: Sequence[Extension | tuple[Extension, Mapping[str, Finish]]]
    ) -> None:
        pairs = [one if isinstance(one, tuple) else (one, {}) for one in extensions]
        self._extensions = spoken = [extension for extension, _ in pairs]
        self._offered: set[str] = set()
        self._finishes = {kind: finish for _, functions in pairs for kind, finish in functions.items()}
        self._methods = methods_with(methods.METHODS, spoken)
        self._listen_keys = listen_keys_with(methods.LISTEN_KEYS, spoken)

    # -- the connection --------------------------------------------------------------------------------------

    @classmethod
    async def connect(cls, target: Any, **settings: Any) -> Client:
        """A connected client, without ``async with``; see the class for the settings."""
        client = cls(target, **settings)
        await client._open()
        return client

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _open(self) -> None:
        if self._caller.is_closed:
            raise ClosedError("the client was closed; make another one", where=self.transport.target)
        if self._server is not None:
            return  # ``async with`` on a client that `connect` gave.
        self._stateless.stay_in(asyncio.get_running_loop())
        try:
            await self.transport.open()
            settled = await self._settle()
        except BaseException:
            await self.aclose()
            raise
        self._server = settled.facts
        if isinstance(settled.calls, Caller):
            self._listener = asyncio.get_running_loop().create_task(self._take_unsolicited())
            return
        self._caller = self._session = settled.calls
        self.transport = settled.calls.transport
        # Marks are for stateless servers: to others they are schema members like any other.
        self._tools.rejects_bad_marks = False

    async def _settle(self) -> Settled:
        """Who calls from now on, and what is known of the server."""
        pin = self._pin
        if pin.era != "legacy" and not self._wants_discovery:
            verdict = "assumed: the server was not asked"
            facts = ServerFacts(era="modern", revision=self._stateless.stamp.revision, verdict=verdict)
            return Settled(self._stateless, facts)
        may_open_session = pin.era != "modern" and has_sessions()
        decider = Decider(
            self._stateless,
            self._methods[methods.DISCOVER],
            open_session=self._open_session if may_open_session else None,
            open_events=self._open_events if self.transport.kind == "http" else None,
            timeout_s=self._connect_timeout_s,
            probe_s=self._probe_s,
            book=book_for(self.transport) if self._remembers and pin.era is None else None,
            is_pinned=pin.era is not None,
        )
        if pin.era == "legacy":
            return await decider.start_session(pin.revision, "era= says so")
        # https://modelcontextprotocol.io/specification/2026-07-28/server/discover#when-to-call
        return await decider.decide(pin.hint)

    def _open_events(self) -> Transport:
        # As it was given: what a transport calls its target lacks the secrets of the URL.
        transport = events_transport_for(str(self._target), self._options)
        self._transports.append(transport)
        return transport

    async def _take_unsolicited(self) -> None:
        async for received in self.transport.unsolicited():
            if isinstance(received.message, Notification):
                self._take_change(received.message)
                await self._stateless.take_log(received.message)

    @property
    def server(self) -> ServerFacts:
        """The server, as it presents itself, and how its era was decided.

        Raises:
            UsageError: not connected yet.
        """
        if self._server is None:
            raise UsageError("the client is not connected yet: use 'async with' or 'await Client.connect(…)'")
        return self._server

    async def aclose(self) -> None:
        """Refuse new calls, fail open ones with `ClosedError`, end the transport.

        From any task, from inside a callback, any number of times. Returns when nothing of a server process
        is left.
        """
        self._caller.is_closed = self._stateless.is_closed = True
        try:
            if self._session is not None:
                await self._session.aclose()
        finally:
            await self._close_transports()

    async def _close_transports(self) -> None:
        try:
            for transport in self._transports:
                await transport.aclose()
        finally:
            if self._recorder is not None:
                self._recorder.close()
            listener = self._listener
            if listener is not None and listener is not asyncio.current_task():
                listener.cancel()
                await asyncio.wait({listener})

    # -- changes ---------------------------------------------------------------------------------------------

    def listen(
        self,
        *,
        tools: bool = False,
        prompts: bool = False,
        resources: bool | Iterable[str] = False,
        reconnect: bool = True,
        **extension_keys: Any,
    ) -> Listening:
        """Hear of changes: ``async for change in client.listen(tools=True, resources=["notes://1"]): …``.

        Args:
            tools, prompts: Whether those lists change.
            resources: True for the list of resources; URIs to watch these resources.
            reconnect: Open a lost stream again, and say so with a change of the kind ``reconnected``.
            extension_keys: Filter members that extensions define, by their wire names.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
        """
        wanted: dict[str, Any] = {}
        if tools:
            wanted["toolsListChanged"] = True
        if prompts:
            wanted["promptsListChanged"] = True
        if resources is True:
            wanted["resourcesListChanged"] = True
        elif resources:
            wanted["resourceSubscriptions"] = list(resources)
        unknown = extension_keys.keys() - self._listen_keys.keys()
        if unknown:
            raise UsageError(f"no extension defines the filter member {min(unknown)!r}")
        wanted.update(extension_keys)
        if not wanted:
            raise UsageError("listen() needs something to listen for, for example tools=True")
        spec = self._methods[methods.LISTEN]
        settings: dict[str, Any] = {
            "acknowledge_s": self._connect_timeout_s,
            "reconnect": reconnect,
            "on_gap": self._forget_responses,
        }
        if self._session is not None:
            return self._session.listen(wanted, **settings)

        async def open_exchange() -> Exchange:
            return await self._stateless.start(spec, {"notifications": wanted})

        return Listening(
            open_exchange, where=self.transport.target, on_notification=self._take_change, **settings
        )

    async def announce_roots(self) -> None:
        """Say that the ``roots`` have changed. A stateless server asks each time, so it is told nothing.

        Raises:
            UsageError: the client was given no roots.

        https://modelcontextprotocol.io/specification/2025-11-25/client/roots#root-list-changes
        """
        if self._session is not None:
            await self._session.announce_roots()

    def _take_change(self, notification: Notification) -> None:
        if notification.method not in _CHANGES:
            return
        self._changes += 1
        uri = None
        if notification.method == methods.RESOURCE_UPDATED and notification.params is not UNSET:
            with contextlib.suppress(RpcError):  # Which one is not told then: all are dropped.
                uri = decode_value(notification.params).get("uri")
        self._cache.invalidate(self.transport.target, notification.method, uri)

    def _forget_responses(self) -> None:
        self._changes += 1
        for method in _CHANGES:
            self._cache.invalidate(self.transport.target, method)


def _check_limits(*limits_s: float) -> None:
    if min(limits_s) <= 0:
        raise UsageError("time-outs are greater than 0 seconds")


def _context_of(
    headers: Mapping[str, str] | None, env: Mapping[str, str] | None, cwd: str | os.PathLike[str] | None
) -> str:
    """Whom private results stay with: whoever presents these credentials, which come in headers or
    variables.
    """
    parts = (
        sorted((headers or {}).items()),
        sorted((env or {}).items()),
        None if cwd is None else os.fspath(cwd),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _own_version() -> str:
    from mesero import __version__

    return __version__
