"""The client of one session: its handshake, its calls, what it hears, and a new session when one is lost.

`SessionCaller` is to a session what `mesero.client.calling.Caller` is to requests that need none. A session
belongs to a connection or has an id; when either is gone, the next call begins a new one, and whoever listens
is told.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from mesero.calls import find_owner_id
from mesero.client.asking import Asked
from mesero.client.listening import Listening
from mesero.client.requester import LogFunction, OpenCall, ProgressFunction, Requester
from mesero.errors import (
    METHOD_NOT_FOUND,
    CallTimeoutError,
    ClosedError,
    DisconnectedError,
    HttpStatusError,
    InvalidResultError,
    MeseroError,
    RpcError,
    UsageError,
)
from mesero.extensions import MethodSpec
from mesero.jsonrpc import (
    ErrorResponse,
    Notification,
    RequestOut,
    encode_notification,
    encode_value,
)
from mesero.legacy import methods
from mesero.legacy.answering import Answering, Session
from mesero.legacy.handshake import Handshake, InitializeResult
from mesero.legacy.hearing import Hearing
from mesero.legacy.http_calling import channel_for
from mesero.legacy.introducing import introduce
from mesero.legacy.listening import Subscription, Subscriptions
from mesero.legacy.translate import Translator
from mesero.legacy.visiting import Visits
from mesero.revisions import HANDSHAKE_REVISIONS, REVISIONS, revision_module_for
from mesero.transports import Exchange, Outgoing, Received, Transport
from mesero.types import Implementation, LoggingLevel, decode_result

__all__ = ["SessionCaller"]

_GRACE_S: Final = 1.0
"""What listening gets beyond the limit of each request that it needs: that one's own error says more."""

_STOP_WAIT_S: Final = 5.0
"""How long a function of the client's may take to end when it is cancelled."""

_log = logging.getLogger("mesero")


class _LostSessionError(Exception):
    """The server answered that it does not know the session; ``error`` is how it said so."""

    def __init__(self, error: MeseroError) -> None:
        super().__init__(str(error))
        self.error = error


