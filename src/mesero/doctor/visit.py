"""One connection that the doctor makes: an ordinary client, recorded and watched.

The client does not remember what it learns. Only where tools are called does it answer questions of the
server, and then as `mesero.doctor.questions` says: nobody is asked anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import Any

import msgspec

from mesero.client import Client, ServerFacts
from mesero.doctor.limits import Limits
from mesero.doctor.processes import (
    MARK,
    ProcessFacts,
    descendants_of,
    end_all,
    end_marked,
    fresh_mark,
    marked_with,
)
from mesero.doctor.questions import Questions
from mesero.doctor.sheet import OpenCheck
from mesero.errors import CallTimeoutError, MeseroError
from mesero.jsonrpc import ErrorResponse, Id, ResultResponse, encode_value
from mesero.modern.client import mirrored_headers
from mesero.trace.recorder import LinkRecorder
from mesero.transports import Outgoing
from mesero.types import CLIENT_CAPABILITIES_KEY, PROTOCOL_VERSION_KEY

__all__ = ["Answer", "Called", "Visit"]

Answer = ResultResponse | ErrorResponse | MeseroError
"""What became of a request: its answer, or why there is none."""

_SAMPLE_S = 0.2
_GRACE_S = 0.5
_FIRST_ID = 900_001
"""Beyond the ids that the client itself gets to."""


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a tool, and what became of it.

    Attributes:
        name: The tool.
        arguments: What it was given.
        result: What it answered, None where it did not.
        error: Why there is no result.
        took_s: How long it took, in seconds.
        reports: How often it reported progress, for which it was asked.
        asked: What the server asked meanwhile, in words.
    """

    name: str
    arguments: dict[str, Any]
    result: Any = None
    error: MeseroError | None = None
    took_s: float = 0.0
    reports: int = 0
    asked: tuple[str, ...] = ()


