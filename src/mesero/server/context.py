"""What a handler can do besides returning: report progress, log, ask the client. One class for every era.

`Context` belongs to one request and ends with it. How a question travels is behind `Asker`: this file knows
nothing of rounds, sessions or transports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError as ThreadCancelledError
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, overload

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mesero.errors import InvalidParamsError, MissingClientCapabilityError, UsageError
from mesero.jsonrpc import Id, check_finite, encode_notification, encode_value
from mesero.modern.envelope import check_needs
from mesero.modern.methods import LOG_MESSAGE, PROGRESS
from mesero.server.forms import form_schema_for, read_form
from mesero.types import (
    CREATE_MESSAGE_METHOD,
    ELICIT_METHOD,
    LEVEL_ORDER,
    LIST_ROOTS_METHOD,
    ClientCapabilities,
    CreateMessageResult,
    ElicitFormParams,
    ElicitResult,
    ElicitUrlParams,
    Implementation,
    InputParams,
    InputRequest,
    ListRootsParams,
    ListRootsResult,
    LoggingLevel,
    RequestMeta,
    Root,
    SamplingMessage,
    TextContent,
    decode_input_params,
    decode_result,
)

if TYPE_CHECKING:
    from mesero.server.reply import Reply

__all__ = ["Answer", "Asker", "ClientFacts", "Context"]

T = TypeVar("T")


class ClientFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the client of *this* request says of itself: for display and logs, never for decisions."""

    info: Implementation | None
    capabilities: ClientCapabilities
    revision: str


class Answer(msgspec.Struct, Generic[T], frozen=True):
    """What the user did with a question; ``content`` is there when it was accepted.

    https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#response-actions
    """

    action: Literal["accept", "decline", "cancel"]
    content: T | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether the user agreed (and filled in the form, if it was one)."""
        return self.action == "accept"


class Asker(Protocol):
    """How questions reach the client: in rounds, or by requests of the server's own."""

    async def ask(self, questions: Mapping[str, InputRequest]) -> dict[str, Raw]:
        """The raw answers by key. May never return: then the handler is abandoned and runs again."""

    async def once(self, key: str, make: Callable[[], Awaitable[Any] | Any]) -> Any:
        """A value that is made once and remembered for later runs of the same handler."""


