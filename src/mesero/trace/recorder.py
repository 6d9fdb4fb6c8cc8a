"""Writes what passes to a file, line by line, while it passes.

Each line is written whole and at once, so that a crash loses nothing that was recorded. Secrets are taken out
first, unless raw recording was asked for. A file that grows too large is put aside and a new one begun, each
readable by itself; an earlier recording of the same name is put aside, too, never overwritten.

Recording must not harm what is recorded: a full disk or a line that cannot be redacted ends or shortens the
recording, with a word in the log, and the traffic goes on.
"""

from __future__ import annotations

import base64
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from mesero.errors import UsageError
from mesero.trace.format import (
    Direction,
    EofLine,
    ExitLine,
    Header,
    Http,
    HttpLine,
    Line,
    Link,
    LinkLine,
    MessageLine,
    NoteLine,
    SpawnLine,
    StderrLine,
    TextLine,
    encode_header,
    encode_line,
)
from mesero.trace.places import is_json
from mesero.trace.redaction import Redactor
from mesero.transports import HttpFacts

__all__ = ["LinkRecorder", "Recorder", "Sink", "http_of", "utf8_or_b64"]

Sink = Callable[[bytes], None]
"""Takes each line of a recording, the header first, with its newline."""

_log = logging.getLogger(__name__)