class SessionCaller(Requester):
    """Calls inside a session over one transport.

    Args:
        transport: Where to.
        asked: Answers the server's questions.
        info: What the client calls itself.
        capabilities: What it declares, shaped like the capabilities of the stateless revisions.
        timeout_s: How long a request may take without a sign of progress, in seconds.
        total_timeout_s: How long it may take with progress, in seconds.
        on_log: Takes the server's log messages.
        log_level: From which level on; None leaves it to the server.
        on_notification: Hears of every change that the server announces; must not block.
        supported: The revisions that may be agreed on.
    """

    def __init__(
        self,
        transport: Transport,
        asked: Asked,
        *,
        info: Implementation,
        capabilities: Mapping[str, Any],
        timeout_s: float,
        total_timeout_s: float,
        on_log: LogFunction | None = None,
        log_level: LoggingLevel | None = None,
        on_notification: Callable[[Notification], None] | None = None,
        supported: Sequence[str] = HANDSHAKE_REVISIONS,
    ) -> None:
        super().__init__(transport, timeout_s=timeout_s, total_timeout_s=total_timeout_s, on_log=on_log)
        self._open_calls = set()
        self._info = info
        self._capabilities = capabilities
        self._log_level = log_level
        self._supported = tuple(supported)
        self._channel = channel_for(transport)
        self._answering = Answering(transport, asked, on_busy=self._set_busy)
        self._visits = Visits(asked, where=transport.target)
        self._subscriptions = Subscriptions(self._ask, where=transport.target)
        self._session: Session | None = None
        self._begin_timeout_s = timeout_s
        self._renewing: asyncio.Task[InitializeResult] | None = None
        self._hearing = Hearing(
            transport,
            answering=self._answering,
            visits=self._visits,
            subscriptions=self._subscriptions,
            on_notification=on_notification,
            tell=self._tell,
        )

    # -- the session -----------------------------------------------------------------------------------------

    @property
    def revision(self) -> str:
        """The revision that was agreed on, "" before."""
        return "" if self._session is None else self._session.handshake.revision

    async def begin(self, *, offer: str, timeout_s: float) -> InitializeResult:
        """Do the handshake, up to and including ``notifications/initialized``.

        Args:
            offer: The revision to offer; another one that we speak may be answered.
            timeout_s: How long the answer to ``initialize`` may take, in seconds.

        Raises:
            RpcError: the server refused ``initialize``.
            NoCommonRevisionError: it answered with a revision that we do not speak.
            MeseroError: the transport's errors and time-outs, as they are.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
        """
        if self.is_closed:
            raise ClosedError("the client is closed", where=self.transport.target)
        self._begin_timeout_s = timeout_s
        self.stay_in(asyncio.get_running_loop())
        self._hearing.start(lambda: self._session)
        try:
            if not self.transport.is_open:
                await self.transport.open()
            return await self._open_session(offer)
        except BaseException:
            await self._stop()
            raise

    async def _open_session(self, offer: str) -> InitializeResult:
        translator = Translator(offer)
        declared = translator.client_capabilities(self._capabilities)
        session = self._session = Session(translator, declared, self._channel.connection, Handshake("client"))
        self._channel.prepare(self._lose)
        self.last_id += 1
        try:
            result, received = await introduce(
                session,
                self.transport,
                self._info,
                request_id=self.last_id,
                supported=self._supported,
                timeout_s=self._begin_timeout_s,
            )
            self._channel.take_answer(received, result.protocol_version)
            session.handshake.record_notification(methods.INITIALIZED)
            await self._notify(methods.INITIALIZED)
        except MeseroError as error:
            error.where = error.where or self.transport.target
            raise
        self._channel.open(self._miss_changes)
        await self._set_log_level(result)
        return result

    async def _notify(self, method: str) -> None:
        """Send a notification of the session's own.

        Raises:
            CallTimeoutError: it could not be sent in time.
        """
        try:
            async with asyncio.timeout(self._begin_timeout_s):
                await self.transport.notify(encode_notification(method))
        except TimeoutError:
            limit_s = self._begin_timeout_s
            raise CallTimeoutError(method, timeout_s=limit_s, where=self.transport.target) from None

    async def _set_log_level(self, server: InitializeResult) -> None:
        if self._log_level is None or server.capabilities.logging is UNSET:
            return
        try:
            await self._ask(methods.SET_LEVEL, {"level": self._log_level}, self._begin_timeout_s)
        except (RpcError, TimeoutError) as error:
            _log.warning("the server did not take the log level: %s", error)

    async def _ready_session(self) -> Session:
        """The session, a new one if the old one went with its connection or was lost.

        Raises:
            UsageError: it was never begun.
        """
        if not self.transport.is_open:
            await self.transport.open()
        session = self._session
        if session is None:
            raise UsageError("the session was not begun")
        if session.may_call and session.connection == self._channel.connection:
            return session
        renewing = self._renewing
        if renewing is None or renewing.done():
            offer = session.handshake.revision or session.translator.revision
            renewing = self._renewing = asyncio.get_running_loop().create_task(self._open_session(offer))
            renewing.add_done_callback(_note_outcome)
        await self._wait_for(renewing)
        return await self._ready_session()

    async def _wait_for(self, renewing: asyncio.Task[InitializeResult]) -> None:
        """Wait for a session that others may be waiting for as well: giving up does not take it from them."""
        try:
            await asyncio.shield(renewing)
        except asyncio.CancelledError:
            if renewing.cancelled() and self.is_closed:
                raise ClosedError("the client was closed", where=self.transport.target) from None
            raise

    def _lose(self, error: MeseroError) -> None:
        """The server knows nothing of the session any more: nobody waits for anything in it."""
        if self._session is not None:
            self._session.is_lost = True
        self._answering.cancel_all()
        self._visits.end()
        # What came before is still being read.
        asyncio.get_running_loop().call_soon(self._subscriptions.fail, error)

    def _miss_changes(self) -> None:
        where = self.transport.target
        self._subscriptions.fail(DisconnectedError("changes may have been missed", where=where))

    async def aclose(self) -> None:
        """End the session, while the transport is still open. From any task, any number of times; bounded."""
        self.is_closed = True
        self._lose(ClosedError("the client was closed", where=self.transport.target))
        await self._stop()

    async def _stop(self) -> None:
        ending: list[asyncio.Task[Any]] = [*self._hearing.stop(), *self._answering.cancel_all()]
        if self._renewing is not None:
            self._renewing.cancel()
            ending.append(self._renewing)
        if ending:
            await asyncio.wait(ending, timeout=_STOP_WAIT_S)
        await self._channel.end()

    # -- calls -----------------------------------------------------------------------------------------------

    async def call(
        self,
        spec: MethodSpec,
        params: Mapping[str, Any],
        *,
        marks: Iterable[Any] = (),
        timeout_s: float | None = None,
        on_progress: ProgressFunction | None = None,
        meta: Mapping[str, Any] | None = None,
        on_asked: Callable[[], None] | None = None,
    ) -> Any:
        """The result of a request, typed.

        A session that the server does not know is begun anew, once, and the request is sent again: it was not
        carried out. So is one that needs the user to visit a page first, after the visit.

        Args:
            spec: The method.
            params: Its parameters without ``_meta``.
            marks: Nothing is mirrored in headers here.
            timeout_s: How long without a sign of progress, in seconds.
            on_progress: Takes `Progress`, and asks the server for it.
            meta: Further members of ``_meta``.
            on_asked: Called when the user had to visit a page.

        Raises:
            MeseroError: of every kind; see `mesero.errors`.
        """
        self._check_exists(spec.name)
        may_renew = may_visit = True
        while True:
            session = self._session
            try:
                raw = await self._round(spec, dict(params), marks, timeout_s, on_progress, meta)
                return self._read_result(spec, raw)
            except _LostSessionError as lost:
                if not may_renew:
                    raise lost.error from None
                may_renew = False
                self._lose_once(session, lost.error)
            except RpcError as error:
                pages = self._translator.questions_of(error)
                limit_s = self._timeout_s if timeout_s is None else timeout_s
                if not (pages and may_visit and await self._visits.make(pages, limit_s=limit_s)):
                    raise self._translator.error_up(error, method=spec.name) from None
                may_visit = False
                if on_asked is not None:
                    on_asked()
            except HttpStatusError as error:
                if not (may_renew and self._channel.is_lost_by(error)):
                    raise
                may_renew = False
                self._lose_once(session, error)
            except MeseroError as error:
                error.where = error.where or self.transport.target
                raise

    @property
    def _translator(self) -> Translator:
        if self._session is None:
            raise UsageError("the session was not begun")
        return self._session.translator

    def _check_exists(self, method: str) -> None:
        """What only other revisions have is not asked for; what none has may be the server's own."""
        revision = self._translator.revision
        if methods.find_method(revision, method, "c2s") is not None:
            return
        if any(method in revision_module_for(other).METHODS for other in REVISIONS):
            raise UsageError(
                f"{method} does not exist in {revision}, which the server speaks", where=self.transport.target
            )

    def _lose_once(self, session: Session | None, error: MeseroError) -> None:
        """Give the session up that a request was sent in, unless another request did so before."""
        if session is self._session:
            self._lose(error)

    def _read_result(self, spec: MethodSpec, raw: Raw) -> Any:
        fitted = self._translator.result_up(spec.name, raw)
        try:
            return decode_result(spec.result, fitted)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidResultError(
                f"the result of {spec.name} does not have its shape: {error}", excerpt=bytes(raw)
            ) from None

    async def start(
        self,
        spec: MethodSpec,
        params: dict[str, Any],
        *,
        marks: Iterable[Any] = (),
        wants_progress: bool = False,
        meta: Mapping[str, Any] | None = None,
    ) -> Exchange:
        """See `Requester.start`."""
        del marks  # Nothing is mirrored.
        if self.is_closed:
            raise ClosedError("the client is closed", where=self.transport.target)
        session = await self._ready_session()
        self.last_id = request_id = self.last_id + 1
        if meta or spec.name == methods.COMPLETE:
            if meta:
                params["_meta"] = dict(meta)
            params = session.translator.params_down(spec.name, params).value
        if wants_progress:
            # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress#progress-flow
            params["_meta"] = {**params.get("_meta", {}), "progressToken": request_id}
        raw = encode_value(RequestOut(request_id, spec.name, params or UNSET))
        return self.transport.exchange(Outgoing(request_id, spec.name, raw))

    def _error_from(self, method: str, message: ErrorResponse, received: Received) -> Exception:
        error = super()._error_from(method, message, received)
        status = received.http.status if received.http is not None else 0
        is_about_method = message.id is not None and message.code == METHOD_NOT_FOUND
        if (
            isinstance(error, MeseroError)
            and self._channel.is_lost(status, message.message)
            and not is_about_method
        ):
            return _LostSessionError(error)
        return error

    async def _ask(self, method: str, params: dict[str, Any], timeout_s: float) -> Raw:
        """Send a request of the session's own."""
        spec = MethodSpec(name=method, params=object, result=object)
        try:
            return await self._round(spec, params, (), timeout_s, None, None)
        except _LostSessionError as lost:
            raise lost.error from None

    async def ping(self, *, timeout_s: float | None = None) -> None:
        """Ask the server whether it is there.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
        """
        await self._ask(methods.PING, {}, self._timeout_s if timeout_s is None else timeout_s)

    async def announce_roots(self) -> None:
        """Tell the server that the client's roots have changed.

        Raises:
            UsageError: the client declares none.

        https://modelcontextprotocol.io/specification/2025-11-25/client/roots#root-list-changes
        """
        session = await self._ready_session()
        if "roots" not in session.declared:
            raise UsageError("a client without roots= has none that could change")
        await self._notify(methods.ROOTS_CHANGED)

    # -- what the server says unasked ------------------------------------------------------------------------

    def listen(
        self,
        wanted: Mapping[str, Any],
        *,
        acknowledge_s: float,
        reconnect: bool,
        on_gap: Callable[[], None],
    ) -> Listening:
        """Hear of changes; ``wanted`` is a filter as in ``subscriptions/listen``.

        Args:
            wanted: What to hear of; what the session's revision has no name for is not heard of.
            acknowledge_s: How long the server may take to subscribe, in seconds.
            reconnect: Subscribe again in a new session, and say so with a change of the kind ``reconnected``.
            on_gap: Called when changes may have been missed.
        """

        async def subscribe() -> Subscription:
            if self.is_closed:
                raise ClosedError("the client is closed", where=self.transport.target)
            session = await self._ready_session()
            if session.server is None:
                raise UsageError("the session was not begun")
            return await self._subscriptions.open(
                wanted, session.server.capabilities, timeout_s=acknowledge_s
            )

        return Listening(
            subscribe,
            where=self.transport.target,
            acknowledge_s=acknowledge_s + _GRACE_S,
            reconnect=reconnect,
            on_notification=lambda _: None,
            on_gap=on_gap,
        )

    async def _tell(self, message: Notification) -> None:
        if message.method != methods.PROGRESS:
            await self.take_log(message)
            return
        # Over HTTP it may come beside the stream of its request.
        token = find_owner_id(message)
        calls = self._open_calls or ()
        call = next((call for call in calls if token is not None and _id_of(call) == token), None)
        if call is not None:
            try:
                await self._take_progress(message, call)
            except Exception:  # noqa: BLE001  (nobody waits in here who could be told)
                _log.exception("on_progress failed")

    def _set_busy(self, is_busy: bool) -> None:  # noqa: FBT001  (a callback with one meaning)
        """A person is asked: nobody's limit runs meanwhile."""
        for call in self._open_calls or ():
            if is_busy:
                call.pause()
            else:
                call.resume()


def _id_of(call: OpenCall) -> Any:
    return getattr(call.exchange, "id", None)


def _note_outcome(task: asyncio.Task[Any]) -> None:
    """Look at how a task ended, so that nobody complains when all that waited for it are gone."""
    if not task.cancelled():
        task.exception()
