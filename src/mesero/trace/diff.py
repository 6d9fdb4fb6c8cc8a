"""Two recordings compared, call by call: for "it worked yesterday". Pure.

A call is a request with its answer; the same call is one with the same method and parameters on the same
link, the first with the first, the second with the second. What is left over is compared with a call of the
same method and name, then counts as added or missing. Lists are compared item by item, over all their pages.

What differs from run to run and means nothing is left out: ids, ``_meta``, ``requestState``.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from mesero.trace.format import Line, MessageLine
from mesero.trace.places import json_path

__all__ = ["Call", "Change", "Difference", "calls_in", "changes_between", "compare"]

_MAX_CHANGES = 100
_LISTS = {
    "tools/list": ("tool", "tools", "name"),
    "prompts/list": ("prompt", "prompts", "name"),
    "resources/list": ("resource", "resources", "uri"),
    "resources/templates/list": ("resource template", "resourceTemplates", "uriTemplate"),
}
_VOLATILE = frozenset({"_meta", "requestState"})


class Change(msgspec.Struct, frozen=True):
    """One value that differs: its JSON path, and the value on each side (UNSET where there is none)."""

    path: str
    before: Any = UNSET
    after: Any = UNSET


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is in one recording only, or not the same in both.

    ``subject`` is ``call``, or ``tool``, ``prompt``, ``resource``, ``resource template`` for an item of a
    list; ``seq_before`` and ``seq_after`` are the lines of the request, UNSET where there is none.
    """

    kind: Literal["added", "missing", "changed"]
    subject: str
    name: str
    link: str
    seq_before: int | UnsetType = UNSET
    seq_after: int | UnsetType = UNSET
    changes: tuple[Change, ...] = ()


@dataclass(slots=True)
class Call:
    """A request and what answered it: ``result`` or ``error``, or neither when no answer was recorded."""

    link: str
    seq: int
    method: str
    name: str
    params: Any
    answer: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> Hashable:
        """Equal for the same call in two recordings."""
        return (self.link, self.method, _canonical(self.params))

    @property
    def title(self) -> str:
        """The method and what it was called for, for people."""
        return f"{self.method} {self.name}".rstrip()


def calls_in(lines: Iterable[Line]) -> Iterator[Call]:
    """The calls of a recording, each when its answer comes; those without one at the end."""
    open_calls: dict[Hashable, Call] = {}
    for line in lines:
        if not isinstance(line, MessageLine):
            continue
        for message in _messages_of(line.raw):
            key = (line.link, line.dir, _id_of(message))
            if isinstance(message.get("method"), str):
                if "id" in message:
                    open_calls[key] = _call_of(line, message)
                continue
            call = open_calls.pop((line.link, "s2c" if line.dir == "c2s" else "c2s", key[2]), None)
            if call is not None:
                call.answer = {name: message[name] for name in ("result", "error") if name in message}
                yield call
    yield from open_calls.values()


def compare(before: Iterable[Line], after: Iterable[Line]) -> list[Difference]:
    """What differs between two recordings: the calls in order of time, then the items of lists."""
    calls_before, lists_before = _sorted_out(before)
    calls_after, lists_after = _sorted_out(after)
    differences = sorted(_call_differences(calls_before, calls_after), key=_order)
    return differences + list(_list_differences(lists_before, lists_after))


def changes_between(before: Any, after: Any, *, start: str = "$") -> tuple[Change, ...]:
    """What differs between two JSON values, at most the first hundred places."""
    changes: list[Change] = []
    todo: list[tuple[tuple[str | int, ...], Any, Any]] = [((), before, after)]
    while todo and len(changes) < _MAX_CHANGES:
        steps, one, other = todo.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            names = [name for name in {**one, **other} if name not in _VOLATILE]
            inner = [((*steps, name), one.get(name, UNSET), other.get(name, UNSET)) for name in names]
            todo += reversed(inner)
        elif isinstance(one, list) and isinstance(other, list):
            indexes = range(max(len(one), len(other)))
            todo += reversed([((*steps, index), _item(one, index), _item(other, index)) for index in indexes])
        elif one != other or type(one) is not type(other):
            changes.append(Change(json_path(steps, start=start), one, other))
    return tuple(changes)


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else UNSET


