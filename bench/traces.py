"""`make bench`, second part: what recording costs, and how fast a recording is judged.

    python bench/traces.py [--runs 5] [--seconds 0.7] [--messages 100000] [--write FILE]

The same calls without and with `mesero trace` in between, round by round: the shim between a bare client and
a bare server over stdio, the proxy between our client and a bare HTTP server. Then an audit of many messages
in a process of its own, which says its time and its largest memory; half as many show that memory does not
grow with the length.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.run import BENCH, TIMEOUT_S, find_free_port, run_driver, serve, wait_for  # noqa: E402 - as in run.py

TRACE = [sys.executable, "-m", "mesero", "trace", "-o"]
HEADER = '{"mesero_trace":1,"started":"2026-01-01T00:00:00Z","by":"bench","links":{"1":{"name":"n","transport":"stdio","target":"t"}}}\n'  # noqa: E501 - one line of a trace
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "bench", "version": "1"}}
AUDIT = """
import json, resource, sys, time
from mesero.audit import Auditor
from mesero.trace.reader import TraceReader, open_file
start, found, auditor = time.perf_counter(), 0, Auditor()
with TraceReader(open_file(sys.argv[1])) as lines:
    auditor.receive(lines.header)
    for line in lines:
        found += len(auditor.receive(line))
found += len(auditor.receive_end())
figures = {"s": time.perf_counter() - start, "found": found}
print(json.dumps(figures | {"mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""
PAGE = """\
# Benchmarks of traces

Written by `make bench`; do not edit by hand. Medians of {runs} interleaved rounds on {cores} cores,
load average before the run {load:.1f}.

| calls | without | recorded | a call takes longer by |
| --- | ---: | ---: | ---: |
{rows}

Over stdio a bare client calls a bare server, without and with the shim in between; over HTTP our client
calls a bare server, without and with the proxy.

The audit judges {rate:,.0f} messages a second: {messages:,} in {took_s:.1f} s. Its process takes
{whole:.0f} MB for that, and {half:.0f} MB for half as many.
"""


@contextmanager
def proxy(port: int, recording: Path) -> Iterator[int]:
    """A recording proxy in front of the server on a port; its own port."""
    own = find_free_port()
    command = [*TRACE, str(recording), "--listen", f"127.0.0.1:{own}", f"http://127.0.0.1:{port}/mcp"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(own, process)
        yield own
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


def measure_shim(runs: int, seconds: str, folder: Path) -> dict[str, list[dict[str, float]]]:
    """Figures without and with the shim."""
    client, server = (
        BENCH / "bare" / "stdio_client.py",
        [sys.executable, str(BENCH / "bare" / "stdio_server.py")],
    )
    shim = [*TRACE, str(folder / "shim.jsonl"), "--"]
    found: dict[str, list[dict[str, float]]] = {"without": [], "with": []}
    for _ in range(runs):
        for name, words in (("without", server), ("with", [*shim, *server])):
            found[name].append(run_driver([sys.executable, str(client), seconds, *words]))
    return found


def measure_proxy(runs: int, seconds: str, folder: Path) -> dict[str, list[dict[str, float]]]:
    """Figures without and with the proxy."""
    client = [sys.executable, str(BENCH / "peers" / "mesero_client.py"), seconds]
    found: dict[str, list[dict[str, float]]] = {"without": [], "with": []}
    with (
        serve([sys.executable, str(BENCH / "bare" / "http_server.py")]) as port,
        proxy(port, folder / "proxy.jsonl") as own,
    ):
        for _ in range(runs):
            for name, each in (("without", port), ("with", own)):
                found[name].append(run_driver([*client, f"http://127.0.0.1:{each}/mcp"]))
    return found


def write_recording(path: Path, messages: int) -> None:
    """Calls of one tool and their answers, as a client of 2026-07-28 and its server send them."""
    with path.open("w", encoding="utf-8") as file:
        file.write(HEADER)
        for number in range(messages):
            about = {"jsonrpc": "2.0", "id": number // 2}
            call = {"name": "add", "arguments": {"a": number, "b": 2}, "_meta": META}
            result = {
                "resultType": "complete",
                "content": [{"type": "text", "text": "x" * 50}],
                "_meta": SERVER,
            }
            sent = number % 2 == 0
            message = about | ({"method": "tools/call", "params": call} if sent else {"result": result})
            line = {"kind": "message", "seq": number + 1, "t": number / 1000, "link": "1"}
            line |= {"dir": "c2s" if sent else "s2c", "raw": json.dumps(message)}
            file.write(json.dumps(line) + "\n")


def measure_audit(runs: int, messages: int, folder: Path) -> tuple[float, float, float]:
    """Messages a second, and the largest memory in MB with all messages and with half of them."""
    rates, whole, half = [], [], []
    for count in (messages, messages // 2):
        path = folder / f"{count}.jsonl"
        write_recording(path, count)
        for _ in range(runs):
            figures = run_driver([sys.executable, "-c", AUDIT, str(path)])
            if count == messages:
                rates.append(count / figures["s"])
            (whole if count == messages else half).append(figures["mb"])
    return statistics.median(rates), statistics.median(whole), statistics.median(half)


def rows_of(name: str, found: dict[str, list[dict[str, float]]], many: str) -> list[str]:
    """Rows of the table: throughput without and with, and what a call takes longer."""
    rows = []
    for figure, words in (("sequential", "one by one"), (many, "32 at once")):
        without, within = (
            statistics.median(each[figure] for each in found[way]) for way in ("without", "with")
        )
        longer_us = (1 / within - 1 / without) * 1e6
        rows.append(f"| {name}, {words} | {without:,.0f}/s | {within:,.0f}/s | {longer_us:,.0f} µs |")
    return rows


def main() -> int:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description="what recording costs, and how fast a recording is judged")
    parser.add_argument("--runs", type=int, default=5, help="rounds")
    parser.add_argument("--seconds", default="0.7", help="length of a sample")
    parser.add_argument("--messages", type=int, default=100_000, help="how many the audit reads")
    parser.add_argument("--write", type=Path, help="write the page there")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rows = rows_of("stdio, shim", measure_shim(options.runs, options.seconds, folder), "pipelined")
        rows += rows_of("HTTP, proxy", measure_proxy(options.runs, options.seconds, folder), "at_once")
        rate, whole, half = measure_audit(options.runs, options.messages, folder)
    page = PAGE.format(
        runs=options.runs,
        cores=os.cpu_count(),
        load=load,
        rows="\n".join(rows),
        rate=rate,
        messages=options.messages,
        took_s=options.messages / rate,
        whole=whole,
        half=half,
    )
    print(page)
    if options.write is not None:
        options.write.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
