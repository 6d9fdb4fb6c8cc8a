"""From the lines of a recording to a drawing. One pass over the lines, then one over the rows.

Memory grows with the number of rows, which is limited; what comes after is counted, and still audited. Which
request an answer belongs to, and to which era a message, is the audit's knowledge and read from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, get_args

from msgspec import UNSET

from mesero.audit.auditor import Auditor
from mesero.audit.diagnosis import Diagnosis, diagnose_link
from mesero.audit.evidence import Evidence, members_of
from mesero.audit.findings import Finding
from mesero.audit.link import Direction, IdKey, LinkState, find_id_key
from mesero.audit.reading import read_line
from mesero.audit.tracking import remember
from mesero.diagram.dividing import divide
from mesero.diagram.groups import Grouping
from mesero.diagram.labels import line_words, message_words, plain
from mesero.diagram.latency import latencies_of
from mesero.diagram.model import Drawing, Group, HttpPart, LinkPart, Row, RowKind
from mesero.diagram.phases import mark_phases
from mesero.trace.format import Header, Http, HttpLine, Line, Link, LinkLine

__all__ = ["Builder", "Limits"]

_MESSAGES: Final = frozenset({"request", "notification", "result", "error", "broken"})
_AROUND: Final = frozenset({"http request", "http answer"})
_LISTEN: Final = "subscriptions/listen"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much is drawn. ``raw_chars`` of each message and ``total_chars`` of all; ``gap_s`` is a silence."""

    max_rows: int = 100_000
    raw_chars: int = 20_000
    total_chars: int = 64_000_000
    gap_s: float = 1.0


@dataclass
class _Lane:
    """What is known of one link while its rows are made."""

    state: LinkState
    grouping: Grouping
    facts: LinkPart
    open: dict[tuple[Direction, IdKey], int] = field(default_factory=dict)
    tokens: dict[tuple[Direction, IdKey], int] = field(default_factory=dict)
    eras: dict[str, None] = field(default_factory=dict)

    def describe(self, link: Link | LinkLine) -> None:
        """Take what the recording says of the link itself."""
        state = self.state
        state.title, state.transport, state.target = link.name, link.transport, link.target
        self.facts = LinkPart(
            self.facts.key, plain(link.name), plain(link.transport), plain(link.target, max_chars=2000)
        )


