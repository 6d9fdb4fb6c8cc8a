"""Where things are in a JSON text, and how one of them is changed without touching the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.trace.places import Frame, Place, decode_string, is_json, json_path, offsets_of, scan, splice

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def walk(value, path=()):
    """Every value that is no container, and every name, with its path, in the order of the text."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield (*path, name), True, name
            yield from walk(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from walk(item, (*path, index))
    else:
        yield path, False, value


def places_in(text):
    for item, frames in scan(text):
        if isinstance(item, Place):
            inner = text[item.start : item.end]
            value = decode_string(inner) if item.is_string else json.loads(inner)
            yield tuple(frame.step for frame in frames), item.is_key, value


@given(value=JSON, indent=st.none() | st.integers(0, 3), is_ascii=st.booleans())
def test_every_value_and_name_is_found_with_its_path_however_it_is_written(value, indent, is_ascii):
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)

    assert list(places_in(text)) == list(walk(value))


def test_a_container_that_closes_is_told_with_its_name_and_value():
    text = '[{"name": "a\\u0062", "value": "x", "more": {"key": "k"}}, {"value": 7}, []]'

    closed = [item for item, _ in scan(text) if isinstance(item, Frame)]

    assert [frame.label for frame in closed] == ["k", "ab", "", "", ""]
    assert text[closed[1].value.start : closed[1].value.end] == "x"
    assert closed[0].value is None
    assert closed[2].value is None


@given(text=st.text() | st.text(alphabet='{}[]:,"\\ au0'))
def test_no_text_makes_the_scan_raise_or_leave_the_text(text):
    for item, _ in scan(text):
        if isinstance(item, Place):
            assert 0 <= item.start <= item.end <= len(text)


@given(inner=JSON)
def test_what_is_no_json_is_told_from_json(inner):
    text = json.dumps(inner)

    assert is_json(text)
    assert is_json(text.encode())
    assert not is_json(text + "]")


@pytest.mark.parametrize("text", ["", "NaN", "\ufeff{}", b"\xff", "[" * 100_000, '{"a":1}{"b":2}'])
def test_what_a_strict_reader_refuses_is_no_json(text):
    assert not is_json(text)


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        ([], "$"),
        (["raw", "params", 0, "a"], "$.raw.params[0].a"),
        (["http", "headers", "set-cookie"], "$.http.headers.set-cookie"),
        (['a"b', "c d", "", "1"], '$["a\\"b"]["c d"][""]["1"]'),
    ],
)
def test_a_path_names_members_and_indexes(steps, path):
    assert json_path(steps) == path


@given(text=st.text())
def test_offsets_lead_from_each_character_to_where_it_is_written(text):
    for is_ascii in (True, False):
        inner = json.dumps(text, ensure_ascii=is_ascii)[1:-1]
        offsets = offsets_of(inner)

        assert len(offsets) == len(text) + 1
        for index, char in enumerate(text):
            assert decode_string(inner[offsets[index] : offsets[index + 1]]) == char


def test_what_cannot_be_decoded_is_left_as_it_is():
    assert decode_string("a\\x") == "a\\x"
    assert decode_string("a\\/b\\n") == "a/b\n"


@given(
    parts=st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4)), max_size=5), end=st.text(max_size=4)
)
def test_splicing_replaces_the_spans_and_nothing_else(parts, end):
    text, changes = "", []
    for kept, gone in parts:
        text += kept
        changes.append((len(text), len(text) + len(gone), "*"))
        text += gone
    text += end

    assert splice(text, changes) == "".join(f"{kept}*" for kept, _ in parts) + end
