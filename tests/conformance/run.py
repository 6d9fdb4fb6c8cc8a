"""Runs the official MCP conformance suite against the fixtures in this folder, and judges what it found.

The suite's own verdict is not enough: a scenario whose checks were all skipped gets its tick, a WARNING
exits 0, and a scenario that was never reached is not missed. So every checks.json is read here, and each
scenario of scenarios.toml needs at least one passed check of its own, no FAILURE and no WARNING. What is
accepted all the same stands in baseline.yml, where an entry that no longer fails is an error as well.

Judging (`judge`, `read_baseline`, `find_stale`) is pure and tested in test_run.py; the rest starts processes.
Nothing here imports mesero: the fixtures are programs like any other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HERE = Path(__file__).parent
RESULTS = HERE / ".results"
NODE = HERE / "node_modules" / ".bin" / "node"
SUITE = HERE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

INSTALL_TIMEOUT_S = 300
READY_TIMEOUT_S = 30
SERVER_RUN_TIMEOUT_S = 180
CLIENT_SCENARIO_TIMEOUT_S = 45
# Each scenario starts a Python and a Node process, so more at once only measures the machine.
CLIENTS_AT_ONCE = 2

# Passes as soon as any message was sent, whatever the scenario is about.
GENERIC_CHECK = "wire-schema-valid"
BAD = frozenset({"FAILURE", "WARNING"})


# --- judging: pure --------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScenarioSet:
    """What one revision demands: scenario names by side."""

    revision: str
    server_run: tuple[str, ...]
    server_scored: tuple[str, ...]
    server_extra: tuple[str, ...]
    client: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What became of one scenario; `used` holds the baseline's entries that excuse something in it."""

    scenario: str
    counts: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    used: frozenset[str] = frozenset()

    @property
    def word(self) -> str:
        """`ok` only when every demand was met without help from the baseline."""
        if self.problems:
            return "NO"
        return "accepted" if self.used else "ok"


def judge(scenario: str, checks: Sequence[Mapping[str, Any]] | None, baseline: frozenset[str]) -> Verdict:
    """The verdict on one scenario's checks; `checks` is None when the suite left no result.

    A baseline entry `scenario` excuses anything but a missing result, `scenario:check-id` that check alone.
    """
    if checks is None:
        return Verdict(scenario, problems=("it left no result: it did not run, or it broke off",))
    counts = Counter(str(check["status"]) for check in checks)
    problems: list[str] = []
    used: set[str] = set()
    for check in checks:
        if check["status"] not in BAD:
            continue
        entry = f"{scenario}:{check['id']}"
        if entry in baseline:
            used.add(entry)
        else:
            problems.append(f"{check['status']} {check['id']}: {_reason_of(check)}")
    if not any(check["status"] == "SUCCESS" and check["id"] != GENERIC_CHECK for check in checks):
        problems.append(f"nothing was checked: no SUCCESS besides {GENERIC_CHECK}")
    if problems and scenario in baseline:
        used.add(scenario)
        problems = []
    return Verdict(scenario, counts, tuple(problems), frozenset(used))


def _reason_of(check: Mapping[str, Any]) -> str:
    return str(check.get("errorMessage") or check.get("description") or "no reason given")


def read_baseline(text: str) -> dict[str, frozenset[str]]:
    """The accepted failures by side, from the little YAML that baseline.yml is written in.

    Raises:
        ValueError: a line that is none of comment, `server:`, `client:` or `- entry`.
    """
    entries: dict[str, set[str]] = {"server": set(), "client": set()}
    side: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        match words:
            case []:
                continue
            case [("server:" | "client:") as key] | [("server:" | "client:") as key, "[]"]:
                side = key[:-1]
            case ["-", entry] if side is not None:
                entries[side].add(entry)
            case _:
                message = (
                    f"baseline.yml, line {number}: expected `server:`, `client:` or `- entry`, got {line!r}"
                )
                raise ValueError(message)
    return {key: frozenset(value) for key, value in entries.items()}


