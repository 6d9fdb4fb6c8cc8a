"""Reading a recording whatever became of it: what is wrong is said, what is left is read, nothing raises."""

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.errors import UsageError
from mesero.trace.format import Header, Link, MessageLine, NoteLine, OtherLine, encode_header, encode_line
from mesero.trace.reader import Problem, Problems, TraceReader, open_file, read_lines

HEADER = encode_header(Header(started="2026-08-01T12:00:00Z", by="mesero 1", links={"7": Link(name="a")}))


def note(seq, text="x", **fields):
    return encode_line(NoteLine(seq=seq, t=seq / 10, link="7", text=text, **fields))


def read(*parts, **settings):
    trace = TraceReader(io.BytesIO(b"".join(parts)), **settings)
    return trace, list(trace)


def problems_of(trace):
    return [str(problem) for problem in trace.problems.kept]


def test_a_good_recording_has_no_problems():
    trace, lines = read(HEADER, note(1), note(2))

    assert [line.seq for line in lines] == [1, 2]
    assert trace.header.links["7"].name == "a"
    assert trace.problems.count == 0
    assert trace.unknown == ()


def test_a_file_that_goes_on_where_another_ended_says_so():
    trace, _ = read(encode_header(Header(part=2)))

    assert "put aside" in trace.unknown[0]


def test_blank_lines_line_ends_of_windows_and_a_mark_at_the_beginning_do_no_harm():
    trace, lines = read(b"\xef\xbb\xbf", HEADER.replace(b"\n", b"\r\n"), b"\n  \n", note(1).rstrip())

    assert [line.seq for line in lines] == [1]
    assert trace.problems.count == 0


def test_a_last_line_that_was_cut_off_is_left_out_and_told():
    trace, lines = read(HEADER, note(1), note(2)[:-20])

    assert [line.seq for line in lines] == [1]
    cut = (
        f"line 3: the last line is cut off after {len(note(2)) - 20} bytes: the recording ended in the middle"
    )
    assert problems_of(trace) == [f"{cut} of it"]


def test_invalid_utf8_is_read_with_replacement_characters():
    trace, lines = read(HEADER, note(1, "a*b").replace(b"*", b"\xff"), b"\xff\xfe\n", note(2))

    assert [line.text for line in lines] == ["a\ufffdb", "x"]
    assert problems_of(trace)[0].startswith("line 2: no UTF-8 at byte ")
    assert problems_of(trace)[1:] == [
        "line 3: no UTF-8 at byte 0; read with replacement characters",
        "line 3: left out: it is no JSON: JSON is malformed: invalid character (byte 0)",
    ]


def test_a_later_format_is_read_as_far_as_it_is_known():
    later = b'{"mesero_trace":9,"by":"mesero 9","links":{}}\n'
    trace, lines = read(later, note(1), b'{"kind":"smell","seq":2,"t":0,"link":"1"}\n')

    assert [type(line) for line in lines] == [NoteLine, OtherLine]
    told = "line 1: format 9, written by mesero 9; this one knows 1 and reads what it understands."
    assert problems_of(trace) == [f"{told} Fix: install a later mesero"]
    assert "a later release" in problems_of(read(b'{"mesero_trace":9}')[0])[0]


def test_where_a_line_stands_is_told_from_those_around_it():
    trace, lines = read(
        HEADER,
        note(5),
        b'{"kind":"note","text":"a"}\n',
        b'{"kind":"note","seq":true,"t":"1","link":3,"text":"b"}\n',
        b'{"kind":"note","seq":8,"t":1,"link":"x","text":"c"}\n',
    )

    assert [(line.seq, line.t, line.link) for line in lines] == [
        (5, 0.5, "7"),
        (6, 0.5, "7"),
        (7, 0.5, "7"),
        (8, 1.0, "x"),
    ]
    assert problems_of(trace) == [
        "line 3: missing or wrong, and filled in: seq, t, link",
        "line 4: missing or wrong, and filled in: seq, t, link",
    ]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"{}", 'left out: it has no "kind"'),
        (
            b'{"kind":"message","seq":1,"t":0,"link":"1","dir":"up","raw":""}',
            "left out: Invalid enum value 'up'",
        ),
        (
            b'{"kind":"message","seq":1,"t":0,"link":"1","dir":"c2s"}',
            "left out: Object missing required field",
        ),
        (b"[1]", "left out: it is no JSON object"),
        (b"[" * 5000, "left out: it is nested too deeply"),
    ],
)
def test_what_a_line_says_is_not_guessed(line, text):
    trace, lines = read(HEADER, line, b"\n", note(2))

    assert [found.seq for found in lines] == [2]
    assert problems_of(trace)[0].startswith(f"line 2: {text}")


