"""The bare stdio client that servers are measured with.

    stdio_client.py [--handshake] SECONDS COMMAND [ARGUMENT …]

Prints one JSON line: calls a second, one by one and with 32 under way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from wire import HANDSHAKE, READY, check_answer, check_opening, encode_call, encode_opening

READ_BYTES = 1 << 18
DEPTH = 32
WARM_UP_SECONDS = 0.2


class Pipe:
    """A server process and its two pipes, read and written without buffering."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.rest = b""
        self.number = 0

    def read_lines(self) -> list[bytes]:
        while True:
            chunk = os.read(self.stdout, READ_BYTES)
            if not chunk:
                sys.exit(f"the server ended with exit code {self.process.wait(5)}")
            *lines, self.rest = (self.rest + chunk).split(b"\n")
            if lines:
                return lines

    def write_calls(self, count: int) -> None:
        calls = []
        for _ in range(count):
            self.number += 1
            calls.append(encode_call(self.number) + b"\n")
        os.write(self.stdin, b"".join(calls))

    def close(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def measure(pipe: Pipe, depth: int, seconds: float) -> float:
    """Calls a second with `depth` of them always under way; every answer is checked."""
    done = 0
    pipe.write_calls(depth)
    start = time.perf_counter()
    end = start + seconds
    while True:
        lines = pipe.read_lines()
        for line in lines:
            check_answer(line)
        done += len(lines)
        now = time.perf_counter()
        if now >= end:
            break
        pipe.write_calls(len(lines))
    open_calls = depth - len(lines)
    while open_calls > 0:
        open_calls -= len(pipe.read_lines())
    return done / (now - start)


def main() -> None:
    # The command may have words of its own that look like ours.
    seconds, *command = sys.argv[1 + HANDSHAKE :]
    pipe = Pipe(command)
    try:
        os.write(pipe.stdin, encode_opening() + b"\n")
        check_opening(pipe.read_lines()[0])
        if READY:
            os.write(pipe.stdin, READY + b"\n")
        figures = {}
        for row, depth in (("sequential", 1), ("pipelined", DEPTH)):
            measure(pipe, depth, WARM_UP_SECONDS)
            figures[row] = measure(pipe, depth, float(seconds))
        print(json.dumps(figures))
    finally:
        pipe.close()


if __name__ == "__main__":
    main()