class Builder:
    """Takes lines, gives a drawing.

    Args:
        limits: How much is drawn.
        wants: What is drawn: link key, first and last seq; None for all of it.
        auditor: Judges each line; None for a drawing without findings.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        auditor: Auditor | None = None,
        link: str | None = None,
        first_seq: int = 0,
        last_seq: int | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self._auditor = auditor
        self._link = link
        self._first_seq = first_seq
        self._last_seq = last_seq
        self._header = Header()
        self._lanes: dict[str, _Lane] = {}
        self._rows: list[Row] = []
        self._groups: list[Group] = []
        self._findings: list[Finding] = []
        self._chars = 0
        self._messages = 0
        self._left_out = 0
        self._times: tuple[float, float] | None = None

    def receive_header(self, header: Header) -> None:
        """Take the first line."""
        self._header = header
        for key, link in header.links.items():
            self._lane_of(key).describe(link)
        if self._auditor is not None:
            self._auditor.receive(header)

    def receive(self, line: Line) -> None:
        """Take the next line."""
        if self._auditor is not None:
            self._findings += (
                each for each in self._auditor.receive(line) if self._wants(each.link, each.seq)
            )
        lane = self._lane_of(line.link)
        lane.state.last_t, lane.state.last_seq = line.t, line.seq
        if isinstance(line, LinkLine):
            lane.describe(line)
            return
        for evidence in read_line(lane.state, line):
            if evidence.kind not in _AROUND and self._wants(line.link, line.seq):
                self._draw(lane, line, evidence)
            if evidence.kind in ("result", "error"):
                self._settle(lane, evidence)
            remember(evidence)

    def build(self, *, name: str = "", problems: Iterable[str] = ()) -> Drawing:
        """The drawing: no line comes after this."""
        if self._auditor is not None:
            ends = self._auditor.receive_end()
            self._findings += (each for each in ends if self._wants(each.link, each.seq))
        diagnoses = self._diagnoses()
        self._mark_unanswered()
        mark_phases(self._rows)
        latencies = latencies_of(self._rows)
        _attach(self._findings, self._rows)
        first, last = self._times or (0.0, 0.0)
        rows, groups = divide(self._rows, self._groups, gap_s=self._limits.gap_s)
        return Drawing(
            name=plain(name),
            started=plain(self._header.started),
            by=plain(self._header.by),
            links=tuple(_described(lane) for lane in self._lanes.values() if self._is_shown(lane)),
            rows=rows,
            groups=groups,
            latencies=latencies,
            findings=tuple(self._findings),
            diagnoses=tuple(diagnoses),
            problems=tuple(plain(each) for each in problems),
            messages=self._messages,
            left_out=self._left_out,
            duration_s=last - first,
        )

    def _diagnoses(self) -> list[Diagnosis]:
        if self._auditor is None:
            return []
        shown = [key for key, lane in self._lanes.items() if self._is_shown(lane)]
        links = (self._auditor.links[key] for key in shown if key in self._auditor.links)
        return [diagnosis for link in links for diagnosis in diagnose_link(link)]

    def _wants(self, link: str, seq: int) -> bool:
        lane = self._lanes.get(link)
        names = (link, lane.facts.name) if lane is not None else (link,)
        if self._link is not None and self._link not in names:
            return False
        return seq >= self._first_seq and (self._last_seq is None or seq <= self._last_seq)

    def _is_shown(self, lane: _Lane) -> bool:
        return self._link is None or self._link in (lane.facts.key, lane.facts.name)

    def _lane_of(self, key: str) -> _Lane:
        lane = self._lanes.get(key)
        if lane is None:
            state = LinkState(key)
            state.may_lack_start = self._header.continues
            lane = self._lanes[key] = _Lane(state, Grouping(self._groups), LinkPart(plain(key)))
        return lane

    # -- rows --------------------------------------------------------------------------------------------

    def _draw(self, lane: _Lane, line: Line, evidence: Evidence) -> None:
        is_message = evidence.kind in _MESSAGES
        self._messages += is_message
        self._times = (self._times[0] if self._times else line.t, line.t)
        if len(self._rows) >= self._limits.max_rows:
            self._left_out += 1
            return
        label, note, bad = message_words(evidence) if is_message else line_words(line)
        row = Row(
            seq=line.seq,
            t=line.t,
            link=line.link,
            kind=_kind_of(evidence),
            dir=getattr(line, "dir", ""),
            label=label,
            note=note,
            bad=bad,
            era=evidence.era,
            revision=evidence.revision if evidence.era else "",
            http=_http_of(line),
        )
        self._put_raw(row, _raw_of(line))
        if is_message:
            row.id = plain(evidence.id) if evidence.id is not None else ""
            row.method = plain(evidence.about)
            lane.eras.setdefault(evidence.era)
            self._correlate(lane, evidence, row)
        self._rows.append(row)
        row.is_busy = row.is_busy or any(self._rows[index].method != _LISTEN for index in lane.open.values())
        if is_message:
            lane.grouping.place(evidence, row, len(self._rows) - 1, self._rows)

    def _put_raw(self, row: Row, raw: str) -> None:
        row.size = len(raw.encode("utf-8", "surrogatepass"))
        kept = raw[: min(self._limits.raw_chars, max(0, self._limits.total_chars - self._chars))]
        self._chars += len(kept)
        row.raw, row.cut_chars = kept, len(raw) - len(kept)

    def _correlate(self, lane: _Lane, evidence: Evidence, row: Row) -> None:
        index, key = len(self._rows), evidence.id_key
        if evidence.kind == "request" and key is not None:
            lane.open[evidence.direction, key] = index
            token = find_id_key(members_of(evidence.params.get("_meta")).get("progressToken"))
            if token is not None:
                lane.tokens[evidence.direction, token] = index
            row.is_busy = evidence.direction == "c2s" and row.method != _LISTEN
        elif evidence.kind in ("result", "error"):
            found = self._pop_open(lane, evidence)
            if found >= 0:
                row.request, row.is_busy = found, self._rows[found].method != _LISTEN
                row.took_s = max(0.0, row.t - self._rows[found].t)
                self._rows[found].answer = index
                row.method = self._rows[found].method
        elif evidence.kind == "notification":
            self._correlate_notification(lane, evidence, row)

    def _correlate_notification(self, lane: _Lane, evidence: Evidence, row: Row) -> None:
        other: Direction = "c2s" if evidence.direction == "s2c" else "s2c"
        if evidence.method == "notifications/progress":
            token = find_id_key(evidence.params.get("progressToken"))
            row.request = lane.tokens.get((other, token), -1) if token is not None else -1
        elif evidence.method == "notifications/cancelled":
            key = find_id_key(evidence.params.get("requestId"))
            row.request = lane.open.pop((evidence.direction, key), -1) if key is not None else -1
            if row.request >= 0:
                self._rows[row.request].note = "cancelled"

    def _pop_open(self, lane: _Lane, evidence: Evidence) -> int:
        """The row of the request that this answers, which waits no longer; -1 if none does."""
        asked = evidence.asked
        key = find_id_key(asked.id) if asked is not None else None
        return lane.open.pop((asked.direction, key), -1) if asked is not None and key is not None else -1

    def _settle(self, lane: _Lane, evidence: Evidence) -> None:
        """An answer that is not drawn is one all the same."""
        index = self._pop_open(lane, evidence)
        if index >= 0:
            self._rows[index].note = self._rows[index].note or f"answered in line {evidence.seq}"

    def _mark_unanswered(self) -> None:
        for lane in self._lanes.values():
            for index in lane.open.values():
                row = self._rows[index]
                is_open = row.method == _LISTEN
                row.note = row.note or ("open until the end" if is_open else "no answer")
                row.bad = row.bad or ("" if is_open else "warning")


def _kind_of(evidence: Evidence) -> RowKind:
    if evidence.kind == "broken" and isinstance(evidence.message, list):
        return "batch"
    return _KINDS.get(evidence.kind, "other")


_KINDS: Final[Mapping[str, RowKind]] = {kind: kind for kind in get_args(RowKind)}


def _raw_of(line: Line) -> str:
    if isinstance(line, HttpLine):
        return "" if line.http.body is UNSET else line.http.body
    raw = getattr(line, "raw", UNSET)
    if raw is UNSET:
        raw = getattr(line, "b64", getattr(line, "text", ""))
    return raw if isinstance(raw, str) else ""


def _http_of(line: Line) -> HttpPart | None:
    http = getattr(line, "http", UNSET)
    if not isinstance(http, Http):
        return None
    return HttpPart(
        exchange=None if http.exchange is UNSET else http.exchange,
        method="" if http.method is UNSET else plain(http.method),
        url="" if http.url is UNSET else plain(http.url, max_chars=2000),
        status=0 if http.status is UNSET else http.status,
        headers=http.headers,
        is_event=http.sse,
        error="" if http.error is UNSET else plain(http.error),
    )


def _described(lane: _Lane) -> LinkPart:
    lane.facts.eras = tuple(era for era in lane.eras if era)
    return lane.facts


def _attach(findings: list[Finding], rows: list[Row]) -> None:
    """Put each finding beside the first row of its line; one of no row stays in the list alone."""
    places: dict[tuple[str, int], Row] = {}
    for row in rows:
        places.setdefault((row.link, row.seq), row)
    for index, finding in enumerate(findings):
        found = places.get((finding.link, finding.seq))
        if found is not None:
            found.findings = (*found.findings, index)
