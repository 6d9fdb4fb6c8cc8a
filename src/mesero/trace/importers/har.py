"""HAR, which browsers and proxies save: the HTTP exchanges that carry MCP, as a trace.

A HAR is one JSON document and is read whole, so memory grows with it. It keeps when an exchange began and
how long it took, not when each event of a stream came.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, UnsetType

from mesero.framing import EventFramer, TooLong
from mesero.trace.format import Direction, EofLine, Http, HttpLine, Line
from mesero.trace.importers.building import ImportedRecording, time_of, value_of
from mesero.trace.importers.finding import is_message

__all__ = ["HarFile"]

_MAX_BYTES = 1024 * 1024 * 1024
_LATE = "when each event of a stream came: all count as the end of their exchange"


class _Step(NamedTuple):
    """One line to be, and when."""

    t: float
    order: int
    direction: Direction
    raw: str | None
    http: Http
    is_end: bool
    link: str
    guessed: tuple[str, ...]


class HarFile(ImportedRecording):
    """A HAR file. See `mesero.trace.reader.Recording`."""

    source = "a HAR file"

    def read(self, file: BinaryIO) -> Iterator[Line]:
        """The lines, in order of time."""
        entries = self._entries_of(file.read(_MAX_BYTES))
        origins = {_origin_of(entry) for entry in entries if _carries_mcp(entry)}
        kept = [entry for entry in entries if _origin_of(entry) in origins or _is_metadata(entry)]
        if not origins:
            self.problems.add(0, "no HTTP exchange in this file carries a JSON-RPC message")
        elif len(kept) < len(entries):
            self.problems.add(0, f"{len(entries) - len(kept)} exchanges with other servers were left out")
        self.cannot_tell("what passed while nothing was recorded: a HAR has whole exchanges only")
        times = [time for entry in kept if (time := time_of(_text(entry, "startedDateTime"))) is not None]
        self.clock.at(min(times, default=None))
        steps: list[_Step] = []
        for number, entry in enumerate(kept, start=1):
            steps += self._steps_of(number, entry, len(steps))
        for step in sorted(steps, key=lambda step: (step.t, step.order)):
            self.clock.t = step.t
            yield self._line_of(step)

    def _entries_of(self, raw: bytes) -> list[dict[str, Any]]:
        try:
            document = msgspec.json.decode(raw.removeprefix(b"\xef\xbb\xbf"))
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            self.problems.add(0, f"this is no whole HAR file: {error}")
            return []
        entries = _member(_member(document, "log"), "entries")
        if not isinstance(entries, list):
            self.problems.add(0, "this HAR file has no list of entries")
            return []
        return [entry for entry in entries if isinstance(entry, dict)]

    # -- one exchange ----------------------------------------------------------------------------------------

    def _steps_of(self, number: int, entry: dict[str, Any], order: int) -> Iterator[_Step]:
        begin, end, guessed = self._times_of(entry)
        request, response = _member(entry, "request"), _member(entry, "response")
        url = _text(request, "url")
        link = self.link(_host_of(url), "http", url.partition("?")[0])
        asked = Http(exchange=number, method=_text(request, "method"), url=url, headers=_headers_of(request))
        body = _text(_member(request, "postData"), "text")
        is_carried = _is_json(body)
        steps: list[tuple[float, Direction, str | None, Http, bool]] = [
            (
                begin,
                "c2s",
                body if is_carried else None,
                asked if is_carried else _with_body(asked, body),
                False,
            )
        ]
        steps += [(end, *step) for step in self._answer(number, response, entry)]
        for index, (t, direction, raw, http, is_end) in enumerate(steps):
            yield _Step(t, order + index, direction, raw, http, is_end, link, guessed)

    def _times_of(self, entry: dict[str, Any]) -> tuple[float, float, tuple[str, ...]]:
        time = time_of(_text(entry, "startedDateTime"))
        took = _member(entry, "time")
        guessed: tuple[str, ...] = ()
        if time is None:
            self.cannot_tell("when an exchange began")
            guessed = ("t",)
        begin = 0.0
        if time is not None and self.clock.started is not None:
            begin = (time - self.clock.started) / timedelta(seconds=1)
        is_time = isinstance(took, int | float) and not isinstance(took, bool) and 0 <= took < 1e9
        return round(begin, 6), round(begin + (took / 1000 if is_time else 0), 6), guessed

    def _answer(
        self, number: int, response: Any, entry: dict[str, Any]
    ) -> Iterator[tuple[Direction, str | None, Http, bool]]:
        status = _member(response, "status")
        status = status if isinstance(status, int) and not isinstance(status, bool) else 0
        headers = _headers_of(response)
        http = Http(exchange=number, status=status, headers=headers)
        if not status:
            error = _text(response, "_error") or _text(entry, "_error") or "no answer was recorded"
            yield "s2c", None, Http(exchange=number, error=error), False
            return
        body = _body_of(_member(response, "content"))
        media = headers.get("content-type", _text(_member(response, "content"), "mimeType"))
        if isinstance(media, str) and media.startswith("text/event-stream"):
            yield from self._events(http, body)
        elif _is_json(body):
            yield "s2c", body, http, False
        else:
            yield "s2c", None, _with_body(http, body), False

    def _events(self, http: Http, body: str) -> Iterator[tuple[Direction, str | None, Http, bool]]:
        self.cannot_tell(_LATE)
        yield "s2c", None, http, False
        for event in EventFramer().receive(body.encode("utf-8", "replace") + b"\n\n"):
            if isinstance(event, TooLong):
                self.problems.add(0, f"an event of more than {event.max_bytes} bytes was left out")
                continue
            data = event.data.decode("utf-8", "replace")
            facts = msgspec.structs.replace(
                http,
                sse=True,
                event=UNSET if event.event == "message" else event.event,
                event_id=UNSET if event.event_id is None else event.event_id,
                retry=UNSET if event.retry_ms is None else event.retry_ms,
            )
            is_carried = _is_json(data)
            yield "s2c", data if is_carried else None, facts if is_carried else _with_body(facts, data), False
        yield "s2c", None, Http(exchange=_known(http.exchange)), True

    def _line_of(self, step: _Step) -> Line:
        if step.is_end:
            return self.make(EofLine, step.link, dir=step.direction, http=step.http, guessed=step.guessed)
        if step.raw is None:
            return self.make(HttpLine, step.link, dir=step.direction, http=step.http, guessed=step.guessed)
        return self.make_message(step.raw, step.link, step.direction, http=step.http, guessed=step.guessed)


def _known(number: int | UnsetType) -> int:
    return number if isinstance(number, int) else 0


def _with_body(http: Http, body: str) -> Http:
    return msgspec.structs.replace(http, body=body) if body else http


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: Any, name: str) -> str:
    text = _member(value, name)
    return text if isinstance(text, str) else ""


def _headers_of(side: Any) -> dict[str, str | list[str]]:
    headers: dict[str, str | list[str]] = {}
    pairs = _member(side, "headers")
    for pair in pairs if isinstance(pairs, list) else ():
        name, value = _text(pair, "name").lower(), _text(pair, "value")
        if not name or name.startswith(":"):
            continue
        before = headers.get(name)
        if before is None:
            headers[name] = value
        else:
            headers[name] = [*before, value] if isinstance(before, list) else [before, value]
    return headers


def _body_of(content: Any) -> str:
    text = _text(content, "text")
    if _text(content, "encoding") != "base64":
        return text
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return text


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[") and is_message(value_of(text))


def _origin_of(entry: dict[str, Any]) -> str:
    return _host_of(_text(_member(entry, "request"), "url"))


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


def _carries_mcp(entry: dict[str, Any]) -> bool:
    body = _text(_member(_member(entry, "request"), "postData"), "text")
    if _is_json(body):
        return True
    answer = _body_of(_member(_member(entry, "response"), "content"))
    return "data:" in answer and '"jsonrpc"' in answer


def _is_metadata(entry: dict[str, Any]) -> bool:
    """What authorization needs may come from other servers."""
    return "/.well-known/" in _text(_member(entry, "request"), "url")
