"""The process beside the traffic that writes its recording: the traffic never waits for it.

`Scribe` lives where the bytes pass. What it is told goes into a queue and from there, by a thread, down a
pipe to a process of its own, in which `Transcript` makes lines of it: finding messages and secrets costs time
that no byte on its way should pay. When that process cannot keep up, what is too much is left out, and the
recording says so; when it dies, the traffic goes on.

The process also guards: it is told which group of processes the traffic's server leads, and ends that group
when the pipe breaks off without a word, since then nobody else is left to do it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

__all__ = ["MAX_WAITING_BYTES", "Scribe", "ScribeSettings", "Transcript", "main", "serve_pipe"]

MAX_WAITING_BYTES = 64 * 1024 * 1024
"""So much may wait for the process beside, in bytes, before something is left out."""

_LENGTH_BYTES = 4
_FINISH_WAIT_S = 5.0
"""How long the end of the traffic may wait for the end of the recording, in seconds."""
_GUARD_WAIT_S = 2.0
"""How long a server that lost its shim may take at each step of its end, in seconds."""
_STDERR_LINE_BYTES = 64 * 1024

_encode = msgspec.msgpack.Encoder().encode


class ScribeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the process beside has to know: the file, and the one link that is recorded.

    ``secrets`` are replaced wherever they occur; ``raw`` leaves everything as it is; ``live`` prints a line
    for each message on stderr.
    """

    path: str
    name: str
    transport: str
    target: str
    raw: bool = False
    live: bool = False
    secrets: list[str] = []


class Scribe:
    """Takes what is to be recorded, from any thread, without making it wait.

    Args:
        settings: What and where to record.
        complain: Takes the one sentence that says why nothing is recorded any more.
        max_waiting_bytes: How much may wait before something is left out, in bytes.
        clock: Seconds that only grow, the same in both processes.
    """

    def __init__(
        self,
        settings: ScribeSettings,
        complain: Callable[[str], None],
        *,
        max_waiting_bytes: int = MAX_WAITING_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._complain = complain
        self._max_waiting_bytes = max_waiting_bytes
        self._clock = clock
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._lost = 0
        self._is_open = True
        self._has_failed = False
        self._changed = threading.Condition()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._feed, name="mesero-scribe", daemon=True)
        self.tell("begin", msgspec.to_builtins(settings))

    def start(self) -> None:
        """Start the process; what was told before is not lost."""
        self._thread.start()

    def tell(self, event: str, *values: Any, bulk: int = 0) -> None:
        """Something happened: ``event`` is a method of `Transcript`, ``values`` are its arguments.

        Args:
            event: What happened.
            values: Bytes, texts, numbers, or what msgspec encodes.
            bulk: How many bytes are lost with it when it is left out; 0 for what must not be left out.
        """
        with self._changed:
            if not self._is_open or self._has_failed:
                return
            if bulk and self._waiting_bytes + bulk > self._max_waiting_bytes:
                self._lost += bulk
                return
            if self._lost:
                lost, self._lost = self._lost, 0
                self._put(("lost", lost))
            self._put((event, *values))

    def _put(self, event: tuple[Any, ...]) -> None:
        told = _encode((self._clock(), *event))
        self._waiting.append(told)
        self._waiting_bytes += len(told)
        self._changed.notify()

    def close(self) -> None:
        """The traffic is over: let the recording end. Waits a little for it, and never for ever."""
        self.tell("done")
        with self._changed:
            self._is_open = False
            self._changed.notify()
        last_moment = time.monotonic() + _FINISH_WAIT_S
        if self._thread.ident is not None:
            self._thread.join(_FINISH_WAIT_S)
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(max(0.0, last_moment - time.monotonic()))

    # -- the thread --------------------------------------------------------------------------------------

    def _feed(self) -> None:
        try:
            self._process = _start_process()
        except OSError as error:
            self._fail(f"its process could not be started ({error.strerror or error})")
            return
        pipe = self._process.stdin
        assert pipe is not None  # noqa: S101  (it was asked for)
        with pipe:
            while told := self._next_batch():
                try:
                    _write_all(pipe.fileno(), told)
                except OSError:
                    self._fail("its process ended")
                    return

    def _next_batch(self) -> bytes:
        """What waits, as soon as something does; nothing when nothing more will come."""
        with self._changed:
            while not self._waiting and self._is_open:
                self._changed.wait()
            waiting = list(self._waiting)
            self._waiting.clear()
            self._waiting_bytes = 0
        return b"".join(part for told in waiting for part in (len(told).to_bytes(_LENGTH_BYTES), told))

    def _fail(self, reason: str) -> None:
        with self._changed:
            self._has_failed = True
            self._waiting.clear()
        self._complain(f"the recording ends here: {reason}; the traffic goes on")


