"""What every client driver does with its client, so that the three differ in nothing but the client.

A driver hands over an open client as three coroutine functions: `add(a, b)` returns the text of the answer,
`list_names()` the names of all tools, `blob()` the long text. One JSON line is printed: megabytes after
connect, calls a second one by one and 32 at once, milliseconds a listing, megabytes a second of text; over
HTTP only the first three, after a handshake (`--handshake`) only the calls.

The tools are listed once before anything is timed, so that every client knows the output schemas and checks
results against them.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

HANDSHAKE = "--handshake" in sys.argv
"""Whether the client is to speak 2025-11-25."""

AT_ONCE = 32
WARM_UP_CALLS = 64

Add = Callable[[int, int], Awaitable[str]]


def read_resident_mb() -> float:
    # Not pathlib: it would count as memory of clients that do without it.
    with open("/proc/self/status") as file:  # noqa: PTH123 - see above
        line = next(line for line in file if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1000


async def _call_until(add: Add, end: float, numbers: "Numbers") -> None:
    while time.perf_counter() < end:
        numbers.last += 1
        a = numbers.last
        if await add(a, 2) != str(a + 2):
            sys.exit(f"a wrong answer to add({a}, 2)")
        numbers.done += 1


class Numbers:
    """Shared by all callers of a sample: no two calls have the same arguments."""

    def __init__(self) -> None:
        self.last = 0
        self.done = 0


async def measure_calls(add: Add, callers: int, seconds: float) -> float:
    """Calls a second with that many callers, each waiting for its answer before it calls again."""
    for number in range(WARM_UP_CALLS):
        await add(number, 2)
    numbers = Numbers()
    start = time.perf_counter()
    await asyncio.gather(*(_call_until(add, start + seconds, numbers) for _ in range(callers)))
    return numbers.done / (time.perf_counter() - start)


async def measure_repeats(action: Callable[[], Awaitable[int]], expected: int, seconds: float) -> float:
    """Seconds that one run of the action takes, after one that is not counted."""
    runs = -1
    start = now = 0.0
    while runs < 1 or now - start < seconds:
        if await action() != expected:
            sys.exit("a wrong answer to a listing or a blob")
        now = time.perf_counter()
        runs += 1
        start = start or now
    return (now - start) / runs


async def measure(
    add: Add,
    list_names: Callable[[], Awaitable[list[str]]],
    blob: Callable[[], Awaitable[str]],
    *,
    seconds: float,
    over_http: bool,
) -> None:
    figures = {"memory": read_resident_mb()}
    await list_names()
    figures["sequential"] = await measure_calls(add, 1, seconds)
    figures["at_once"] = await measure_calls(add, AT_ONCE, seconds)

    async def count_names() -> int:
        return len(await list_names())

    async def count_text() -> int:
        return len(await blob())

    if not over_http and not HANDSHAKE:
        figures["list"] = await measure_repeats(count_names, 1000, seconds) * 1000
        figures["blob"] = 5 / await measure_repeats(count_text, 5_000_000, seconds)
    print(json.dumps(figures))


def read_arguments() -> tuple[float, str | list[str]]:
    """Seconds a sample, and the target: a URL or a command."""
    seconds, *target = sys.argv[1 + HANDSHAKE :]
    return float(seconds), target[0] if target[0].startswith("http") else target
