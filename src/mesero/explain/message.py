"""The explanation of one message: kind, era, fields, checks, and the exact answer to it.

`explain_message` puts together what the neighbours find out; nothing is remembered from one message to the
next, and no message makes it raise.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from mesero.errors import InvalidParamsError, RpcError
from mesero.explain.choice import Choice, MessageKind, choose_era, kind_of, members_of
from mesero.explain.glossary import METHODS, Entry, find_entry
from mesero.explain.handshake import run_checks
from mesero.explain.reuse import find_method_for, reuse_of
from mesero.explain.steps import Reply, StepReport, reply_for, run_steps
from mesero.jsonrpc import decode_value
from mesero.revisions.judge import check_message

__all__ = ["Explanation", "FieldReport", "explain_message"]

_MAX_VALUE_CHARS: Final = 80
_MAX_VIOLATIONS: Final = 20


class FieldReport(msgspec.Struct, frozen=True):
    """A field of the message: its path, the beginning of its value as JSON, what it means."""

    path: str
    value: str
    title: str
    meaning: str
    link: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """All that can be said of one message.

    ``steps`` are the checks of a request, ``reply`` the answer that a server must give where one of them
    refuses it, ``violations`` what does not fit the JSON Schema of its revision, ``reuse`` what a result says
    of its own reuse. ``about`` is the entry of its method, or of its error code.
    """

    kind: MessageKind
    summary: str
    era: str
    why: str
    revision: str = ""
    about: Entry | None = None
    fields: tuple[FieldReport, ...] = ()
    steps: tuple[StepReport, ...] = ()
    stops_at: str = ""
    reply: Reply | None = None
    violations: tuple[str, ...] = ()
    reuse: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def explain_message(
    raw: bytes,
    *,
    headers: Sequence[tuple[str, str]] | None = None,
    revision: str | None = None,
    surroundings: str = "",
    answers: str | None = None,
) -> Explanation:
    """Explain one message.

    Args:
        raw: Its bytes.
        headers: The HTTP headers that came with it; None where it did not come over HTTP.
        revision: The revision to take it for; by default the message itself decides.
        surroundings: The revision that what came before it shows; it counts where the message tells nothing.
        answers: The method that a result answers, where it is known.
    """
    try:
        message = decode_value(raw)
        raw.decode()
    except (RpcError, UnicodeDecodeError):
        return _explain_garbage(raw, headers)
    kind = kind_of(message)
    lines = {name.lower(): value for name, value in reversed(headers or ())}
    choice = choose_era(message, lines, revision)
    if choice.era == "unknown" and surroundings:
        choice = msgspec.structs.replace(
            choose_era(message, lines, surroundings), why=f"what came before it is of {surroundings}"
        )
    if kind == "result" and answers is None:
        answers = find_method_for(members_of(message["result"]))
    common: dict[str, Any] = {
        "kind": kind,
        "summary": _summary_of(kind, message, answers),
        "era": choice.era,
        "why": choice.why,
        "revision": choice.revision,
        "about": _entry_about(kind, message, answers),
        "fields": _fields_of(message),
    }
    if kind == "request":
        return _explain_request(raw, message, headers, choice, common)
    if kind in ("batch", "no message"):
        return _explain_misfit(raw, message, headers, choice, common)
    return _explain_others(message, choice, answers, common, is_http=headers is not None)


def _explain_garbage(raw: bytes, headers: Sequence[tuple[str, str]] | None) -> Explanation:
    steps, reply = run_steps(raw, headers)
    return Explanation(
        kind="no message",
        summary="no JSON",
        era="unknown",
        why="what cannot be read belongs to no era; both refuse it in the same way",
        about=find_entry("error code", "-32700"),
        steps=steps,
        stops_at="parse",
        reply=reply,
        notes=(_STRAY,),
    )


def _explain_request(
    raw: bytes,
    message: Any,
    headers: Sequence[tuple[str, str]] | None,
    choice: Choice,
    common: dict[str, Any],
) -> Explanation:
    is_http = headers is not None
    notes: tuple[str, ...] = ()
    if choice.era == "handshake":
        steps, reply = run_checks(raw, message, choice.revision, is_http=is_http)
        known = METHODS.get(message["method"]) if isinstance(message["method"], str) else None
        if known is not None and known.kind == "question":
            notes = ("It is the client who answers this one: the server asks.",)
    else:
        steps, reply = run_steps(raw, headers)
        if choice.era == "unknown":
            notes = (_EITHER,)
    violations = () if choice.era == "unknown" or reply is not None else _violations_of(message, choice, None)
    if violations:
        # What the steps leave to the operation itself: a server finds it there, and says the same.
        error = InvalidParamsError(f"{message['method']}: invalid parameters: {violations[0]}")
        reply = reply_for(raw, error, is_http=is_http)
        steps = (*steps[:-1], StepReport(steps[-1].name, "refused", f"{error.code}: {error.message}"))
    stops_at = next((step.name for step in steps if step.outcome == "refused"), "")
    return Explanation(
        **common, steps=steps, stops_at=stops_at, reply=reply, notes=notes, violations=violations
    )


def _explain_misfit(
    raw: bytes,
    message: Any,
    headers: Sequence[tuple[str, str]] | None,
    choice: Choice,
    common: dict[str, Any],
) -> Explanation:
    if common["kind"] == "batch" and choice.revision == "2025-03-26" and message:
        note = f"Each of its {len(message)} messages is judged and answered by itself, in one array."
        return Explanation(**common, violations=_violations_of(message, choice, None), notes=(note,))
    steps, reply = run_steps(raw, headers)
    stops_at = next((step.name for step in steps if step.outcome == "refused"), "")
    return Explanation(**common, steps=steps, stops_at=stops_at, reply=reply)


def _explain_others(
    message: Any, choice: Choice, answers: str | None, common: dict[str, Any], *, is_http: bool
) -> Explanation:
    """Results, errors and notifications: nobody answers them."""
    kind = common["kind"]
    reuse: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reply = None
    if kind == "notification":
        note = "a notification is never answered, whatever is wrong with it"
        reply = Reply("", 202 if is_http else None, note)
    elif kind == "result":
        if choice.era == "handshake":
            reuse = (
                "With a handshake nothing says how long a result holds; notifications say when it changed.",
            )
        else:
            reuse = reuse_of(members_of(message["result"]), answers=answers)
        if members_of(message["result"]).get("resultType") == "input_required":
            notes = (_RETRY,)
    return Explanation(
        **common,
        reply=reply,
        reuse=reuse,
        notes=notes,
        violations=_violations_of(message, choice, answers) if choice.revision else (),
    )


_STRAY: Final = "Over stdin and stdout it is also what a stray print looks like."
_EITHER: Final = (
    "Below is what a stateless server does with it. On a connection whose handshake is done it is judged by"
    " the revision agreed on: --revision 2025-11-25 shows that."
)
_RETRY: Final = (
    "The client answers each entry of `inputRequests` and sends the request again: a new id, the same"
    " parameters, `inputResponses` by the same keys, and `requestState` as it came."
)


def _violations_of(message: Any, choice: Choice, answers: str | None) -> tuple[str, ...]:
    found = check_message(choice.revision, message, answers=answers)
    told = tuple(f"{each.path} {each.message}" for each in found[:_MAX_VIOLATIONS])
    left = len(found) - _MAX_VIOLATIONS
    return (*told, f"and {left} more") if left > 0 else told


# -- the parts in words --------------------------------------------------------------------------------------


def _short(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "…"
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}…"


def _summary_of(kind: str, message: Any, answers: str | None) -> str:
    if kind == "request":
        return f"a request: {_word(message['method'])}, id {_short(message['id'])}; it is owed an answer"
    if kind == "notification":
        return f"a notification: {_word(message['method'])}; nobody answers it"
    owner = f"id {_short(message['id'])}" if isinstance(message, dict) and "id" in message else "no id"
    if kind == "result":
        of = f", most likely of {answers}" if answers is not None else ""
        return f"a result for the request with {owner}{of}"
    if kind == "error":
        return f"an error for the request with {owner}: {_short(members_of(message['error']).get('code'))}"
    if kind == "batch":
        return f"a batch of {len(message)}"
    return "JSON, but no JSON-RPC message"


def _word(method: Any) -> str:
    return method if isinstance(method, str) else _short(method)


def _entry_about(kind: str, message: Any, answers: str | None) -> Entry | None:
    if kind in ("request", "notification"):
        return METHODS.get(message["method"]) if isinstance(message["method"], str) else None
    if kind == "result":
        return METHODS.get(answers) if answers is not None else None
    if kind == "error":
        return find_entry("error code", str(members_of(message["error"]).get("code")))
    return None


def _fields_of(message: Any) -> tuple[FieldReport, ...]:
    reports = []
    for path, value in _paths_in(members_of(message)):
        key = path.partition("._meta.")[2]
        entry = find_entry("_meta key", key) if key else find_entry("field", path)
        if entry is not None:
            reports.append(FieldReport(path, _short(value), entry.title, entry.meaning, entry.link))
    return tuple(reports)


def _paths_in(message: dict[str, Any]) -> list[tuple[str, Any]]:
    """The members of the message, of params, result and error, and of their metadata."""
    found: list[tuple[str, Any]] = []
    for name, value in message.items():
        found.append((name, value))
        if name not in ("params", "result", "error"):
            continue
        for inner, held in members_of(value).items():
            found.append((f"{name}.{inner}", held))
            if inner == "_meta":
                found += [(f"{name}._meta.{key}", each) for key, each in members_of(held).items()]
    return found
