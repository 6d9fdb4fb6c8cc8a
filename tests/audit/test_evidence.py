"""What a rule sees, and how it speaks of it."""

import pytest

from mesero.audit.evidence import Evidence, members_of, short
from mesero.audit.examples import answer, ask, eof, fail, tell, trace
from mesero.audit.link import LinkState
from mesero.audit.reading import read_line
from mesero.audit.tracking import remember


def evidences(*steps):
    link, found = LinkState("1"), []
    for line in trace(*steps)[1:]:
        for evidence in read_line(link, line):
            found.append(evidence)
            remember(evidence)
    return found


def test_a_request_is_named_by_method_and_id():
    (evidence,) = evidences(ask("tools/call", {"name": "x"}, id=7))

    assert evidence.what == "`tools/call` (id 7)"
    assert evidence.about == "tools/call"
    assert evidence.id_key == ("int", 7)


def test_an_answer_is_named_by_what_it_answers():
    _, result = evidences(ask("tools/list", id="a"), answer(id="a"))
    _, error = evidences(ask("tools/list"), fail(-32601))

    assert result.what == "the result of `tools/list` (id 'a')"
    assert error.what == "the error of `tools/list` (id 1)"
    assert error.code == -32601


def test_an_answer_to_nothing_is_named_without_a_method():
    assert evidences(answer(id=3))[0].what == "the result (id 3)"


def test_a_notification_has_no_id():
    assert evidences(tell("notifications/x"))[0].what == "`notifications/x`"


def test_a_line_without_a_message_has_nothing_to_look_at():
    (evidence,) = evidences(eof("c2s"))

    assert evidence.what == "the message"
    assert (evidence.id, evidence.about, evidence.code, evidence.headers) == (None, "", 0, {})
    assert not evidence.is_http


def test_the_end_of_a_trace_is_where_its_last_line_was():
    link = LinkState("1")
    link.last_seq, link.last_t = 9, 2.5
    evidence = Evidence(link, None, "end")

    assert (evidence.seq, evidence.t) == (9, 2.5)


@pytest.mark.parametrize("value", [None, 3, "x", ["y"]])
def test_what_is_no_object_has_no_members(value):
    assert members_of(value) == {}


def test_long_and_unprintable_values_are_shortened_for_a_sentence():
    assert short("x" * 100) == "'" + "x" * 59 + "…"
    assert short("a\x1b[2Jb", quoted=False) == "a\ufffd[2Jb"
