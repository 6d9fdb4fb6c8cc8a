"""``mesero rules``: what the audit looks for, and what a code in a report of its or the doctor's means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from mesero.audit import families
from mesero.audit.diagnosis import CAUSES, Cause, load_causes
from mesero.audit.rules import ALL, FAMILIES, RULES, Rule
from mesero.cli.exits import reporting
from mesero.cli.printing import Output
from mesero.cli.recordings import plural
from mesero.errors import UsageError
from mesero.trace.format import Line, encode_line

if TYPE_CHECKING:
    from mesero.doctor.report import Text

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "[ID]"

EXAMPLES = """\
  mesero rules
  mesero rules META
  mesero rules META-003
  mesero rules LAUNCH-1
"""


@reporting
def command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[ID]",
            help="A rule (META-003), a family (META), a cause (CLOSED-1), a diagnosis (LAUNCH-1).",
        ),
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by `reporting`
) -> None:
    """Print the rules of the audit; of one rule everything, with a trace that passes and one that fails."""
    families.load()
    load_causes()
    output = Output(as_json=json)
    wanted = what.upper()
    if wanted in CAUSES:
        cause = CAUSES[wanted]
        output.give(_cause_document(cause)) if json else output.say(_cause_text(cause))
        return
    texts = _doctors_texts(wanted)
    chosen = [rule for rule in RULES.values() if wanted in ("", rule.id, rule.id.partition("-")[0])]
    if not chosen and not texts:
        near = difflib.get_close_matches(wanted, [*RULES, *FAMILIES, *CAUSES], n=3)
        raise UsageError(
            f"{what!r} is no rule, family, cause or diagnosis",
            fix=f"Perhaps one of these is meant: {', '.join(near)}" if near else "'mesero rules' lists them",
        )
    if json:
        documents = [{"code": code} | msgspec.to_builtins(text) for code, text in texts.items()]
        output.give([*map(_document_of, chosen), *documents])
        return
    rules = [_rule_text(chosen[0])] if wanted in RULES else [_list_text(chosen)] if chosen else []
    output.say("\n\n".join([*rules, *(_text_text(*item) for item in texts.items())]))


def _doctors_texts(wanted: str) -> dict[str, Text]:
    """What only the doctor can find, by its code or by the beginning of several."""
    if not wanted:
        return {}
    # Most who ask are content with what the audit knows.
    from mesero.doctor.texts import TEXTS

    return {code: text for code, text in TEXTS.items() if wanted in (code, code.partition("-")[0])}


def _text_text(code: str, text: Text) -> str:
    return "\n".join(
        [
            f"{code} {text.title}",
            f"  {text.severity} · phase: {text.phase} · at fault: {text.blame} ({text.confidence})",
            f"  fix: {text.fix}",
        ]
    )


def _list_text(rules: Iterable[Rule]) -> str:
    grouped: dict[str, list[Rule]] = {}
    for rule in rules:
        grouped.setdefault(rule.family, []).append(rule)
    many = sum(map(len, grouped.values()))
    parts = [f"{plural(many, 'rule')} in {len(grouped)} famil{'y' if len(grouped) == 1 else 'ies'}"]
    for family, members in grouped.items():
        rows = [f"  {rule.id:<10} {rule.severity:<8} {rule.title}" for rule in members]
        parts.append("\n".join([family, *rows]))
    return "\n\n".join(parts)


def _rule_text(rule: Rule) -> str:
    holds = "every revision" if rule.revisions == ALL else ", ".join(rule.revisions)
    lines = [
        f"{rule.id} {rule.title}",
        f"  severity: {rule.severity} · family: {rule.family} · at fault: {rule.blame or 'who sent it'}",
        f"  holds for: {holds}",
        f"  fix: {rule.fix}",
        f"  {rule.spec}",
    ]
    for word, example in (("passes", rule.passes), ("fails", rule.fails)):
        lines += ["", f"This {word}:", *_example_of(example)]
    return "\n".join(lines)


def _cause_text(cause: Cause) -> str:
    lines = [
        f"{cause.code} {cause.title}",
        f"  symptom: {cause.symptom} · phase: {cause.phase} · at fault: {cause.blame} ({cause.confidence})",
        f"  fix: {cause.fix}",
        "",
        "It is found in this:",
        *_example_of(cause.example),
    ]
    return "\n".join(lines)


def _example_of(lines: Iterable[Line]) -> list[str]:
    return [f"  {encode_line(line).decode().rstrip()}" for line in lines]


def _document_of(rule: Rule) -> dict[str, Any]:
    fields = ("id", "title", "severity", "family", "revisions", "fix", "spec")
    return {name: getattr(rule, name) for name in fields} | {
        "passes": [encode_line(line).decode().rstrip() for line in rule.passes],
        "fails": [encode_line(line).decode().rstrip() for line in rule.fails],
    }


def _cause_document(cause: Cause) -> dict[str, Any]:
    fields = ("code", "title", "symptom", "phase", "blame", "fix", "confidence")
    return {name: getattr(cause, name) for name in fields}
