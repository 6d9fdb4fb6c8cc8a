"""One line of a trace: what it holds, what is kept of what nobody knows, and how old formats are upgraded."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from mesero.trace.format import (
    FORMAT,
    UPGRADES,
    ExitLine,
    Header,
    Http,
    Link,
    MessageLine,
    NoteLine,
    OtherLine,
    SpawnLine,
    convert_line,
    decode_header,
    decode_line,
    encode_header,
    encode_line,
    upgrade,
)

SAMPLES = Path(__file__).parent / "samples"
NOTE = {"kind": "note", "seq": 1, "t": 0.5, "link": "1", "text": "hello"}


@pytest.mark.parametrize("number", range(1, FORMAT + 1))
def test_a_stored_sample_of_every_format_is_read_whole(number):
    first, *rest = (SAMPLES / f"format-{number}.jsonl").read_bytes().splitlines()

    header = decode_header(first)
    lines = [decode_line(raw, number=number) for raw in rest]

    assert header.mesero_trace == number
    assert header.links == {"1": Link(name="notes", transport="stdio", target="python notes.py")}
    assert [line.seq for line in lines] == list(range(1, 14))
    assert lines[0] == SpawnLine(
        seq=1, t=0.001, link="1", command=("python", "notes.py"), cwd="/srv", env=("NOTES_DIR",), pid=4711
    )
    assert lines[4].more == {"colour": "green"}
    assert lines[8].http.more == {"proxy": "none"}
    assert lines[10] == OtherLine(seq=11, t=1.3, link="1", kind="weather", more={"rain": True})
    assert lines[11] == ExitLine(seq=12, t=1.4, link="1", signal=15)


def test_every_step_of_the_chain_to_the_current_format_exists():
    assert sorted(UPGRADES) == list(range(1, FORMAT))


def test_what_was_read_is_written_with_the_same_members_and_values():
    first, *rest = (SAMPLES / "format-1.jsonl").read_bytes().splitlines()

    assert json.loads(encode_header(decode_header(first))) == json.loads(first)
    for raw in rest:
        assert json.loads(encode_line(decode_line(raw))) == json.loads(raw)


def test_a_line_is_one_line_of_json_with_its_kind():
    line = MessageLine(seq=1, t=0.5, link="1", dir="c2s", raw='{"a":\n"b"}')

    written = encode_line(line)

    assert written.endswith(b"\n")
    assert written.count(b"\n") == 1
    assert json.loads(written) == {
        "kind": "message",
        "seq": 1,
        "t": 0.5,
        "link": "1",
        "dir": "c2s",
        "raw": '{"a":\n"b"}',
    }


def test_a_header_begins_with_the_format_number_and_says_nothing_of_a_first_part():
    written = encode_header(Header(started="now", by="mesero 1"))

    assert written == b'{"mesero_trace":1,"started":"now","by":"mesero 1","links":{}}\n'
    assert not decode_header(written).continues
    assert decode_header(encode_header(Header(part=2))).continues


@given(more=st.dictionaries(st.text(max_size=5).map(lambda name: f"x{name}"), st.integers() | st.text()))
def test_unknown_fields_survive_wherever_they_stand(more):
    line = NoteLine(seq=1, t=0, link="1", text="hello", more=more)
    http = MessageLine(seq=1, t=0, link="1", dir="s2c", raw="{}", http=Http(status=200, more=more), more=more)
    header = Header(links={"1": Link(name="n", more=more)}, more=more)

    assert decode_line(encode_line(line)) == line
    assert decode_line(encode_line(http)) == http
    assert decode_header(encode_header(header)) == header


def test_an_unknown_kind_keeps_what_looks_like_fields_of_known_ones():
    raw = b'{"kind":"new","seq":4,"t":1,"link":"2","http":7,"dir":"up","redacted":["$.a"]}'

    line = decode_line(raw)

    assert line.more == {"http": 7, "dir": "up"}
    assert line.redacted == ("$.a",)
    assert json.loads(encode_line(line)) == json.loads(raw)


WRONG = [
    (b"", "no JSON"),
    (b"{", "no JSON"),
    (b"\xff", "no JSON"),
    (b"[" * 100_000, "nested too deeply"),
    (b"[]", "no JSON object"),
    (b"{}", 'no "kind"'),
    (b'{"kind":7}', 'no "kind"'),
    (b'{"kind":"note","t":0,"link":"1","text":"x"}', "seq"),
    (b'{"kind":"note","seq":"1","t":0,"link":"1","text":"x"}', r"\$\.seq"),
    (b'{"kind":"message","seq":1,"t":0,"link":"1","dir":"up","raw":""}', r"\$\.dir"),
    (b'{"kind":"message","seq":1,"t":0,"link":"1","dir":"c2s","raw":"","http":[]}', r"\$\.http"),
    (b'{"kind":"new","seq":1,"t":0,"link":1}', r"\$\.link"),
]


@pytest.mark.parametrize(("raw", "text"), WRONG)
def test_what_does_not_fit_is_refused_with_its_place(raw, text):
    with pytest.raises(ValueError, match=text):
        decode_line(raw)


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KINDS = st.sampled_from(["message", "http", "text", "stderr", "eof", "spawn", "exit", "note", "link", "new"])
OBJECTS = st.fixed_dictionaries(
    {"kind": KINDS},
    optional=dict.fromkeys(
        ["seq", "t", "link", "dir", "raw", "text", "http", "command", "mesero_trace"],
        VALUES | st.lists(VALUES, max_size=2) | st.dictionaries(st.text(max_size=5), VALUES, max_size=2),
    ),
)


@given(raw=st.binary() | OBJECTS.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused_with_a_value_error(raw):
    for decode, encode in ((decode_line, encode_line), (decode_header, encode_header)):
        with contextlib.suppress(ValueError):
            read = decode(raw)
            assert decode(encode(read)) == read


NO_HEADERS = [
    (b"{}", "no .mesero_trace."),
    (b'{"mesero_trace":true}', "no .mesero_trace."),
    (b'{"mesero_trace":0}', "none that was ever written"),
    (b'{"mesero_trace":1,"links":[]}', r"\$\.links"),
    (b'{"mesero_trace":1,"links":{"1":{"name":7}}}', r"\$\.links"),
    (b'{"mesero_trace":1,"links":{"1":7}}', r"\$\.links"),
]


@pytest.mark.parametrize(("raw", "text"), NO_HEADERS)
def test_what_is_no_header_is_refused(raw, text):
    with pytest.raises(ValueError, match=text):
        decode_header(raw)


def test_a_header_of_a_later_format_is_read_as_far_as_it_is_known():
    header = decode_header(b'{"mesero_trace":99,"by":"mesero 9","colour":"red"}')

    assert (header.mesero_trace, header.by, header.more) == (99, "mesero 9", {"colour": "red"})


def test_old_lines_go_through_each_step_of_the_chain():
    steps = {
        -1: lambda value: value | {"text": value["text"] + " one"},
        0: lambda value: value | {"text": value["text"] + " two"},
    }
    raw = json.dumps(NOTE).encode()

    assert decode_line(raw, number=-1, upgrades=steps).text == "hello one two"
    assert decode_line(raw, number=0, upgrades=steps).text == "hello two"
    assert convert_line(dict(NOTE), number=1).text == "hello"
    assert upgrade({"a": 1}, 5, to=3) == {"a": 1}


def test_a_format_that_never_was_is_refused():
    with pytest.raises(ValueError, match="format 0 is none that was ever written"):
        decode_line(json.dumps(NOTE).encode(), number=0)


def test_bytes_that_are_no_text_do_not_keep_a_line_from_being_written():
    line = NoteLine(seq=1, t=0, link="1", text="name \udcff", more={"b": "\udcfe"})
    header = Header(links={"1": Link(target="\udcff")})

    assert decode_line(encode_line(line)).text == "name ?"
    assert decode_line(encode_line(NoteLine(seq=1, t=0, link="1", text="\udcff"))).text == "?"
    assert decode_header(encode_header(header)).links["1"].target == "?"


def test_absent_fields_are_unset_and_not_written():
    line = ExitLine(seq=1, t=0, link="1", code=0)

    assert line.signal is UNSET
    assert b"signal" not in encode_line(line)
    assert b'"code":0' in encode_line(line)
