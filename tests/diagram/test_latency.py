import pytest

from mesero.diagram.latency import latencies_of, quantile
from mesero.diagram.model import Row
from tests.diagram.recordings import stateless


def row(method, took_s, bad=""):
    return Row(seq=1, t=0.0, link="1", kind="result", method=method, took_s=took_s, bad=bad)


def test_quantiles_lie_between_the_values():
    assert quantile([1.0], 0.95) == 1.0
    assert quantile([1.0, 2.0], 0.5) == 1.5
    assert quantile([0.0, 1.0, 2.0, 3.0, 4.0], 0.5) == 2.0


def test_methods_are_counted_the_slowest_first():
    rows = [
        row("a", 1.0),
        row("b", 5.0, "error"),
        row("a", 3.0),
        row("", 9.0),
        row("subscriptions/listen", 99.0),
    ]
    slow, fast = latencies_of(rows)
    assert (slow.method, slow.count, slow.errors, slow.max_s) == ("b", 1, 1, 5.0)
    assert (fast.method, fast.count, fast.errors, fast.median_s) == ("a", 2, 0, 2.0)


def test_a_recording_has_those_of_its_calls():
    found = {each.method: each for each in stateless().draw().latencies}
    assert found["tools/call"].count == 3
    assert found["server/discover"].median_s == pytest.approx(0.0204)
