"""Finding out what a server speaks: the driver of the client's table in `mesero.eras`.

It sends what the table says next, observes, and asks the table again, until there is a connection or an
error. At most one probe and one handshake are open at a time, and the second is sent only when the first was
not answered in its time: they are never sent together.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal, cast

import msgspec
from msgspec import UNSET

from mesero.client.calling import Caller
from mesero.client.facts import Decision, FirstStep, ServerFacts
from mesero.client.probing import Outcome, begin, probe
from mesero.client.remembering import DecisionBook
from mesero.client.sessions import Introduction, SessionCalls
from mesero.eras import (
    LEGACY_REVISIONS,
    MODERN_REVISIONS,
    Discovered,
    Initialized,
    Observation,
    Refused,
    Verdict,
    choose_on_client,
)
from mesero.errors import (
    ClosedError,
    HttpStatusError,
    InvalidResultError,
    MeseroError,
    NoCommonRevisionError,
    RpcError,
    TransportError,
    UsageError,
)
from mesero.extensions import MethodSpec
from mesero.modern.client import find_server_info
from mesero.transports import Transport
from mesero.types import DiscoverResult

__all__ = ["Decider", "Settled"]

_GRACE_S = 0.5
"""What the first answer gets beyond the limit on connecting: a transport's own error says more."""
_PATIENCE_S = 10.0
"""How long a probe may take that is known to be answered late."""
_ONLY_PINNED = "Without era= older revisions are tried as well"
_NOT_INSTALLED = "Install mesero whole: the part of mesero that speaks the older revisions is not there"
_ENDS = ("report", "stop", "outage")

_Sent = Literal["probe", "initialize"]


class Settled(msgspec.Struct, frozen=True):
    """Who calls from now on, and what is known of the server."""

    calls: Caller | SessionCalls
    facts: ServerFacts