def _messages_of(raw: str) -> list[dict[str, Any]]:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _id_of(message: dict[str, Any]) -> str:
    found = message.get("id")
    return repr(found) if isinstance(found, str | int | float) else "no id"


def _call_of(line: MessageLine, message: dict[str, Any]) -> Call:
    params = message.get("params")
    name = ""
    if isinstance(params, dict):
        params = {key: value for key, value in params.items() if key not in _VOLATILE}
        name = next((params[key] for key in ("name", "uri") if isinstance(params.get(key), str)), "")
    return Call(line.link, line.seq, message["method"], name, params)


def _canonical(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value, order="deterministic")
    except RecursionError:
        # So deep that it can be read but not written: such calls are told apart by their names.
        return b""


_Lists = dict[tuple[str, str, str], tuple[int, Any]]
"""From link, subject and name of an item to the line of its request, and the item."""


def _sorted_out(lines: Iterable[Line]) -> tuple[list[Call], _Lists]:
    calls: list[Call] = []
    items: _Lists = {}
    for call in calls_in(lines):
        result = call.answer.get("result")
        kind = _LISTS.get(call.method)
        if kind is None or not isinstance(result, dict) or not isinstance(result.get(kind[1]), list):
            calls.append(call)
            continue
        subject, member, label = kind
        if not (isinstance(call.params, dict) and "cursor" in call.params):
            # A list that is asked for again counts as it is last.
            items = {key: item for key, item in items.items() if key[:2] != (call.link, subject)}
        for item in result[member]:
            if isinstance(item, dict):
                items[call.link, subject, str(item.get(label))] = (call.seq, item)
    return calls, items


def _call_differences(before: list[Call], after: list[Call]) -> Iterator[Difference]:
    """The same calls, then those that have the method and the name in common, then what is left over."""
    for key_of in (lambda call: call.key, lambda call: (call.link, call.method, call.name)):
        waiting: defaultdict[Hashable, deque[Call]] = defaultdict(deque)
        for call in after:
            waiting[key_of(call)].append(call)
        left = []
        for call in before:
            others = waiting[key_of(call)]
            if others:
                yield from _changed(call, others.popleft())
            else:
                left.append(call)
        before, after = left, [call for others in waiting.values() for call in others]
    for call in before:
        yield _difference("missing", call, seq_before=call.seq)
    for call in after:
        yield _difference("added", call, seq_after=call.seq)


def _changed(before: Call, after: Call) -> Iterator[Difference]:
    changes = changes_between(before.params, after.params, start="$.params")
    changes += changes_between(before.answer, after.answer)
    if changes:
        yield _difference("changed", before, seq_before=before.seq, seq_after=after.seq, changes=changes)


def _difference(kind: Literal["added", "missing", "changed"], call: Call, **fields: Any) -> Difference:
    return Difference(kind=kind, subject="call", name=call.title, link=call.link, **fields)


def _order(difference: Difference) -> int:
    seq = difference.seq_after if difference.seq_before is UNSET else difference.seq_before
    return seq if isinstance(seq, int) else 0


def _list_differences(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Iterator[Difference]:
    for key in {**before, **after}:
        (seq_before, one), (seq_after, other) = (
            before.get(key, (UNSET, UNSET)),
            after.get(key, (UNSET, UNSET)),
        )
        changes = changes_between(one, other)
        if not changes:
            continue
        is_both = isinstance(one, dict) and isinstance(other, dict)
        yield Difference(
            kind="changed" if is_both else "missing" if isinstance(one, dict) else "added",
            subject=key[1],
            name=key[2],
            link=key[0],
            seq_before=seq_before,
            seq_after=seq_after,
            changes=changes if is_both else (),
        )
