"""What importers have in common: time, guesses, links, and the frame that they fill."""

import io
from datetime import UTC, datetime, timedelta, timezone

import pytest

from mesero.trace.format import Link, LinkLine, MessageLine, NoteLine, TextLine
from mesero.trace.importers.building import Clock, DirectionGuess, ImportedRecording, time_of, value_of

NOON = datetime(2026, 8, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-08-01T12:00:00Z", NOON),
        ("2026-08-01 12:00:00", NOON),
        ("2026-08-01T12:00:00,500+00:00", NOON + timedelta(seconds=0.5)),
        ("2026-08-01T14:00:00+02:00", NOON.astimezone(timezone(timedelta(hours=2)))),
        ("noon", None),
        ("2026-13-01T12:00:00Z", None),
    ],
)
def test_a_time_of_day_is_read_in_utc_unless_it_has_a_zone(text, time):
    assert time_of(text) == time


def test_seconds_begin_with_the_first_time_and_never_go_back():
    clock = Clock()

    assert clock.at(None) == 0
    assert [clock.at(NOON + timedelta(seconds=second)) for second in (5, 7.25, 6)] == [0, 2.25, 2.25]
    assert clock.at(None) == 2.25
    assert clock.started == NOON + timedelta(seconds=5)


@pytest.mark.parametrize(
    ("value", "direction"),
    [
        ({"method": "tools/list", "id": 1}, "c2s"),
        ({"method": "sampling/createMessage", "id": 1}, "s2c"),
        ({"method": "notifications/initialized"}, "c2s"),
        ({"method": "notifications/cancelled"}, "c2s"),
        ({"method": "notifications/message"}, "s2c"),
        ({"id": 1, "result": {}}, "s2c"),
        ([{"id": 1, "result": {}}], "s2c"),
        ([7], "s2c"),
    ],
)
def test_who_sent_a_message_is_guessed_from_what_it_says(value, direction):
    assert DirectionGuess().direction_of(value) == direction


def test_an_answer_goes_the_other_way_than_its_request():
    guess = DirectionGuess()

    guess.note([{"id": 1, "method": "x"}, 7], "s2c")
    guess.note({"id": "1", "method": "x"}, "c2s")
    guess.note("no message", "c2s")

    assert guess.direction_of({"id": "1", "result": {}}) == "s2c"
    assert guess.direction_of({"id": 1, "result": {}}) == "c2s"
    assert guess.direction_of({"id": 1, "result": {}}) == "s2c"
    assert guess.direction_of({"id": [], "result": {}}) == "s2c"


def test_requests_without_an_answer_are_forgotten_in_the_end():
    guess = DirectionGuess()
    for number in range(10_001):
        guess.note({"id": number, "method": "x"}, "s2c")

    assert guess.direction_of({"id": 0, "result": {}}) == "s2c"
    assert guess.direction_of({"id": 10_000, "result": {}}) == "c2s"


class Example(ImportedRecording):
    source = "an example"

    def read(self, file):
        self.clock.at(NOON)
        yield self.make(NoteLine, self.link("a", "stdio"), text=file.read().decode())
        self.cannot_tell("the weather")
        self.cannot_tell("the weather")
        self.cannot_tell("the name")
        yield self.make_message('{"id":1,"method":"x"}', self.link("b", "http", "https://host"), None)
        yield self.make_message("nothing", self.link("a", "stdio"), None, guessed=("t",))
        yield self.make_message('{"id":1,"result":{}}', self.link("b", "http", "https://host"), "s2c", t=7.0)


def test_a_recording_is_made_of_what_the_importer_finds():
    with Example(io.BytesIO(b"hello")) as recording:
        header = recording.header
        lines = list(recording)

    assert (header.started, header.by) == ("2026-08-01T12:00:00Z", "mesero, from an example")
    assert header.links == {"1": Link(name="a", transport="stdio")}
    assert recording.header is header
    assert [type(line) for line in lines] == [NoteLine, LinkLine, MessageLine, TextLine, MessageLine]
    assert [line.seq for line in lines] == [1, 2, 3, 4, 5]
    assert [line.link for line in lines] == ["1", "2", "2", "1", "2"]
    assert lines[1].target == "https://host"
    assert [line.guessed for line in lines[2:]] == [("dir",), ("dir", "t"), ()]
    assert lines[4].t == 7.0
    assert recording.unknown == (
        "the weather (2 times)",
        "the name",
        "who sent a message: it was guessed from what it says (2 times)",
    )


def test_the_header_can_come_after_the_lines():
    recording = Example(io.BytesIO(b"hello"))

    assert len(list(recording)) == 5
    assert list(recording) == []
    assert list(recording.header.links) == ["1"]
    recording.close()


def test_a_frame_alone_cannot_be_made():
    with pytest.raises(TypeError, match="read"):
        ImportedRecording(io.BytesIO())


@pytest.mark.parametrize("raw", ["", "no", "[" * 5000])
def test_what_is_no_json_has_no_value(raw):
    assert value_of(raw) is None