def _start_process() -> subprocess.Popen[bytes]:
    # In a session of its own, so that what ends the group of the traffic leaves it time to write the end.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "mesero.trace.scribe"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=sys.platform != "win32",
    )


def _write_all(number: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(number, rest) :]


# -- the process beside --------------------------------------------------------------------------------------


class Transcript:
    """Makes a recording of what a `Scribe` was told. Each public method is an event; `t` is when it happened.

    Args:
        settings: What and where to record.
        show: Takes each line of a live view.
        t: When the traffic began, on the clock of `time.monotonic`.
    """

    def __init__(self, settings: ScribeSettings, show: Callable[[str], None], *, t: float) -> None:
        from mesero.framing import LineFramer
        from mesero.trace.recorder import Recorder

        self.t = t
        self._live = None
        if settings.live:
            from mesero.trace.live import LiveView

            self._live = LiveView(show)
        self._recorder = Recorder(
            _made_folder(settings.path),
            raw=settings.raw,
            secrets=settings.secrets,
            clock=lambda: self.t,
            now=lambda: datetime.now(UTC) - timedelta(seconds=time.monotonic() - t),
            watch=None if self._live is None else self._live.receive,
        )
        self._link = self._recorder.link(settings.name, settings.transport, settings.target)
        self._framers = {"c2s": LineFramer(), "s2c": LineFramer()}
        self._stderr = LineFramer(max_bytes=_STDERR_LINE_BYTES)
        self.group = 0
        """The group of processes to end when the traffic's process is gone; 0 for none."""

    def receive(self, event: str, values: list[Any]) -> None:
        """Take one event by its name."""
        _EVENTS[event](self, *values)

    def chunk(self, direction: Any, data: bytes) -> None:
        """Bytes passed on a stream of lines."""
        from mesero.framing import TooLong

        for frame in self._framers[direction].receive(data):
            if isinstance(frame, TooLong):
                self._link.text(direction, frame.beginning)
                self.note(
                    f"the line before has more than {frame.max_bytes} bytes: only its beginning is kept"
                )
            else:
                self._link.message(direction, frame)

    def stderr(self, data: bytes) -> None:
        """Bytes passed on stderr."""
        from mesero.framing import TooLong

        for frame in self._stderr.receive(data):
            self._link.stderr(frame.beginning if isinstance(frame, TooLong) else frame)

    def end(self, direction: Any) -> None:
        """A stream of lines ended."""
        self._flush(direction)
        self._link.eof(direction)

    def _flush(self, direction: Any) -> None:
        rest = self._framers[direction].receive_eof()
        if rest:
            self._link.text(direction, rest)

    def message(self, direction: Any, raw: bytes, http: dict[str, Any]) -> None:
        """One message passed over HTTP."""
        self._link.message(direction, raw, _http_from(http))

    def http(self, direction: Any, http: dict[str, Any], body: bytes, error: str) -> None:
        """HTTP without a message passed."""
        self._link.http(direction, _http_from(http), body=body, error=error)

    def end_exchange(self, direction: Any, exchange: int) -> None:
        """An event stream ended."""
        self._link.eof(direction, exchange=exchange)

    def spawn(self, command: list[str], cwd: str, env: dict[str, str], pid: int) -> None:
        """The server was started, or with the pid 0 could not be."""
        self.group = pid
        self._link.spawn(command, cwd=cwd, env=env, pid=pid or None)

    def exit(self, code: int) -> None:
        """The server ended."""
        self._flush_stderr()
        self._link.exit(code)

    def _flush_stderr(self) -> None:
        rest = self._stderr.receive_eof()
        if rest:
            self._link.stderr(rest)

    def note(self, text: str) -> None:
        """A remark."""
        self._link.note(text)

    def lost(self, count: int) -> None:
        """Something was left out since it was too much: what is held over does not go on."""
        for direction in self._framers:
            self._flush(direction)
        self.note(f"{count} bytes are missing here: they passed faster than they could be recorded")

    def done(self) -> None:
        """The traffic is over in good order: there is nothing to guard any more."""
        self.group = 0

    def close(self) -> None:
        """End the recording."""
        self._flush("c2s")
        self._flush("s2c")
        self._flush_stderr()
        if self._live is not None:
            self._live.finish()
        self._recorder.close()


