import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.doctor.fetched import LEFT_ALONE, NOT_ASKED, Fetched, Streamed


def seen(**facts):
    return Fetched(method="GET", url="https://h/mcp", **facts)


def test_only_a_good_answer_is_a_document():
    good = json.dumps({"a": 1}).encode()

    assert Fetched(method="GET", url="", status=200, body=good).find_document() == {"a": 1}
    assert Fetched(method="GET", url="", status=404, body=good).find_document() is None
    assert Fetched(method="GET", url="", status=200, body=b"<html>").find_document() is None
    assert Fetched(method="GET", url="", status=200, body=b"[]").find_document() is None
    assert Fetched(method="GET", url="", status=200, body=b'{"a":' * 60_000).find_document() is None


@given(st.binary() | st.binary().map(lambda body: b'{"a": %s}' % body), st.text())
def test_no_body_is_too_odd(body, kind):
    answer = seen(status=200, headers={"content-type": kind}, body=body)

    assert answer.find_document() is None or isinstance(answer.find_document(), dict)
    assert str(answer).startswith("GET https://h/mcp → 200")


@pytest.mark.parametrize(
    ("answer", "is_withheld", "is_limited"),
    [
        (seen(error=f"{NOT_ASKED}: h is an address that is not public"), True, False),
        (seen(error=LEFT_ALONE), False, True),
        (seen(status=429), False, True),
        (seen(error="no answer within 5 s"), False, False),
    ],
)
def test_what_was_not_sent_is_told_from_what_was_not_wanted(answer, is_withheld, is_limited):
    assert (answer.is_withheld, answer.is_limited) == (is_withheld, is_limited)


def test_when_the_last_of_a_stream_came_is_known():
    head = seen(status=200, head_s=0.5)

    assert Streamed(head=head).last_s == 0.5
    assert Streamed(head=head, pieces=((1.0, b"a"), (2.0, b"b"))).last_s == 2.0
    assert Streamed(head=head, pieces=((1.0, b"a"), (2.0, b"b"))).body == b"ab"
