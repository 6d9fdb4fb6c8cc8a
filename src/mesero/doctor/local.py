"""The examination of a server that is a command: from its program to its end."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from mesero.audit.findings import Blame
from mesero.doctor.checks.calls import check_calls
from mesero.doctor.checks.deep import check_more
from mesero.doctor.checks.launch import check_command, check_environment, diagnose_missing
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
from mesero.doctor.stderr import (
    LastWords,
    find_address,
    find_last_words,
    find_missing_program,
    find_question,
    find_telling,
    plain_words,
    variables_in,
)
from mesero.doctor.texts import TEXTS
from mesero.doctor.visit import Visit
from mesero.errors import CallTimeoutError, DisconnectedError, MeseroError
from mesero.jsonrpc import MAX_MESSAGE_BYTES
from mesero.trace.format import MessageLine, NoteLine, SpawnLine, StderrLine, TextLine
from mesero.transports.process import inherited_environment

__all__ = ["LOCAL_CHECKS", "LocalExamination"]

LOCAL_CHECKS: Final = (
    *("command", "environment", "connection", "stdout"),
    *("lists", "tools", "ping", "calls", "deep", "staying", "rules", "shutdown", "survivors"),
)
"""The checks of a command, in their order."""

_INSTALLERS: Final = re.compile(r"\b(?:npm|npx|uv|uvx|pip|pnpm|yarn|bun|docker|podman|cargo|go)\b")
_SHOWN: Final = 3
_FEW_BYTES: Final = 16
_AROUND: Final = 20
_ENOUGH: Final = 200
"""Lines of a recording that show what floods it."""
_BEFORE: Final = 8


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
                line for line in self._recording.lines if isinstance(line, TextLine) and line.dir == "s2c"
            ]
            for number, line in enumerate(texts[:_SHOWN], 1):
                check.warn(f"no message ({number}): {str(line.raw)[:200]!r}")
            if not texts:
                check.say("nothing but messages")

    # -- not connected ---------------------------------------------------------------------------------------

    def tell_unfinished(self) -> None:
        """Why there was no connection before the time was over, as far as its beginning shows."""
        if self.visit is None or self.visit.is_connected:
            return
        seen = self._recording.lines[:_ENOUGH]
        if any(isinstance(line, TextLine) and line.dir == "s2c" for line in seen):
            for fault in judge(seen, is_connected=False, file=self._recording.file).faults[:1]:
                self.sheet.add(fault)

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
            sheet.add(self._with_words(judgement.causes[0], error))
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

    def _with_words(self, found: Diagnosis, error: MeseroError | None) -> Diagnosis:
        """A diagnosis of silence, with what a silent server said for people."""
        words = [line for line in self._words() if line.strip()]
        if not words or not isinstance(error, CallTimeoutError):
            return found
        telling = find_telling(words)
        said = telling.line if telling is not None else words[-1].strip()
        cause = f"{found.cause}; on stderr it said: {said[:300]}"
        if telling is None:
            return replace(found, cause=cause, evidence=(*found.evidence, *words[-_SHOWN:]))
        at = telling.at
        evidence = (*found.evidence, *_around(words, at))
        fix = f"See to what it says on stderr. If that is harmless: {found.fix}"
        return replace(found, cause=cause, blame="unknown", fix=fix, evidence=evidence)

    def _find_in_stdout(self) -> bool:
        """Whether what stands on stdout in place of messages says why none is understood."""
        said: set[str] = set()
        for line in self._recording.lines:
            if isinstance(line, MessageLine):
                if line.dir == "s2c" and line.raw in said:
                    self.sheet.diagnose("STREAM-5", f"our own message came back from it: {line.raw[:80]}")
                    return True
                said |= {line.raw} if line.dir == "c2s" else set()
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
                starts[-1].append(plain_words(line.raw))
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
        missing = find_missing_program(words)
        if missing is not None:
            path = inherited_environment(self._env).get("PATH", "")
            name, said = missing
            sets_path = "PATH" in self._env
            diagnose_missing(self.sheet, name, path=path, sets_path=sets_path, home=self._home, said=said)
            return True
        found = find_last_words(words)
        # A server that misses a setting, or says nothing that is understood, may have got one unexpanded.
        if (found is None or found.code == "EXIT-2") and self.sheet.has("LAUNCH-6"):
            self.sheet.escalate("LAUNCH-6")
            return True
        found = found or find_telling(words)
        if found is None:
            return False
        ended = f"exited with code {error.exit_code}" if isinstance(error, DisconnectedError) else "ended"
        cause = f"the server {ended} before it answered, and said: {found.line[:300]}{_holder_in(words)}"
        # What was quoted already need not stand there again.
        evidence = tuple(_around(words, found.at)) if len(words) > 1 else ()
        if found.code in TEXTS:
            fix = _fix_for(found, words)
            # What can be mended where it runs is not the fault of who wrote it.
            blame: Blame | None = "client" if fix else None
            self.sheet.diagnose(found.code, cause, fix=fix, blame=blame, evidence=evidence)
        else:
            # Nobody knows yet whether it is the server's fault, or what it was given.
            self.sheet.add(replace(diagnosis_from(found.code, cause), blame="unknown", evidence=evidence))
        return True

    async def _find_silence(self, visit: Visit, codes: set[str]) -> bool:
        """Why a process that runs does not answer."""
        address = find_address(self._words())
        if address is not None:
            is_url = address.startswith("http")
            self.sheet.diagnose(
                "LAUNCH-11",
                f"it runs, answers nothing on stdout, and says that it listens at {address}",
                fix=f'Start it in its mode for stdio (often --stdio), or write "url": "{address}" instead of '
                "a command, and start it yourself."
                if is_url
                else "",
            )
            return True
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


def _around(words: Sequence[str], at: int) -> Sequence[str]:
    """The lines that are shown with the one that is quoted: most of what comes after it, some before."""
    first = max(0, min(at - _BEFORE, len(words) - _AROUND))
    return words[first : first + _AROUND]


def _fix_for(found: LastWords, words: Sequence[str]) -> str:
    """What to write where a setting is missing and named; "" for the standing text."""
    if found.code == "EXIT-5" and "docker" in found.line.lower():
        return "Start Docker: Docker Desktop, or `systemctl start docker`."
    names = variables_in(found, words)[:_SHOWN] if found.code == "EXIT-2" else []
    if not names:
        return ""
    written = ", ".join(f'"{name}": "…"' for name in names)
    return (
        f'"env": {{{written}}} in the configuration (here: --env {names[0]}=…): hosts do not pass on the '
        "variables of your shell."
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
