"""A server that answers from a script: for tests of clients, and of what clients do with bad servers.

The script is a list of expectations: what the client sends next, and what happens then. Everything passes as
real bytes through the memory transport. What does not fit is answered with an error on the wire, so that
nobody waits, and told as a conversation when the script is checked. A failure is an AssertionError.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, Self

from msgspec import UNSET

from mesero.errors import InternalError, RpcError
from mesero.framing import LineFramer, TooLong
from mesero.jsonrpc import (
    Id,
    Message,
    Notification,
    Request,
    decode_message,
    decode_value,
    encode_error,
    encode_notification,
    encode_result,
    encode_value,
)
from mesero.modern import REVISIONS
from mesero.modern.methods import CANCELLED, DISCOVER, METHODS, PROGRESS
from mesero.transports.memory import MemoryTransport
from mesero.types import PROGRESS_TOKEN_KEY, SERVER_INFO_KEY, SUBSCRIPTION_ID_KEY

__all__ = ["Expectation", "ScriptedTransport", "scripted_server"]

_ALL_CAPABILITIES: Final[Mapping[str, Any]] = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
_INFO: Final = {"name": "scripted", "version": "1"}
_SHOWN_CHARACTERS = 200

_Act = Callable[["_ScriptedPeer", Id, Mapping[str, Any]], None]


class Expectation:
    """One message that the client has to send, and what the server does then, in the order it was said.

    Without any action the server stays silent: what a test of time-outs and cancellations wants.

    Attributes:
        method: The expected method.
        params: Members that its parameters must have; others, and ``_meta``, may be anything.
    """

    def __init__(self, method: str, params: Mapping[str, Any]) -> None:
        self.method = method
        self.params = dict(params)
        self._acts: list[_Act] = []

    def notify(self, method: str, **params: Any) -> Expectation:
        """Send a notification."""
        return self._then(lambda peer, _id, _sent: peer.send(encode_notification(method, params)))

    def report_progress(self, progress: float, total: float | None = None) -> Expectation:
        """Send progress under the token of the request; nothing if it has none."""

        def act(peer: _ScriptedPeer, _id: Id, sent: Mapping[str, Any]) -> None:
            token = _meta_of(sent).get(PROGRESS_TOKEN_KEY)
            if token is not None:
                params = {"progressToken": token, "progress": progress}
                peer.send(
                    encode_notification(PROGRESS, params if total is None else {**params, "total": total})
                )

        return self._then(act)

    def publish(self, method: str, **params: Any) -> Expectation:
        """Send a notification that belongs to the request as a subscription: it carries the request's id."""

        def act(peer: _ScriptedPeer, request_id: Id, _sent: Mapping[str, Any]) -> None:
            peer.send(encode_notification(method, {"_meta": {SUBSCRIPTION_ID_KEY: request_id}, **params}))

        return self._then(act)

    def answer(self, result: Mapping[str, Any] | None = None, **members: Any) -> Expectation:
        """Answer with a result.

        ``resultType``, the server's identity and (where the method has them) cache hints are added.
        """
        whole = {"resultType": "complete", "_meta": {SERVER_INFO_KEY: _INFO}, **(result or {}), **members}
        if self.method in METHODS and METHODS[self.method].is_cacheable:
            whole = {"ttlMs": 0, "cacheScope": "private", **whole}
        return self._then(lambda peer, request_id, _sent: peer.send(encode_result(request_id, whole)))

    def error(self, code: int, message: str, data: Any = None) -> Expectation:
        """Answer with an error."""
        refusal = RpcError(message, code=code, data=data)
        return self._then(lambda peer, request_id, _sent: peer.send(encode_error(request_id, refusal)))

    def raw(self, data: bytes | Callable[[Id], bytes]) -> Expectation:
        """Send bytes as they are, with the end of the line if they have one: any broken answer.

        Args:
            data: The bytes, or a function that makes them from the request's id.
        """
        return self._then(
            lambda peer, request_id, _sent: peer.send_bytes(data(request_id) if callable(data) else data)
        )

    def hang_up(self) -> Expectation:
        """End the connection. When the client connects again, the script goes on."""
        return self._then(lambda peer, _id, _sent: peer.hang_up())

    def _then(self, act: _Act) -> Expectation:
        self._acts.append(act)
        return self

    def act(self, peer: _ScriptedPeer, request_id: Id, sent: Mapping[str, Any]) -> None:
        """Do everything that was said, in order."""
        for act in self._acts:
            act(peer, request_id, sent)

    def differences_from(self, method: str, params: Mapping[str, Any]) -> list[str]:
        """What a message has to have and has not, a line each; nothing when it fits."""
        if method != self.method:
            return [f"method: expected {self.method}, got {method}"]
        found = {name: _shown(params[name]) if name in params else "nothing" for name in self.params}
        return [
            f"params.{name}: expected {_shown(value)}, got {found[name]}"
            for name, value in self.params.items()
            if name not in params or params[name] != value
        ]

    def __str__(self) -> str:
        return f"{self.method} {_shown(self.params)}" if self.params else self.method


