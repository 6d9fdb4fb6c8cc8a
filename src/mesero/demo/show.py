"""``mesero demo``: use the notes server over stdio and HTTP, and show what passed on the wire."""

from __future__ import annotations

import asyncio
import contextlib
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import mesero
from mesero.demo.wire import Wire
from mesero.types import ElicitFormParams

__all__ = ["run_demo"]

_COMMAND = [sys.executable, "-m", "mesero.demo"]
_START_S = 20.0
_LINES = ["Bread: a dark one", "Milk: two litres", "Coffee: beans, not ground"]


def run_demo(write: Callable[[str], None] = print) -> int:
    """Show the whole exchange; 0 when everything held, 1 when something did not."""
    write("The notes server, used over stdio and then over HTTP.")
    write(
        "Each line is one message: ✓ it fits the official schema of 2026-07-28, → sent, ← received, its id."
    )
    wires = []
    write("\nstdio: python -m mesero.demo")
    wires.append(asyncio.run(_use(_COMMAND, write)))
    with _http_server() as url:
        write(f"\nHTTP: python -m mesero.demo --http, at {url}")
        wires.append(asyncio.run(_use(url, write)))
    return _tick_off(wires, write)


async def _use(target: Any, write: Callable[[str], None]) -> Wire:
    wire = Wire(write)

    async def confirm(question: ElicitFormParams) -> dict[str, Any]:
        write(f"         the user is asked {question.message!r} and answers: sure")
        return {"sure": True}

    async with mesero.Client(target, elicit=confirm, trace=wire.take) as client:
        await client.list_tools()
        await client.call_tool("notes_import", {"lines": _LINES}, on_progress=lambda _: None)
        found = await client.call_tool("notes_search", {"query": "milk"})
        note_id = found.structured_content[0]["id"]
        await client.read_resource(f"notes://{note_id}")
        await client.call_tool("notes_delete", {"id": note_id})
        await client.list_tools()  # Answered from the cache: the list is fresh, nothing passes on the wire.
    return wire


@contextlib.contextmanager
def _http_server() -> Iterator[str]:
    """The demo server on a port that the system gives; it says which on stderr."""
    process = subprocess.Popen([*_COMMAND, "--http", "0"], stderr=subprocess.PIPE, text=True)  # noqa: S603  (our own module)
    watchdog = threading.Timer(_START_S, process.kill)
    watchdog.start()
    try:
        said = []
        for line in process.stderr or ():
            said.append(line)
            found = re.search(r"http://\S+", line)
            if found:
                watchdog.cancel()
                yield found.group()
                return
        raise mesero.LaunchError(f"the demo server did not start: {''.join(said).strip()}")
    finally:
        watchdog.cancel()
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stderr is not None:
            process.stderr.close()


def _tick_off(wires: list[Wire], write: Callable[[str], None]) -> int:
    def total(name: str) -> int:
        return sum(getattr(wire, name) for wire in wires)

    violations = [text for wire in wires for text in wire.violations]
    complete = f"{total('complete_results')} of {total('results')}"
    asked = f"{total('asking_results')} more asked for input first"
    facts = [
        (
            total("requests") == total("requests_with_meta") > 0,
            f"every request repeats its _meta: {total('requests_with_meta')} of {total('requests')}",
        ),
        (
            total("results") == total("complete_results") > 0,
            f"every result is complete and carries the server's identity: {complete} ({asked})",
        ),
        (
            total("lists") == total("good_lists") > 0,
            f"lists are ordered and carry cache hints: {total('good_lists')} of {total('lists')}",
        ),
        (
            not violations,
            f"{total('messages')} messages, {len(violations)} violations of the official schema",
        ),
    ]
    write("\nThe invariants of a stateless protocol")
    for holds, text in facts:
        write(f"  {'✓' if holds else '✗'} {text}")
    for text in violations:
        write(f"    {text}")
    return 0 if all(holds for holds, _ in facts) else 1
