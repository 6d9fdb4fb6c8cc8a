"""The main job, on real processes."""

import sys

import pytest

import mesero
from mesero.demo import show


def test_the_demo_uses_both_transports_and_ticks_off_the_invariants():
    lines = []
    assert show.run_demo(lines.append) == 0
    text = "\n".join(lines)
    assert text.count("server/discover") == 2
    assert text.count("input_required: Delete 'Milk'?") == 2
    assert text.count("notifications/progress") == 6
    assert [line.strip()[:1] for line in lines[-4:]] == ["✓"] * 4
    assert "0 violations" in lines[-1]


def test_an_invariant_that_does_not_hold_is_crossed_and_fails():
    lines = []
    wire = show.Wire(lines.append)
    wire.take("c2s", b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}')
    assert show._tick_off([wire], lines.append) == 1
    assert any(line.startswith("  ✗ every request repeats") for line in lines)


def test_a_demo_server_that_does_not_start_is_reported_with_what_it_said(monkeypatch):
    monkeypatch.setattr(show, "_COMMAND", [sys.executable, "-c", "raise SystemExit('no luck')"])
    with pytest.raises(mesero.LaunchError, match="no luck"), show._http_server():
        pass
