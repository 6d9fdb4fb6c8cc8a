"""One connection that the doctor makes: an ordinary client, recorded and watched.

The client does not remember what it learns, and answers no question of the server: nobody is asked anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from mesero.client import Client, ServerFacts
from mesero.doctor.limits import Limits
from mesero.doctor.processes import ProcessFacts, descendants_of
from mesero.doctor.sheet import OpenCheck
from mesero.errors import MeseroError
from mesero.jsonrpc import ErrorResponse, Id, ResultResponse, encode_value
from mesero.modern.client import mirrored_headers
from mesero.trace.recorder import LinkRecorder
from mesero.transports import Outgoing
from mesero.types import CLIENT_CAPABILITIES_KEY, PROTOCOL_VERSION_KEY

__all__ = ["Visit"]

_SAMPLE_S = 0.2
_FIRST_ID = 900_001
"""Beyond the ids that the client itself gets to."""


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
    """

    def __init__(self, target: Any, trace: LinkRecorder, limits: Limits, **settings: Any) -> None:
        self.client = Client(
            target,
            name="mesero-doctor",
            trace=trace,
            remember=False,
            connect_timeout_s=limits.connect_s,
            timeout_s=limits.request_s,
            total_timeout_s=limits.request_s,
            close_wait_s=limits.close_s,
            **settings,
        )
        self.error: MeseroError | None = None
        self.is_connected = False
        self.kin: list[ProcessFacts] = []
        self._limits = limits
        self._stack = contextlib.AsyncExitStack()
        self._sampler: asyncio.Task[None] | None = None
        self._ids = itertools.count(_FIRST_ID)

    @property
    def facts(self) -> ServerFacts:
        """What the server says of itself, once connected."""
        return self.client.server

    @property
    def pid(self) -> int | None:
        """The server's process, while there is one."""
        return getattr(self.client.transport, "pid", None)

    @property
    def stderr(self) -> tuple[str, ...]:
        """The last lines of its stderr."""
        return getattr(self.client.transport, "stderr_tail", ())

    async def connect(self) -> bool:
        """Connect; False with `error` when that fails."""
        self._sampler = asyncio.get_running_loop().create_task(self._sample())
        try:
            await self._stack.enter_async_context(self.client)
        except MeseroError as error:
            self.error = error
            return False
        finally:
            self._sampler.cancel()
        self.is_connected = True
        return True

    def tell(self, check: OpenCheck) -> None:
        """Say in a check what became of the connection."""
        if self.error is not None:
            check.fail(str(self.error))
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

    async def aclose(self) -> None:
        """End the connection, and the server if it is a process."""
        if self._sampler is not None:
            self._sampler.cancel()
        await self._stack.aclose()
        await self.client.aclose()

    async def try_call(self, call: Callable[[], Awaitable[Any]]) -> Any | MeseroError:
        """What a call of the client comes to: its result, or its error."""
        try:
            return await call()
        except MeseroError as error:
            return error

    async def ask(
        self, method: str, *, id_: Id | None = None, revision: str = "", header_method: str = ""
    ) -> ResultResponse | ErrorResponse | MeseroError:
        """Send a request as it is, whatever the server announces; its answer, or why there is none.

        Args:
            method: The method; it has no parameters of its own.
            id_: The id, by default an integer of its own.
            revision: What it says of its revision, by default the truth.
            header_method: What its header says of the method, by default the truth.
        """
        facts = self.facts
        revision = revision or facts.revision
        number = next(self._ids) if id_ is None else id_
        members: dict[str, Any] = {}
        headers: tuple[tuple[str, str], ...] = ()
        if facts.era == "modern":
            members["_meta"] = {PROTOCOL_VERSION_KEY: revision, CLIENT_CAPABILITIES_KEY: {}}
            headers = mirrored_headers(revision, header_method or method, None)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": members}
        outgoing = Outgoing(id=number, method=method, raw=encode_value(request), headers=headers)
        exchange = self.client.transport.exchange(outgoing)
        try:
            async with asyncio.timeout(self._limits.request_s):
                while True:
                    message = (await exchange.receive()).message
                    if isinstance(message, ResultResponse | ErrorResponse):
                        return message
        except TimeoutError:
            return MeseroError(f"no answer to {method} within {self._limits.request_s:g} s")
        except MeseroError as error:
            return error
        finally:
            await exchange.close()
