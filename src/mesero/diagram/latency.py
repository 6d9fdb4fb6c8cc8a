"""How long answers took, method by method."""

from __future__ import annotations

from collections.abc import Sequence

from mesero.diagram.model import Latency, Row

__all__ = ["latencies_of", "quantile"]


def latencies_of(rows: Sequence[Row]) -> tuple[Latency, ...]:
    """One entry for each method that was answered, the slowest median first; subscriptions are left out."""
    taken: dict[str, list[float]] = {}
    errors: dict[str, int] = {}
    for row in rows:
        if row.took_s is None or not row.method or row.method == "subscriptions/listen":
            continue
        taken.setdefault(row.method, []).append(row.took_s)
        errors[row.method] = errors.get(row.method, 0) + (row.bad == "error")
    found = (_latency(method, sorted(times), errors[method]) for method, times in taken.items())
    return tuple(sorted(found, key=lambda each: (-each.median_s, each.method)))


def _latency(method: str, times: Sequence[float], errors: int) -> Latency:
    return Latency(method, len(times), errors, quantile(times, 0.5), quantile(times, 0.95), times[-1])


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies, interpolated. ``ordered`` is not empty."""
    place = (len(ordered) - 1) * share
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