class Decider:
    """One connection's way from nothing to `Settled`.

    Args:
        caller: Sends probes; it is the one that calls, if the server is stateless.
        spec: The description of `server/discover`.
        open_session: Makes who calls in a session over a transport; None when that part is not there.
        open_events: Makes the transport of 2024-11-05 to the same target; None where there is none.
        timeout_s: How long each answer may take, in seconds.
        probe_s: How long a probe on a shared channel is waited for before the handshake is tried beside it,
            in seconds.
        book: Where decisions are kept; None for nowhere.
        is_pinned: The era was given: the other one is not tried.
    """

    def __init__(
        self,
        caller: Caller,
        spec: MethodSpec,
        *,
        open_session: Callable[[Transport], SessionCalls] | None,
        open_events: Callable[[], Transport] | None,
        timeout_s: float,
        probe_s: float,
        book: DecisionBook | None,
        is_pinned: bool = False,
    ) -> None:
        self.transport = caller.transport
        """What is connected; another one after the way led to the transport of 2024-11-05."""
        self._caller = caller
        self._spec = spec
        self._open_session = open_session
        self._open_events = open_events
        self._is_stream = not self.transport.mirrors_headers and self.transport.kind != "sse"
        self._timeout_s = timeout_s + (0.0 if self._is_stream else _GRACE_S)
        # A short limit on connecting leaves half of it to the handshake.
        self._probe_s = min(probe_s, timeout_s / 2)
        self._book = book
        self._is_pinned = is_pinned
        self._may_not_probe = False
        self._asked_for = ""
        self._seen = Observation(transport=self._kind, sent=())
        self._tasks: dict[_Sent, asyncio.Task[Outcome]] = {}
        self._deadline_s = 0.0
        self._session: SessionCalls | None = None
        self._results: dict[_Sent, Outcome] = {}
        self._errors: list[tuple[str, MeseroError]] = []
        self._evidence: list[str] = []
        self._first_step: FirstStep = "probe"
        self._hinted_reason = ""

    @property
    def _kind(self) -> Literal["stdio", "http", "sse"]:
        if self.transport.kind == "sse":
            return "sse"
        return "http" if self.transport.mirrors_headers else "stdio"

    # -- the way ---------------------------------------------------------------------------------------------

    async def decide(self, hint: Decision | None = None) -> Settled:
        """Follow the table to its end.

        Args:
            hint: What is known of the server; by default what is remembered of it.

        Raises:
            NoCommonRevisionError: it speaks no revision of ours.
            MeseroError: it could not be asked, or its refusal is no matter of the era.
        """
        if hint is None and self._book is not None:
            hint = self._book.find()
        try:
            if hint is not None and self._may_follow(hint):
                settled = await self._follow_hint(hint)
                if settled is not None:
                    return settled
            return await self._follow(self._verdict())
        finally:
            await self._drop_tasks()

    async def start_session(self, offer: str, reason: str) -> Settled:
        """Do the handshake without a probe.

        Args:
            offer: The revision to offer.
            reason: Why there is none, for people.

        Raises:
            MeseroError: there is no session.
        """
        if self._open_session is None:
            raise self._nothing_common(reason, fix=_NOT_INSTALLED)
        self._may_not_probe = True
        self._asked_for = offer
        self._evidence.append(reason)
        try:
            return await self._follow(Verdict("initialize", reason, offer))
        finally:
            await self._drop_tasks()

    def _may_follow(self, hint: Decision) -> bool:
        return hint.first_step != "probe" and (
            hint.first_step == "patience" or self._open_session is not None
        )

    async def _follow_hint(self, hint: Decision) -> Settled | None:
        """The way that led to the end before; None when it does not any more."""
        self._first_step = hint.first_step
        if hint.first_step == "patience":
            self._probe_s = max(self._probe_s, min(_PATIENCE_S, self._timeout_s / 2))
            return await self._follow(self._verdict())
        self._evidence.append(f"remembered: {hint.reason}" if hint.reason else "remembered")
        self._hinted_reason = hint.reason
        offer = hint.revision if hint.revision in LEGACY_REVISIONS else LEGACY_REVISIONS[0]
        step: Literal["sse", "initialize"] = "sse" if hint.first_step == "sse" else "initialize"
        caller_transport = self.transport
        try:
            return await self._follow(Verdict(step, hint.reason, offer))
        except (RpcError, TransportError, NoCommonRevisionError):
            if self._seen.happening == "unreachable" or self._seen.status in (401, 403, 407, 429):
                raise
        # It stopped fitting: the question is asked anew.
        if self._book is not None:
            self._book.forget()
        await self._drop_tasks()
        if self.transport is not caller_transport:
            await self.transport.aclose()
            self.transport = caller_transport
        if self._seen.happening == "ended":
            self._forgive_start()
        self._errors.clear()
        self._evidence.clear()
        self._hinted_reason = ""
        self._first_step = "probe"
        self._seen = Observation(transport=self._kind, sent=())
        return None

    def _verdict(self) -> Verdict:
        spoken = LEGACY_REVISIONS if self._open_session is not None else ()
        return choose_on_client(self._seen, modern=MODERN_REVISIONS, legacy=spoken)

    async def _follow(self, verdict: Verdict) -> Settled:
        while True:
            if verdict.step == "modern":
                return self._settled_stateless(verdict)
            if verdict.step == "session":
                return self._settled_in_session()
            if verdict.step in _ENDS or (verdict.step == "probe" and self._may_not_probe):
                raise self._failure(verdict)
            await self._take(verdict)
            verdict = self._verdict()

    async def _take(self, verdict: Verdict) -> None:
        """Do one step, and observe what comes of it."""
        if verdict.step == "probe":
            was_repeated = bool(self._seen.sent)
            await self._send_probe(verdict.revision, was_repeated=was_repeated)
            await self._observe(self._probe_s if self._is_stream else None)
        elif verdict.step == "both":
            self._first_step = "initialize"
            self._send_initialize(verdict.revision, self._time_left_s())
            await self._observe(None)
        elif verdict.step == "wait":
            await self._observe(None)
        else:
            await self._drop_tasks()
            if verdict.step == "initialize" and self._finds_the_end():
                return
            if verdict.step == "restart":
                self._begin_again()
            elif verdict.step == "sse":
                await self._change_transport()
            # The older transport carries each of these revisions: what was asked for stays asked for.
            offer = self._asked_for if verdict.step == "sse" else ""
            self._send_initialize(offer or verdict.revision, self._timeout_s)
            await self._observe(None)

    def _finds_the_end(self) -> bool:
        """Whether the server ended when it had answered the probe: to be seen, not mended by the way."""
        if self._seen.sent != ("probe",) or not getattr(self.transport, "has_ended", False):
            return False
        self._seen = msgspec.structs.replace(self._seen, happening="ended")
        self._evidence.append("then the server ended")
        return True

    def _begin_again(self) -> None:
        """Whoever sends next starts the server anew; that the probe ended it is not held against it."""
        self._first_step = "initialize"
        self._forgive_start()
        self._errors.clear()
        was_repeated = self._seen.was_repeated
        self._seen = Observation(transport=self._kind, sent=(), was_repeated=was_repeated, was_restarted=True)

    def _forgive_start(self) -> None:
        forgive = getattr(self.transport, "forgive_start", None)
        if forgive is not None:
            forgive()

    async def _change_transport(self) -> None:
        if self._open_events is None:
            raise self._failure(Verdict("outage", "there is no other transport"))
        self._first_step = "sse"
        self.transport = self._open_events()
        probe_status = self._seen.probe_status
        self._seen = Observation(transport="sse", sent=(), probe_status=probe_status)

    # -- sending and observing -------------------------------------------------------------------------------

    def _time_left_s(self) -> float:
        return max(self._deadline_s - asyncio.get_running_loop().time(), 0.0)

    async def _send_probe(self, revision: str, *, was_repeated: bool) -> None:
        await self._drop_tasks()
        self._caller.stamp = self._caller.stamp.with_revision(revision)
        if self._session is not None:
            self._caller.last_id = max(self._caller.last_id, self._session.last_id)
        self._seen = Observation(
            transport=self._kind, was_repeated=was_repeated, was_restarted=self._seen.was_restarted
        )
        loop = asyncio.get_running_loop()
        self._deadline_s = loop.time() + self._timeout_s
        self._tasks["probe"] = loop.create_task(probe(self._caller, self._spec, timeout_s=self._timeout_s))

    def _send_initialize(self, offer: str, timeout_s: float) -> None:
        if self._open_session is None:
            raise UsageError("without sessions there is no handshake")
        if self._caller.is_closed:
            raise ClosedError("the client is closed", where=self.transport.target)
        self._session = session = self._open_session(self.transport)
        session.last_id = self._caller.last_id
        seen = self._seen
        probe_status = seen.status if "probe" in seen.sent else seen.probe_status
        self._seen = msgspec.structs.replace(
            seen, sent=(*seen.sent, "initialize"), status=None, probe_status=probe_status, initialize=None
        )
        task = asyncio.get_running_loop().create_task(begin(session, offer=offer, timeout_s=timeout_s))
        self._tasks["initialize"] = task

    async def _observe(self, wait_s: float | None) -> None:
        """Wait for an answer to either message, and take it into what was seen.

        Without ``wait_s`` each message's own limit ends it.
        """
        done, _ = await asyncio.wait(
            self._tasks.values(), timeout=wait_s, return_when=asyncio.FIRST_COMPLETED
        )
        if not done:
            self._seen = msgspec.structs.replace(self._seen, happening="silent")
            if self._seen.sent == ("probe",):
                self._evidence.append(f"nothing answered the probe within {wait_s:g} s")
            return
        for sent in ("probe", "initialize"):
            task = self._tasks.get(sent)
            if task in done:
                del self._tasks[sent]
                self._learn(sent, task.result())

    def _learn(self, sent: _Sent, outcome: Outcome) -> None:
        self._results[sent] = outcome
        changes = {"happening": outcome.happening, "status": outcome.status, sent: outcome.answer}
        self._seen = msgspec.structs.replace(self._seen, **changes)
        if outcome.error is not None:
            handshake = "initialize" if self._open_events is None or self._kind != "sse" else "HTTP+SSE"
            self._errors.append((self._spec.name if sent == "probe" else handshake, outcome.error))
        says_more = self._seen.probe is None or not isinstance(outcome.answer, Initialized)
        if sent == "probe" or (self._evidence and says_more):
            self._evidence.append(_evidence_of(sent, outcome))

    async def _drop_tasks(self) -> None:
        tasks = tuple(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # -- the ends --------------------------------------------------------------------------------------------

    def _settled_stateless(self, verdict: Verdict) -> Settled:
        outcome = self._results["probe"]
        result = cast("DiscoverResult", outcome.result)
        self._caller.stamp = self._caller.stamp.with_revision(verdict.revision)
        if "initialize" in self._seen.sent:
            self._first_step = "patience"
        facts = ServerFacts(
            era="modern",
            revision=verdict.revision,
            verdict=self._reason(),
            info=find_server_info(result.meta),
            capabilities=result.capabilities,
            supported=tuple(result.supported_versions),
            instructions=None if result.instructions is UNSET else result.instructions,
            decision=self._decision("modern", verdict.revision),
        )
        return Settled(self._caller, facts)

    def _settled_in_session(self) -> Settled:
        introduction = cast("Introduction", self._results["initialize"].result)
        if self._seen.probe is not None and self._is_stream and self._first_step == "initialize":
            # It was slow, no more.
            self._first_step = "patience"
        elif self._kind == "http" and self._first_step == "probe":
            self._first_step = "initialize"
        facts = ServerFacts(
            era="legacy",
            revision=introduction.protocol_version,
            verdict=self._reason(),
            info=introduction.server_info,
            capabilities=introduction.capabilities,
            supported=(introduction.protocol_version,),
            instructions=introduction.instructions,
            decision=self._decision("legacy", introduction.protocol_version),
        )
        return Settled(cast("SessionCalls", self._session), facts)

    def _reason(self) -> str:
        return "; ".join(self._evidence)

    def _decision(self, era: Literal["modern", "legacy"], revision: str) -> Decision:
        reason = self._hinted_reason or self._reason()
        decision = Decision(era=era, revision=revision, reason=reason, first_step=self._first_step)
        if self._book is not None:
            known = self._book.find()
            if decision.first_step == "probe":
                if known is not None:
                    self._book.forget()
            elif known is None or known.first_step != decision.first_step:
                self._book.keep(decision)
        return decision

    def _failure(self, verdict: Verdict) -> MeseroError:
        """What to raise: the first error, with those that followed it in words."""
        errors = [error for _, error in self._errors]
        if errors and (isinstance(errors[-1], NoCommonRevisionError) or self._asks_first(errors[-1])):
            return errors[-1]
        if errors and verdict.step == "report" and "initialize" not in self._seen.sent:
            return errors[-1]
        if verdict.step == "stop" or (len(errors) > 1 and all(map(_is_refusal, errors))):
            return self._nothing_common(verdict.row, fix=_ONLY_PINNED if self._is_pinned else _NOT_INSTALLED)
        if not errors:
            return self._nothing_common(verdict.row, fix="")
        first, *others = errors
        if others:
            said = [f"{sent}, tried after it, failed too: {error}" for sent, error in self._errors[1:]]
            first.fix = ". ".join([first.fix.removesuffix("."), *said] if first.fix else said)
        return first

    def _asks_first(self, error: MeseroError) -> bool:
        return isinstance(error, HttpStatusError) and error.status in (401, 403, 407, 429)

    def _nothing_common(self, row: str, *, fix: str) -> NoCommonRevisionError:
        answer = self._seen.probe or self._seen.initialize
        theirs = answer.supported or () if isinstance(answer, (Discovered, Refused)) else ()
        has_sessions = self._open_session is not None
        ours = (*MODERN_REVISIONS, *LEGACY_REVISIONS) if has_sessions else MODERN_REVISIONS
        found = NoCommonRevisionError(ours, theirs, where=self.transport.target)
        for sent, error in self._errors:
            said = f"{error.what} ({error.code})" if isinstance(error, RpcError) else error.what
            found.what += f"; it answered {sent} with: {said}"
        if not has_sessions:
            found.what += f" ({row})"
            found.fix = fix
        if self._errors:
            found.__cause__ = self._errors[0][1]
        return found


def _is_refusal(error: MeseroError) -> bool:
    return isinstance(error, (RpcError, InvalidResultError))


def _evidence_of(sent: _Sent, outcome: Outcome) -> str:
    """One thing that was seen, in words."""
    what = "the probe" if sent == "probe" else "initialize"
    answer = outcome.answer
    if isinstance(answer, Discovered):
        return f"server/discover was answered in {outcome.took}"
    if isinstance(answer, Refused):
        return f"{what} was answered {answer.code} in {outcome.took}"
    if outcome.happening == "ended":
        return f"the server ended {outcome.took} after {what}"
    if answer is not None:
        with_what = " with something else" if sent == "probe" else ""
        return f"{what} was answered{with_what} in {outcome.took}"
    if outcome.status is not None:
        return f"{what} was answered HTTP {outcome.status} in {outcome.took}"
    return f"{what} failed after {outcome.took}"
