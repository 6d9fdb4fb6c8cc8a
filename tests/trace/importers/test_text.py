"""Any text in which messages stand."""

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.trace.format import MessageLine
from mesero.trace.importers.text import TextFile

PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
PONG = '{"jsonrpc":"2.0","id":1,"result":{}}'
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"arguments": {"a": [1, {}]}}}
PRETTY = json.dumps(CALL, indent=2)


def read(text):
    recording = TextFile(io.BytesIO(text.encode() if isinstance(text, str) else text))
    return recording, list(recording)


def test_messages_are_found_with_the_time_and_the_direction_on_their_line():
    recording, lines = read(
        f"2026-08-01T12:00:00.500Z DEBUG sending {PING}\n"
        f"nothing here\n"
        f"2026-08-01 12:00:02,000 DEBUG received {PONG} in 1500 ms\n"
    )

    assert [(line.raw, line.dir, line.t, line.guessed) for line in lines] == [
        (PING, "c2s", 0.0, ()),
        (PONG, "s2c", 1.5, ()),
    ]
    assert recording.unknown == ()
    assert recording.header.started == "2026-08-01T12:00:00.500000Z"


def test_what_the_text_does_not_tell_is_guessed_and_told():
    recording, lines = read(f"{PING}\n{PONG}\n")

    assert [(line.dir, line.guessed) for line in lines] == [("c2s", ("dir", "t")), ("s2c", ("dir", "t"))]
    assert recording.unknown == (
        "when a message passed (2 times)",
        "who sent a message: it was guessed from what it says (2 times)",
    )


@pytest.mark.parametrize(
    ("before", "direction"),
    [("-> ", "c2s"), ("<- ", "s2c"), ("→", "c2s"), ("Message from server: ", "s2c"), ("[sent] recv", "s2c")],
)
def test_arrows_and_words_before_a_message_say_who_sent_it(before, direction):
    _, lines = read(f"{before}{PING}\n")

    assert [line.dir for line in lines] == [direction]


def test_a_message_that_is_printed_over_several_lines_is_one():
    _, lines = read(f"sent {PRETTY}\nand then\n{PING}\n{PRETTY}")

    assert [line.raw for line in lines] == [PRETTY, PING, PRETTY]


def test_several_messages_on_a_line_are_several():
    _, lines = read(f"-> {PING} <- {PONG}")

    assert [(line.raw, line.dir) for line in lines] == [(PING, "c2s"), (PONG, "s2c")]


ENTRIES = [
    {"level": "info", "message": json.loads(PING)},
    {"level": "info", "text": f"got {PING}"},
    {"a": [{"b": {"c": PING}}], "n": 7, "m": "method"},
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_messages_inside_the_entries_of_a_json_log_are_found(entry):
    _, lines = read(json.dumps({"time": "2026-08-01T12:00:00Z", "x": entry}))

    assert [json.loads(line.raw) for line in lines] == [json.loads(PING)]


def test_an_entry_that_is_nested_too_deeply_is_not_searched_to_its_end():
    def nested(depth):
        return '{"x":' * depth + json.dumps(PING) + "}" * depth

    assert len(read(nested(20))[1]) == 1
    assert read(nested(21))[1] == []


def test_a_text_without_messages_says_so():
    recording, lines = read("hello\n{}\n")

    assert lines == []
    assert [problem.text for problem in recording.problems.kept] == [
        "no JSON-RPC message was found in this file"
    ]


def test_a_message_that_never_ends_does_not_swallow_the_file():
    _, lines = read('{\n"jsonrpc": "2.0",\n' + '"x": 1,\n' * 20_001 + f"{PING}\n")

    assert [line.raw for line in lines] == [PING]


def test_memory_does_not_depend_on_the_length(tmp_path):
    path = tmp_path / "a.log"
    with path.open("w") as file:
        for _ in range(20_000):
            file.write(
                f"2026-08-01T12:00:00Z DEBUG sending {PING} and a good many words of something else\n" * 3
            )

    tracemalloc.start()
    try:
        with path.open("rb") as file:
            count = sum(1 for _ in TextFile(file))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert count == 60_000
    assert peak < 1_000_000


PIECES = st.sampled_from(
    [PING, PONG, PRETTY, "\n", "{", "}", "[", '"', "-> ", '{"id":', "{\n", "\xff", '{"x":', "\\"]
)


@given(text=st.lists(PIECES, max_size=12).map("".join), cut=st.binary(max_size=5))
def test_no_text_makes_the_importer_raise(text, cut):
    _, lines = read(cut + text.encode())

    assert all(json.loads(line.raw) for line in lines if isinstance(line, MessageLine))
