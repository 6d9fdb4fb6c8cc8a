"""Messages as readable lines, each judged by its revision's own schema, and the three invariants counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec

from mesero.revisions.judge import check_message
from mesero.types import CLIENT_CAPABILITIES_KEY, PROTOCOL_VERSION_KEY, SERVER_INFO_KEY

__all__ = ["Wire"]

_LISTS = {
    "tools/list": ("tools", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
    "prompts/list": ("prompts", "name"),
}
_WIDTH = 110


class Wire:
    """Takes every message as it passes, writes a line for it, and keeps count.

    Args:
        write: Takes one line.
        clock: Seconds.
    """

    def __init__(self, write: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._clock = clock
        self._open: dict[Any, tuple[str, float]] = {}
        self.messages = 0
        self.violations: list[str] = []
        self.requests = 0
        self.requests_with_meta = 0
        self.results = 0
        self.complete_results = 0
        self.asking_results = 0
        self.lists = 0
        self.good_lists = 0

    def take(self, direction: str, raw: bytes, http: object = None) -> None:
        """One message: the ``trace=`` of a client."""
        del http  # What HTTP says around a message is shown by `mesero send`.
        message = msgspec.json.decode(raw)
        self.messages += 1
        arrow = "→" if direction == "c2s" else "←"
        if "method" in message:
            self._take_call(arrow, message)
        else:
            self._take_answer(arrow, message)

    def _take_call(self, arrow: str, message: dict[str, Any]) -> None:
        verdict = self._judge(message, None)
        params = message.get("params", {})
        if "id" not in message:
            self._line(arrow, "", f"{message['method']}  {_brief_of(params)}", verdict)
            return
        self._open[message["id"]] = (message["method"], self._clock())
        meta = params.get("_meta", {})
        self.requests += 1
        has_meta = isinstance(meta.get(PROTOCOL_VERSION_KEY), str)
        self.requests_with_meta += has_meta and isinstance(meta.get(CLIENT_CAPABILITIES_KEY), dict)
        self._line(arrow, message["id"], f"{message['method']}  {_brief_of(params)}", verdict)

    def _take_answer(self, arrow: str, message: dict[str, Any]) -> None:
        method, sent = self._open.pop(message.get("id"), ("", self._clock()))
        verdict = self._judge(message, method)
        took = f"{(self._clock() - sent) * 1000:.1f} ms"
        if "error" in message:
            error = message["error"]
            self._line(
                arrow, message.get("id", ""), f"error {error['code']}: {error['message']}", verdict, took
            )
            return
        result = message["result"]
        kind = result.get("resultType")
        identified = SERVER_INFO_KEY in result.get("_meta", {})
        if kind == "input_required":
            self.asking_results += identified
        else:
            self.results += 1
            self.complete_results += kind == "complete" and identified
        self._count_list(method, result)
        self._line(arrow, message.get("id", ""), f"{kind}: {_text_of(method, result)}", verdict, took)

    def _count_list(self, method: str, result: dict[str, Any]) -> None:
        if method not in _LISTS:
            return
        field, key = _LISTS[method]
        keys = [entry[key] for entry in result[field]]
        has_hints = isinstance(result.get("ttlMs"), int) and result.get("cacheScope") in ("public", "private")
        self.lists += 1
        self.good_lists += keys == sorted(keys) and has_hints

    def _judge(self, message: dict[str, Any], method: str | None) -> str:
        found = check_message("2026-07-28", message, answers=method or None)
        self.violations.extend(f"{violation.path}: {violation.message}" for violation in found)
        return "✗ " + found[0].message if found else "✓"

    def _line(self, arrow: str, message_id: Any, text: str, verdict: str, took: str = "") -> None:
        if len(text) > _WIDTH:
            text = text[: _WIDTH - 1] + "…"
        self._write(f"  {verdict} {arrow} {message_id!s:>2}  {text}{'   ' + took if took else ''}")


def _brief_of(params: dict[str, Any]) -> str:
    """The parameters without their metadata, on one line."""
    meta = params.get("_meta", {})
    shown = {name: value for name, value in params.items() if name not in ("_meta", "requestState")}
    text = msgspec.json.encode(shown).decode() if shown else ""
    notes = []
    if "requestState" in params:
        notes.append(f"its state back ({len(params['requestState'])} bytes)")
    if "progressToken" in meta:
        notes.append("wants progress")
    return f"({', '.join(notes)})  {text}" if notes else text


def _text_of(method: str, result: dict[str, Any]) -> str:
    """What a result says, on one line."""
    if "inputRequests" in result:
        questions = (question.get("params", {}) for question in result["inputRequests"].values())
        return " / ".join(str(question.get("message", "asks for input")) for question in questions)
    if method == "server/discover":
        offers = ", ".join(sorted(result["capabilities"]))
        return f"speaks {', '.join(result['supportedVersions'])}; offers {offers}{_hints_of(result)}"
    if method in _LISTS:
        field, key = _LISTS[method]
        entries = result[field]
        return f"{len(entries)} {field}: {', '.join(entry[key] for entry in entries)}{_hints_of(result)}"
    if "content" in result:
        failed = "the tool failed: " if result.get("isError") else ""
        return failed + " ".join(block.get("text", f"<{block['type']}>") for block in result["content"])
    if "contents" in result:
        return " ".join(repr(contents.get("text", "<blob>")) for contents in result["contents"]) + _hints_of(
            result
        )
    return msgspec.json.encode(
        {key: value for key, value in result.items() if key not in ("_meta", "resultType")}
    ).decode()


def _hints_of(result: dict[str, Any]) -> str:
    return f"; fresh for {result.get('ttlMs', 0) / 1000:g} s, {result.get('cacheScope')}"
