"""What is drawn: the rows of a sequence, its groups, latencies and findings. Data only.

All three formats are made from one `Drawing`, so that they show the same. Texts in it are one line each and
hold no control characters, but for ``raw``, which is as recorded (and may be cut).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mesero.audit.diagnosis import Diagnosis
from mesero.audit.findings import Finding, Phase

__all__ = ["Badness", "Drawing", "Group", "HttpPart", "Latency", "LinkPart", "Row", "RowKind"]

RowKind = Literal[
    "request",
    "notification",
    "result",
    "error",
    "batch",
    "broken",
    "http",
    "text",
    "stderr",
    "eof",
    "spawn",
    "exit",
    "note",
    "other",
    "phase",
    "gap",
]
"""What a row shows. ``phase`` and ``gap`` stand between lines of the trace: a new phase, a silence."""

Badness = Literal["", "warning", "error"]


class HttpPart(msgspec.Struct, omit_defaults=True):
    """HTTP around a message."""

    exchange: int | None = None
    method: str = ""
    url: str = ""
    status: int = 0
    headers: dict[str, str | list[str]] = {}
    is_event: bool = False
    body: str = ""
    error: str = ""


class Row(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One row. ``t`` and ``took_s`` are in seconds.

    ``request`` is the index of the row that this one belongs to (of an answer, or of progress), ``answer``
    that of the answer to a request, ``group`` the index of its group; -1 for none. ``is_busy`` while the
    server has something to answer. ``raw`` is cut by ``cut_chars``; ``size`` counts the whole in bytes.
    """

    seq: int
    t: float
    link: str
    kind: RowKind
    dir: Literal["", "c2s", "s2c"] = ""
    label: str = ""
    note: str = ""
    id: str = ""
    method: str = ""
    phase: Phase = "operation"
    era: str = ""
    revision: str = ""
    bad: Badness = ""
    took_s: float | None = None
    request: int = -1
    answer: int = -1
    group: int = -1
    is_busy: bool = False
    http: HttpPart | None = None
    raw: str = ""
    cut_chars: int = 0
    size: int = 0
    findings: tuple[int, ...] = ()


class Group(msgspec.Struct, omit_defaults=True):
    """Rows that belong together: the rounds of one request that asked, or one subscription."""

    kind: Literal["rounds", "subscription"]
    label: str
    link: str
    first: int
    last: int
    rounds: int = 1


class LinkPart(msgspec.Struct, omit_defaults=True):
    """One connection."""

    key: str
    name: str = ""
    transport: str = ""
    target: str = ""
    eras: tuple[str, ...] = ()


class Latency(msgspec.Struct):
    """How long the answers to one method took, in seconds."""

    method: str
    count: int
    errors: int
    median_s: float
    p95_s: float
    max_s: float


class Drawing(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The whole. ``left_out`` counts the lines that no row shows, since there were too many."""

    name: str = ""
    started: str = ""
    by: str = ""
    links: tuple[LinkPart, ...] = ()
    rows: tuple[Row, ...] = ()
    groups: tuple[Group, ...] = ()
    latencies: tuple[Latency, ...] = ()
    findings: tuple[Finding, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    problems: tuple[str, ...] = ()
    messages: int = 0
    left_out: int = 0
    duration_s: float = 0.0
