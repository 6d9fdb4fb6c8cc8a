"""`make peers`: our client against servers of others, our server against clients of others, way by way.

    python tests/peers_matrix/run.py [--only WORD] [--way stdio] [--record FOLDER]

A cell of the matrix is one connection: connect, list, call, get an error, be asked something where the peer
can ask, close; then nothing of it may be left running. The doctor looks at every server as well, and must say
what matrix.toml says of it: nothing, for most. Who is met stands in matrix.toml, what they run in
peers/. A peer that cannot be installed is left out by name; a cell that fails makes the exit code 1, and so
does a matrix without any cell. With --record every session is recorded: our client does it by itself, clients
of others go through `mesero trace`, the shim or the proxy, and must not notice.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from environments import NPM, Environment, prepare  # noqa: E402  (a script's folder, not a package)

PEERS = HERE / "peers"
WAYS = ("stdio", "http", "http-stateless", "sse")
PATHS = {"http": "/mcp", "http-stateless": "/mcp", "sse": "/sse"}
AT_ONCE = 2
CELL_TIMEOUT_S = 60
READY_TIMEOUT_S = 30
SURVIVAL_WAIT_S = 5.0
# Two cells at a time share a machine that may be slow; on a quiet one it takes 1 to 3 s.
DOCTOR_S = 10.0
CALL = {"tool": "add", "arguments": {"a": 2, "b": 3}, "expect": "5"}
PROGRESS = {"tool": "count", "arguments": {}, "expect": "counted"}
SLOW = {"tool": "slow", "arguments": {}}
ASK = {"tool": "ask", "arguments": {}, "expect": "Hello."}
# `TypeError: …`, `mcp.shared.exceptions.McpError: …`, `Error: …`
ERROR = re.compile(r"[\w.]*(Error|Exception|Exit)\b[^:]*: ")


class CellError(Exception):
    """A cell failed; the text says how."""


@dataclass(frozen=True)
class Cell:
    """One connection of one peer. `side` says what the peer is: server or client."""

    side: str
    peer: Mapping[str, Any]
    way: str

    @property
    def does_ask(self) -> bool:
        return self.way in self.peer.get("asks", ())


@dataclass(frozen=True)
class Outcome:
    """What became of a cell: the revision that was spoken, or the problem."""

    revision: str = ""
    problem: str = ""

    @property
    def word(self) -> str:
        return "NO" if self.problem else self.revision or "ok"


def read_cells(matrix: Mapping[str, Any]) -> list[Cell]:
    """Every cell of the matrix, peer by peer."""
    return [
        Cell(side, peer, way)
        for side in ("server", "client")
        for peer in matrix[side]
        for way in WAYS
        if way in peer.get("ways", peer.get("commands", ()))
    ]


# --- one cell -----------------------------------------------------------------------------------


class Meeting:
    """A cell that runs: its processes, its folder, the mark by which survivors are found."""

    def __init__(
        self, cell: Cell, environment: Environment, folder: Path, *, record: Path | None = None
    ) -> None:
        self.cell = cell
        name = re.sub(r"[^\w.-]+", "-", f"{cell.side}-{cell.peer['name']}-{cell.way}")
        self.recording = None if record is None else record / f"{name}.jsonl"
        self.mark = f"cell-{uuid.uuid4().hex}"
        self.folder = folder
        self.port = find_free_port()
        self.root = folder / "root"
        self.words = {**environment.words, "root": str(self.root)}

    def run(self) -> Outcome:
        self.root.mkdir(parents=True)
        try:
            if self.cell.peer.get("needs_git", False):
                run_quietly(["git", "init", "--quiet", str(self.root)])
            seen = self._meet()
            survivor = find_survivor(self.mark)
        except CellError as error:
            return Outcome(problem=str(error))
        if survivor:
            return Outcome(problem=f"still running {SURVIVAL_WAIT_S:.0f} s after the end: {survivor}")
        return Outcome(revision=str(seen.get("revision", "")))

    def _meet(self) -> Mapping[str, Any]:
        server = self._server_command()
        if self.cell.way == "stdio":
            return self._drive(server)
        with serving(
            [*server, *self._port_words()], self.port, self.folder / "server.log", self._server_env()
        ):
            return self._drive(f"http://127.0.0.1:{self.port}{PATHS[self.cell.way]}")

    def _server_command(self) -> list[str]:
        peer, way = self.cell.peer, self.cell.way
        if self.cell.side == "client":
            return [sys.executable, str(PEERS / "ours_server.py"), way, *self._own_words()]
        if "commands" in peer:
            return self._filled(peer["commands"][way])
        return [self.words["python"], str(PEERS / peer["program"]), way]

    def _filled(self, command: Sequence[str]) -> list[str]:
        return [word.format(**self.words) for word in command]

    def _own_words(self) -> list[str]:
        # The mark on the command line: clients pass on little of their environment.
        return [self.mark] if self.cell.way == "stdio" else []

    def _port_words(self) -> list[str]:
        return [] if "commands" in self.cell.peer else [str(self.port)]

    def _server_env(self) -> dict[str, str]:
        return {"PORT": str(self.port)}

    def _drive(self, target: str | list[str]) -> Mapping[str, Any]:
        if self.cell.side == "server":
            seen = self._run_ours(target)
            self._run_doctor(target)
            return seen
        if self.recording is None:
            return self._run_theirs(target)
        trace = [sys.executable, "-m", "mesero", "trace", "-o", str(self.recording)]
        if isinstance(target, list):
            return self._run_theirs([*trace, "--", *target])
        port = find_free_port()
        command = [*trace, "--listen", f"127.0.0.1:{port}", target]
        with serving(command, port, self.folder / "proxy.log", {}):
            return self._run_theirs(target.replace(f":{self.port}/", f":{port}/"))

    def _run_theirs(self, target: str | list[str]) -> Mapping[str, Any]:
        command = self._filled(self.cell.peer["command"])
        ends = target if isinstance(target, list) else [target]
        # In all their APIs a way over HTTP is the same, with sessions or without.
        way = "http" if self.cell.way == "http-stateless" else self.cell.way
        seen = self._run([*command, way, *ends])
        self._check(seen)
        return seen

    def _run_ours(self, target: str | list[str]) -> Mapping[str, Any]:
        call = json.loads(json.dumps(self.cell.peer.get("call", CALL)).replace("{root}", str(self.root)))
        job = {"target": target, "cell": self.mark, "root": str(self.root), "call": call}
        job |= {} if self.recording is None else {"trace": str(self.recording)}
        job["era"] = self.cell.peer.get("eras", {}).get(self.cell.way)
        if self.cell.does_ask:
            job["ask"] = self.cell.peer.get("ask", ASK)
        has_ours = "program" in self.cell.peer
        job |= {"progress": PROGRESS, "slow": SLOW} if has_ours else {}
        job |= {name: self.cell.peer[name] for name in ("progress", "slow") if name in self.cell.peer}
        if self.cell.way in self.cell.peer.get("mute", ()):
            del job["progress"]
        if self.cell.peer.get("dies_of_cancelling", False):
            del job["slow"]
        return self._run([sys.executable, str(PEERS / "ours_client.py"), json.dumps(job)])

    def _run_doctor(self, target: str | list[str]) -> None:
        words = (
            ["--env", f"MESERO_PEERS_CELL={self.mark}", "--", *target]
            if isinstance(target, list)
            else [target]
        )
        report = self._run([sys.executable, "-m", "mesero", "doctor", "--json", *words], may_fail=True)
        found = [(each["code"], each["cause"]) for each in report["diagnoses"]]
        expected = self.cell.peer.get("doctor", {}).get(self.cell.way, [])
        if [code for code, _ in found] != expected:
            raise CellError(f"the doctor says {found}, not {expected}")
        if not expected and report["took_s"] > DOCTOR_S:
            raise CellError(f"the doctor took {report['took_s']} s: {report['checks']}")

    def _check(self, seen: Mapping[str, Any]) -> None:
        expected: dict[str, Any] = {"sum": "5", "note": "a note"}
        expected |= {"asked": "Hello."} if self.cell.does_ask else {}
        if not self.cell.peer.get("has_no_options", False):
            expected |= {"steps": [1, 2], "again": "7"}
            if not seen.get("late") or seen["late"] == "not at all":
                raise CellError("a slow call was not given up")
        for name, value in expected.items():
            if seen.get(name) != value:
                raise CellError(f"{name} is {seen.get(name)!r}, not {value!r}")
        if not {"add", "ask", "fail"} <= set(seen["tools"]):
            raise CellError(f"the tools are {seen['tools']}")
        if "failed on purpose" not in seen["error"]:
            raise CellError(f"the error is {seen['error']!r}")

    def _run(self, command: Sequence[str], *, may_fail: bool = False) -> Mapping[str, Any]:
        """The JSON that a command prints last; an exit code above 0 is an error unless it ``may_fail``."""
        log = self.folder / "client.log"
        with log.open("wb") as err:
            process = start(command, subprocess.PIPE, err)
            try:
                out, _ = process.communicate(timeout=CELL_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                raise CellError(f"not done after {CELL_TIMEOUT_S} s; {last_words(log)}") from None
            finally:
                kill_group(process)
        if (process.returncode and not may_fail) or not out.strip():
            raise CellError(last_words(log) or f"exit code {process.returncode}, and not a word")
        text = out if may_fail else out.splitlines()[-1]
        try:
            seen: Mapping[str, Any] = json.loads(text)
        except ValueError:
            raise CellError(f"what it printed is no JSON: {text[:200]!r}") from None
        return seen


# --- processes ----------------------------------------------------------------------------------


def start(command: Sequence[str], out: Any, err: Any, env: Mapping[str, str] | None = None) -> Any:
    settings = {**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})}
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=settings, start_new_session=True
    )


def run_quietly(command: Sequence[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=CELL_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise CellError(f"{command[0]}: {error}") from error


def kill_group(process: Any) -> None:
    # macOS answers "not permitted" for a group whose last member is already dead.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serving(command: Sequence[str], port: int, log: Path, env: Mapping[str, str]) -> Iterator[None]:
    """A server that listens while the block runs."""
    with log.open("wb") as out:
        process = start(command, out, out, env)
        try:
            deadline = time.monotonic() + READY_TIMEOUT_S
            while not is_listening(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise CellError(f"the server does not listen: {last_words(log)}")
                time.sleep(0.05)
            yield
        finally:
            kill_group(process)


def is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def last_words(log: Path) -> str:
    """The last line that names an error, or the last line."""
    # Exception groups are drawn with lines and bars around what matters.
    lines = [line.strip(" |+-\t\r") for line in log.read_text(errors="replace").splitlines()]
    lines = [line for line in lines if line]
    errors = [line for line in lines if ERROR.match(line)]
    return (errors or lines or [""])[-1][:300]


def find_survivor(mark: str) -> str | None:
    """The command of a process that still bears the mark after a while; None where /proc does not tell."""
    deadline = time.monotonic() + SURVIVAL_WAIT_S
    while found := _bearer_of(mark.encode()):
        if time.monotonic() > deadline:
            return found
        time.sleep(0.1)
    return None


def _bearer_of(mark: bytes) -> str | None:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (process / "cmdline").read_bytes()
            if mark in command or mark in (process / "environ").read_bytes():
                return command.replace(b"\0", b" ").decode(errors="replace").strip() or process.name
    return None


# --- the matrix ---------------------------------------------------------------------------------


def run_cells(
    cells: Sequence[Cell],
    environments: Mapping[str, Environment],
    folder: Path,
    *,
    record: Path | None = None,
) -> dict[int, Outcome]:
    """What became of each cell, by its place; those whose environment is missing have no outcome."""

    def run_one(place: int) -> Outcome:
        cell = cells[place]
        environment = environments[cell.peer["environment"]]
        return Meeting(cell, environment, folder / str(place), record=record).run()

    places = [
        place for place, cell in enumerate(cells) if environments[cell.peer["environment"]].problem is None
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(places, pool.map(run_one, places), strict=True))


def print_matrix(cells: Sequence[Cell], outcomes: Mapping[int, Outcome]) -> None:
    """A table a side, the problems below it."""
    titles = {"server": "our client with the server of", "client": "our server with the client of"}
    for side, title in titles.items():
        rows: dict[str, dict[str, Outcome]] = {}
        for place, outcome in outcomes.items():
            if cells[place].side == side:
                rows.setdefault(cells[place].peer["name"], {})[cells[place].way] = outcome
        if not rows:
            continue
        print(f"\n{title:<38}" + "".join(f"{way:<16}" for way in WAYS))
        for name, row in rows.items():
            print(f"  {name:<36}" + "".join(f"{row[way].word if way in row else '-':<16}" for way in WAYS))
            for way, outcome in row.items():
                if outcome.problem:
                    print(f"      {way}: {outcome.problem}")


def main(argv: Sequence[str] | None = None) -> int:
    """0 when every cell that could be run went well."""
    parser = argparse.ArgumentParser(description="Meet the servers and clients of others.")
    parser.add_argument("--only", default="", help="a word of the side and name of those to meet")
    parser.add_argument("--way", choices=WAYS, help="only this way")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="record every session in this folder")
    options = parser.parse_args(argv)
    if options.record is not None:
        options.record.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    cells = [
        cell
        for cell in read_cells(tomllib.loads((HERE / "matrix.toml").read_text()))
        if options.only in f"{cell.side} {cell.peer['name']}" and options.way in (None, cell.way)
    ]
    environments = prepare({cell.peer["environment"] for cell in cells}, at_once=AT_ONCE)
    ready = time.monotonic()
    npm = environments.get(NPM)
    if npm and npm.problem is None:
        for program in PEERS.glob("*.mjs"):
            shutil.copy(program, npm.folder)
    with tempfile.TemporaryDirectory(prefix="mesero-peers-") as folder:
        outcomes = run_cells(cells, environments, Path(folder).resolve(), record=options.record)
    print_matrix(cells, outcomes)
    left_out = sorted(
        {
            (cell.side, cell.peer["name"], cell.peer["environment"])
            for cell in cells
            if _is_out(cell, environments)
        }
    )
    for side, name, environment in left_out:
        print(
            f"\nleft out: the {side} {name}, which cannot be installed: {environments[environment].problem}"
        )
    failed = sum(1 for outcome in outcomes.values() if outcome.problem)
    print(
        f"\npeers: {len(outcomes) - failed}/{len(outcomes)} cells, {len(left_out)} peers left out; "
        f"{ready - began:.0f} s to set up, {time.monotonic() - ready:.0f} s to meet"
    )
    return int(failed > 0 or not outcomes)


def _is_out(cell: Cell, environments: Mapping[str, Environment]) -> bool:
    return environments[cell.peer["environment"]].problem is not None


if __name__ == "__main__":
    sys.exit(main())