_EVENTS: dict[str, Callable[..., None]] = {
    name: getattr(Transcript, name)
    for name in (
        *(
            "chunk",
            "stderr",
            "end",
            "message",
            "http",
            "end_exchange",
            "spawn",
            "exit",
            "note",
            "lost",
            "done",
        ),
    )
}


def _http_from(value: dict[str, Any]) -> Any:
    from mesero.trace.format import Http

    return msgspec.convert(value, Http)


def _made_folder(path: str) -> str:
    # Where it cannot be made, the recorder says why it cannot write.
    with contextlib.suppress(OSError):
        Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


def serve_pipe(pipe: BinaryIO, show: Callable[[str], None]) -> int:
    """Write down what comes through a pipe until it ends; the group that is left to end, 0 for none."""
    transcript: Transcript | None = None
    while len(head := pipe.read(_LENGTH_BYTES)) == _LENGTH_BYTES:
        told = pipe.read(int.from_bytes(head))
        if len(told) < int.from_bytes(head):
            break
        t, event, *values = msgspec.msgpack.decode(told)
        if transcript is None:
            transcript = Transcript(msgspec.convert(values[0], ScribeSettings), show, t=t)
            continue
        transcript.t = t
        transcript.receive(event, values)
    if transcript is None:
        return 0
    transcript.t = time.monotonic()
    if transcript.group:
        transcript.note("the process that passed the traffic on was killed")
    transcript.close()
    return transcript.group


def main() -> None:
    """Be the process beside: stdin is the pipe, stderr is for people."""
    _say_once_what_goes_wrong()
    group = serve_pipe(sys.stdin.buffer, _show)
    if group and sys.platform != "win32":
        _end_group(group)


def _show(line: str) -> None:
    # Nobody reads any more, or what they read with knows fewer characters: the recording goes on.
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _say_once_what_goes_wrong() -> None:
    said: set[str] = set()

    def is_said_first(record: logging.LogRecord) -> bool:
        record.exc_info = None
        is_first = record.msg not in said
        said.add(record.msg)
        return is_first

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("mesero trace: %(message)s"))
    handler.addFilter(is_said_first)
    logging.getLogger("mesero").addHandler(handler)
    sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # it is a text file here


def _end_group(group: int) -> None:
    """Its stdin is closed already: a server that keeps to the rules ends by itself."""
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        last_moment = time.monotonic() + _GUARD_WAIT_S
        try:
            os.killpg(group, number)
            while time.monotonic() < last_moment:
                time.sleep(0.05)
                os.killpg(group, 0)
        except (ProcessLookupError, PermissionError):
            return


if __name__ == "__main__":
    main()