def find_stale(baseline: frozenset[str], verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """The baseline entries that excuse nothing any more."""
    return tuple(sorted(baseline.difference(*(verdict.used for verdict in verdicts))))


def read_scenarios(text: str) -> tuple[ScenarioSet, ...]:
    """The sets of scenarios.toml."""
    keys = ("server_run", "server_scored", "server_extra", "client")
    return tuple(
        ScenarioSet(table["revision"], *(tuple(table[key]) for key in keys))
        for table in tomllib.loads(text)["set"]
    )


def read_checks(folder: Path, scenario: str, *, prefix: str = "") -> list[dict[str, Any]] | None:
    """The checks of the one run of `scenario` below `folder`, or None when there is none that can be read."""
    # Folders are called <prefix><scenario>-<timestamp>; one name may begin another's, hence the digits.
    found = sorted(folder.glob(f"{prefix}{scenario}-[0-9][0-9][0-9][0-9]-[0-9][0-9]-*T*/checks.json"))
    if not found:
        return None
    try:
        checks = json.loads(found[-1].read_bytes())
    except ValueError:
        return None
    return checks if isinstance(checks, list) else None


# --- processes ------------------------------------------------------------------------------------


def run_bounded(argv: Sequence[str], log: Path, *, timeout_s: float) -> str | None:
    """Run `argv` in this folder with its output in `log`; None, or what went wrong in words.

    The suite kills only the shell of a client that hangs, so the whole process group goes with it here.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out:
        process = _start(argv, out)
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return f"still running after {timeout_s:.0f} s"
        finally:
            _kill_group(process)
    return None if code == 0 else f"ended with exit code {code}"


def _start(argv: Sequence[str], out: IO[bytes]) -> subprocess.Popen[bytes]:
    # Unbuffered, so that the log of a killed program is whole. Node's warnings are about the suite, not us.
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "NODE_NO_WARNINGS": "1"}
    # A session of its own makes it a process group that can be killed whole.
    return subprocess.Popen(
        argv, cwd=HERE, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, start_new_session=True
    )


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    # macOS answers "not permitted" for a group whose last member is already dead.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def install_suite() -> None:
    """`npm ci`, unless what is installed is what the lock says.

    Raises:
        RuntimeError: npm failed; the text holds the end of its output.
    """
    stamp = HERE / "node_modules" / ".installed"
    wanted = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted and SUITE.exists():
        return
    log = RESULTS / "npm.log"
    npm = ["npm", "ci", "--omit=dev", "--no-audit", "--no-fund", "--no-update-notifier"]
    problem = run_bounded(npm, log, timeout_s=INSTALL_TIMEOUT_S)
    if problem or not NODE.exists() or not SUITE.exists():
        message = f"npm ci {problem or 'left no suite'}:\n{_tail_of(log)}"
        raise RuntimeError(message)
    stamp.write_text(wanted)


def _tail_of(log: Path, *, lines: int = 30) -> str:
    text = log.read_text(errors="replace") if log.exists() else ""
    return "\n".join(text.splitlines()[-lines:])


@contextmanager
def serving(log: Path) -> Iterator[str]:
    """The URL of the fixture server, which lives as long as the block."""
    port = _free_port()
    argv = [sys.executable, "server.py", "--port", str(port)]
    with log.open("wb") as out:
        process = _start(argv, out)
        try:
            _wait_for(port, process, log)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            _kill_group(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    ending = (
        f"ended with exit code {process.returncode}" if process.returncode is not None else "never listened"
    )
    message = f"the fixture server {ending}:\n{_tail_of(log)}"
    raise RuntimeError(message)


# --- the two sides --------------------------------------------------------------------------------


def run_server_side(demands: ScenarioSet) -> dict[str, list[dict[str, Any]] | None]:
    """Every server scenario of the set, in one go of the suite: scenario → checks."""
    folder = RESULTS / f"server-{demands.revision}"
    folder.mkdir(parents=True)
    with serving(folder / "server.log") as url:
        argv = ["server", "--url", url, *demands.server_run, "-o", str(folder)]
        # Its exit code speaks of scored scenarios only; what we demand is read from the files.
        run_bounded([str(NODE), str(SUITE), *argv], folder / "suite.log", timeout_s=SERVER_RUN_TIMEOUT_S)
    names = demands.server_scored + demands.server_extra
    return {name: read_checks(folder, name, prefix="server-") for name in names}


def run_client_side(demands: ScenarioSet) -> dict[str, list[dict[str, Any]] | None]:
    """Every client scenario of the set, each in a run of its own: scenario → checks."""
    folder = RESULTS / f"client-{demands.revision}"
    with ThreadPoolExecutor(CLIENTS_AT_ONCE) as pool:
        runs = [pool.submit(_run_client, demands.revision, name, folder) for name in demands.client]
    return dict(zip(demands.client, (run.result() for run in runs), strict=True))


def _run_client(revision: str, scenario: str, folder: Path) -> list[dict[str, Any]] | None:
    # The suite splits the command at spaces without regard to quotes, so paths are relative to this folder.
    command = f"{os.path.relpath(sys.executable, HERE)} client.py"
    options = [
        "--scenario",
        scenario,
        "--spec-version",
        revision,
        "--timeout",
        str(CLIENT_SCENARIO_TIMEOUT_S * 1000),
    ]
    argv = [str(NODE), str(SUITE), "client", "--command", command, *options, "-o", str(folder)]
    log = folder / f"{scenario}.log"
    problem = run_bounded(argv, log, timeout_s=CLIENT_SCENARIO_TIMEOUT_S + 15)
    checks = read_checks(folder, scenario)
    if problem is None or checks is None or any(check["status"] in BAD for check in checks):
        return checks
    # The suite's exit code also speaks of a client that crashed or hung, which no check shows.
    reason = f"the run {problem}; see {log.relative_to(HERE)}"
    return [*checks, {"id": "exit-code", "status": "FAILURE", "errorMessage": reason}]


# --- the report -----------------------------------------------------------------------------------


def print_table(title: str, verdicts: Sequence[Verdict]) -> None:
    """One row a scenario, its problems below it."""
    print(f"\n{title:<52} passed failed warned skipped")
    for verdict in verdicts:
        passed, failed, warned, skipped = (
            verdict.counts.get(status, 0) for status in ("SUCCESS", "FAILURE", "WARNING", "SKIPPED")
        )
        print(f"  {verdict.scenario:<50} {passed:>6} {failed:>6} {warned:>6} {skipped:>7}  {verdict.word}")
        for problem in verdict.problems:
            print(f"      {problem}")


def score_of(verdicts: Sequence[Verdict]) -> str:
    """`37/37`, and how many of the missing ones the baseline excuses."""
    words = Counter(verdict.word for verdict in verdicts)
    return f"{words['ok']}/{len(verdicts)}" + (
        f" ({words['accepted']} accepted)" if words["accepted"] else ""
    )


def summary_of(demands: ScenarioSet, side: str, verdicts: Sequence[Verdict]) -> str:
    """One side's part of the closing line."""
    if side == "client":
        return f"client {demands.revision} {score_of(verdicts)}"
    scored = len(demands.server_scored)
    extra = f", {score_of(verdicts[scored:])} extra" if verdicts[scored:] else ""
    return f"server {demands.revision} {score_of(verdicts[:scored])} scored{extra}"


def run_everything(sides: Sequence[str]) -> bool:
    """Run every set, print tables and the closing line; whether all demands were met."""
    baseline = read_baseline((HERE / "baseline.yml").read_text())
    verdicts: dict[str, list[Verdict]] = {side: [] for side in sides}
    parts: list[str] = []
    for demands in read_scenarios((HERE / "scenarios.toml").read_text()):
        for side in sides:
            results = run_server_side(demands) if side == "server" else run_client_side(demands)
            judged = [judge(name, checks, baseline[side]) for name, checks in results.items()]
            verdicts[side] += judged
            print_table(f"{side} {demands.revision}", judged)
            parts.append(summary_of(demands, side, judged))
    stale = [f"{side}: {entry}" for side in sides for entry in find_stale(baseline[side], verdicts[side])]
    for entry in stale:
        print(f"\nbaseline.yml lists what no longer fails, delete it: {entry}")
    print(f"\nconformance: {'; '.join(parts)}")
    return not stale and not any(verdict.problems for side in sides for verdict in verdicts[side])


def main(argv: Sequence[str] | None = None) -> int:
    """0 when every scenario passed; 1 otherwise, and under CI=true also when npm is missing."""
    parser = argparse.ArgumentParser(description="Run the official MCP conformance suite.")
    parser.add_argument("--only", choices=["server", "client"], help="leave the other side out")
    only = parser.parse_args(argv).only
    if shutil.which("npm") is None:
        print("!!! npm is missing: the official conformance suite was NOT run !!!", file=sys.stderr)
        return int(os.environ.get("CI") == "true")
    shutil.rmtree(RESULTS, ignore_errors=True)
    try:
        install_suite()
        well = run_everything([only] if only else ["server", "client"])
    except RuntimeError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 1
    if not well:
        print(f"conformance: what was sent and checked is in {os.path.relpath(RESULTS)}", file=sys.stderr)
    return int(not well)


if __name__ == "__main__":
    sys.exit(main())