class ScriptedTransport(MemoryTransport):
    """A transport to a scripted server; give it to a `Client` as its target. Made by `scripted_server`.

    As a context manager it checks at its end that the script was followed to its last line.
    """

    kind = "scripted"

    def __init__(self, *, capabilities: Mapping[str, Any], answers_discover: bool, ordered: bool) -> None:
        super().__init__(lambda send, hang_up: _ScriptedPeer(self, send, hang_up), target="a scripted server")
        self._capabilities = capabilities
        self._answers_discover = answers_discover
        self._ordered = ordered
        self._left: list[Expectation] = []
        self._conversation: list[str] = []
        self._faults: list[str] = []

    def expect(self, method: str, **params: Any) -> Expectation:
        """Add a line to the script: the client sends this next.

        Args:
            method: A request's or a notification's method.
            params: Members that its parameters must have, by their wire names.
        """
        expectation = Expectation(method, params)
        self._left.append(expectation)
        return expectation

    # -- judging ---------------------------------------------------------------------------------------------

    def take(self, method: str, params: Mapping[str, Any]) -> Expectation | None:
        """The line of the script that a message fulfils; None when there is none, and the fault is kept."""
        candidates = self._left[:1] if self._ordered else self._left
        for expectation in candidates:
            if not expectation.differences_from(method, params):
                self._left.remove(expectation)
                self._conversation.append(f"    {expectation}")
                return expectation
        if method == DISCOVER and self._answers_discover:
            return Expectation(DISCOVER, {}).answer(
                supportedVersions=list(REVISIONS), capabilities=dict(self._capabilities)
            )
        if method == CANCELLED:
            # Giving a call up is no step of its own unless the script makes it one.
            self._conversation.append(
                f"    {method} {_shown(_without_meta(params))} (not in the script, let pass)"
            )
            return None
        self._note_fault(candidates, method, params)
        return None

    def _note_fault(self, candidates: list[Expectation], method: str, params: Mapping[str, Any]) -> None:
        lines = [f"  - {expectation}" for expectation in candidates] or ["  - nothing more"]
        lines.append(f"  + {method} {_shown(_without_meta(params))}")
        if len(candidates) == 1:
            lines.extend(f"  ? {difference}" for difference in candidates[0].differences_from(method, params))
        self._conversation.extend(lines)
        self._faults.append("\n".join(lines))

    @property
    def last_fault(self) -> str:
        """The last thing that the client sent against the script, or ""."""
        return self._faults[-1] if self._faults else ""

    def note_garbage(self, raw: bytes, why: str) -> None:
        """The client sent bytes that are no message."""
        self._faults.append(f"  + {raw[:_SHOWN_CHARACTERS]!r} ({why})")
        self._conversation.append(self._faults[-1])

    def check_finished(self) -> None:
        """Check that the client did exactly what the script says.

        Raises:
            AssertionError: it did something else, or not everything; with the conversation.
        """
        if not self._faults and not self._left:
            return
        what = (
            "did something else than its script says"
            if self._faults
            else "did not do all that its script says"
        )
        lines = [f"the client {what} (- expected, + sent):", *self._conversation]
        if not self._faults:
            lines.extend(f"  - {expectation}" for expectation in self._left)
        raise AssertionError("\n".join(lines))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What went wrong in the block is usually the consequence of a fault; the fault says more.
        if error is None or self._faults:
            self.check_finished()


def scripted_server(
    *,
    capabilities: Mapping[str, Any] = _ALL_CAPABILITIES,
    answers_discover: bool = True,
    ordered: bool = True,
) -> ScriptedTransport:
    """A server that does what a script says::

        with scripted_server() as server:
            server.expect("tools/call", name="add").report_progress(1).answer(content=[])
            async with Client(server) as client:
                await client.call_tool("add")

    Args:
        capabilities: What it declares, shaped like server capabilities.
        answers_discover: Answer `server/discover` without a line in the script.
        ordered: Whether the client has to follow the order of the script; false for concurrent calls.
    """
    return ScriptedTransport(capabilities=capabilities, answers_discover=answers_discover, ordered=ordered)


class _ScriptedPeer:
    """One connection of a client to the script."""

    def __init__(
        self, script: ScriptedTransport, send_bytes: Callable[[bytes], None], hang_up: Callable[[], None]
    ) -> None:
        self._script = script
        self._framer = LineFramer()
        self.send_bytes = send_bytes
        self.hang_up = hang_up

    def send(self, raw: bytes) -> None:
        self.send_bytes(raw + b"\n")

    def receive_bytes(self, data: bytes) -> None:
        for frame in self._framer.receive(data):
            raw = frame.beginning if isinstance(frame, TooLong) else frame
            try:
                self._receive(raw, decode_message(raw))
            except RpcError as error:
                self._script.note_garbage(raw, str(error))

    def _receive(self, raw: bytes, message: Message) -> None:
        if not isinstance(message, (Request, Notification)):
            self._script.note_garbage(raw, "clients do not send responses")
            return
        params = {} if message.params is UNSET else decode_value(message.params)
        request_id = message.id if isinstance(message, Request) else 0
        expectation = self._script.take(message.method, params)
        if expectation is not None:
            expectation.act(self, request_id, params)
        elif isinstance(message, Request):
            text = f"not in the script (- expected, + sent):\n{self._script.last_fault}"
            self.send(encode_error(message.id, InternalError(text)))

    async def aclose(self) -> None:
        """Nothing runs here that would have to end."""


def _meta_of(params: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = params.get("_meta")
    return meta if isinstance(meta, Mapping) else {}


def _without_meta(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != "_meta"}


def _shown(value: Any) -> str:
    try:
        text = encode_value(value).decode()
    except TypeError:
        text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
