"""What the benchmark of traces counts, and that it measures an audit that has nothing to complain about."""

import json
import subprocess
import sys

from bench.traces import AUDIT, rows_of, write_recording


def test_the_rows_tell_what_a_call_takes_longer():
    found = {
        "without": [{"sequential": 10_000, "at_once": 20_000}] * 2,
        "with": [{"sequential": 5_000, "at_once": 10_000}] * 2,
    }

    assert rows_of("HTTP, proxy", found, "at_once") == [
        "| HTTP, proxy, one by one | 10,000/s | 5,000/s | 100 µs |",
        "| HTTP, proxy, 32 at once | 20,000/s | 10,000/s | 50 µs |",
    ]


def test_the_recording_that_is_judged_is_a_good_one(tmp_path):
    write_recording(tmp_path / "t.jsonl", 100)
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, str(tmp_path / "t.jsonl")], capture_output=True, check=True, timeout=60
    )
    figures = json.loads(done.stdout)

    assert figures["found"] == 0
    assert figures["s"] > 0
    assert figures["mb"] > 1
