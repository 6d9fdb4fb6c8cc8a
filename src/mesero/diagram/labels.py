"""The few words on a row: what a message is about, and what is worth saying beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from mesero.audit.evidence import Evidence, members_of
from mesero.diagram.model import Badness
from mesero.trace.format import (
    EofLine,
    ExitLine,
    HttpLine,
    LinkLine,
    MessageLine,
    NoteLine,
    OtherLine,
    SpawnLine,
    StderrLine,
    TextLine,
)

__all__ = ["Words", "duration_text", "line_words", "message_words", "plain"]

_MAX_CHARS: Final = 160

Words = tuple[str, str, Badness]
"""The label, the note beside it, how bad it is."""

_SUBJECTS: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "resources/subscribe": "uri",
    "resources/unsubscribe": "uri",
    "notifications/resources/updated": "uri",
    "initialize": "protocolVersion",
    "tasks/get": "taskId",
    "tasks/result": "taskId",
    "tasks/cancel": "taskId",
    "logging/setLevel": "level",
    "elicitation/create": "message",
}
_COUNTED: Final = {
    "tools": "tool",
    "resources": "resource",
    "resourceTemplates": "template",
    "prompts": "prompt",
    "contents": "content",
    "messages": "message",
    "roots": "root",
}


def plain(value: Any, *, max_chars: int = _MAX_CHARS) -> str:
    """A value as one short line that nothing obeys."""
    if isinstance(value, str):
        text = value
    else:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except RecursionError:
            text = "…"
    text = " ".join(text[: 4 * max_chars].split())
    text = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


def duration_text(seconds: float) -> str:
    """A duration for people: ``0.4 ms``, ``12 ms``, ``3.21 s``, ``2 min 5 s``."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.2g} ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.995:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def message_words(evidence: Evidence) -> Words:
    """The words for a message."""
    kind = evidence.kind
    if kind == "request":
        return _subject_of(evidence), _asks_again(evidence.params), ""
    if kind == "notification":
        return _subject_of(evidence), _told_by(evidence), ""
    if kind == "result":
        return _result_words(evidence.result)
    if kind == "error":
        code = plain(evidence.error.get("code"))
        return f"error {code}", plain(evidence.error.get("message", "")), "error"
    if isinstance(evidence.message, list):
        return f"a batch of {len(evidence.message)}", "", ""
    return "no JSON-RPC message", plain(evidence.raw), "error"


def _subject_of(evidence: Evidence) -> str:
    method = plain(evidence.method) or "no method"
    subject = evidence.params.get(_SUBJECTS.get(evidence.method, ""))
    return f"{method} {plain(subject)}" if isinstance(subject, str) and subject else method


def _asks_again(params: Mapping[str, Any]) -> str:
    answers = params.get("inputResponses")
    if isinstance(answers, dict):
        return f"with answers to {plain(', '.join(map(str, answers)) or 'nothing')}"
    return "with the state handed out" if "requestState" in params else ""


def _told_by(evidence: Evidence) -> str:
    params = evidence.params
    if evidence.method == "notifications/progress":
        total = f" of {plain(params['total'])}" if "total" in params else ""
        text = f": {plain(params['message'])}" if "message" in params else ""
        return f"{plain(params.get('progress'))}{total}{text}"
    if evidence.method == "notifications/message":
        return f"{plain(params.get('level'))}: {plain(params.get('data'))}"
    if evidence.method == "notifications/cancelled":
        reason = f": {plain(params['reason'])}" if "reason" in params else ""
        return f"request {plain(params.get('requestId'))}{reason}"
    return ""


def _result_words(result: Mapping[str, Any]) -> Words:
    kind = result.get("resultType")
    if kind == "input_required":
        questions = members_of(result.get("inputRequests"))
        asked = ", ".join(f"{key} ({members_of(each).get('method')})" for key, each in questions.items())
        return "input required", f"asks for {plain(asked or 'nothing')}", ""
    if result.get("isError") is True:
        return "result", f"the tool failed: {_first_text_of(result)}", "error"
    if "supportedVersions" in result:
        return "result", plain(f"speaks {plain(result['supportedVersions'])}"), ""
    if "protocolVersion" in result:
        name = members_of(result.get("serverInfo")).get("name", "")
        return "result", f"agreed on {plain(result['protocolVersion'])} {plain(name)}".rstrip(), ""
    for member, noun in _COUNTED.items():
        items = result.get(member)
        if isinstance(items, list):
            more = ", more to come" if "nextCursor" in result else ""
            return "result", f"{len(items)} {noun}{'' if len(items) == 1 else 's'}{more}", ""
    return "result", _first_text_of(result), ""


def _first_text_of(result: Mapping[str, Any]) -> str:
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        text = members_of(block).get("text")
        if isinstance(text, str):
            return plain(text)
    return plain(result["structuredContent"]) if "structuredContent" in result else ""


# -- lines without a message ---------------------------------------------------------------------------------


def line_words(line: Any) -> Words:
    """The words for a line that holds no message."""
    if isinstance(line, SpawnLine):
        bad: Badness = "error" if line.pid is UNSET else ""
        state = "could not be started" if line.pid is UNSET else f"pid {line.pid}"
        return f"started {plain(' '.join(line.command))}", state, bad
    if isinstance(line, ExitLine):
        if line.signal is not UNSET:
            return f"ended by signal {line.signal}", "", "warning"
        failed = line.code is not UNSET and line.code != 0
        return f"exited with code {'?' if line.code is UNSET else line.code}", "", "error" if failed else ""
    if isinstance(line, EofLine):
        who = "the client" if line.dir == "c2s" else "the server"
        return f"{who} closed the {'stream' if line.http is not UNSET else 'pipe'}", "", ""
    if isinstance(line, HttpLine):
        return _http_words(line)
    if isinstance(line, TextLine | StderrLine):
        raw = line.raw if line.raw is not UNSET else f"{line.b64} (Base64)"
        return _noise_words(raw) if isinstance(line, TextLine) else ("stderr", plain(raw), "")
    if isinstance(line, MessageLine):
        return _noise_words(line.raw)
    if isinstance(line, NoteLine):
        return "note", plain(line.text), "warning" if line.text.startswith("client reported:") else ""
    if isinstance(line, LinkLine):
        return "a new link", "", ""
    return plain(line.kind if isinstance(line, OtherLine) else "a line"), "", ""


def _noise_words(raw: str) -> Words:
    """Whatever stands where a message should; an empty line does no harm."""
    return ("no message", plain(raw), "error") if raw.strip() else ("an empty line", "", "")


def _http_words(line: HttpLine) -> Words:
    http = line.http
    if http.error is not UNSET:
        return "the connection broke", plain(http.error), "error"
    if http.status is not UNSET:
        kind = plain(http.headers.get("content-type", ""))
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
        bad: Badness = "error" if http.status >= 400 and http.status != 405 else ""
        return f"HTTP {http.status}", plain(http.body) if http.body is not UNSET else kind, bad
    if http.method is not UNSET:
        return f"{plain(http.method)} {plain(http.url) if http.url is not UNSET else ''}".rstrip(), "", ""
    event = "" if http.event is UNSET else plain(http.event)
    return f"event {event}".rstrip(), plain(http.body) if http.body is not UNSET else "", ""
