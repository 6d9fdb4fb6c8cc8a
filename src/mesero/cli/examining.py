"""How examinations go on, shown on a terminal: a row for each server, and gone when they are over."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from mesero.cli.printing import Output, safe_line
from mesero.cli.reports import MARKS
from mesero.doctor import Check

__all__ = ["ExaminationDisplay", "Row"]

_PER_SECOND = 8


class Row:
    """One server: the checks that are over, as marks, and the one that runs. A `mesero.doctor.Watch`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.marks = ""
        self.running = ""
        self.seconds = 0.0
        self._start = time.monotonic()

    def begin(self, name: str) -> None:
        """This check begins."""
        self.running = name

    def end(self, check: Check) -> None:
        """This check is over."""
        self.marks += MARKS[check.status]
        self.running = ""
        self.seconds = time.monotonic() - self._start

    @property
    def took_s(self) -> float:
        """How long it has been looked at."""
        return time.monotonic() - self._start if self.running else self.seconds


class ExaminationDisplay:
    """The rows; used with ``with``. Without a terminal nothing is shown.

    Args:
        output: Where to.
    """

    def __init__(self, output: Output) -> None:
        self.rows: list[Row] = []
        self._output = output
        self._live: Any = None

    def __enter__(self) -> Self:
        if self._output.is_terminal:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                console=Console(stderr=True),
                get_renderable=self.draw,
                refresh_per_second=_PER_SECOND,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def watch(self, name: str) -> Row:
        """A row more."""
        row = Row(name)
        self.rows.append(row)
        return row

    def draw(self) -> Any:
        """What is shown now: a renderable of rich's."""
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for row in self.rows:
            table.add_row(
                Text(safe_line(row.name)[:40], style="bold"),
                Text(row.marks, style="green" if "x" not in row.marks else "red"),
                Text(row.running, style="cyan"),
                Text(f"{row.took_s:.1f} s", style="dim"),
            )
        return table
