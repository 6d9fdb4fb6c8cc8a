"""JSON-RPC messages inside other text."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.trace.importers.finding import find_messages, is_message, may_continue

PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ({"jsonrpc": "2.0", "method": "x"}, True),
        ({"jsonrpc": "2.0"}, False),
        ({"id": 1, "result": {}}, True),
        ({"id": 1, "error": 5}, True),
        ({"method": "x", "id": 1}, True),
        ({"method": "x", "params": {}}, True),
        ({"method": "GET"}, False),
        ({"method": 7, "id": 1}, False),
        ({"result": {}}, False),
        ([{"id": 1, "result": {}}], True),
        ([], False),
        ([7], False),
        ([{"id": 1, "result": {}}, 7], False),
        (7, False),
        (None, False),
    ],
)
def test_a_message_is_told_from_other_json(value, is_one):
    assert is_message(value) is is_one


@pytest.mark.parametrize(
    "text",
    [
        PING,
        f"INFO sent {PING} in 3 ms",
        f'{{"id": 7}} {PING}',
        f'{{"id": {PING}',
        f"[{PING}, {PING}]",
        f"x {{ {PING}",
        f'{{\n "id" : 1,\n "result": {{}} }} {PING}',
    ],
)
def test_messages_are_found_whole_whatever_is_around_them(text):
    found = list(find_messages(text))

    assert found
    for one in found:
        assert json.loads(text[one.start : one.end]) == one.value
        assert is_message(one.value)
    assert PING in text[found[-1].start : found[-1].end]


def test_messages_inside_a_message_are_not_found_again():
    text = f'{{"id":1,"result":{{"inner":{PING}}}}}{PING}'

    assert [found.start for found in find_messages(text)] == [0, len(text) - len(PING)]


@pytest.mark.parametrize("text", ["", "no", '{"a":1}', '{"id":', "[" * 5000, '{"id":[' * 5000])
def test_a_text_without_messages_gives_none(text):
    assert list(find_messages(text)) == []


@pytest.mark.parametrize(
    ("text", "start"),
    [("", -1), (PING, -1), ("x {", 2), ('x {"id": 1,', 2), ("no", -1), ("x { ", 2), (f"{PING} {{", -1)],
)
def test_a_message_that_goes_on_in_the_next_line_is_noticed(text, start):
    assert may_continue(text) == start


@given(text=st.text(alphabet='{}[]":, idmethorsul\\1'))
def test_no_text_raises(text):
    may_continue(text)
    for found in find_messages(text):
        assert 0 <= found.start < found.end <= len(text)


def test_a_hostile_line_takes_no_square_time():
    start = time.perf_counter()
    list(find_messages('{"id":"' * 100_000))

    assert time.perf_counter() - start < 5
