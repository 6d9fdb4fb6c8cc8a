"""What the audit says of all that passed while the doctor looked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from mesero.doctor.judging import judge
from mesero.doctor.recording import Recording
from mesero.doctor.sheet import Sheet

__all__ = ["check_rules"]

_SAID_BETTER: Final[dict[str, tuple[str, ...]]] = {
    "LIFE-011": ("PING-1",),
    "DROPPED-1": ("PING-1",),
    "CAP-002": ("CAP-1", "CAP-2"),
    "CLOSED-5": ("CALL-1",),
    "CLOSED-7": ("CALL-1", "CALL-5"),
    "CLOSED-9": ("CALL-1",),
    "SILENT-9": ("CALL-7",),
    "HTTP-009": ("CALL-7",),
    "SILENT-10": ("DEEP-4", "CALL-2", "CALL-4"),
    "SILENT-11": ("CALL-1", "CALL-2", "CALL-4", "CALL-5"),
    "SILENT-12": ("CALL-1", "CALL-2", "CALL-3", "CALL-4", "CALL-5", "CALL-7"),
    # A GET that is refused with 404 looks like a session that is lost in between.
    "S404-1": ("SESSION-2", "METHOD-1"),
    "SESS-004": ("SESSION-3",),
    # A POST to the address of the old transport may be answered with anything.
    "PAGE-1": ("HTTP-4",),
    # A session that is lost is no matter of credentials, whatever the status.
    "AUTH-001": ("SESSION-1",),
    "S401-4": ("SESSION-1",),
}
"""What the audit says → what the doctor has said already, having seen more."""
_PROVOKED: Final = frozenset({"DEEP-1", "DEEP-2", "DEEP-3", "DEEP-5"})
"""What odd requests brought to light on the connection that is judged here."""
_OWN_DOING: Final = {"deep": frozenset({"S400-2", "VERSION-2"}), "calls": frozenset({"S400-3"})}
"""Causes that a check brings about where a server is right to refuse what the doctor sends."""


def check_rules(
    sheet: Sheet, recording: Recording, failures: Sequence[str], *, has_session: bool = False
) -> None:
    """Let the audit judge a connection that came about.

    Args:
        sheet: Takes what is seen.
        recording: What passed.
        failures: Lists that could not be had: told for themselves only where nothing explains them.
        has_session: Whether the connection was made by the older handshake.
    """
    with sheet.check("rules") as check:
        judgement = judge(recording.judged, is_connected=True, has_session=has_session, file=recording.file)
        told: list[str] = []
        done = {each.name for each in sheet.checks if each.status in ("ok", "warning", "failed")}
        own = frozenset().union(*(_OWN_DOING[name] for name in done & _OWN_DOING.keys()))
        is_provoked = any(each.code in _PROVOKED for each in sheet.diagnoses)
        for each in (*judgement.causes, *judgement.faults):
            # A cause quotes the rule that shows it.
            if any(_is_same(each.cause, text) for text in told) or each.code in own:
                continue
            # What only odd requests bring about keeps nobody from using the server.
            each = replace(each, severity="degraded") if is_provoked else each  # noqa: PLW2901 - the same one
            check.warn(f"{each.code}: {each.cause}")
            told.append(each.cause)
            if not any(map(sheet.has, _SAID_BETTER.get(each.code, ()))):
                sheet.add(each)
        if failures and not told:
            code = "LIST-2" if "does not end" in failures[0] else "LIST-1"
            sheet.diagnose(code, failures[0], evidence=failures)
        if check.status == "ok":
            check.say("every message that passed keeps the rules of its revision")


def _is_same(cause: str, told: str) -> bool:
    """Whether a broken rule was quoted by a cause already; how often it was broken does not matter."""
    return cause.partition(" (and ")[0] in told