class Visit:
    """A connection.

    Args:
        target: A command as a list, a URL, or a server of this process.
        trace: Where it is recorded.
        limits: How long things may take.
        settings: More for the client.

    Attributes:
        is_connected: Whether it came about.
        error: Why it could not connect, None while it could.
        kin: The processes that the server was last seen to have started.
        questions: What it asked.
    """

    def __init__(self, target: Any, trace: LinkRecorder, limits: Limits, **settings: Any) -> None:
        self.questions = Questions()
        self._mark = "" if isinstance(target, str) else fresh_mark()
        if self._mark:
            settings["env"] = {**(settings.get("env") or {}), MARK: self._mark}
        if limits.may_call:
            settings.update(self.questions.settings())
        self.client = Client(
            target,
            name="mesero-doctor",
            trace=trace,
            remember=False,
            connect_timeout_s=limits.connect_s,
            timeout_s=limits.request_s,
            total_timeout_s=limits.request_s,
            close_wait_s=limits.close_s,
            # Whether results fit is for the audit to say.
            validate_output=False,
            **settings,
        )
        self.error: MeseroError | None = None
        self.is_connected = False
        self.kin: list[ProcessFacts] = []
        self._limits = limits
        self._stack = contextlib.AsyncExitStack()
        self._sampler: asyncio.Task[None] | None = None
        self._ids = itertools.count(_FIRST_ID)
        self._start = asyncio.get_running_loop().time()

    @property
    def facts(self) -> ServerFacts:
        """What the server says of itself, once connected."""
        return self.client.server

    @property
    def harmless(self) -> str:
        """A method that changes nothing, and that every server of this era must answer."""
        return "server/discover" if self.facts.era == "modern" else "ping"

    @property
    def pid(self) -> int | None:
        """The server's process, while there is one."""
        return getattr(self.client.transport, "pid", None)

    @property
    def stderr(self) -> tuple[str, ...]:
        """The last lines of its stderr."""
        return getattr(self.client.transport, "stderr_tail", ())

    @property
    def unfinished(self) -> str:
        """What it wrote to stdout since its last whole line."""
        rest: bytes = getattr(self.client.transport, "unfinished", b"")
        return rest.decode("utf-8", "replace")

    @property
    def left_s(self) -> float:
        """How much is left of the time for everything, in seconds."""
        return self._limits.total_s - (asyncio.get_running_loop().time() - self._start)

    async def connect(self) -> bool:
        """Connect; False with `error` when that fails."""
        self._sampler = asyncio.get_running_loop().create_task(self._sample())
        try:
            await self._or_kill(self._stack.enter_async_context(self.client))
        except MeseroError as error:
            self.error = error
            return False
        finally:
            self._sampler.cancel()
        self.is_connected = True
        return True

    async def _or_kill(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something that gives the server time; who is interrupted has none, and kills it."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            self.kill()
            await asyncio.wait({task}, timeout=_GRACE_S)
            raise

    def kill(self) -> None:
        """End the server and all that it started, at once."""
        pid = self.pid
        if pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        self.end_kin()

    def find_kin(self) -> list[ProcessFacts]:
        """The processes that the server started and that run now, also those that have left it."""
        pid = self.pid
        found = descendants_of(pid) if pid is not None else []
        marked = marked_with(self._mark) if self._mark else []
        return list(dict.fromkeys(each for each in (*found, *marked) if each.pid != pid))

    def end_kin(self) -> None:
        """Kill what is left of all that the server started."""
        end_all(self.kin)
        if self._mark:
            end_marked(self._mark)

    def tell(self, check: OpenCheck) -> None:
        """Say in a check what became of the connection."""
        if self.error is not None:
            first, *more = str(self.error).splitlines() or [""]
            check.fail(first)
            for line in filter(str.strip, more):
                check.say(line.strip())
            return
        facts = self.facts
        name = " ".join(part for part in (facts.name, facts.version) if part) or "a server without a name"
        check.say(f"{name} speaks {facts.revision} ({facts.era})")
        check.say(f"because {facts.verdict}")

    async def _sample(self) -> None:
        """Look again and again what the server has started, since nothing of it is left after a failure."""
        while True:
            pid = self.pid
            if pid is not None:
                self.kin = await asyncio.to_thread(descendants_of, pid) or self.kin
            await asyncio.sleep(_SAMPLE_S)

    @contextlib.asynccontextmanager
    async def ending(self) -> AsyncIterator[None]:
        """At the end of the block nothing of it is left; at once, where the block was interrupted."""
        try:
            yield
        except asyncio.CancelledError:
            self.kill()
            raise
        finally:
            await self.aclose()
            self.end_kin()

    async def aclose(self) -> None:
        """End the connection, and the server if it is a process."""
        if self._sampler is not None:
            self._sampler.cancel()
        await self._or_kill(self._close())

    async def _close(self) -> None:
        await self._stack.aclose()
        await self.client.aclose()

    async def try_call(self, call: Callable[[], Awaitable[Any]]) -> Any | MeseroError:
        """What a call of the client comes to: its result, or its error."""
        try:
            return await call()
        except MeseroError as error:
            return error

    async def call(self, name: str, arguments: dict[str, Any], *, limit_s: float) -> Called:
        """Call a tool as a client does, and tell what became of it; progress is asked for.

        Args:
            name: The tool.
            arguments: Its arguments.
            limit_s: How long it may take, whatever it reports, in seconds.
        """
        loop = asyncio.get_running_loop()
        start, before = loop.time(), len(self.questions.asked)
        reports = 0
        result: Any = None
        error: MeseroError | None = None

        def count(_: object) -> None:
            nonlocal reports
            reports += 1

        try:
            async with asyncio.timeout(limit_s + _GRACE_S):
                result = await self.client.call_tool(name, arguments, timeout_s=limit_s, on_progress=count)
        except TimeoutError:
            error = CallTimeoutError(f"tools/call {name!r}", timeout_s=limit_s)
        except MeseroError as failure:
            error = failure
        return Called(
            name=name,
            arguments=arguments,
            result=result,
            error=error,
            took_s=loop.time() - start,
            reports=reports,
            asked=tuple(self.questions.asked[before:]),
        )

    async def ask(
        self,
        method: str,
        *,
        params: Mapping[str, Any] | None = None,
        id_: Id | None = None,
        revision: str = "",
        headers: Mapping[str, str] | None = None,
        has_meta: bool = True,
        limit_s: float | None = None,
    ) -> Answer:
        """Send a request as it is, whatever the server announces; its answer, or why there is none.

        Args:
            method: The method.
            params: Its parameters without ``_meta``.
            id_: The id, by default an integer of its own.
            revision: What it says of its revision, by default the truth.
            headers: What its headers say, where that is not the truth.
            has_meta: Whether it has the ``_meta`` that a stateless server needs.
            limit_s: How long the answer may take, in seconds.
        """
        facts = self.facts
        number = next(self._ids) if id_ is None else id_
        members = dict(params or {})
        mirrored: dict[str, str] = {}
        if facts.era == "modern":
            revision = revision or facts.revision
            if has_meta:
                members.update(self.params_with_meta(revision))
            name = members.get("name")
            mirrored = dict(mirrored_headers(revision, method, name if isinstance(name, str) else None))
        request: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
        if members or facts.era == "modern":
            request["params"] = members
        return await self.send(
            request, id_=number, headers={**mirrored, **(headers or {})}, method=method, limit_s=limit_s
        )

    def params_with_meta(self, revision: str = "") -> dict[str, Any]:
        """The parameters that every request to a stateless server has."""
        return {"_meta": {PROTOCOL_VERSION_KEY: revision or self.facts.revision, CLIENT_CAPABILITIES_KEY: {}}}

    async def send(
        self,
        message: Any,
        *,
        id_: Id,
        method: str,
        headers: Mapping[str, str] | None = None,
        limit_s: float | None = None,
    ) -> Answer:
        """Send anything that may be answered.

        Args:
            message: The JSON value.
            id_: The id that an answer has.
            method: What to call it.
            headers: The headers that go with it, over HTTP.
            limit_s: How long the answer may take, in seconds; by default as long as any request.
        """
        limit_s = self._limits.request_s if limit_s is None else limit_s
        mirrored = tuple((headers or {}).items())
        outgoing = Outgoing(id=id_, method=method, raw=encode_value(message), headers=mirrored)
        exchange = self.client.transport.exchange(outgoing)
        try:
            async with asyncio.timeout(limit_s):
                while True:
                    answer = (await exchange.receive()).message
                    if isinstance(answer, ResultResponse | ErrorResponse):
                        return answer
        except TimeoutError:
            return CallTimeoutError(method, timeout_s=limit_s)
        except MeseroError as error:
            return error
        finally:
            await exchange.close()
