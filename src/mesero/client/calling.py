"""One call from its parameters to its result: rounds of questions, exchanges, time-outs, progress.

`Caller` knows how to send any method; `mesero.client.client.Client` gives the methods their names.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from mesero.client.asking import Asked
from mesero.client.facts import Progress
from mesero.errors import (
    CallTimeoutError,
    ClosedError,
    InputNeededError,
    MeseroError,
    NoCommonRevisionError,
    ProtocolError,
    RpcError,
    UnsupportedRevisionError,
    rpc_error_for,
)
from mesero.extensions import MethodSpec
from mesero.jsonrpc import ErrorResponse, Notification, RequestOut, ResultResponse, decode_value, encode_value
from mesero.modern import REVISIONS
from mesero.modern.client import Stamp, choose_revision, mirrored_headers, read_result
from mesero.modern.headers import HeaderMark
from mesero.modern.methods import CANCELLED, LOG_MESSAGE, PROGRESS
from mesero.modern.mrtr import MAX_ROUNDS, params_for_retry
from mesero.transports import Exchange, Outgoing, Transport
from mesero.types import InputRequiredResult, LoggingMessageParams, ProgressParams

__all__ = ["Caller", "LogFunction", "ProgressFunction"]

ProgressFunction = Callable[[Progress], Awaitable[None] | None]
LogFunction = Callable[[LoggingMessageParams], Awaitable[None] | None]

_log = logging.getLogger("mesero")

_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 5.0


class Caller:
    """Sends requests over one transport and waits for what answers them.

    Args:
        transport: Where to.
        asked: Answers the server's questions.
        stamp: The metadata of every request; replaced when the server speaks another revision.
        result_types: The values of ``resultType`` that are understood, by method.
        timeout_s: How long a request may take without a sign of progress, in seconds.
        total_timeout_s: How long it may take with progress, in seconds.
        on_log: Takes the server's log messages.
    """

    def __init__(
        self,
        transport: Transport,
        asked: Asked,
        *,
        stamp: Stamp,
        result_types: Mapping[str, frozenset[str]],
        timeout_s: float,
        total_timeout_s: float,
        on_log: LogFunction | None,
    ) -> None:
        self.transport = transport
        self.stamp = stamp
        self._asked = asked
        self._result_types = result_types
        self._timeout_s = timeout_s
        self._total_timeout_s = total_timeout_s
        self._on_log = on_log
        self._last_id = 0
        self.is_closed = False

    async def call(
        self,
        spec: MethodSpec,
        params: Mapping[str, Any],
        *,
        marks: Iterable[HeaderMark] = (),
        timeout_s: float | None = None,
        on_progress: ProgressFunction | None = None,
        meta: Mapping[str, Any] | None = None,
        on_asked: Callable[[], None] | None = None,
    ) -> Any:
        """The complete result of a request, typed; a server's questions are answered on the way.

        A request that waits for a person does not run the clock: each round has its own. A revision that the
        server refuses is changed once, for one that both speak.

        Args:
            spec: The method.
            params: Its parameters without ``_meta``.
            marks: The arguments that HTTP headers mirror.
            timeout_s: How long a round may take without a sign of progress, in seconds.
            on_progress: Takes `Progress`, and asks the server for it.
            meta: Further members of ``_meta``.
            on_asked: Called when the server asks: the result then depends on more than the parameters.

        Raises:
            MeseroError: of every kind; see `mesero.errors`.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow
        """
        current = dict(params)
        asked = stateful_rounds = 0
        may_change_revision = True
        while True:
            try:
                raw = await self._round(spec, current, marks, timeout_s, on_progress, meta)
                result = read_result(raw, spec, self._result_types[spec.name])
            except UnsupportedRevisionError as error:
                if not may_change_revision:
                    raise
                may_change_revision = False
                self._change_revision(error)
                continue
            except MeseroError as error:
                error.where = error.where or self.transport.target
                raise
            if not isinstance(result, InputRequiredResult):
                return result
            if on_asked is not None:
                on_asked()
            asked += 1
            if asked > MAX_ROUNDS:
                what = f"{spec.name}: the server asked {asked} times and was given up"
                raise InputNeededError(what, where=self.transport.target)
            if result.input_requests is UNSET:
                await asyncio.sleep(_wait_s_before(stateful_rounds))
                stateful_rounds += 1
            current = params_for_retry(current, result, await self._answers_to(result))

    def _change_revision(self, error: UnsupportedRevisionError) -> None:
        # "The client SHOULD select a mutually supported version from the supported list and retry the
        # request, or surface an error": even the one just refused, since servers behind one address may
        # differ.
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
        try:
            revision = choose_revision(REVISIONS, _supported_in(error))
        except NoCommonRevisionError as nothing:
            nothing.where = error.where
            raise nothing from None
        self.stamp = self.stamp.with_revision(revision)

    async def _answers_to(self, result: InputRequiredResult) -> dict[str, Raw]:
        requests = {} if result.input_requests is UNSET else result.input_requests
        where = self.transport.target
        return {key: await self._asked.answer(question, where=where) for key, question in requests.items()}

    async def start(
        self,
        spec: MethodSpec,
        params: dict[str, Any],
        *,
        marks: Iterable[HeaderMark] = (),
        wants_progress: bool = False,
        meta: Mapping[str, Any] | None = None,
    ) -> Exchange:
        """Send one request and hand back its exchange.

        Raises:
            ClosedError: the client is closed.
            TransportError: the server cannot be reached or started again.
        """
        if self.is_closed:
            raise ClosedError("the client is closed", where=self.transport.target)
        self._last_id = request_id = self._last_id + 1
        # The request's own id is its progress token: unique among active requests by itself.
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
        if wants_progress or meta:
            token = request_id if wants_progress else None
            params["_meta"] = self.stamp.meta_for(progress_token=token, extra=meta)
        else:
            params["_meta"] = self.stamp.plain_meta
        headers: tuple[tuple[str, str], ...] = ()
        if self.transport.mirrors_headers:
            name = None if spec.name_field is None else params.get(spec.name_field)
            # Whatever is no string is not mirrored; the server refuses it in the body.
            name = name if isinstance(name, str) else None
            headers = mirrored_headers(self.stamp.revision, spec.name, name, marks, params.get("arguments"))
        if not self.transport.is_open:
            await self.transport.open()
        raw = encode_value(RequestOut(request_id, spec.name, params))
        return self.transport.exchange(Outgoing(request_id, spec.name, raw, headers))

    async def _round(  # noqa: PLR0917  (one caller, on the hot path)
        self,
        spec: MethodSpec,
        params: dict[str, Any],
        marks: Iterable[HeaderMark],
        timeout_s: float | None,
        on_progress: ProgressFunction | None,
        meta: Mapping[str, Any] | None,
    ) -> Raw:
        """One request and its response; notifications in between go to whom they concern."""
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        loop = asyncio.get_running_loop()
        last_moment = loop.time() + max(limit_s, self._total_timeout_s)
        heard = 0
        exchange: Exchange | None = None
        reason = "the caller gave up"
        clock = asyncio.timeout(limit_s)
        try:
            async with clock:
                exchange = await self.start(
                    spec, params, marks=marks, wants_progress=on_progress is not None, meta=meta
                )
                while True:
                    message = (await exchange.receive()).message
                    if isinstance(message, ResultResponse):
                        return message.result
                    if isinstance(message, ErrorResponse):
                        raise self._error_from(spec, message)
                    heard += 1
                    if isinstance(message, Notification) and await self._take(message, on_progress):
                        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#timeouts
                        clock.reschedule(min(loop.time() + limit_s, last_moment))
        except TimeoutError:
            if not clock.expired():
                raise  # Somebody else's, for example of a callback.
            reason = "timed out"
            limit_s = limit_s if loop.time() < last_moment else max(limit_s, self._total_timeout_s)
            raise self._timeout_error(spec, params, limit_s, heard) from None
        finally:
            if exchange is not None and not exchange.is_over:
                await exchange.close(reason)

    def _error_from(self, spec: MethodSpec, message: ErrorResponse) -> RpcError:
        data = None if message.data is UNSET else decode_value(message.data)
        where = f"{self.transport.target}: {spec.name} (id {message.id!r})"
        return rpc_error_for(message.code, message.message, data, where=where)

    def _timeout_error(
        self, spec: MethodSpec, params: Mapping[str, Any], limit_s: float, heard: int
    ) -> CallTimeoutError:
        name = params.get(spec.name_field) if spec.name_field else None
        # Streams know of things that may explain the silence.
        evidence: tuple[str, ...] = getattr(self.transport, "evidence", tuple)()
        since = [f"{heard} notifications" if heard else "nothing", *evidence]
        return CallTimeoutError(
            f"{spec.name} {name!r}" if name else spec.name,
            timeout_s=limit_s,
            since="; ".join(since),
            where=self.transport.target,
        )

    async def _take(self, message: Notification, on_progress: ProgressFunction | None) -> bool:
        """Pass a notification on; whether it was progress."""
        if message.method == PROGRESS:
            await self._take_progress(message, on_progress)
            return True
        if message.method == CANCELLED:
            # "Servers MUST NOT send notifications/cancelled for any other purpose" than to end a
            # subscription. Who does will hardly answer: waiting would be for nothing.
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
            raise ProtocolError(
                "the server cancelled a request of ours, which it may not do; nothing else answered it",
                where=self.transport.target,
                excerpt=bytes(message.params or b""),
            )
        await self.take_log(message)
        return False

    async def _take_progress(self, message: Notification, on_progress: ProgressFunction | None) -> None:
        try:
            params = msgspec.json.decode(message.params or b"{}", type=ProgressParams)
        except msgspec.MsgspecError:
            return  # A malformed notification is dropped: it still shows that the server works.
        if on_progress is not None:
            total = None if params.total is UNSET else params.total
            text = None if params.message is UNSET else params.message
            await _maybe_await(on_progress(Progress(params.progress, total, text)))

    async def take_log(self, message: Notification) -> None:
        """Pass a log message on, if it is one that somebody wants; what they do with it cannot fail here."""
        if message.method != LOG_MESSAGE or self._on_log is None:
            return
        try:
            params = msgspec.json.decode(message.params or b"{}", type=LoggingMessageParams)
        except msgspec.MsgspecError:
            return
        try:
            await _maybe_await(self._on_log(params))
        except Exception:  # noqa: BLE001  (what becomes of a log line is no matter of the connection)
            _log.exception("on_log failed")


async def _maybe_await(value: Any) -> None:
    if inspect.isawaitable(value):
        await value


def _supported_in(error: UnsupportedRevisionError) -> tuple[str, ...]:
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    return tuple(str(revision) for revision in supported) if isinstance(supported, list) else ()


def _wait_s_before(round_number: int) -> float:
    """Nothing before the first retry without questions, then longer and longer, up to a limit.

    "the client MAY retry the original request immediately": once, then with patience.
    """
    return min(_FIRST_WAIT_S * 2 ** (round_number - 1), _LONGEST_WAIT_S) if round_number else 0.0
