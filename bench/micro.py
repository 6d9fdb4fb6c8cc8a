"""Micro-benchmarks of the hot path: what one `tools/call` costs in each pure function that it passes.

    python bench/micro.py [--seconds 0.2]

Nanoseconds an operation, the best of five repeats: for comparing two versions of a function on one machine.
All of it is pure and in one process; what a whole call costs, pipes and tasks included, run.py measures.
"""

from __future__ import annotations

import argparse
import sys
import timeit
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "bare"))

import wire

from mesero import types
from mesero.framing import EventFramer, LineFramer, encode_event
from mesero.jsonrpc import (
    check_duplicate_members,
    decode_message,
    encode_request,
    encode_result,
)
from mesero.modern import envelope
from mesero.modern.methods import METHODS
from mesero.types.decode import decode_result

REPEATS = 5
SUPPORTED = (wire.REVISION,)
CALL = wire.encode_call(1)
ANSWER = wire.answer_to(CALL)
LISTING = wire.answer_to(CALL.replace(b"tools/call", b"tools/list"))
HEADERS = [
    (name.lower().encode(), value.encode())
    for name, _, value in (line.partition(": ") for line in wire.http_headers("tools/call", "add"))
]

Step = tuple[str, Callable[[], object]]


def framing_steps() -> Iterator[Step]:
    lines, events = LineFramer(), EventFramer()
    one, many, halves = CALL + b"\n", (CALL + b"\n") * 32, (CALL[:100], CALL[100:] + b"\n")
    event = encode_event(ANSWER)
    yield "lines: one whole line", lambda: lines.receive(one)
    yield "lines: 32 lines in one chunk", lambda: lines.receive(many)
    yield "lines: one line in two chunks", lambda: (lines.receive(halves[0]), lines.receive(halves[1]))
    yield "events: one whole event", lambda: events.receive(event)
    yield "events: write one", lambda: encode_event(ANSWER)


def server_steps() -> Iterator[Step]:
    """The nine steps in order, as far as they are pure, and the way out."""
    request = envelope.check_request(decode_message(CALL))
    metadata = envelope.read_metadata(request, SUPPORTED)
    spec = METHODS[request.method]
    result = types.CallToolResult(content=[types.TextContent(text="3")], structured_content={"result": 3})
    yield "1 parse", lambda: envelope.parse_message(CALL, refuse_twins=False)
    yield "1 parse, over HTTP: twins refused", lambda: envelope.parse_message(CALL, refuse_twins=True)
    yield "  of that: the search for twins", lambda: check_duplicate_members(CALL)
    yield "2 envelope", lambda: envelope.check_request(request)
    yield "3 metadata", lambda: envelope.read_metadata(request, SUPPORTED)
    yield "4 headers", lambda: envelope.check_headers(request, metadata, HEADERS, spec=spec)
    yield "5 revision", lambda: envelope.check_revision(metadata, SUPPORTED)
    yield "6 route: method", lambda: envelope.route(request, METHODS)
    yield "6 route: parameters", lambda: envelope.read_params(request, spec)
    yield "8 answer: encode the result", lambda: encode_result(1, result)


def client_steps() -> Iterator[Step]:
    params = {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": decode_params_meta()}
    response, listing = decode_message(ANSWER), decode_message(LISTING)
    yield "encode a tools/call", lambda: encode_request(1, "tools/call", params)
    yield "decode the answer's envelope", lambda: decode_message(ANSWER)
    yield "type the result", lambda: decode_result(types.CallToolResult, response.result)
    yield "decode 1000 tools' envelope", lambda: decode_message(LISTING)
    yield "type 1000 tools", lambda: decode_result(types.ListToolsResult, listing.result)


def decode_params_meta() -> object:
    return wire.msgspec.json.decode(CALL)["params"]["_meta"]


def measure_ns(action: Callable[[], object], seconds: float) -> float:
    """Nanoseconds one call takes; the lambda around it, some 30 ns, included."""
    timer = timeit.Timer(action)
    loops, _ = timer.autorange(lambda *_: None)
    loops = max(1, int(loops * seconds / REPEATS / 0.2))
    return min(timer.repeat(REPEATS, loops)) / loops * 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description="nanoseconds an operation of the hot path")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each line (0.2)")
    seconds = parser.parse_args().seconds
    for title, steps in (
        ("framing", framing_steps()),
        ("server", server_steps()),
        ("client", client_steps()),
    ):
        print(title)
        for name, action in steps:
            print(f"  {name:36} {measure_ns(action, seconds):12,.0f} ns")


if __name__ == "__main__":
    main()