class Context:
    """One request, seen from its handler.

    Attributes:
        principal: Who calls, as the authorization hook said; None without one.
        client: What the client of this request says of itself.
        request_id: The JSON-RPC id.
        trace: W3C trace context of the request: ``traceparent``, ``tracestate``, ``baggage`` when sent.
    """

    def __init__(
        self,
        *,
        request_id: Id,
        metadata: RequestMeta,
        reply: Reply,
        asker: Asker | None,
        log: Callable[[str], None],
    ) -> None:
        self.request_id = request_id
        self.principal: Any = None
        self._metadata = metadata
        self._reply = reply
        self._asker = asker
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._last_progress = float("-inf")
        self._ordinals: dict[str, int] = {}
        self._is_over = False
        self._waits: set[Future[Any]] = set()

    @property
    def client(self) -> ClientFacts:
        """What the client of this request says of itself."""
        info = self._metadata.client_info
        return ClientFacts(
            info=None if info is UNSET else info,
            capabilities=self._metadata.client_capabilities,
            revision=self._metadata.protocol_version,
        )

    @property
    def trace(self) -> dict[str, str]:
        """The OpenTelemetry trace context that the request carries, to pass on.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
        """
        keys = ("traceparent", "tracestate", "baggage")
        return {key: value for key in keys if (value := getattr(self._metadata, key)) is not UNSET}

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the result any more. For functions in threads, which nothing can stop."""
        return self._is_over

    def finish(self) -> None:
        """The request is over: nothing more may be sent for it, and threads that wait are let go."""
        self._is_over = True
        for wait in tuple(self._waits):
            wait.cancel()

    # -- telling
    # -------------------------------------------------------------------------------------------------------

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Say how far the work is. Does nothing when the client did not ask for progress.

        Args:
            progress: How much is done; must grow from call to call (one that does not is left out).
            total: How much there is to do, if known.
            message: One sentence for people.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
        """
        token = self._metadata.progress_token
        # "The progress value MUST increase with each notification."
        if token is UNSET or self._is_over or not progress > self._last_progress:
            return
        params: dict[str, Any] = {"progressToken": token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        check_finite(params)
        self._last_progress = progress
        await self._reply.notify(encode_notification(PROGRESS, params))

    async def log(self, level: LoggingLevel, data: Any, *, logger: str | None = None) -> None:
        """Log to stderr, and to the client if its request asked for this level.

        Logging to the client is deprecated since 2026-07-28: use stderr or OpenTelemetry.
        https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
        """
        if level not in LEVEL_ORDER:
            raise UsageError(f"{level!r} is no log level; the levels are {', '.join(LEVEL_ORDER)}")
        self._log(f"{level}: {data if isinstance(data, str) else encode_value(data).decode()}")
        asked = self._metadata.log_level
        # "The server MUST NOT emit notifications/message for a request that does not include this field."
        if asked is UNSET or self._is_over or LEVEL_ORDER[level] < LEVEL_ORDER[asked]:
            return
        params: dict[str, Any] = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        check_finite(data)
        await self._reply.notify(encode_notification(LOG_MESSAGE, params))

    async def close_stream(self, *, retry_ms: int = 1000) -> None:
        """Let go of the HTTP connection while the work goes on: the client comes back for the rest.

        For work that takes long where connections are precious. Only clients of 2025-11-25 in a session can
        come back; for all others this does nothing.

        Args:
            retry_ms: After how many milliseconds the client is to come back.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
        """
        close = getattr(self._reply, "close_stream", None)
        if close is not None and not self._is_over:
            await close(retry_ms)

    # -- asking
    # --------------------------------------------------------------------------------------------------------

    async def ask(self, questions: Mapping[str, InputRequest]) -> dict[str, Raw]:
        """Ask several questions in one round; the raw answers come under the same keys.

        The handler may be abandoned here and run again from its top when the answers have come: what it did
        before must be safe to repeat, or wrapped in `once`.

        Raises:
            MissingClientCapabilityError: the request does not declare that it can answer (-32021).
        """
        if self._asker is None:
            raise UsageError("questions can be asked while a tool, prompt or resource runs, and nowhere else")
        if self._is_over:
            raise UsageError("the request was answered already; nothing can be asked for it any more")
        for question in questions.values():
            self._check_may_ask(question)
        return await self._asker.ask(questions)

    def _check_may_ask(self, question: InputRequest) -> None:
        # "Servers MUST NOT send an inputRequests that the client has not declared support for in its
        # capabilities."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
        try:
            needed = _capability_for(decode_input_params(question))
        except msgspec.MsgspecError as error:
            raise UsageError(f"this question cannot be asked: {question.method}: {error}") from None
        try:
            check_needs(needed, self._metadata)
        except MissingClientCapabilityError as error:
            raise MissingClientCapabilityError(
                f"the server needs to ask {question.method}, which this request's client does not declare",
                data=error.data,
            ) from None

    def _key_for(self, method: str, key: str | None) -> str:
        if key is not None:
            return key
        ordinal = self._ordinals[method] = self._ordinals.get(method, 0) + 1
        return f"{method}-{ordinal}"

    @overload
    async def elicit(self, message: str, form: type[T], *, key: str | None = None) -> Answer[T]: ...
    @overload
    async def elicit(
        self, message: str, form: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Answer[dict[str, Any]]: ...
    async def elicit(
        self, message: str, form: type[Any] | Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Answer[Any]:
        """Ask the user to fill in a form.

        Args:
            message: Why the question is asked.
            form: A flat class (Struct, dataclass, TypedDict, Pydantic model) of strings, numbers, booleans,
                enums and lists of enums; or a JSON Schema of that kind; or nothing, for a plain yes or no.
                Never ask for secrets in a form.
            key: The name of the question among those of this handler; by default its method and ordinal.

        Returns:
            What the user did, with ``content`` of the form's class when it was accepted.

        https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#form-mode-elicitation-requests
        """
        schema = form_schema_for(form)
        params = {"mode": "form", "message": message, "requestedSchema": schema}
        question_key = self._key_for(ELICIT_METHOD, key)
        raw = await self._ask_one(question_key, ELICIT_METHOD, params)
        result = _decode_answer(raw, ElicitResult, question_key)
        if result.action != "accept":
            return Answer(result.action)
        content = {} if result.content is UNSET else result.content
        if not isinstance(form, type):
            return Answer("accept", content)
        return Answer("accept", read_form(form, content, question_key))

    async def elicit_url(self, message: str, url: str, *, key: str | None = None) -> Answer[None]:
        """Send the user to a URL, for what must not pass through the client. "accept" means consent, not
        completion.

        https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#url-mode-elicitation-requests
        """
        question_key = self._key_for(ELICIT_METHOD, key)
        raw = await self._ask_one(
            question_key, ELICIT_METHOD, {"mode": "url", "message": message, "url": url}
        )
        return Answer(_decode_answer(raw, ElicitResult, question_key).action)

    async def sample(
        self,
        messages: str | Sequence[SamplingMessage],
        *,
        max_tokens: int = 1000,
        key: str | None = None,
        **more: Any,
    ) -> CreateMessageResult:
        """Ask the client's model. Deprecated since 2026-07-28: call a model provider's API instead.

        Args:
            messages: The conversation, or one user text.
            max_tokens: The most tokens to generate.
            key: See `elicit`.
            more: Further members of the parameters by their wire names (``systemPrompt``, ``temperature`` …).

        https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
        """
        if isinstance(messages, str):
            messages = [SamplingMessage("user", TextContent(messages))]
        params = {"messages": list(messages), "maxTokens": max_tokens, **more}
        question_key = self._key_for(CREATE_MESSAGE_METHOD, key)
        return _decode_answer(
            await self._ask_one(question_key, CREATE_MESSAGE_METHOD, params),
            CreateMessageResult,
            question_key,
        )

    async def roots(self, *, key: str | None = None) -> list[Root]:
        """The directories that the client works on. Deprecated since 2026-07-28: use tool parameters or
        resources.

        https://modelcontextprotocol.io/specification/2026-07-28/client/roots
        """
        question_key = self._key_for(LIST_ROOTS_METHOD, key)
        return _decode_answer(
            await self._ask_one(question_key, LIST_ROOTS_METHOD, UNSET), ListRootsResult, question_key
        ).roots

    async def _ask_one(self, key: str, method: str, params: Any) -> Raw:
        raw_params: Raw | UnsetType = UNSET if params is UNSET else Raw(encode_value(params))
        return (await self.ask({key: InputRequest(method, raw_params)}))[key]

    async def once(self, key: str, make: Callable[[], Awaitable[Any] | Any]) -> Any:
        """A value made by ``make`` at least once and then carried through later runs of this handler.

        It must have a JSON form, and comes back as plain JSON data, in the first run as well.

        Raises:
            UsageError: outside of a tool, prompt or resource.
        """
        if self._asker is None:
            raise UsageError("values are carried while a tool, prompt or resource runs, and nowhere else")
        return await self._asker.once(key, make)

    # -- from a worker thread
    # ------------------------------------------------------------------------------------------

    def wait_for(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """From a plain function in a worker thread: run one of the methods above and wait for it.

        ``answer = ctx.wait_for(ctx.elicit("Sure?"))``. When the request is over meanwhile (its round has
        ended, or its client has cancelled it), ``asyncio.CancelledError`` ends the function; its result is
        dropped anyway.

        Raises:
            UsageError: called in the event loop, where ``await`` does the same.
        """
        if _is_in_loop():
            coroutine.close()
            raise UsageError(
                "ctx.wait_for is for plain functions in worker threads; in the event loop, await"
            )
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        self._waits.add(future)
        if self._is_over:
            future.cancel()
        try:
            return future.result()
        except ThreadCancelledError:
            raise asyncio.CancelledError from None
        finally:
            self._waits.discard(future)


def _capability_for(question: InputParams) -> dict[str, Any]:
    """The client capability without which a question may not be asked.

    https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#capabilities
    """
    if isinstance(question, ElicitUrlParams):
        return {"elicitation": {"url": {}}}
    if isinstance(question, ElicitFormParams):
        return {"elicitation": {"form": {}}}
    if isinstance(question, ListRootsParams):
        return {"roots": {}}
    # "Servers MUST NOT send tool-enabled sampling requests to Clients that have not declared support for
    # tool use"
    # https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#capabilities
    wants_tools = question.tools is not UNSET or question.tool_choice is not UNSET
    return {"sampling": {"tools": {}} if wants_tools else {}}


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _decode_answer(raw: Raw, kind: type[T], key: str) -> T:
    # "Servers SHOULD validate that the data provided by the client is a valid InputResponses object."
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#error-handling
    try:
        return decode_result(kind, raw)
    except msgspec.MsgspecError as error:
        raise InvalidParamsError(f"the answer to {key!r} is not a valid {kind.__name__}: {error}") from None
