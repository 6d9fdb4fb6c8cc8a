"""One call from its parameters to its result: rounds of questions, and a revision that both speak.

`Caller` knows how to send any method; `mesero.client.client.Client` gives the methods their names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import UNSET, Raw

from mesero.client.asking import Asked
from mesero.client.requester import LogFunction, ProgressFunction, Requester
from mesero.errors import (
    ClosedError,
    InputNeededError,
    MeseroError,
    NoCommonRevisionError,
    UnsupportedRevisionError,
)
from mesero.extensions import MethodSpec
from mesero.jsonrpc import RequestOut, encode_value
from mesero.modern import REVISIONS
from mesero.modern.client import Stamp, choose_revision, mirrored_headers, read_result
from mesero.modern.headers import HeaderMark
from mesero.modern.mrtr import MAX_ROUNDS, params_for_retry
from mesero.transports import Exchange, Outgoing, Transport
from mesero.types import InputRequiredResult

__all__ = ["Caller"]

_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 5.0


class Caller(Requester):
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
        super().__init__(transport, timeout_s=timeout_s, total_timeout_s=total_timeout_s, on_log=on_log)
        self.stamp = stamp
        self._asked = asked
        self._result_types = result_types

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
        """See `Requester.start`."""
        if self.is_closed:
            raise ClosedError("the client is closed", where=self.transport.target)
        self.last_id = request_id = self.last_id + 1
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


def _supported_in(error: UnsupportedRevisionError) -> tuple[str, ...]:
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    return tuple(str(revision) for revision in supported) if isinstance(supported, list) else ()


def _wait_s_before(round_number: int) -> float:
    """Nothing before the first retry without questions, then longer and longer, up to a limit.

    "the client MAY retry the original request immediately": once, then with patience.
    """
    return min(_FIRST_WAIT_S * 2 ** (round_number - 1), _LONGEST_WAIT_S) if round_number else 0.0
