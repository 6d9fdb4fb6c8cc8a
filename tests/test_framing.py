"""Frames: any chunking of the same bytes gives the same frames, and nothing grows without bound."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.framing import Event, EventFramer, LineFramer, TooLong, encode_event


def frames_of(framer, chunks):
    return [frame for chunk in chunks for frame in framer.receive(chunk)]


@st.composite
def chunkings(draw, pieces):
    """Bytes made of the pieces, and one way to cut them."""
    data = b"".join(draw(st.lists(st.sampled_from(pieces), max_size=12)))
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=6)))
    return data, [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


# -- lines -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        (b"", []),
        (b"a", []),
        (b"a\n", [b"a"]),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\n", [b"a"]),
        (b"a\r\nb\r\n\r\n\nc\n", [b"a", b"b", b"c"]),
        (b"a\r\r\n", [b"a\r"]),
        (b"a\rb\n", [b"a\rb"]),
        (b"a\nb", [b"a"]),
    ],
)
def test_lines_end_at_a_newline_and_empty_ones_are_dropped(data, frames):
    assert LineFramer().receive(data) == frames
    assert frames_of(LineFramer(), [data[at : at + 1] for at in range(len(data))]) == frames


@given(chunkings([b"a", b"{}", b"12345", b"123456", b"123456789", b"\n", b"\r\n", b"\r"]))
def test_any_chunking_gives_the_same_lines(case):
    data, chunks = case
    whole, cut = LineFramer(max_bytes=5), LineFramer(max_bytes=5)

    assert frames_of(cut, chunks) == whole.receive(data)
    assert cut.receive_eof() == whole.receive_eof()


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=9), max_size=2), max_size=5), st.data())
def test_messages_come_out_as_they_went_in(messages, data):
    stream = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    cut = data.draw(st.integers(0, len(stream)))

    frames = frames_of(LineFramer(), [stream[:cut], stream[cut:]])

    assert [json.loads(frame) for frame in frames] == messages


def test_a_line_over_the_limit_is_reported_once_and_the_stream_goes_on():
    framer = LineFramer(max_bytes=4)

    assert framer.receive(b"12345\n") == [TooLong(4, b"1234")]
    assert framer.receive(b"123") == []
    assert framer.receive(b"456") == [TooLong(4, b"1234")]
    assert framer.receive(b"789" * 10) == []
    assert framer.receive(b"0\nok\n") == [b"ok"]


def test_a_line_of_exactly_the_limit_passes_with_either_end():
    assert LineFramer(max_bytes=4).receive(b"1234\n1234\r\n") == [b"1234", b"1234"]
    assert LineFramer(max_bytes=4).receive(b"1234\r\n12") == [b"1234"]


def test_a_line_of_exactly_the_limit_passes_in_pieces_too():
    framer = LineFramer(max_bytes=4)

    for _ in range(3):
        assert framer.receive(b"1234\r") == []
        assert framer.receive(b"\n") == [b"1234"]


def test_the_beginning_of_a_long_line_is_short():
    (frame,) = LineFramer(max_bytes=10_000).receive(b"x" * 20_000)

    assert frame == TooLong(10_000, b"x" * 400)


def test_the_rest_at_the_end_is_given_out_once_and_the_framer_is_empty():
    framer = LineFramer()
    framer.receive(b'{"id":1}\n{"id"')

    assert framer.receive_eof() == b'{"id"'
    assert framer.receive_eof() == b""
    assert framer.receive(b"a\n") == [b"a"]


def test_a_line_that_has_no_end_yet_can_be_looked_at():
    framer = LineFramer()
    assert framer.unfinished == b""
    framer.receive(b'{"id":1}\n{"id"' + b" " * 500)
    framer.receive(b":2")

    assert framer.unfinished == b'{"id"' + b" " * 395
    framer.receive(b"}\n")
    assert framer.unfinished == b""


def test_a_line_over_the_limit_leaves_no_rest():
    framer = LineFramer(max_bytes=2)
    framer.receive(b"12345")

    assert framer.receive_eof() == b""
    assert framer.receive(b"a\n") == [b"a"]


# -- events ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "events"),
    [
        (b"data: a\n\n", [Event(b"a")]),
        (b"data:a\n\n", [Event(b"a")]),
        (b"data:  a\n\n", [Event(b" a")]),
        (b"data: a\r\n\r\n", [Event(b"a")]),
        (b"data: a\r\r", [Event(b"a")]),
        (b"data: a\ndata: b\n\n", [Event(b"a\nb")]),
        (b"data\n\n", [Event(b"")]),
        (b"data:\ndata:\n\n", [Event(b"\n")]),
        (b"event: ping\ndata: a\n\ndata: b\n\n", [Event(b"a", "ping"), Event(b"b")]),
        (b"event:\ndata: a\n\n", [Event(b"a")]),
        (b"event: ping\n\n", []),
        (b"id: 7\ndata: a\n\n", [Event(b"a", event_id="7")]),
        (b"id: 7\n\n", [Event(b"", event_id="7")]),
        (b"id: 7\0\ndata: a\n\n", [Event(b"a")]),
        (b"retry: 250\n\n", [Event(b"", retry_ms=250)]),
        (b"retry: soon\ndata: a\n\n", [Event(b"a")]),
        (b": keep-alive\n\n", []),
        (b":\r\n\r\ndata: a\n\n", [Event(b"a")]),
        (b"unknown: x\ndata: a\n\n", [Event(b"a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [Event(b"a")]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [Event(b"a")]),
        (b"data: a\n", []),
        (b"", []),
    ],
)
def test_events_are_read_as_the_standard_says(data, events):
    assert EventFramer().receive(data) == events
    assert frames_of(EventFramer(), [data[at : at + 1] for at in range(len(data))]) == events


EVENT_PIECES = [
    *(b"data: a", b"data:12345678901", b"data", b"event: e", b"id: 1", b"retry: 5", b": comment", b"x" * 17),
    *(b"\n", b"\r\n", b"\r", b"\n\n", b"\xef\xbb\xbf", b"\0"),
]


@given(chunkings(EVENT_PIECES))
def test_any_chunking_gives_the_same_events(case):
    data, chunks = case

    assert frames_of(EventFramer(max_bytes=10), chunks) == EventFramer(max_bytes=10).receive(data)


def test_an_event_over_the_limit_is_reported_once_and_the_stream_goes_on():
    framer = EventFramer(max_bytes=10)

    assert framer.receive(b"data: 12345678901\ndata: more\n\ndata: ok\n\n") == [
        TooLong(10, b"1234567890"),
        Event(b"ok"),
    ]


def test_the_lines_of_one_event_count_together():
    framer = EventFramer(max_bytes=10)

    assert framer.receive(b"data: 12345\ndata: 123456\ndata: 1\n\ndata: ok\n\n") == [
        TooLong(10, b"12345\n1234"),
        Event(b"ok"),
    ]


def test_an_event_of_exactly_the_limit_passes_in_pieces_too():
    framer = EventFramer(max_bytes=10)

    for _ in range(3):
        assert framer.receive(b"data: 1234567890") == []
        assert framer.receive(b"\n\n") == [Event(b"1234567890")]


def test_an_endless_line_is_reported_before_it_ends():
    framer = EventFramer(max_bytes=10)

    assert framer.receive(b"data: 1234") == []
    assert framer.receive(b"5678901") == [TooLong(10, b"1234567890")]
    assert framer.receive(b"x" * 100) == []
    assert framer.receive(b"x\n\ndata: ok\n\n") == [Event(b"ok")]


def test_a_message_becomes_one_event():
    assert encode_event(b'{"id":1}') == b'event: message\ndata: {"id":1}\n\n'


@given(st.text(alphabet=' \n\r{}":a', min_size=1, max_size=20))
def test_a_forwarded_message_keeps_its_lines(text):
    (event,) = EventFramer().receive(encode_event(text.encode()))

    lines = event.data.split(b"\n")
    assert lines == text.encode().splitlines() or lines == [b""]
    assert event.event == "message"


def test_lines_without_a_value_count_towards_the_limit_of_an_event():
    framer = EventFramer(max_bytes=10)
    assert framer.receive(b"data:\n" * 11 + b"\n") == [Event(b"\n" * 10)]
    frames = framer.receive(b"data:\n" * 1000)
    assert frames == [TooLong(10, b"\n" * 10)]
    assert framer._data == []