def test_a_recording_without_its_beginning_is_read_all_the_same():
    trace, lines = read(note(1), note(2))

    assert [line.seq for line in lines] == [1, 2]
    assert problems_of(trace) == [
        'line 1: this is no header of a trace: it has no "mesero_trace" with the number of the format'
    ]


def test_a_first_line_that_is_nothing_is_left_out():
    trace, lines = read(b"hello\n", note(2))

    assert [line.seq for line in lines] == [2]
    assert [problem.line for problem in trace.problems.kept] == [1, 1]


def test_an_empty_file_is_told():
    trace, lines = read(b"\n")

    assert lines == []
    assert problems_of(trace) == ["the file is empty"]
    assert trace.header == Header()


def test_lines_out_of_order_are_read_and_told_once():
    trace, lines = read(HEADER, note(3), note(1), note(2), note(1))

    assert [line.seq for line in lines] == [3, 1, 2, 1]
    assert problems_of(trace) == ["line 3: the lines are not in the order in which they were recorded"]


def test_a_line_that_is_too_long_is_skipped_without_being_read_whole():
    trace, lines = read(HEADER, note(1), b"x" * 300_000, b"\n", note(2), b"y" * 300_000, max_line_bytes=200)

    assert [line.seq for line in lines] == [1, 2]
    assert problems_of(trace) == [
        "line 3: left out: longer than 200 bytes",
        "line 5: left out: longer than 200 bytes",
    ]


def test_a_line_may_be_as_long_as_the_limit():
    problems = Problems()

    assert list(read_lines(io.BytesIO(b"ab\nabc\nabcd\n"), problems, max_line_bytes=3)) == [
        (1, b"ab", True),
        (2, b"abc", True),
    ]
    assert problems.kept == [Problem(3, "left out: longer than 3 bytes")]


def test_many_problems_are_counted_and_not_all_kept():
    trace, _ = read(HEADER, b"no\n" * 500)

    assert trace.problems.count == 500
    assert len(trace.problems.kept) == 100


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"missing\.jsonl' cannot be read: No such file"):
        open_file(tmp_path / "missing.jsonl")
    with pytest.raises(UsageError, match="cannot be read"):
        open_file(tmp_path)


def test_the_file_is_closed_with_the_reader(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(HEADER)
    file = open_file(tmp_path / "a.jsonl")

    with TraceReader(file) as trace:
        assert list(trace) == []

    assert file.closed


def test_memory_does_not_depend_on_the_number_of_lines(tmp_path):
    raw = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"text": "x" * 2000}})
    line = encode_line(MessageLine(seq=1, t=0, link="1", dir="s2c", raw=raw))
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(HEADER)
        for _ in range(10):
            file.write(line * 1000)
            file.write(b"broken\n" * 100)

    tracemalloc.start()
    try:
        with TraceReader(open_file(path)) as trace:
            count = sum(1 for _ in trace)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert count == 10_000
    assert path.stat().st_size > 20_000_000
    assert peak < 1_000_000


PIECES = st.sampled_from(
    [HEADER, note(1), note(2), b'{"kind":"message"}', b"\n", b"{", b"\xff", b'"', b"null\n", b"[" * 2000]
)


@given(data=st.binary(max_size=200) | st.lists(PIECES, max_size=6).map(b"".join), cut=st.integers(0, 300))
def test_no_file_makes_the_reader_raise(data, cut):
    trace, lines = read(data[: len(data) - cut] if cut < len(data) else data)

    assert all(line.seq is not None for line in lines)
    assert all(str(problem) for problem in trace.problems.kept)
