"""The pure part of the benchmarks: the rows and their budgets, medians, ratios, verdicts, tables.

Nothing here measures, starts or reads anything. A figure belongs to a row and a peer; the peer `mcp` is the
measure of the others. Ratios are ratios of medians, so a reader can check them against the table; the range
beside them is that of the single rounds, each of which measured all peers within seconds of one another.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

__all__ = ["MEASURE", "PEERS", "ROWS", "Facts", "Row", "Samples", "render_page", "render_table"]

PEERS = ("bare", "mcp", "fastmcp", "mesero")
MEASURE = "mcp"
SUBJECT = "mesero"
NOTHING = "-"


@dataclass(frozen=True)
class Row:
    """One kind of work.

    `budget` is what mesero's ratio to `mcp` must reach, or must not exceed if less is better; a row without
    one is there for the reader.
    """

    key: str
    label: str
    unit: str
    budget: float | None
    less_is_better: bool = False

    def verdict_of(self, ratio: float) -> str:
        if self.budget is None:
            return "for comparison"
        is_met = ratio <= self.budget if self.less_is_better else ratio >= self.budget
        return "ok" if is_met else "short"

    @property
    def budget_text(self) -> str:
        if self.budget is None:
            return NOTHING
        if not self.less_is_better:
            return f"≥ {self.budget:g}x"
        parts = 1 / self.budget
        return f"≤ 1/{parts:.0f}" if parts >= 4 else f"≤ {self.budget:g}x"


ROWS = (
    Row("stdio-client-sequential", "stdio client, sequential", "calls/s", 2),
    Row("stdio-client-at-once", "stdio client, 32 at once", "calls/s", 6),
    Row("stdio-client-list", "tools/list of 1000 tools, stdio client", "ms", 1 / 5, less_is_better=True),
    Row("stdio-client-blob", "5 MB text results over stdio", "MB/s", 5),
    Row("stdio-client-memory", "memory of a client process, stdio", "MB", 0.5, less_is_better=True),
    Row("stdio-server-sequential", "stdio server, sequential", "calls/s", 5),
    Row("stdio-server-pipelined", "stdio server, pipelined 32", "calls/s", 20),
    Row("http-client-sequential", "HTTP client, sequential", "calls/s", 2),
    Row("http-client-at-once", "HTTP client, 32 at once", "calls/s", 3),
    Row("http-client-memory", "memory of a client process, HTTP", "MB", 0.75, less_is_better=True),
    Row("http-server", "HTTP server, 16 connections, as installed", "calls/s", 14),
    Row("http-server-tuned", "HTTP server, 16 connections, rivals tuned", "calls/s", None),
    Row("session-stdio-client-sequential", "2025-11-25: stdio client, sequential", "calls/s", 2),
    Row("session-stdio-client-at-once", "2025-11-25: stdio client, 32 at once", "calls/s", 6),
    Row("session-stdio-server-sequential", "2025-11-25: stdio server, sequential", "calls/s", 5),
    Row("session-stdio-server-pipelined", "2025-11-25: stdio server, pipelined 32", "calls/s", 20),
    Row("session-http-client-sequential", "2025-11-25: HTTP client, sequential", "calls/s", 2),
    Row("session-http-client-at-once", "2025-11-25: HTTP client, 32 at once", "calls/s", 3),
    Row("session-http-server", "2025-11-25: HTTP server, 16 connections, as installed", "calls/s", 14),
    Row("session-http-server-tuned", "2025-11-25: HTTP server, rivals tuned", "calls/s", None),
    Row("import", "`from … import Client`, whole process", "ms", 1 / 6, less_is_better=True),
    Row("help", "`… --help`, whole process", "ms", 1 / 5, less_is_better=True),
)


@dataclass
class Samples:
    """Every figure of a run, round by round, and why a figure is missing where it is."""

    values: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, row: str, peer: str, value: float) -> None:
        self.values.setdefault((row, peer), []).append(value)

    def fail(self, row: str, peer: str, reason: str) -> None:
        self.failures.setdefault((row, peer), reason)

    def find_median(self, row: str, peer: str) -> float | None:
        values = self.values.get((row, peer))
        return statistics.median(values) if values else None

    def find_ratio(self, row: str, peer: str = SUBJECT) -> float | None:
        ours, theirs = self.find_median(row, peer), self.find_median(row, MEASURE)
        return ours / theirs if ours is not None and theirs else None

    def find_range(self, row: str, peer: str = SUBJECT) -> tuple[float, float] | None:
        """The lowest and the highest ratio that a single round gave."""
        ours, theirs = self.values.get((row, peer), []), self.values.get((row, MEASURE), [])
        ratios = [our / their for our, their in zip(ours, theirs, strict=False) if their]
        return (min(ratios), max(ratios)) if ratios else None

    def has(self, row: str) -> bool:
        return any(key == row for key, _ in [*self.values, *self.failures])


@dataclass(frozen=True)
class Facts:
    """What a reader must know to judge the figures."""

    date: str
    machine: str
    python: str
    versions: dict[str, str]
    rounds: int
    seconds: float
    load: str
    http_load: str

    def lines(self) -> list[str]:
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        how = f"medians of {self.rounds} interleaved rounds, {self.seconds:g} s a sample"
        return [
            f"- {self.date}, {self.machine}, {self.python}; load average before the run {self.load}",
            f"- {versions}",
            f"- {how}; HTTP load by {self.http_load}",
        ]


def format_figure(value: float | None) -> str:
    """Three significant digits at least, thousands with a separator."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def format_ratio(value: float) -> str:
    return f"{value:.1f}x" if value >= 1 else f"{value:.3f}x"


