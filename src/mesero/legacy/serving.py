"""The server's end of one session: the handshake, then the same functions that serve stateless requests.

A session is scoped to a process (stdio), a pair (memory) or a session id (HTTP); it remembers what the client
said of itself, its log level and what it subscribed to, and nothing of requests that were answered. It knows
no transport: what a call produces goes through its `Reply`, what belongs to no call through the outlet.
Invariants: a request gets one answer, a notification or response none, and nothing that comes ends a session.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mesero.errors import (
    InternalError,
    InvalidParamsError,
    InvalidRequestError,
    MissingClientCapabilityError,
    RpcError,
)
from mesero.jsonrpc import (
    ErrorResponse,
    Id,
    Notification,
    Request,
    ResultResponse,
    decode_value,
    encode_notification,
    encode_request,
    encode_result,
)
from mesero.legacy import methods
from mesero.legacy.announcements import Announcements
from mesero.legacy.batches import BatchedReply, read_batch, run_batch
from mesero.legacy.handshake import (
    Handshake,
    InitializeParams,
    initialize_result,
    negotiate,
    read_initialize_params,
)
from mesero.legacy.owners import Owner, check_owner, owner_for
from mesero.legacy.questions import ANSWER_WAIT_S, CallAsker, Questions, UnansweredError
from mesero.legacy.replies import TranslatedReply
from mesero.legacy.requests import LevelParams, UriParams, metadata_of, read_params
from mesero.legacy.shapes import FIRST, MARCH_2025
from mesero.legacy.translate import Translator
from mesero.server.admission import admit, encode_refusal
from mesero.server.authorization import NotAuthorizedError, Operation, ask_hook
from mesero.server.bus import Change
from mesero.server.context import Context
from mesero.server.operations import Call
from mesero.server.reply import Reply
from mesero.server.state import identity_of
from mesero.types import (
    CallToolParams,
    CallToolResult,
    CancelledParams,
    LoggingLevel,
    RequestMeta,
)

if TYPE_CHECKING:
    from mesero.server.server import Server

__all__ = ["ServerSession"]

_Headers = Sequence[tuple[bytes, bytes]]

_CLOSE_WAIT_S: Final = 5.0
"""How long what is cancelled may take to clean up, in seconds."""
_MAX_SUBSCRIPTIONS: Final = 10_000
"""How many URIs one client may watch."""
_FIRST_LEVEL: Final[LoggingLevel] = "info"
"""What a client gets that named no level: "the server MAY decide which messages to send automatically".

