"""An explanation, or an entry of the glossary, as lines of text for people."""

from __future__ import annotations

import textwrap
from typing import Final

from mesero.explain.glossary import Entry
from mesero.explain.message import Explanation
from mesero.explain.steps import Reply, StepReport

__all__ = ["entry_text", "explanation_text"]

_WIDTH: Final = 100
_MARKS: Final = {"passed": "ok", "refused": "STOP", "skipped": "--", "not reached": ".."}
_SENDERS: Final = {
    "client": "the client",
    "server": "the server",
    "both": "client and server",
    "host": "nobody: the host made it up",
    "intermediary": "the server, or something between",
}


def entry_text(entry: Entry) -> str:
    """One entry."""
    lines = [f"{entry.name} · {entry.kind} · {entry.title}", ""]
    lines += _wrapped(entry.meaning)
    lines += ["", f"  era       {entry.era}"]
    if entry.revisions:
        lines.append(f"  revisions {', '.join(entry.revisions)}")
    lines.append(f"  sent by   {_SENDERS[entry.sender]}")
    if entry.causes:
        lines += ["", "  What is usually behind it:"]
        lines += [line for cause in entry.causes for line in _item(cause)]
    if entry.link:
        lines += ["", f"  {entry.link}"]
    return "\n".join(lines)


def explanation_text(found: Explanation) -> str:
    """The whole explanation of a message."""
    lines = [f"This is {found.summary}."]
    revision = f", judged by {found.revision}" if found.revision else ""
    lines += _wrapped(f"Era: {found.era}{revision}: {found.why}.", "")
    if found.about is not None:
        lines += _wrapped(f"{found.about.name}: {found.about.meaning}", "")
    if found.fields:
        lines += ["", "Fields"]
        for field in found.fields:
            lines.append(f"  {field.path} = {field.value}")
            lines += _wrapped(f"{field.title}. {field.meaning}".rstrip(), "      ")
    for note in found.notes:
        lines += ["", *_wrapped(note, "")]
    if found.steps:
        lines += ["", "Checks", *(line for step in found.steps for line in _step(step))]
    lines += _verdict(found)
    if found.violations:
        lines += ["", f"It does not fit the JSON Schema of {found.revision}"]
        lines += [line for violation in found.violations for line in _item(violation)]
    if found.reuse:
        lines += ["", "Reuse", *(line for sentence in found.reuse for line in _wrapped(sentence))]
    return "\n".join(lines)


def _step(step: StepReport) -> list[str]:
    head = f"  {_MARKS[step.outcome]:<5}{step.name:<10}"
    return textwrap.wrap(
        step.text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False
    ) or [head.rstrip()]


def _verdict(found: Explanation) -> list[str]:
    if found.reply is not None:
        return ["", *_reply(found.reply, found.stops_at)]
    if found.about is not None and found.about.kind == "question" and found.steps:
        return ["", "Nothing stops it here: the client asks its user or its model, and answers."]
    if found.steps:
        return [
            "",
            "Nothing stops it here: the server goes on to authorize and run it, and answers with the result.",
        ]
    return []


def _reply(reply: Reply, stops_at: str) -> list[str]:
    if not reply.body:
        return _wrapped(
            f"Answer: none; {reply.note}" + (f"; HTTP {reply.status}" if reply.status else ""), ""
        )
    status = f"HTTP {reply.status}, " if reply.status is not None else ""
    lines = [
        f"It stops at {stops_at!r}. The answer that it must get: {status}{len(reply.body.encode())} bytes"
    ]
    lines.append(f"  {reply.body}")
    if reply.note:
        lines += _wrapped(f"({reply.note})")
    return lines


def _wrapped(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _item(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent="  - ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