def build_cells(row: Row, samples: Samples) -> list[str]:
    figures = [format_figure(samples.find_median(row.key, peer)) for peer in PEERS]
    ratio, span = samples.find_ratio(row.key), samples.find_range(row.key)
    if ratio is None or span is None:
        return [row.label, row.unit, *figures, NOTHING, NOTHING, row.budget_text, "not measured"]
    spread = f"{format_ratio(span[0])} to {format_ratio(span[1])}"
    return [
        row.label,
        row.unit,
        *figures,
        format_ratio(ratio),
        spread,
        row.budget_text,
        row.verdict_of(ratio),
    ]


def render_table(samples: Samples) -> str:
    """A Markdown table, padded to read well on a terminal too; rows without any sample are left out."""
    head = ["work", "unit", *PEERS, "mesero : mcp", "single rounds", "budget", "verdict"]
    table = [head, *(build_cells(row, samples) for row in ROWS if samples.has(row.key))]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(head))]
    is_text = [column in (0, 1, len(head) - 1) for column in range(len(head))]
    rule = [
        "-" * width if text else "-" * (width - 1) + ":" for width, text in zip(widths, is_text, strict=True)
    ]
    lines = []
    for cells in (table[0], rule, *table[1:]):
        padded = [
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(cells, widths, is_text, strict=True)
        ]
        lines.append("| " + " | ".join(padded) + " |")
    return "\n".join(lines)


HOW = """\
## How it was measured

`make bench` sets up the rivals in virtual environments of their own and measures everything in one run,
round after round; within a round all peers do the same work one after the other, so that a busy machine
slows all of them.

- Each client faces the same bare server and each server the same bare client: small programs of
  `bench/bare/`, written with msgspec and raw pipes or sockets, without any SDK. The column *bare* is the
  bare client against the bare server: what the rig itself can do.
- Everything speaks revision 2026-07-28; in the rows that begin with 2025-11-25 it speaks that one, after
  a handshake, over HTTP in one session (the rivals' tuned servers have none). The tool is the same
  everywhere, `async def add(a: int, b: int) -> int`, no two calls of a sample have the same arguments,
  and every answer is checked (under wrk, which replaces our socket load where it is installed, the calls
  are alike and only the statuses are checked).
- Clients list the 1000 tools once before calls are timed, so that all of them check results against output
  schemas. All clients run on asyncio's own event loop.
- FastMCP's client is called by `call_tool_mcp` (no dataclass for the result). Logs are at WARNING, there is
  no access log, stdio servers run as `server.run()` runs them.
- HTTP servers, *as installed*: what a plain install of each runs, which is uvicorn with httptools and
  uvloop for mesero and uvicorn with h11 and asyncio for the rivals, with default settings. *Rivals tuned*:
  theirs on uvicorn with httptools and uvloop too, stateless, with JSON answers. The figures of mesero and
  of the bare server (a raw socket protocol, not ASGI) are the same in both rows.
- Memory is the resident set of the client's process right after connect, the driver included. Imports and
  `--help` are whole processes with warm caches; `mcp --help` needs the extra `mcp[cli]`, which its
  environment has.
- The absolute figures say little beyond this machine; the ratios are what counts.
"""


def render_page(samples: Samples, facts: Facts) -> str:
    head = ["# Benchmarks", "", "Written by `make bench`; do not edit by hand.", "", *facts.lines(), ""]
    return "\n".join([*head, render_table(samples), "", HOW])
