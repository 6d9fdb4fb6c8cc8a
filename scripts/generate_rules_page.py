"""Write docs/rules.md from the registry of rules and causes.

    python scripts/generate_rules_page.py [--out FILE] [--check]

The registry is the only place where a rule is described; the page and `mesero rules` show it. The same
registry always gives the same bytes. With --check nothing is written: exit 1 if the page differs from what
would be written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from mesero.audit import FAMILIES, RULES, SEVERITIES, Rule, families
from mesero.audit.diagnosis import CAUSES, SYMPTOMS, load_causes
from mesero.audit.rules import ALL, HANDSHAKE

sys.path.insert(0, str(Path(__file__).parent))

from generated_page import cell, write_or_check

PAGE = Path(__file__).parents[1] / "docs" / "rules.md"

INTRODUCTION = """\
# The rules of the audit

Written by `scripts/generate_rules_page.py`; change the rule, not this page.

`mesero audit FILE` judges every message of a recording by the revision that the message itself belongs to.
Here is every rule, and every cause that a symptom can have. `mesero rules META-003` prints one of them with
a trace that passes and one that fails; both are its tests. How to make a recording: [traces](traces.md).

- *Severity*: an **error** breaks the specification or the connection, a **warning** breaks a recommendation
  or something that many programs rely on, **info** is worth knowing.
- *Holds for*: the revisions by whose messages it is judged. A message of unknown revision is judged only by
  rules that hold for all of them.
- *Rule*: its title leads to the part of the specification that it comes from.
"""


def page() -> str:
    """The whole page."""
    families.load()
    load_causes()
    return "\n".join(
        [INTRODUCTION, _counts(), "", *_rules(RULES.values()), "## Causes of symptoms", "", *_causes()]
    )


def _counts() -> str:
    each = ", ".join(
        f"{sum(rule.severity == severity for rule in RULES.values())} {severity}"
        for severity in reversed(SEVERITIES)
    )
    return f"{len(RULES)} rules in {len(FAMILIES)} families ({each}), {len(CAUSES)} causes."


def _rules(rules: Iterable[Rule]) -> Iterator[str]:
    members: dict[str, list[Rule]] = {name: [] for name in FAMILIES.values()}
    for rule in rules:
        members[rule.family].append(rule)
    for prefix, family in FAMILIES.items():
        yield f"## {family[0].upper()}{family[1:]} ({prefix})"
        yield ""
        yield "| Id | Severity | Holds for | Rule | What to do |"
        yield "| --- | --- | --- | --- | --- |"
        for rule in members[family]:
            title = f"[{cell(rule.title)}]({rule.spec})"
            yield f"| {rule.id} | {rule.severity} | {_holds_for(rule)} | {title} | {cell(rule.fix)} |"
        yield ""


def _holds_for(rule: Rule) -> str:
    revisions = rule.revisions
    if revisions == ALL:
        return "all"
    if revisions == HANDSHAKE:
        return "all with a handshake"
    if len(revisions) > 1 and revisions == ALL[ALL.index(revisions[0]) :]:
        return f"since {revisions[0]}"
    return ", ".join(revisions)


def _causes() -> Iterator[str]:
    yield (
        "For a symptom that can have several causes the audit names the one that the recording supports, "
        "tried in this order."
    )
    yield ""
    for prefix, symptom in SYMPTOMS.items():
        yield f"### {symptom[0].upper()}{symptom[1:]} ({prefix})"
        yield ""
        yield "| Code | Cause | Phase | At fault | What to do |"
        yield "| --- | --- | --- | --- | --- |"
        for each in CAUSES.values():
            if each.code.partition("-")[0] == prefix:
                words = (each.code, each.title, each.phase, each.blame, each.fix)
                yield f"| {' | '.join(map(cell, words))} |"
        yield ""


def main(arguments: list[str] | None = None) -> int:
    """0 when the page is as it should be."""
    about = (__doc__ or "").partition("\n")[0]
    return write_or_check(
        page(), page=PAGE, script="scripts/generate_rules_page.py", about=about, arguments=arguments
    )


if __name__ == "__main__":
    raise SystemExit(main())
