"""The examination of a server that is a command: from its program to its end."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mesero.doctor.checks.calls import check_calls
from mesero.doctor.checks.deep import check_more
from mesero.doctor.checks.launch import check_command, check_environment
from mesero.doctor.checks.protocol import check_errors, check_lists
from mesero.doctor.checks.rules import check_rules
from mesero.doctor.checks.shutdown import check_shutdown
from mesero.doctor.checks.tools import check_tools
from mesero.doctor.judging import diagnosis_from, judge
from mesero.doctor.limits import Limits
from mesero.doctor.ports import find_listener, find_port
from mesero.doctor.rawstream import FRAMED_HELLO, PLAIN_HELLO, find_answer
from mesero.doctor.recording import Recording
from mesero.doctor.report import Diagnosis
from mesero.doctor.sheet import Sheet
from mesero.doctor.stderr import find_last_words, find_question
from mesero.doctor.visit import Visit
from mesero.errors import CallTimeoutError, DisconnectedError, MeseroError
from mesero.jsonrpc import MAX_MESSAGE_BYTES
from mesero.trace.format import NoteLine, SpawnLine, StderrLine, TextLine

__all__ = ["LOCAL_CHECKS", "LocalExamination"]

LOCAL_CHECKS: Final = (
    *("command", "environment", "connection", "stdout"),
    *("lists", "tools", "ping", "calls", "deep", "staying", "rules", "shutdown", "survivors"),
)
"""The checks of a command, in their order."""

_INSTALLERS: Final = re.compile(r"\b(?:npm|npx|uv|uvx|pip|pnpm|yarn|bun|docker|podman|cargo|go)\b")
_SHOWN: Final = 3
_FEW_BYTES: Final = 16


class LocalExamination:
    """One command, looked at once.

    Args:
        sheet: Takes what is seen.
        command: The program and its arguments.
        env: Variables that are set for it.
        cwd: Its working directory; None for ours.
        recording: What passes is kept there.
        limits: How long things may take.
        home: The user's home.
        name: The one by which it is configured, where it is.
        calls: Tools that may be called, with their arguments; None for made-up ones.

    Attributes:
        sheet: What was seen so far.
        shown: What the report calls it.
        visit: The connection, once there was one.
    """

    def __init__(
        self,
        sheet: Sheet,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | None,
        recording: Recording,
        limits: Limits,
        home: Path,
        calls: Mapping[str, dict[str, Any] | None],
        name: str | None = None,
    ) -> None:
        self.sheet = sheet
        self._name = name
        self._command = list(command)
        self._env = env
        self._cwd = cwd
        self._recording = recording
        self._limits = limits
        self._home = home
        self._calls = calls
        self.shown = shlex.join(self._command)
        self.visit: Visit | None = None

    async def run(self) -> None:
        """Look at everything that can be reached."""
        sheet = self.sheet
        if not check_command(sheet, self._command, self._env, self._cwd, home=self._home):
            return
        check_environment(sheet, self._command[1:], self._env)
        trace = self._recording.link(Path(self._command[0]).name, "stdio", self.sheet.hide(self.shown))
        self.visit = visit = Visit(self._command, trace, self._limits, env=self._env, cwd=self._cwd)
        async with visit.ending():
            with sheet.check("connection") as check:
                is_connected = await visit.connect()
                visit.tell(check)
            self._check_stdout()
            if not is_connected:
                await self._find_cause(visit)
                return
            tools, failures = await check_lists(sheet, visit, self._recording.lines)
            check_tools(sheet, tools, server_name=self._name)
            await check_errors(sheet, visit)
            seen = await check_calls(
                sheet, visit, tools, self._limits, calls=self._calls, lines=self._recording.lines
            )
            await check_more(
                sheet, visit, self._limits, seen, recording=self._recording, another=self._another
            )
            is_hung = any(map(sheet.has, ("CALL-2", "CALL-3", "CALL-4", "CALL-5")))
            await check_shutdown(sheet, visit, self._recording.lines, is_hung=is_hung)
            check_rules(sheet, self._recording, failures, has_session=visit.facts.era == "legacy")

    def _another(self, **settings: Any) -> Visit:
        """One more connection, to a process of its own, for what the audit shall not judge."""
        name = f"{Path(self._command[0]).name} (odd requests)"
        trace = self._recording.link(name, "stdio", self.sheet.hide(self.shown), is_judged=False)
        return Visit(self._command, trace, self._limits, env=self._env, cwd=self._cwd, **settings)

    # -- connected -------------------------------------------------------------------------------------------

    def _check_stdout(self) -> None:
        with self.sheet.check("stdout") as check:
            texts = [
                (number, line)
                for number, line in enumerate(self._recording.lines)
                if isinstance(line, TextLine) and line.dir == "s2c"
            ]
            for number, (_, line) in enumerate(texts[:_SHOWN], 1):
                check.warn(f"no message ({number}): {str(line.raw)[:200]!r}")
            if not texts:
                check.say("nothing but messages")

    # -- not connected ---------------------------------------------------------------------------------------

    async def _find_cause(self, visit: Visit) -> None:
        """Why there is no connection: one answer, from the most telling evidence."""
        error = visit.error
        await visit.aclose()
        judgement = judge(self._recording.judged, is_connected=False, file=self._recording.file)
        codes = {each.code for each in judgement.causes}
        sheet = self.sheet
        if "CLOSED-2" in codes:
            sheet.add(next(each for each in judgement.causes if each.code == "CLOSED-2"))
        elif (
            self._find_in_stdout()
            or self._find_asking(error, visit.unfinished)
            or self._find_in_words(error, codes)
            or (isinstance(error, CallTimeoutError) and await self._find_silence(visit, codes))
        ):
            return
        elif judgement.causes and not self._is_telling_less(judgement.causes, judgement.faults, error):
            sheet.add(judgement.causes[0])
        elif judgement.faults:
            sheet.add(judgement.faults[0])
        elif isinstance(error, DisconnectedError) and error.exit_code is not None:
            # It was gone before anything could be written to it, so the recording shows no request.
            words = " | ".join(error.stderr_tail[-_SHOWN:])
            said = f"; its last words on stderr: {words}" if words else ""
            sheet.add(diagnosis_from("CLOSED-4", f"{error.what}, before it answered anything{said}"))
        elif error is not None:
            sheet.diagnose("CONNECT-1", error.what, blame=error.blame, fix=error.fix)

    @staticmethod
    def _is_telling_less(causes: list[Diagnosis], faults: list[Diagnosis], error: MeseroError | None) -> bool:
        """Whether the cause only says that nothing came, and a broken rule says what came instead."""
        return bool(faults) and causes[0].code == "START-4" and error is not None

    def _find_in_stdout(self) -> bool:
        """Whether what stands on stdout in place of messages says why none is understood."""
        for line in self._recording.lines:
            if isinstance(line, NoteLine) and "only its beginning is kept" in line.text:
                size = MAX_MESSAGE_BYTES // 2**20
                self.sheet.diagnose("STREAM-4", f"{size} MiB came without the end of a line")
                return True
            if not isinstance(line, TextLine) or line.dir != "s2c":
                continue
            raw = line.raw.encode() if isinstance(line.raw, str) else base64.b64decode(str(line.b64))
            if raw.count(0) * 3 > len(raw) > _FEW_BYTES:
                self.sheet.diagnose("STREAM-3", f"every other byte of its output is 0: {raw[:40]!r}")
                return True
        return False

    def _words(self) -> list[str]:
        """What the server wrote for people: in its last start, if it was started more than once."""
        starts: list[list[str]] = [[]]
        for line in self._recording.lines:
            if isinstance(line, SpawnLine):
                starts.append([])
            elif (
                isinstance(line, StderrLine | TextLine)
                and isinstance(line.raw, str)
                and getattr(line, "dir", "s2c") == "s2c"
            ):
                starts[-1].append(line.raw)
        return next((words for words in reversed(starts) if words), [])

    def _find_asking(self, error: MeseroError | None, unfinished: str) -> bool:
        """Whether it waits for a person, or took our request for the answer and ended."""
        found = find_question([unfinished]) or find_question(self._words())
        if found is None or not isinstance(error, CallTimeoutError | DisconnectedError):
            return False
        question, fix = found
        ended = "waits" if isinstance(error, CallTimeoutError) else "ended"
        self.sheet.diagnose("LAUNCH-10", f"it asks {question[-200:]!r}, and {ended}", fix=fix)
        return True

    def _find_in_words(self, error: MeseroError | None, codes: set[str]) -> bool:
        """Whether a server that ended said why."""
        if not isinstance(error, DisconnectedError) and "CLOSED-4" not in codes:
            return False
        words = self._words()
        found = find_last_words(words)
        # A server that misses a setting, or says nothing that is understood, may have got one unexpanded.
        if (found is None or found.code == "EXIT-2") and self.sheet.has("LAUNCH-6"):
            self.sheet.escalate("LAUNCH-6")
            return True
        if found is None:
            return False
        ended = f"exited with code {error.exit_code}" if isinstance(error, DisconnectedError) else "ended"
        self.sheet.diagnose(
            found.code,
            f"the server {ended} before it answered, and said: {found.line[:300]}{_holder_in(words)}",
            # What was quoted already need not stand there again.
            evidence=words[-20:] if len(words) > 1 else (),
        )
        return True

    async def _find_silence(self, visit: Visit, codes: set[str]) -> bool:
        """Why a process that runs does not answer."""
        busy = [each for each in visit.kin if _INSTALLERS.search(each.command)]
        limit_s = self._limits.connect_s
        if busy and "START-1" not in codes:
            what = ", ".join(f"{each.command.split()[0]} (pid {each.pid})" for each in busy[:_SHOWN])
            self.sheet.diagnose(
                "LAUNCH-9", f"no answer came in {limit_s:.0f} s, and {what} was still at work"
            )
            return True
        if codes - {"START-2", "START-3", "START-4", "SILENT-12"}:
            return False
        visit.end_kin()
        answer = await self._answer_to(FRAMED_HELLO, is_closing=False)
        if answer is not None and answer.lstrip().lower().startswith(b"content-length"):
            self.sheet.diagnose(
                "STREAM-2",
                "it is silent to a line of JSON, and answered a message with a Content-Length header",
            )
            return True
        answer = await self._answer_to(PLAIN_HELLO, is_closing=True)
        if answer is not None and b'"jsonrpc"' in answer:
            self.sheet.diagnose(
                "STREAM-1", f"no answer came in {limit_s:.0f} s; as soon as its stdin was closed, it came"
            )
            return True
        return False

    async def _answer_to(self, said: bytes, *, is_closing: bool) -> bytes | None:
        return await find_answer(
            self._command,
            said,
            env=self._env,
            cwd=self._cwd,
            wait_s=self._limits.probe_s,
            is_closing=is_closing,
        )


def _holder_in(words: Sequence[str]) -> str:
    """Who holds the port that these words call taken."""
    port = find_port(words)
    holder = None if port is None else find_listener(port)
    return (
        ""
        if holder is None
        else f"; port {port} is held by {holder.name} (pid {holder.pid}): {holder.command}"
    )
