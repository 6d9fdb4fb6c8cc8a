"""A recording while it is made: one line of text for each message as it passes.

A line says: direction, seconds since the start, id, method, name, status, era, size, and how much the audit
has found so far. Lines of a recording in, lines of text out; nothing here is judged but by `mesero.audit`,
nothing is printed. Whatever a line holds, it is safe to show on a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import UNSET

from mesero.trace.format import (
    EofLine,
    ExitLine,
    Header,
    HttpLine,
    Line,
    MessageLine,
    NoteLine,
    SpawnLine,
    StderrLine,
    TextLine,
)

__all__ = ["LiveView", "safe_cell"]

_ARROWS = {"c2s": "→", "s2c": "←"}
_REVISION_KEY = "io.modelcontextprotocol/protocolVersion"
_MAX_CELL = 60
_MAX_OPEN = 1000
_NAME_FIELDS = ("name", "uri", "requestId", "progressToken")


class LiveView:
    """Shows a recording as it is made.

    Args:
        show: Takes each line of text, without its end.
        judged: Whether the audit looks at each line as well.
    """

    def __init__(self, show: Callable[[str], None], *, judged: bool = True) -> None:
        self._show = show
        self._auditor: Any = None
        self._findings = 0
        self._asked: dict[tuple[str, str, str], tuple[str, str]] = {}
        """From link, direction and id of a request to what to call it, and its era."""
        self._shaken: set[str] = set()
        """The links on which there was a handshake."""
        if judged:
            from mesero.audit import Auditor

            self._auditor = Auditor()

    def receive(self, line: Header | Line) -> None:
        """Show a line. Never raises for what the line holds."""
        found = [] if self._auditor is None else self._judge(lambda: self._auditor.receive(line))
        if not isinstance(line, Header):
            self._show(self._text_of(line) + self._found_text(found))

    def finish(self) -> None:
        """The recording is over: show what can only be told now."""
        if self._auditor is None:
            return
        found = self._judge(self._auditor.receive_end)
        many = f"{self._findings} findings" if self._findings != 1 else "1 finding"
        self._show(f"{many}{_rules_text(found)}")

    def _judge(self, judge: Callable[[], list[Any]]) -> list[Any]:
        try:
            found = judge()
        except Exception as error:  # noqa: BLE001  (a mistake of the audit must not end the recording)
            self._auditor = None
            self._show(f"no more findings: the audit failed with {type(error).__name__}")
            return []
        self._findings += len(found)
        return found

    def _found_text(self, found: list[Any]) -> str:
        if self._auditor is None:
            return ""
        return f"  findings {self._findings}{_rules_text(found)}"

    # -- one line ----------------------------------------------------------------------------------------

    def _text_of(self, line: Line) -> str:
        place = f"{_ARROWS.get(getattr(line, 'dir', ''), '·')} {line.t:9.3f}"
        if isinstance(line, MessageLine):
            return f"{place}  {self._message_text(line)}"
        return f"{place}  {_event_text(line)}"

    def _message_text(self, line: MessageLine) -> str:
        try:
            value = msgspec.json.decode(line.raw)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            value = None
        if isinstance(value, dict):
            number, what, era = self._described(line, value)
        else:
            number, what, era = "", f"batch of {len(value)}" if isinstance(value, list) else "no message", ""
        status = ""
        if line.http is not UNSET:
            status = f" HTTP {line.http.status}" if isinstance(line.http.status, int) else ""
            status += " event" if line.http.sse else ""
        return f"{number:<6} {what}{status}  {era or 'no era'}  {len(line.raw)} chars"

    def _described(self, line: MessageLine, value: dict[str, Any]) -> tuple[str, str, str]:
        """Its id, what it is, and its era as far as it can be told from the message and what it answers."""
        has_id = "id" in value
        number = safe_cell(msgspec.json.encode(value["id"]).decode()) if has_id else ""
        method = value.get("method")
        if isinstance(method, str):
            return (
                number,
                _request_text(method, value.get("params")),
                self._era_of_request(line, value, number),
            )
        other = "s2c" if line.dir == "c2s" else "c2s"
        asked, era = self._asked.pop((line.link, other, number), ("", ""))
        error = value.get("error")
        if "result" in value:
            kind = _result_kind(value["result"])
        elif isinstance(error, dict):
            kind = safe_cell(f"error {error.get('code')}: {error.get('message')}")
        else:
            kind = "no message"
        if asked == "initialize" and "result" in value:
            self._shaken.add(line.link)
        return number, f"{asked} {kind}".lstrip(), era

    def _era_of_request(self, line: MessageLine, value: dict[str, Any], number: str) -> str:
        params = value.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        method = value["method"]
        era = ""
        if isinstance(meta, dict) and isinstance(meta.get(_REVISION_KEY), str):
            era = f"modern {safe_cell(meta[_REVISION_KEY])}"
        elif line.link in self._shaken or method == "initialize":
            era = "legacy"
        if number:
            if len(self._asked) >= _MAX_OPEN:
                del self._asked[next(iter(self._asked))]
            self._asked[line.link, line.dir, number] = (_request_text(method, params), era)
        return era


def _request_text(method: str, params: Any) -> str:
    names: Iterable[Any] = (params.get(field) for field in _NAME_FIELDS) if isinstance(params, dict) else ()
    name = next((str(one) for one in names if isinstance(one, str | int)), "")
    return f"{safe_cell(method)} {safe_cell(name)}".rstrip()


def _result_kind(result: Any) -> str:
    kind = result.get("resultType", "complete") if isinstance(result, dict) else "no object"
    if kind == "complete":
        kind = "isError" if result.get("isError") is True else "ok"
    return safe_cell(str(kind))


def _event_text(line: Line) -> str:
    if isinstance(line, HttpLine):
        http = line.http
        parts = [
            http.method or "",
            http.url or "",
            f"HTTP {http.status}" if isinstance(http.status, int) else "",
            "event" if http.sse else "",
            http.event or "",
            f"broke off: {http.error}" if isinstance(http.error, str) else "",
        ]
        return safe_cell(" ".join(part for part in parts if part), most=200)
    if isinstance(line, TextLine):
        return f"no message: {safe_cell(line.raw if isinstance(line.raw, str) else 'bytes, no UTF-8')}"
    if isinstance(line, StderrLine):
        return f"stderr: {safe_cell(line.raw if isinstance(line.raw, str) else 'bytes, no UTF-8', most=200)}"
    if isinstance(line, SpawnLine):
        return f"started, pid {line.pid}" if isinstance(line.pid, int) else "could not be started"
    if isinstance(line, ExitLine):
        return f"exit {line.code}" if isinstance(line.code, int) else f"ended by signal {line.signal}"
    if isinstance(line, NoteLine):
        return f"note: {safe_cell(line.text, most=400)}"
    return "end of the stream" if isinstance(line, EofLine) else "something else"


def _rules_text(found: list[Any]) -> str:
    if not found:
        return ""
    return f" (+{', '.join(dict.fromkeys(safe_cell(one.rule) for one in found))})"


def safe_cell(text: str, *, most: int = _MAX_CELL) -> str:
    """A text on one line, not too long, without anything that a terminal would obey."""
    shown = "".join(char if char.isprintable() else "\ufffd" for char in text[: most + 1])
    return shown if len(shown) <= most else f"{shown[:most]}…"
