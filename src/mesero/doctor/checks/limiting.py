"""Whether the server asked to wait (429) while the doctor looked: then some of what was not seen is no fault.

https://www.rfc-editor.org/rfc/rfc6585#section-4
"""

from __future__ import annotations

from collections.abc import Sequence

from mesero.doctor.fetched import Fetched
from mesero.doctor.sheet import Sheet
from mesero.trace.format import Header, Http, HttpLine, Line, MessageLine

__all__ = ["check_limits", "find_limit"]


def find_limit(lines: Sequence[Header | Line]) -> str:
    """Which request of the client was refused so, in words; "" where none was.

    Args:
        lines: What passed between client and server.
    """
    number = 0
    for line in lines:
        if not isinstance(line, HttpLine | MessageLine) or not isinstance(line.http, Http):
            continue
        if line.dir == "c2s" and line.http.method == "POST":
            number += 1
        elif line.http.status == 429:
            wait = _wait(line.http.headers.get("retry-after"))
            return f"request {number} of the client was answered with 429{wait}"
    return ""


def check_limits(
    sheet: Sheet, lines: Sequence[Header | Line], limited: Fetched | None, *, is_connected: bool = True
) -> None:
    """Look for 429 in what the client was told, and in what single requests were told.

    Args:
        sheet: Takes the diagnosis.
        lines: What passed between client and server.
        limited: The first single request that was refused so.
        is_connected: Whether the client got a connection all the same.
    """
    with sheet.check("limits") as check:
        said = find_limit(lines)
        if said:
            check.warn(said)
            sheet.diagnose("HTTP-8", said, severity="degraded" if is_connected else "broken")
        elif limited is not None:
            said = f"{limited}" + _wait(limited.headers.get("retry-after"))
            check.warn(f"{said}; nothing more was asked")
            sheet.diagnose(
                "HTTP-8",
                f"{said}; the server was left alone after that, and what was not reached is marked",
                severity="note" if is_connected else "broken",
            )
        else:
            check.say("nobody asked to wait")


def _wait(value: object) -> str:
    return f"; Retry-After: {value}" if value else "; it has no Retry-After"
