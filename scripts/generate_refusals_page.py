"""Write docs/refusals.md from the table of what hosts and model APIs refuse of tools.

    python scripts/generate_refusals_page.py [--out FILE] [--check]

The table is the only place where a fact is kept; the page and the doctor show it. The same table always gives
the same bytes. With --check nothing is written: exit 1 if the page differs from what would be written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from mesero.doctor.refusals import REFUSALS, Refusal
from mesero.doctor.texts import TEXTS

sys.path.insert(0, str(Path(__file__).parent))

from generated_page import cell, write_or_check

PAGE = Path(__file__).parents[1] / "docs" / "refusals.md"

INTRODUCTION = """\
# What hosts and model APIs refuse of tools

Written by `scripts/generate_refusals_page.py`; change the table in `src/mesero/doctor/refusals`, not this
page.

A tool can be right by the specification and still be refused: by the API of a model, or by the host in
between. Often one tool costs the whole request, or every tool of its server, and the message that comes back
gives only a number. `mesero doctor` looks for what is in this table, and names the tool, the place in it and
what to do.

- *Refused by*: one who refuses it, in the version of the source or in the years around it.
- *What is lost*: **the whole request** means no answer at all as long as the tool is there.
- *Sure*: **certain** where documentation, code or the answer of an API says so; **likely** where nothing else
  fits; **possible** where a report says so and later ones do not.
- *Mended by*: who rewrites tools on the way, so that nothing happens. What most hosts mend is no diagnosis.
- *Source*: where it is known from. A fact grows old: look there again before you rely on it.

The strict modes of model APIs want more (every parameter required, no additional ones). Whether a host asks
for them is its own choice, so they are not judged.
"""


def page() -> str:
    """The whole page."""
    hosts = {name for each in REFUSALS for name in [each.by]}
    lines = [INTRODUCTION, f"{len(REFUSALS)} facts about {len(hosts)} hosts, SDKs and APIs.", ""]
    for code in sorted({each.code for each in REFUSALS}):
        lines += _section(code, [each for each in REFUSALS if each.code == code])
    return "\n".join(lines)


def _section(code: str, refusals: list[Refusal]) -> Iterator[str]:
    yield f"## {TEXTS[code].title} ({code})"
    yield ""
    yield f"What to do: {TEXTS[code].fix}"
    yield ""
    yield "| Refused by | What | What is lost | Sure | Mended by | Holds | Source |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for each in refusals:
        words = (each.by, each.what, each.consequence, each.sure, each.softened, _holds(each))
        source = each.source.removeprefix("https://").removeprefix("github.com/")
        yield f"| {' | '.join(map(cell, words))} | [{cell(source)}]({each.source}) |"
    yield ""


def _holds(refusal: Refusal) -> str:
    since = f"since {refusal.since}" if refusal.since else ""
    until = f"until {refusal.until}" if refusal.until else ""
    forbidden = f"the specification forbids it, too ({refusal.rule})" if refusal.rule else ""
    if refusal.legal_since:
        forbidden += f" before {refusal.legal_since}"
    return ", ".join(filter(None, (since, until, forbidden)))


def main(arguments: list[str] | None = None) -> int:
    """0 when the page is as it should be."""
    about = (__doc__ or "").partition("\n")[0]
    return write_or_check(
        page(), page=PAGE, script="scripts/generate_refusals_page.py", about=about, arguments=arguments
    )


if __name__ == "__main__":
    raise SystemExit(main())
