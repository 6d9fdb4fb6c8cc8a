"""The tools as hosts and model APIs see them: what these refuse of them, and what is lost then."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import UNSET

from mesero.audit.diagnosis import Confidence
from mesero.audit.findings import Blame
from mesero.doctor.refusals import REFUSALS, Consequence, Found, Listed, Refusal
from mesero.doctor.sheet import OpenCheck, Sheet

__all__ = ["check_tools", "losses_of"]

_SHOWN: Final = 5
_MAX_QUOTED: Final = 200
_LOSES: Final[dict[Consequence, tuple[str, str]]] = {
    "the whole request": ("refuses the whole request", "refuse the whole request"),
    "every tool of the server": ("loses every tool of this server", "lose every tool of this server"),
    "this tool": ("leaves this tool out", "leave this tool out"),
    "calls of this tool": ("fails every call of this tool", "fail every call of this tool"),
    "tools of later pages": ("never sees them", "never see them"),
}
"""In the order of their weight; for one who does it, and for several."""
_SURE: Final[tuple[Confidence, ...]] = ("certain", "likely", "possible")
# https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
_RIGHT_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class _Refused:
    """One place in one tool, and everybody who refuses it."""

    def __init__(self, tool: Listed, found: Found) -> None:
        self.tool = tool
        self.found = found
        self.refusals: list[Refusal] = []

    @property
    def is_grave(self) -> bool:
        return any(each.is_grave for each in self.refusals)

    @property
    def sure(self) -> Confidence:
        return min((each.sure for each in self.refusals), key=_SURE.index)

    def __str__(self) -> str:
        name = repr(self.tool.name[:_MAX_QUOTED])
        place = "" if self.found.where in ("$", "$.name") else f" at {self.found.where[:_MAX_QUOTED]}"
        head = f"tool {self.found.number} {name}{place}: "
        return f"{head if self.found.where != '$' else ''}{self.found.what}. {losses_of(self.refusals)}"


def check_tools(sheet: Sheet, tools: Sequence[Any], *, server_name: str | None = None) -> None:
    """Look for what known hosts and model APIs refuse of tools that MCP allows.

    What the specification forbids anyway is left to the audit. What nearly every host mends on the way, or
    only older versions refuse, is said in the check, and is no diagnosis.

    Args:
        sheet: Takes what is seen.
        tools: All tools of the server, as they are listed.
        server_name: The name by which the server is configured: many hosts put it before the names of tools.
            Without it only names are told that are too long after the shortest name that a server can have,
            one character.
    """
    with sheet.check("tools") as check:
        if not tools:
            check.skip("there are none")
            return
        listed = [_listed(each) for each in tools]
        told, mended = _find_refused(listed, server_name)
        codes = sorted({code for code, _ in told}, key=_weight_in(told))
        for code in codes:
            _tell(sheet, check, code, [each for about, each in told if about == code])
        if mended:
            check.say(f"refused by older versions, or mended by most hosts: {'; '.join(mended)}")
        if not told:
            check.say(f"every known host and model API takes them ({len(tools)})")


def _listed(tool: Any) -> Listed:
    output = getattr(tool, "output_schema", UNSET)
    return Listed(tool.name, tool.input_schema, None if output is UNSET else output)


def _find_refused(
    tools: Sequence[Listed], server: str | None
) -> tuple[list[tuple[str, _Refused]], list[str]]:
    """(what is to be told, by code; what most hosts mend, in words)."""
    refused: dict[tuple[str, int, str, str], _Refused] = {}
    mended: list[str] = []
    for refusal in REFUSALS:
        # What is forbidden is told by the audit; where a newer revision allows it, those who refuse it do not
        # speak that one. What is listed twice is told where the list is read.
        if refusal.rule or not refusal.code.startswith("MODEL-"):
            continue
        found = list(refusal.kind.find(tools, server))
        if refusal.softened == "most hosts" or refusal.until:
            if found:
                count = len({each.number for each in found})
                what = ", ".join(list(dict.fromkeys(each.what for each in found))[:_SHOWN])
                until = f", until {refusal.until}" if refusal.until else ""
                mended.append(f"{what} ({refusal.by}{until}; {count} of {len(tools)} tools)")
            continue
        for each in found:
            key = (refusal.code, each.number, each.where, each.what)
            refused.setdefault(key, _Refused(tools[each.number], each)).refusals.append(refusal)
    return [(key[0], each) for key, each in refused.items()], mended


def _weight_in(told: Iterable[tuple[str, _Refused]]) -> Any:
    """What costs most comes first; of equals, what has the lower number."""
    grave = {code for code, each in told if each.is_grave}
    return lambda code: (code not in grave, code)


def _tell(sheet: Sheet, check: OpenCheck, code: str, refused: list[_Refused]) -> None:
    refused.sort(key=lambda each: not each.is_grave)
    first, more = refused[0], len(refused) - 1
    lines = [str(each) for each in refused[:_SHOWN]]
    lines += [f"and {len(refused) - _SHOWN} more"] if len(refused) > _SHOWN else []
    for line in lines:
        check.warn(line)
    sheet.diagnose(
        code,
        f"{first}{f' (and {more} more)' if more else ''}",
        fix=first.found.fix,
        blame=_blame_for(first),
        severity="degraded" if first.is_grave else "note",
        confidence=first.sure,
        evidence=(*lines, *dict.fromkeys(each.source for each in first.refusals)),
    )


def _blame_for(refused: _Refused) -> Blame:
    """The host's strictness, where MCP allows it; of names it says only what they should be."""
    is_name = refused.found.where == "$.name"
    return "server" if is_name and not _RIGHT_NAME.fullmatch(refused.tool.name) else "client"


def losses_of(refusals: Sequence[Refusal]) -> str:
    """Who refuses it and what is lost, in a sentence for each loss."""
    grouped: dict[tuple[Consequence, bool], dict[str, None]] = {}
    for each in refusals:
        grouped.setdefault((each.consequence, each.softened != "no"), {})[each.by] = None
    sentences = []
    for (consequence, is_softened), found in sorted(grouped.items(), key=_weight_of_loss):
        names = list(found)
        is_several = len(names) > 1 or " and " in names[0]
        unless = ", unless the host mends it first" if is_softened else ""
        sentences.append(f"{_joined(names)} {_LOSES[consequence][is_several]}{unless}")
    return "; ".join(sentences)


def _weight_of_loss(group: tuple[tuple[Consequence, bool], Any]) -> tuple[bool, int]:
    (consequence, is_softened), _ = group
    return is_softened, list(_LOSES).index(consequence)


def _joined(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
