"""What is tied to a waiting call although it is no answer, and what stays noise."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.misfits import Misfit, NoiseLog, find_misfit

REPLY = b'{"jsonrpc":"2.0","id":7,"result":{"a":1}}'
PRETTY = b"""{
  "jsonrpc": "2.0",
  "id": 7,
  "result": {
    "text": "a \\"brace\\" } and a \\\\",
    "items": [
      {}
    ]
  }
}"""

TIED = [
    (REPLY.replace(b"7", b'"7"'), [7], 7, "under the id '7' instead of 7"),
    (REPLY.replace(b"7", b"7.0"), ["7"], "7", "under the id 7.0 instead of '7'"),
    (REPLY, ["7"], "7", "under the id 7 instead of '7'"),
    (REPLY, ["7", 7], 7, "not a valid JSON-RPC response"),
    (REPLY.replace(b'"2.0"', b'"1.0"'), [7], 7, 'marked "jsonrpc": \'1.0\' instead of "2.0"'),
    (b'{"id":7,"result":{}}', [7, 8], 7, 'marked "jsonrpc": None instead of "2.0"'),
    (b'{"jsonrpc":"2.0","id":7,"result":{},"error":{}}', [7], 7, "both a result and an error"),
    (b'{"jsonrpc":"2.0","id":7,"error":"no"}', [7], 7, "not a valid JSON-RPC response"),
    (b'{"jsonrpc":"2.0","result":{}}', [8], 8, "without the id of its request"),
    (b'{"jsonrpc":"2.0","id":null,"result":{}}', [8], 8, "without the id of its request"),
    (b"[1," + REPLY + b"]", [8, 7], 7, "inside an array (a batch)"),
    (b"INFO done " + REPLY, [7], 7, "glued to other text"),
    (REPLY + b" done", [7], 7, "glued to other text"),
    (REPLY + REPLY, [7], 7, "glued to other text"),
    (b'{"id": 3} ' + REPLY + b" \xff", [7], 7, "glued to other text"),
    (b'seen {"id": ' + REPLY, [7], 7, "glued to other text"),
    (b"INFO " + REPLY.replace(b"7", b'"7"'), [7], 7, "glued to other text"),
    (b"x" * 100_000 + REPLY + b"x" * 100_000, [7], 7, "glued to other text"),
]


@pytest.mark.parametrize(("raw", "waiting", "request_id", "reason"), TIED)
def test_a_spoilt_answer_is_tied_to_its_call_with_the_reason(raw, waiting, request_id, reason):
    misfit = find_misfit(raw, waiting)

    assert misfit is not None
    assert (misfit.request_id, type(misfit.request_id)) == (request_id, type(request_id))
    assert reason in misfit.reason


NOISE = [
    b"hello",
    b"",
    b"null",
    b"7",
    b"[]",
    b"[1,[]]",
    b'[{"id":7}]',
    b"{}",
    b'{"level":"info"}',
    b'{"id":7,"method":"m"}',
    b'{"id":7,"method":"m","result":{}}',
    b'{"jsonrpc":"2.0","id":9,"result":{}}',
    b'{"jsonrpc":"2.0","id":true,"result":{}}',
    b'{"jsonrpc":"2.0","id":[7],"result":{}}',
    b'{"jsonrpc":"2.0","id":7.5,"result":{}}',
    b'{"jsonrpc":"2.0","result":{}}',
    b'seen {"id": 7}',
    b'seen {"jsonrpc":"2.0","id":9,"result":{}}',
    b'seen {"jsonrpc":"2.0","id":1e999,"result":{}}',
    b'seen {"jsonrpc":"2.0","id":7,"result":{}',
    b'seen {"jsonrpc":"2.0","id":' + b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":' + b"1" * 5_000 + b',"result":{}}',
    b"\xff\xfe",
]


@pytest.mark.parametrize("raw", NOISE)
def test_what_is_no_answer_to_a_waiting_call_is_noise(raw):
    assert find_misfit(raw, [7, 1, "a"]) is None


def test_nothing_is_a_misfit_while_nobody_waits():
    assert find_misfit(b'{"jsonrpc":"2.0","result":{}}', []) is None


def test_a_reply_on_stderr_is_tied_and_says_where_it_belongs():
    assert find_misfit(REPLY, [7], is_stderr=True) == Misfit(7, "on stderr; messages belong on stdout")
    assert find_misfit(b"Traceback", [7], is_stderr=True) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "result", "error", "method", "jsonrpc"]) | st.text(max_size=3), inner
        )
    ),
    max_leaves=6,
)
WAITING = st.lists(st.integers(0, 3) | st.sampled_from("0123"), max_size=4, unique_by=repr)


@given(st.binary(max_size=50), JSON, st.binary(max_size=20), WAITING, st.booleans())
def test_no_bytes_make_it_raise_and_only_a_waiting_call_is_named(before, value, after, waiting, is_stderr):
    raw = before + json.dumps(value).encode() + after

    misfit = find_misfit(raw, waiting, is_stderr=is_stderr)
    noted = NoiseLog().receive(raw, waiting)

    assert misfit is None or misfit.request_id in waiting
    assert noted is None or noted.request_id in waiting


# -- lines -------------------------------------------------------------------------------------------------


def test_the_last_lines_are_kept_short_and_all_are_counted():
    noise = NoiseLog(kept=2)
    for line in [b"one", b"two \xff", b"x" * 300]:
        assert noise.receive(line, [7]) is None

    assert noise.count == 3
    assert noise.lines == ("two \\xff", "x" * 200)


def misfits_of(noise, text, waiting=(7,)):
    found = [noise.receive(line, waiting) for line in text.split(b"\n")]
    return [misfit for misfit in found if misfit is not None]


SPLIT = Misfit(7, "split over several lines; a message is one line")


@pytest.mark.parametrize(
    "text",
    [
        PRETTY,
        b"log line\n" + PRETTY,
        b"{ 'a': a dict that Python printed\n" + PRETTY,
        PRETTY.replace(b"  ", b"    "),
        b'{"jsonrpc":"2.0",\n"id":7,"result":{}}',
        b'{"level":"info"}\n' + PRETTY,
        b"{\n}\n" + PRETTY,
        b"{}}\n" + PRETTY,
    ],
)
def test_a_reply_over_several_lines_is_noticed_at_its_last_line(text):
    assert misfits_of(NoiseLog(), text) == [SPLIT]


@pytest.mark.parametrize(
    "text",
    [PRETTY.replace(b"7", b"9"), b"{\n  not json\n}", b"{\n}", PRETTY[:-1], PRETTY.replace(b"{", b"", 1)],
)
def test_other_text_over_several_lines_stays_noise(text):
    assert misfits_of(NoiseLog(), text) == []


def test_a_misfit_on_one_line_ends_what_was_held():
    noise = NoiseLog()

    assert misfits_of(noise, b'{\n"jsonrpc":"2.0",') == []
    assert misfits_of(noise, b"INFO " + REPLY) == [Misfit(7, "glued to other text on the same line")]
    assert misfits_of(noise, b'"id":7,"result":{}}') == []


def test_an_unclosed_brace_is_not_held_for_ever():
    noise = NoiseLog()
    noise.receive(b"{ the beginning of something endless", [7])
    for _ in range(20):
        noise.receive(b"x" * 100_000, [7])

    assert sum(map(len, noise._held)) < 1_100_000


def test_the_time_for_noise_is_in_proportion_to_its_length():
    def seconds_for(lines):
        noise = NoiseLog()
        started = time.process_time()
        noise.receive(b"{ never closed", [7])
        for _ in range(lines):
            noise.receive(b"  {} }{", [7])
        return time.process_time() - started

    seconds_for(500)
    # In proportion, 32 times the lines take 32 times as long; squared, it would be 1,024 times.
    assert seconds_for(16_000) < 250 * max(seconds_for(500), 0.000_5)


def test_many_beginnings_of_an_answer_on_one_line_cost_no_more_than_a_few():
    line = b'{"id":' * 200_000
    started = time.process_time()

    assert find_misfit(line, [7]) is None
    assert time.process_time() - started < 5