https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#setting-log-level
"""

_Work = Callable[[Request, Reply, Any], Awaitable[Any]]


class _Running(msgspec.Struct, eq=False):
    """A request that was not answered yet."""

    task: asyncio.Task[Any] | None
    metadata: RequestMeta | None = None


class ServerSession:
    """One client of the handshake revisions.

    Args:
        server: Who answers.
        outlet: Takes messages that belong to no call: the channel, or the stream that the client opened for
            them. None drops them.
        drain: Waits while the client does not read what the outlet takes.
        is_stateless: Whether every request stands for itself: no handshake is waited for, nothing remembered
            and nothing asked. For replicas that share no sessions.
        revision: Of a stateless session: the one to speak, since no handshake tells.
        answer_wait_s: How long a question waits for its answer, in seconds.
    """

    def __init__(
        self,
        server: Server,
        outlet: Callable[[bytes], None] | None,
        *,
        drain: Callable[[], Awaitable[None]] | None = None,
        is_stateless: bool = False,
        revision: str | None = None,
        answer_wait_s: float = ANSWER_WAIT_S,
    ) -> None:
        self._server = server
        self._outlet = outlet
        self._drain = drain
        self._answer_wait_s = answer_wait_s
        self.is_stateless = is_stateless
        self.owner: Owner | None = None
        """Whose this is, where the transport tells several clients apart by the session's name."""
        self._handshake = Handshake("server")
        self._client: InitializeParams | None = None
        # Without a handshake and without a header, this one is meant.
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
        self._translator = Translator(revision or MARCH_2025)
        self._declared: dict[str, Any] = {}
        self._log_level: LoggingLevel = _FIRST_LEVEL
        self._watched: set[str] = set()
        self._questions = Questions()
        self._running: dict[Id, _Running] = {}
        self._announcements: Announcements | None = None
        self._until_closed = contextlib.ExitStack()
        self._works: dict[str, _Work] = {
            methods.PING: self._answer_bare,
            methods.SET_LEVEL: self._set_level,
            methods.SUBSCRIBE: self._subscribe,
            methods.UNSUBSCRIBE: self._unsubscribe,
        }

    @property
    def revision(self) -> str | None:
        """What was agreed on; None before."""
        return self._translator.revision if self.is_stateless else self._handshake.revision or None

    @property
    def is_ready(self) -> bool:
        """Whether the handshake is done."""
        return self.is_stateless or self._handshake.is_ready

    @property
    def has_batches(self) -> bool:
        """Whether a message may be an array of messages."""
        return self.revision is not None and methods.has_batches(self.revision)

    def _declarable(self, translator: Translator) -> dict[str, Any]:
        declared = translator.server_capabilities(self._server.capabilities)
        if self.is_stateless or self._outlet is None:
            # Nobody could be told of a change.
            for name in ("tools", "resources", "prompts"):
                if name in declared:
                    declared[name] = {}
        return declared

    # -- requests --------------------------------------------------------------------------------------------

    def serve(
        self, request: Request, reply: Reply, *, headers: _Headers | None = None
    ) -> Coroutine[Any, Any, None]:
        """Serve one request: exactly one answer through ``reply``, unless it is cancelled.

        The request takes its place in the handshake when this is called; all else happens when the result is
        awaited. So messages that come together are taken in order.
        """
        try:
            work = self._admit(request)
        except RpcError as error:
            return self._answer_refusal(request, reply, error)
        return self._run(request, reply, headers, work)

    async def serve_batch(self, raw: bytes, reply: Reply, *, headers: _Headers | None = None) -> None:
        """Serve an array of messages: one answer with all of theirs, or none where none is owed.

        Only where `has_batches` says so.
        """
        answers: list[bytes] = []
        works: list[Coroutine[Any, Any, None]] = []
        try:
            members = read_batch(raw)
        except RpcError as error:
            await reply.answer(encode_refusal(self._server, None, error))
            return
        for member in members:
            if isinstance(member, Request):
                works.append(self.serve(member, BatchedReply(reply, answers), headers=headers))
            elif isinstance(member, tuple):
                answers.append(encode_refusal(self._server, *member))
            else:
                self.receive(member)
        await run_batch(works, answers, reply)

    def _admit(self, request: Request) -> _Work:
        method = request.method
        if not self.is_stateless:
            self._handshake.receive_request(method)
        if method == methods.INITIALIZE:
            result = self._begin(request.params)
            return lambda *_: _value(result)
        if method != methods.PING:
            # What was declared holds for the session; without one, what would be declared now.
            declared = self._declarable(self._translator) if self.is_stateless else self._declared
            methods.check_request(self._translator.revision, method, "c2s", declared)
        return self._works.get(method, self._operate)

    def _begin(self, params: Raw | UnsetType) -> dict[str, Any]:
        """The result of `initialize`; the agreement holds from here on."""
        try:
            client = read_initialize_params(params)
        except RpcError:
            if not self.is_stateless:
                self._handshake.record_refusal()
            raise
        revision = negotiate(client.protocol_version, self._server.handshake_revisions)
        translator = Translator(revision)
        declared = self._declarable(translator)
        if not self.is_stateless:
            self._client, self._translator, self._declared = client, translator, declared
            self._handshake.record_result(revision)
        return initialize_result(revision, declared, self._server.info, self._server.instructions)

    async def _run(self, request: Request, reply: Reply, headers: Any, work: _Work) -> None:
        error: RpcError
        try:
            if self.is_stateless:
                # Clients that know nothing of each other may use the same ids.
                raw = encode_result(request.id, await work(request, reply, headers))
            else:
                self._note(request)
                try:
                    raw = encode_result(request.id, await work(request, reply, headers))
                finally:
                    del self._running[request.id]
        except RpcError as refusal:
            error = refusal
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            error = InternalError("internal error: the work was cancelled from within the server")
        except (Exception, SystemExit) as failure:  # noqa: BLE001  (every request gets an answer)
            self._server.log_exception(f"request {request.id!r}", failure)
            error = InternalError(f"internal error: {type(failure).__name__}: {failure}")
        else:
            await reply.answer(raw)
            return
        await self._answer_refusal(request, reply, error)

    async def _answer_refusal(self, request: Request, reply: Reply, error: RpcError) -> None:
        status = error.status if isinstance(error, NotAuthorizedError) else 200
        headers = error.headers if isinstance(error, NotAuthorizedError) else ()
        fitted = self._translator.error_down(error, method=request.method)
        raw = encode_refusal(self._server, request.id, fitted)
        await reply.answer(raw, status=status, headers=headers)

    def _note(self, request: Request) -> None:
        if request.id in self._running:
            # "The request ID MUST NOT have been previously used by the requestor within the same session."
            # https://modelcontextprotocol.io/specification/2025-11-25/basic#requests
            raise InvalidRequestError(f"a request with the id {request.id!r} is in flight already")
        self._running[request.id] = _Running(asyncio.current_task())

    # -- the methods of sessions -----------------------------------------------------------------------------

    async def _answer_bare(self, request: Request, reply: Reply, headers: Any) -> dict[str, Any]:
        del request, reply, headers
        return {}

    async def _set_level(self, request: Request, reply: Reply, headers: Any) -> dict[str, Any]:
        del reply
        params = read_params(request, LevelParams)
        await self._authorize(request, None, params, headers)
        self._log_level = params.level
        for running in self._running.values():
            if running.metadata is not None:
                running.metadata.log_level = params.level
        return {}

    async def _subscribe(self, request: Request, reply: Reply, headers: Any) -> dict[str, Any]:
        del reply
        params = read_params(request, UriParams)
        await self._authorize(request, params.uri, params, headers)
        if len(self._watched) >= _MAX_SUBSCRIPTIONS and params.uri not in self._watched:
            raise InvalidRequestError(f"a session may subscribe to {_MAX_SUBSCRIPTIONS} resources")
        self._watched.add(params.uri)
        return {}

    async def _unsubscribe(self, request: Request, reply: Reply, headers: Any) -> dict[str, Any]:
        del reply
        params = read_params(request, UriParams)
        await self._authorize(request, params.uri, params, headers)
        self._watched.discard(params.uri)
        return {}

    async def _authorize(self, request: Request, name: str | None, params: Any, headers: Any) -> None:
        if self._server.authorize is not None:
            info = None if self._client is None else self._client.client_info
            operation = Operation(
                method=request.method, name=name, params=params, client_info=info, headers=headers
            )
            check_owner(self.owner, identity_of(await ask_hook(self._server, operation)))

    async def check_participant(self, headers: _Headers) -> None:
        """Whether who sends these headers takes part in this session.

        Raises:
            RpcError: they do not.
        """
        if self.owner is not None and self._client is not None:
            check_owner(self.owner, await owner_for(self._server, self._client, headers))

    # -- the methods of both eras ----------------------------------------------------------------------------

    async def _operate(self, request: Request, reply: Reply, headers: Any) -> dict[str, Any]:
        """Run what a stateless request would run, with its parameters and its result translated."""
        translator = self._translator
        metadata = metadata_of(request, translator.revision, self._client, self._log_level)
        if request.id in self._running:
            self._running[request.id].metadata = metadata
        if request.params is not UNSET:
            request = Request(
                request.id, request.method, translator.params_up(request.method, request.params)
            )
        if translator.revision == FIRST:
            reply = TranslatedReply(reply, translator)
        call: Call | None = None
        try:
            call = await admit(self._server, request, metadata, reply, headers=headers)
            if self.owner is not None:
                check_owner(self.owner, identity_of(call.principal))
            call.make_context = self._context_for
            result = await self._server.operations[request.method](call)
        except MissingClientCapabilityError as error:
            if self.is_stateless:
                error.message += "; without sessions, this server knows of no client what it can be asked"
            raise
        finally:
            if call is not None and call.seen is not None:
                call.seen.finish()
        schema = None
        if isinstance(result, CallToolResult):
            schema = self._check_tool_result(call, result)
        value: dict[str, Any] = translator.result_down(request.method, result, output_schema=schema).value
        return value

    def _context_for(self, call: Call) -> Context:
        asker = CallAsker(
            self._questions,
            self._translator,
            call.reply,
            outlet=self._outlet,
            answer_wait_s=self._answer_wait_s,
        )
        context = Context(
            request_id=call.request.id,
            metadata=call.metadata,
            reply=call.reply,
            asker=asker,
            log=self._server.log,
        )
        context.principal = call.principal
        return context

    def _check_tool_result(self, call: Call, result: CallToolResult) -> Any:
        """The output schema of the tool that was called, None for none.

        Raises:
            InvalidParamsError: the arguments were wrong, in revisions that want to hear it so (-32602).
        """
        params: CallToolParams = call.params
        entry = self._server.tools.find(params.name)
        if entry is None:
            return None
        if result.is_error and self._translator.wrong_arguments_are_errors():
            # Only what failed is looked at again.
            try:
                entry.decode_arguments(b"{}" if params.arguments is UNSET else params.arguments)
            except (ValueError, RecursionError):
                raise InvalidParamsError(result.text) from None
        schema = entry.tool.output_schema
        return None if schema is UNSET else schema

    # -- notifications and responses -------------------------------------------------------------------------

    def receive(self, message: Notification | ResultResponse | ErrorResponse) -> bool:
        """Take what is never answered; whether anybody wanted it."""
        if not isinstance(message, Notification):
            return self._questions.receive(message)
        if self.is_stateless:
            return True
        if not self._handshake.receive_notification(message.method):
            return False
        if message.method == methods.INITIALIZED:
            self._open()
        elif message.method == methods.CANCELLED:
            self._cancel(message)
        return True

    def _open(self) -> None:
        """The session is ready: from here on the client hears of changes."""
        if self._outlet is not None:
            self._announcements = Announcements(self._notification_for, self._outlet, self._drain)
            self._until_closed.enter_context(self._server.subscriptions.holding(self._announcements))

    def _notification_for(self, change: Change) -> bytes | None:
        method = methods.find_method(self._translator.revision, change.method, "s2c")
        if method is None or methods.find_missing_capability(method, self._declared) is not None:
            return None
        if change.method == methods.RESOURCE_UPDATED and change.subject not in self._watched:
            return None
        translated = self._translator.notification_down(change.method, decode_value(change.params))
        return None if translated is None else encode_notification(translated[0], translated[1] or UNSET)

    def _cancel(self, notification: Notification) -> None:
        # "Invalid cancellation notifications SHOULD be ignored."
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#error-handling
        with contextlib.suppress(msgspec.MsgspecError, RecursionError):
            params = msgspec.json.decode(notification.params or b"{}", type=CancelledParams)
            running = self._running.get(params.request_id)
            if running is not None and running.task is not None:
                running.task.cancel()

    def receive_eof(self) -> None:
        """The client says nothing more: what waits for its answers is let go, the rest may still end."""
        self._questions.close()

    async def ping(self, timeout_s: float) -> bool:
        """Ask the client whether it is there, through the outlet; whether it answered in time.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
        """
        if self._outlet is None or self._questions.is_closed:
            return False
        ping_id, future = self._questions.begin()
        self._outlet(encode_request(ping_id, methods.PING))
        try:
            await asyncio.wait_for(future, timeout_s)
        except TimeoutError:
            return False
        except UnansweredError:
            # An error is an answer, too: somebody is there, unless the session has ended meanwhile.
            return not self._questions.is_closed
        finally:
            self._questions.open.close(ping_id, is_answered=False)
        return True

    async def aclose(self) -> None:
        """The session is over: what still runs for it is cancelled, what waits is let go."""
        self._handshake.close()
        self._questions.close()
        self._until_closed.close()
        if self._announcements is not None:
            self._announcements.close()
        here = asyncio.current_task()
        running = (one.task for one in self._running.values())
        tasks = [task for task in running if task is not None and task is not here]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSE_WAIT_S)


async def _value(value: dict[str, Any]) -> dict[str, Any]:
    return value
