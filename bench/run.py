"""`make bench`: mesero against the official SDK and FastMCP, as ratios in one run.

    python bench/run.py [--quick] [--rows stdio,http-server,…] [--runs 7] [--seconds 0.7] [--write FILE]

What a sample is made of lives in peers/ and bare/, what the figures mean in report.py; here they are only
started, round after round, each program in a process of its own that prints one JSON line. A program that
fails costs its own figures, never the run; the exit code is 1 if a figure of mesero is missing, whatever
the verdicts are.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.report import Facts, Samples, render_page, render_table  # noqa: E402 - a script's path lacks the root
from bench.venvs import prepare  # noqa: E402 - same

BENCH = ROOT / "bench"
SUBJECTS = ("mcp", "fastmcp", "mesero")
TIMEOUT_S = 60.0
GROUPS = ("stdio-client", "stdio-server", "http-client", "http-server", "import", "help", "sessions")
# Figure of a driver → end of the row's key.
CLIENT_ROWS = {
    "sequential": "sequential",
    "at_once": "at-once",
    "memory": "memory",
    "list": "list",
    "blob": "blob",
}


class DriverError(Exception):
    """A program of the benchmark failed; its last words say why."""


def run_driver(command: list[str]) -> dict[str, object]:
    """Runs one driver to its end and reads its JSON line."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DriverError(str(error)) from error
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        said = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        text = f"exit code {done.returncode}: {said[:200]}"
        raise DriverError(text)
    return json.loads(lines[-1])


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    text = f"the server did not open its port (exit code {process.poll()})"
    raise DriverError(text)