class Recorder:
    """A recording that is being made::

        with mesero.trace.recorder.Recorder("notes.jsonl") as recorder:
            async with mesero.Client(target, trace=recorder.link("notes", "stdio", "python notes.py")):
                ...

    Args:
        to: A file, made when the first line comes, for its owner's eyes only; or a function for each line.
        raw: Record secrets as they are.
        secrets: Values to replace wherever they occur.
        max_bytes: How large a file may grow before a new one is begun, in bytes.
        max_files: How many files are kept: the current one and those that were put aside.
        watch: Shown the header and each line as it is recorded, without its secrets.
        clock: Seconds that only grow.
        now: The time of day, with its zone.

    Raises:
        UsageError: limits that cannot work.
    """

    def __init__(
        self,
        to: str | os.PathLike[str] | Sink,
        *,
        raw: bool = False,
        secrets: Iterable[str] = (),
        max_bytes: int = 256 * 1024 * 1024,
        max_files: int = 4,
        watch: Callable[[Header | Line], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if max_bytes < 1 or max_files < 1:
            raise UsageError("a recording needs room: max_bytes and max_files are greater than 0")
        self.redactor = None if raw else Redactor(secrets)
        """Keeps secrets out; None when recording raw."""
        self._file: _File | None = None
        if callable(to):
            self._pass_on = to
        else:
            self._file = _File(Path(to), max_bytes=max_bytes, max_files=max_files)
            self._pass_on = self._file.write
        self._watch = watch
        self._clock = clock
        self._start = clock()
        self._started = now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._links: dict[str, Link] = {}
        self._seq = 0
        self._part = 0
        self._has_header = False
        self._default: LinkRecorder | None = None
        self._lock = threading.Lock()
        self.error: Exception | None = None
        """Why nothing is written any more, None while all is well."""

    # -- what is recorded ------------------------------------------------------------------------------------

    def link(self, name: str, transport: str, target: str) -> LinkRecorder:
        """One connection from now on.

        Args:
            name: What people call the server.
            transport: ``stdio``, ``http``, ``sse`` or ``memory``.
            target: The command or the URL.
        """
        with self._lock:
            key = str(len(self._links) + 1)
            link = Link(name=name, transport=transport, target=target)
            if self.redactor is not None:
                link = self.redactor.redact_link(link)
            self._links[key] = link
            if self._has_header:
                self._write(
                    LinkLine,
                    key,
                    {"name": link.name, "transport": link.transport, "target": link.target},
                )
        return LinkRecorder(self, key)

    def __call__(self, direction: Direction, raw: bytes, http: HttpFacts | None = None) -> None:
        """Take a message on a link of its own; an `mesero.transports.Observer`. Better use `link`."""
        if self._default is None:
            transport, target = ("", "") if http is None else ("http", http.url)
            self._default = self.link("", transport, target)
        self._default(direction, raw, http)

    def record(self, type_: Callable[..., Line], link: str, **fields: Any) -> None:
        """Write one line; its number and time are filled in. From any thread."""
        with self._lock:
            self._write(type_, link, fields)

    def close(self) -> None:
        """End the recording; what comes later is not recorded. Idempotent."""
        with self._lock:
            if self.error is None:
                self.error = ValueError("the recording was closed")
            if self._file is not None:
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self.close()

    # -- how it is written -----------------------------------------------------------------------------------

    def _write(self, type_: Callable[..., Line], link: str, fields: Mapping[str, Any]) -> None:
        if self.error is not None:
            return
        self._seq += 1
        place = {"seq": self._seq, "t": round(self._clock() - self._start, 6), "link": link}
        line = self._redacted(type_(**place, **fields), place)
        try:
            self._put(encode_line(line))
            if self._watch is not None:
                self._watch(line)
        except Exception as error:  # noqa: BLE001  (a sink may raise anything; the traffic must go on)
            self.error = error
            _log.warning("the recording ends here: %s", error)

    def _redacted(self, line: Line, place: Mapping[str, Any]) -> Line:
        if self.redactor is None:
            return line
        try:
            return self.redactor.redact_line(line)
        except Exception as error:  # noqa: BLE001  (a line too few is a smaller harm than a secret too many)
            _log.exception("a line was left out of the recording")
            text = f"a line was left out: its secrets could not be found ({type(error).__name__})"
            return NoteLine(**place, text=text)

    def _put(self, line: bytes) -> None:
        if not self._has_header or (self._file is not None and self._file.is_full_with(line)):
            self._begin_part()
        self._pass_on(line)

    def _begin_part(self) -> None:
        self._part += 1
        self._has_header = True
        if self._file is not None:
            self._file.begin()
        header = Header(
            started=self._started, by=f"mesero {_own_version()}", links=self._links, part=self._part
        )
        self._pass_on(encode_header(header))
        if self._watch is not None and self._part == 1:
            self._watch(header)


class LinkRecorder:
    """What happens on one link; itself an `mesero.transports.Observer`. Made by `Recorder.link`."""

    def __init__(self, recorder: Recorder, key: str) -> None:
        self.recorder = recorder
        self.key = key
        """The name of the link in the lines of the recording."""

    def __call__(self, direction: Direction, raw: bytes, http: HttpFacts | None = None) -> None:
        """Take a message; an `mesero.transports.Observer`."""
        self.message(direction, raw, UNSET if http is None else http_of(http, direction))

    def message(self, direction: Direction, raw: bytes, http: Http | UnsetType = UNSET) -> None:
        """What came or went as one message. What strict JSON refuses is recorded as text."""
        first = raw.lstrip()[:1]
        if first in (b"{", b"[") and _is_utf8(raw) and is_json(raw):
            self.recorder.record(MessageLine, self.key, dir=direction, raw=raw.decode(), http=http)
        else:
            self.text(direction, raw, http)

    def text(self, direction: Direction, raw: bytes, http: Http | UnsetType = UNSET) -> None:
        """Bytes on a message channel that are no message; a line each."""
        self.recorder.record(TextLine, self.key, dir=direction, http=http, **utf8_or_b64(raw))

    def stderr(self, line: bytes) -> None:
        """One line that the server wrote to stderr, without its end."""
        self.recorder.record(StderrLine, self.key, **utf8_or_b64(line))

    def eof(self, direction: Direction, *, exchange: int | None = None) -> None:
        """The sender of this direction closed its side, or that of one HTTP exchange."""
        http = UNSET if exchange is None else Http(exchange=exchange)
        self.recorder.record(EofLine, self.key, dir=direction, http=http)

    def http(
        self, direction: Direction, http: Http | HttpFacts, *, body: bytes = b"", error: str = ""
    ) -> None:
        """HTTP that carried no message: a status alone, an event without data, a broken connection.

        Args:
            direction: Whose it was.
            http: What is known of it.
            body: What came in place of a message; its beginning is enough.
            error: Why nothing came, or nothing more.
        """
        known = http_of(http, direction) if isinstance(http, HttpFacts) else http
        if body:
            known = replace(known, body=body.decode("utf-8", "replace"))
        if error:
            known = replace(known, error=error)
        self.recorder.record(HttpLine, self.key, dir=direction, http=known)

    def spawn(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pid: int | None = None,
    ) -> None:
        """A server process was started, or could not be: then ``pid`` is None and a `note` says why.

        ``env`` are the variables that were set for it, without the inherited ones: their names are recorded,
        and their values replaced wherever they occur from now on.
        """
        if self.recorder.redactor is not None:
            self.recorder.redactor.learn_environment(env or {})
        self.recorder.record(
            SpawnLine,
            self.key,
            command=tuple(command),
            cwd=UNSET if cwd is None else cwd,
            env=tuple(sorted(env or ())),
            pid=UNSET if pid is None else pid,
        )

    def exit(self, code: int) -> None:
        """The server process ended; a negative code is the number of the signal that ended it."""
        if code < 0:
            self.recorder.record(ExitLine, self.key, signal=-code)
        else:
            self.recorder.record(ExitLine, self.key, code=code)

    def note(self, text: str) -> None:
        """A remark. What a host told its user begins with "client reported:"."""
        self.recorder.record(NoteLine, self.key, text=text)


def http_of(facts: HttpFacts, direction: Direction) -> Http:
    """What a transport knows of HTTP, as a trace has it: a request's or an answer's."""
    headers: dict[str, str | list[str]] = {}
    for written, value in facts.headers:
        name = written.lower()
        before = headers.get(name)
        if before is None:
            headers[name] = value
        else:
            headers[name] = [*before, value] if isinstance(before, list) else [before, value]
    exchange = facts.exchange or UNSET
    if direction == "c2s":
        return Http(exchange=exchange, method=facts.method, url=facts.url, headers=headers)
    return Http(
        exchange=exchange,
        # Without a status nothing came: then only an error tells of it.
        status=facts.status or UNSET,
        headers=headers,
        sse=facts.is_event,
        event=UNSET if facts.event == "message" else facts.event,
        event_id=UNSET if facts.event_id is None else facts.event_id,
        retry=UNSET if facts.retry_ms is None else facts.retry_ms,
    )


def utf8_or_b64(raw: bytes) -> dict[str, str]:
    """The fields of a line for bytes that may be anything."""
    if _is_utf8(raw):
        return {"raw": raw.decode()}
    return {"b64": base64.b64encode(raw).decode()}


def _is_utf8(raw: bytes) -> bool:
    if raw.isascii():
        return True
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


class _File:
    """The current file, and those that were put aside: ``name.1`` is the latest of them."""

    def __init__(self, path: Path, *, max_bytes: int, max_files: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._max_files = max_files
        self._size = 0
        self._number = -1

    def is_full_with(self, line: bytes) -> bool:
        """Whether a new file is due before this line."""
        return self._size + len(line) > self._max_bytes

    def begin(self) -> None:
        """Put the files aside that are there, and make a new one, for its owner's eyes only."""
        self.close()
        self._put_aside()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self._number = os.open(self._path, flags, 0o600)
        self._size = 0

    def _put_aside(self) -> None:
        if not self._path.exists():
            return
        names = [self._path, *(self._aside(number) for number in range(1, self._max_files))]
        names[-1].unlink(missing_ok=True)
        for older, newer in zip(reversed(names[1:]), reversed(names[:-1]), strict=True):
            if newer.exists():
                newer.replace(older)

    def _aside(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def write(self, data: bytes) -> None:
        """Write all of it now."""
        self._size += len(data)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._number, rest) :]

    def close(self) -> None:
        """No more of this file."""
        if self._number >= 0:
            os.close(self._number)
            self._number = -1


def _own_version() -> str:
    try:
        return version("mesero")
    except PackageNotFoundError:
        return "0"
