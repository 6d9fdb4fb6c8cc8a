"""What no client should send, and a server must stand: each of it may be refused, none may end or hang it.

It goes over a connection of its own, which the audit does not judge: to nonsense a server may answer as it
likes.
After each odd message a harmless request shows whether the server is still there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final

from mesero.doctor.checks.calls import CallableTool
from mesero.doctor.limits import Limits
from mesero.doctor.recording import Recording
from mesero.doctor.report import Severity
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.doctor.visit import Answer, Visit
from mesero.errors import CallTimeoutError, MeseroError, RpcError, TransportError
from mesero.jsonrpc import ErrorResponse, ResultResponse, decode_value, encode_notification, encode_value
from mesero.trace.format import MessageLine

__all__ = ["check_oddly", "check_without_handshake"]

_NO_REVISION: Final = "2099-01-01"
_IDS: Final = (0, 2**53 - 1, -1)
"""The official SDKs count from 0; the others are the limits of what every language holds exactly."""
_ODD_ID: Final = 800_001
_BATCH_REVISION: Final = "2025-03-26"
_HEADER_SINCE: Final = "2025-06-18"


async def check_oddly(
    sheet: Sheet,
    check: OpenCheck,
    another: Callable[..., Visit],
    *,
    tool: CallableTool | None,
    limits: Limits,
    recording: Recording,
) -> None:
    """Send them, one after the other, until the server does not answer any more.

    Args:
        sheet: Takes what is seen.
        check: Takes it in words.
        another: Makes the connection that they go over.
        tool: A tool that may be called, None where there is none.
        limits: How long things may take.
        recording: What passed.
    """
    visit = another()
    async with visit.ending():
        if not await visit.connect():
            check.say(f"odd requests were not sent: a second connection could not be made: {visit.error}")
            return
        await _Oddities(sheet, check, visit, limits, recording).send_all(tool)


async def check_without_handshake(check: OpenCheck, another: Callable[..., Visit], limits: Limits) -> None:
    """Send a server of the older era a request of the newer one first.

    It may run it by its own rules, so that nobody is to blame; but a client that does not probe takes that
    for the answer of a newer server.

    Args:
        check: Takes what is seen, in words.
        another: Makes the connection.
        limits: How long things may take.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#compatibility-matrix
    """
    visit = another(era="modern", discover=False)
    async with visit.ending():
        if not await visit.connect():
            return
        revision = visit.facts.revision
        answer = await visit.ask("tools/list", limit_s=limits.odd_s)
        what = f"tools/list of {revision} without a handshake"
        if isinstance(answer, ResultResponse) and b'"resultType"' not in bytes(answer.result):
            check.say(f"{what}: run by older rules, unnoticed by who does not probe")
        else:
            check.say(f"{what}: {_said_by(answer)}")


class _Oddities:
    """The odd messages of one connection."""

    def __init__(
        self, sheet: Sheet, check: OpenCheck, visit: Visit, limits: Limits, recording: Recording
    ) -> None:
        self._sheet = sheet
        self._check = check
        self._visit = visit
        self._limits = limits
        self._recording = recording
        self._is_modern = visit.facts.era == "modern"
        self._is_http = visit.client.transport.kind != "stdio"
        self._next = _ODD_ID

    async def send_all(self, tool: CallableTool | None) -> None:
        """All of them, as long as the server answers."""
        for each in (
            self._ids,
            self._notification,
            self._cancellation,
            self._list_as_params,
            self._batch,
            self._twins,
            self._without_meta,
            self._header,
        ):
            if not await each():
                return
        if tool is not None and self._is_modern and self._is_http:
            await self._contradict_name(tool)

    # -- what they share -------------------------------------------------------------------------------------

    async def _ask(self, method: str = "", **how: Any) -> Answer:
        return await self._visit.ask(method or self._visit.harmless, limit_s=self._limits.odd_s, **how)

    async def _send(self, message: Any, id_: int) -> Answer:
        headers: dict[str, str] = {}
        if self._is_modern and self._is_http:
            headers = {"MCP-Protocol-Version": self._visit.facts.revision, "Mcp-Method": self._visit.harmless}
        return await self._visit.send(
            message, id_=id_, method=self._visit.harmless, headers=headers, limit_s=self._limits.odd_s
        )

    def _request(self, id_: int, **members: Any) -> dict[str, Any]:
        params = {"params": self._visit.params_with_meta()} if self._is_modern else {}
        return {"jsonrpc": "2.0", "id": id_, "method": self._visit.harmless, **params, **members}

    def _fresh_id(self) -> int:
        self._next += 1
        return self._next

    def _blame(self, code: str, cause: str, severity: Severity | None = None) -> None:
        self._check.warn(cause)
        self._sheet.diagnose(code, cause, severity=severity)

    async def _stands(self, code: str, what: str) -> bool:
        """Whether the server still answers; else the odd message is told to be the reason."""
        answer = await self._ask()
        if not isinstance(answer, MeseroError):
            return True
        ended = answer.what if isinstance(answer, TransportError) else "it answered nothing any more"
        self._check.fail(f"after {what}: {ended}")
        self._sheet.diagnose(code, f"after {what}, {ended}", severity="degraded")
        return False

    # -- the messages ----------------------------------------------------------------------------------------

    async def _ids(self) -> bool:
        # "Requests MUST include a string or integer ID."
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests
        for id_ in _IDS:
            answer = await self._ask(id_=id_)
            if not isinstance(answer, MeseroError):
                self._check.say(f"{self._visit.harmless} with the id {id_}: answered")
                continue
            what = f"{self._visit.harmless} with the id {id_}"
            ended = "was not answered" if isinstance(answer, CallTimeoutError) else f"failed: {answer}"
            self._blame("DEEP-11", f"{what} {ended}", None if id_ == 0 else "note")
            if not await self._stands("DEEP-11", what):
                return False
        return True

    async def _notification(self) -> bool:
        """A notification must not be answered, whatever it says.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/index#notifications
        """
        before = len(self._recording.lines)
        what = "an unknown notification"
        await self._notify(what, encode_notification("notifications/mesero/unknown", {"a": 1}))
        stands = await self._stands("DEEP-6", what)
        strays = () if self._is_http else self._strays_since(before)
        if strays:
            self._blame("DEEP-6", f"{what} was answered with {strays[0][:200]}")
        return stands

    async def _notify(self, what: str, raw: bytes) -> None:
        try:
            async with asyncio.timeout(self._limits.odd_s):
                await self._visit.client.transport.notify(raw)
            self._check.say(f"{what}: taken")
        except (MeseroError, TimeoutError) as error:
            # Over HTTP it may be refused, too.
            self._check.say(f"{what}: {error if str(error) else 'no answer'}")

    def _strays_since(self, before: int) -> list[str]:
        """Answers to nothing that was asked."""
        asked, answered = set(), []
        for line in self._recording.lines[before:]:
            if not isinstance(line, MessageLine):
                continue
            message = decode_value(line.raw.encode())
            if not isinstance(message, dict):
                continue
            if line.dir == "c2s":
                asked.add(json.dumps(message.get("id")))
            elif "error" in message or "result" in message:
                answered.append((json.dumps(message.get("id")), line.raw))
        asked.discard("null")
        return [raw for id_, raw in answered if id_ not in asked]

    async def _cancellation(self) -> bool:
        """Of what is unknown, and of what is over: both "SHOULD be ignored".

        https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#error-handling
        """
        if self._is_modern and self._is_http:
            return True  # There it is no message at all.
        before = len(self._recording.lines)
        what = "a cancellation of a request that it does not know"
        for id_ in (self._fresh_id() + 50_000, _IDS[0]):
            params = {"requestId": id_, "reason": "mesero asks"}
            await self._notify(what, encode_notification("notifications/cancelled", params))
        stands = await self._stands("DEEP-7", what)
        strays = () if self._is_http else self._strays_since(before)
        if strays:
            self._blame("DEEP-6", f"{what} was answered with {strays[0][:200]}")
        return stands

    async def _list_as_params(self) -> bool:
        """``params`` is an object in MCP; JSON-RPC knows lists, too.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests
        """
        id_ = self._fresh_id()
        what = f"{self._visit.harmless} with a list as params"
        answer = await self._send(self._request(id_, params=[]), id_)
        return await self._settle("DEEP-14", what, answer)

    async def _batch(self) -> bool:
        """Only one revision has batches; elsewhere an array is an invalid request, which JSON-RPC answers.

        https://www.jsonrpc.org/specification#error_object
        https://modelcontextprotocol.io/specification/2025-06-18/changelog#major-changes
        """
        if self._visit.facts.revision == _BATCH_REVISION:
            return True
        id_ = self._fresh_id()
        answer = await self._send([self._request(id_)], id_)
        return await self._settle("DEEP-13", "an array of requests (a batch)", answer)

    async def _twins(self) -> bool:
        """Two requests of one id at once: the second is invalid; on a shared channel only.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests
        """
        if self._is_http:
            return True
        id_ = self._fresh_id()
        first = asyncio.create_task(self._send(self._request(id_), id_))
        await asyncio.sleep(0)
        await self._notify("a second request of the same id", encode_value(self._request(id_)))
        return await self._settle("DEEP-12", "two requests of one id at once", await first)

    async def _settle(self, code: str, what: str, answer: Answer) -> bool:
        """An odd request should be answered, and must not end the server."""
        if isinstance(answer, CallTimeoutError):
            self._blame(code, f"{what} was ignored: it had neither a result nor an error")
        else:
            self._check.say(f"{what}: {_said_by(answer)}")
        return await self._stands(code, what)

    async def _without_meta(self) -> bool:
        """Without its required fields a request "is malformed; the server MUST reject it".

        https://modelcontextprotocol.io/specification/2026-07-28/basic/index#_meta
        """
        if not self._is_modern:
            return True
        what = "server/discover without _meta"
        answer = await self._ask(has_meta=False)
        if isinstance(answer, ResultResponse):
            self._blame("DEEP-10", f"{what} was answered with a result")
        return await self._settle("DEEP-10", what, answer)

    async def _header(self) -> bool:
        """An invalid or unsupported version header gets 400.

        https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#protocol-version-header
        """
        if self._is_modern or not self._is_http or self._visit.facts.revision < _HEADER_SINCE:
            return True
        answer = await self._ask(headers={"MCP-Protocol-Version": _NO_REVISION})
        what = f"a request with MCP-Protocol-Version: {_NO_REVISION}"
        if isinstance(answer, ResultResponse):
            self._blame("DEEP-9", f"{what} was answered with a result")
        else:
            self._check.say(f"{what}: {_said_by(answer)}")
        return await self._stands("DEEP-9", what)

    async def _contradict_name(self, tool: CallableTool) -> None:
        """The name in the header and the name in the body must be one.

        https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
        """
        params = {"name": tool.name, "arguments": tool.arguments}
        answer = await self._visit.ask(
            "tools/call", params=params, headers={"Mcp-Name": "mesero-no-such-tool"}
        )
        if isinstance(answer, ResultResponse):
            self._blame(
                "DEEP-5", f"Mcp-Name said mesero-no-such-tool, the body {tool.name!r}, and that was run"
            )
        else:
            self._check.say(f"a call whose Mcp-Name contradicts its body: {_said_by(answer)}")


def _said_by(answer: Answer) -> str:
    if isinstance(answer, ErrorResponse):
        return f"error {answer.code}"
    if isinstance(answer, RpcError):
        return f"error {answer.code}"
    return "a result" if isinstance(answer, ResultResponse) else str(answer)