@contextlib.contextmanager
def serve(command: list[str]) -> Iterator[int]:
    """A server process on a free port, which ends with the block."""
    port = find_free_port()
    process = subprocess.Popen([*command, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        yield port
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Bench:
    """One run: the Pythons of all peers, the samples so far, and which peers failed at what."""

    def __init__(self, runs: int, seconds: float) -> None:
        self.runs, self.seconds = runs, str(seconds)
        self.samples = Samples()
        self.http_load = "raw sockets"
        rivals = {rival: str(prepare(rival)) for rival in ("mcp", "fastmcp")}
        self.pythons = {**rivals, "mesero": sys.executable, "bare": sys.executable}
        self.era: tuple[str, ...] = ()
        """What the bare programs and the client drivers are told; servers find out by themselves."""

    def bare(self, name: str) -> list[str]:
        return [sys.executable, str(BENCH / "bare" / f"{name}.py"), *self.era]

    def client(self, peer: str) -> list[str]:
        return [*self.driver(peer, "client"), *self.era]

    def driver(self, peer: str, side: str) -> list[str]:
        return [self.pythons[peer], str(BENCH / "peers" / f"{peer}_{side}.py")]

    def row(self, key: str) -> str:
        return f"session-{key}" if self.era else key

    def measure(
        self, rows: list[str], peers: tuple[str, ...], sample: Callable[[str], dict[str, float]]
    ) -> None:
        """Round after round, every peer once a round; a peer that fails is not asked again."""
        failed: set[str] = set()
        for _ in range(self.runs):
            for peer in peers:
                if peer in failed:
                    continue
                try:
                    figures = sample(peer)
                except DriverError as error:
                    failed.add(peer)
                    print(f"  {peer}: {error}", file=sys.stderr)
                    for row in rows:
                        self.samples.fail(row, peer, str(error))
                    continue
                for row, value in figures.items():
                    self.samples.add(row, peer, value)

    def measure_stdio_client(self) -> None:
        ends = ("sequential", "at_once") if self.era else tuple(CLIENT_ROWS)
        rows = {figure: self.row(f"stdio-client-{CLIENT_ROWS[figure]}") for figure in ends}

        def sample(peer: str) -> dict[str, float]:
            figures = run_driver([*self.client(peer), self.seconds, *self.bare("stdio_server")])
            return {row: figures[figure] for figure, row in rows.items()}

        self.measure(list(rows.values()), SUBJECTS, sample)

    def measure_stdio_server(self) -> None:
        rows = {figure: self.row(f"stdio-server-{figure}") for figure in ("sequential", "pipelined")}

        def sample(peer: str) -> dict[str, float]:
            server = self.bare("stdio_server") if peer == "bare" else self.driver(peer, "server")
            figures = run_driver([*self.bare("stdio_client"), self.seconds, *server])
            return {row: figures[figure] for figure, row in rows.items()}

        self.measure(list(rows.values()), ("bare", *SUBJECTS), sample)

    def measure_http_client(self) -> None:
        ends = ("sequential", "at_once") if self.era else ("sequential", "at_once", "memory")
        rows = {figure: self.row(f"http-client-{CLIENT_ROWS[figure]}") for figure in ends}
        with serve(self.bare("http_server")) as port:

            def sample(peer: str) -> dict[str, float]:
                url = f"http://127.0.0.1:{port}/mcp"
                figures = run_driver([*self.client(peer), self.seconds, url])
                return {row: figures[figure] for figure, row in rows.items()}

            self.measure(list(rows.values()), SUBJECTS, sample)

    def measure_http_server(self) -> None:
        """The servers stay up for all rounds: an idle one takes nothing from the one that is measured."""
        commands: dict[str, dict[str, list[str]]] = {
            peer: {
                "http-server": self.driver(peer, "server"),
                "http-server-tuned": [*self.driver(peer, "server"), "tuned"],
            }
            for peer in ("mcp", "fastmcp")
        }
        commands["mesero"] = {"http-server": self.driver("mesero", "server")}
        commands["bare"] = {"http-server": self.bare("http_server")}
        ports: dict[tuple[str, str], int] = {}
        with contextlib.ExitStack() as stack:
            for peer, variants in commands.items():
                for row, command in variants.items():
                    try:
                        ports[peer, row] = stack.enter_context(serve(command))
                    except DriverError as error:
                        self.samples.fail(self.row(row), peer, str(error))

            def sample(peer: str) -> dict[str, float]:
                figures = {row: self.load_server(port) for (name, row), port in ports.items() if name == peer}
                # One server of ours stands in both rows: it has no faster settings to choose.
                both = {"http-server-tuned": figures["http-server"], **figures} if figures else {}
                return {self.row(row): figure for row, figure in both.items()}

            rows = [self.row("http-server"), self.row("http-server-tuned")]
            self.measure(rows, tuple(commands), sample)

    def load_server(self, port: int) -> float:
        figures = run_driver([*self.bare("http_load"), self.seconds, str(port)])
        self.http_load = str(figures["load"])
        return figures["calls"]

    def measure_sessions(self) -> None:
        """The calls once more, after a handshake."""
        self.era = ("--handshake",)
        for group in ("stdio_client", "stdio_server", "http_client", "http_server"):
            getattr(self, f"measure_{group}")()
        self.era = ()

    def measure_processes(self, row: str, command_of: Callable[[str], list[str]]) -> None:
        def sample(peer: str) -> dict[str, float]:
            start = time.perf_counter()
            try:
                subprocess.run(command_of(peer), check=True, capture_output=True, timeout=TIMEOUT_S)
            except (OSError, subprocess.SubprocessError) as error:
                raise DriverError(str(error)) from error
            return {row: (time.perf_counter() - start) * 1000}

        for peer in SUBJECTS:
            # Once unmeasured: bytecode and disk caches belong to the first start, not to the package.
            with contextlib.suppress(DriverError):
                sample(peer)
        self.measure([row], SUBJECTS, sample)

    def measure_import(self) -> None:
        self.measure_processes(
            "import", lambda peer: [self.pythons[peer], "-c", f"from {peer} import Client"]
        )

    def measure_help(self) -> None:
        self.measure_processes("help", lambda peer: [str(Path(self.pythons[peer]).with_name(peer)), "--help"])

    def read_facts(self, load: str) -> Facts:
        versions = {}
        for package, peer in (
            ("mesero", "mesero"),
            ("mcp", "mcp"),
            ("fastmcp", "fastmcp"),
            ("msgspec", "mesero"),
            ("uvicorn", "mesero"),
        ):
            code = f"from importlib.metadata import version as v; print(v({package!r}))"
            done = subprocess.run(
                [self.pythons[peer], "-c", code], capture_output=True, text=True, check=False
            )
            versions[package] = done.stdout.strip() or "?"
        return Facts(
            date=f"{datetime.now(UTC):%Y-%m-%d}",
            machine=f"{read_processor()}, {os.cpu_count()} cores, {platform.system()}",
            python=f"Python {platform.python_version()}",
            versions=versions,
            rounds=self.runs,
            seconds=float(self.seconds),
            load=load,
            http_load=self.http_load,
        )


def read_processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(": ")[2]
    return platform.machine()


def choose_groups(rows: str | None) -> list[str]:
    """The groups that a comma-separated list of beginnings names; all of them without a list."""
    if rows is None:
        return list(GROUPS)
    wanted = [word.strip() for word in rows.split(",") if word.strip()]
    unknown = [word for word in wanted if not any(group.startswith(word) for group in GROUPS)]
    if unknown:
        text = f"no rows begin with {', '.join(unknown)}; there are {', '.join(GROUPS)}"
        raise ValueError(text)
    return [group for group in GROUPS if any(group.startswith(word) for word in wanted)]


def parse_options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="mesero against the official SDK and FastMCP, as ratios in one run"
    )
    parser.add_argument("--quick", action="store_true", help="3 rounds of 0.3 s: a first look")
    parser.add_argument("--rows", help=f"beginnings of {', '.join(GROUPS)}")
    parser.add_argument("--runs", type=int, help="rounds (7)")
    parser.add_argument("--seconds", type=float, help="length of a sample (0.7)")
    parser.add_argument("--write", type=Path, help="write the page there (a full run: docs/benchmarks.md)")
    options = parser.parse_args(arguments)
    options.runs = options.runs or (3 if options.quick else 7)
    options.seconds = options.seconds or (0.3 if options.quick else 0.7)
    try:
        options.groups = choose_groups(options.rows)
    except ValueError as error:
        parser.error(str(error))
    if options.write is None and len(options.groups) == len(GROUPS) and not options.quick:
        options.write = ROOT / "docs" / "benchmarks.md"
    return options


def main() -> int:
    options = parse_options(sys.argv[1:])
    load = f"{os.getloadavg()[0]:.1f}"
    start = time.monotonic()
    bench = Bench(options.runs, options.seconds)
    for group in options.groups:
        print(f"{time.monotonic() - start:4.0f} s  {group}", file=sys.stderr, flush=True)
        getattr(bench, f"measure_{group.replace('-', '_')}")()
    facts = bench.read_facts(load)
    print("\n".join([render_table(bench.samples), "", *facts.lines()]))
    print(f"{time.monotonic() - start:4.0f} s  done", file=sys.stderr)
    if options.write:
        options.write.parent.mkdir(exist_ok=True)
        options.write.write_text(render_page(bench.samples, facts))
    return 1 if any(peer == "mesero" for _, peer in bench.samples.failures) else 0


if __name__ == "__main__":
    sys.exit(main())
