"""Which requests were waited for in vain."""

from mesero.audit.examples import answer, ask, eof, tell, trace, wait
from mesero.audit.unanswered import find_given_up, find_unanswered, waited_s, words_for
from tests.audit.judging import link_of

CALL = ask("tools/call", {"name": "slow"}, id=3)
CANCEL = tell("notifications/cancelled", {"requestId": 3}, "c2s")


def ids(found):
    return [each.id for each in found]


def test_what_is_open_at_the_end_was_waited_for_until_then():
    link = link_of(trace(CALL, wait(30), eof("c2s")))
    (one,) = find_unanswered(link)

    assert (one.id, round(waited_s(link, one))) == (3, 30)
    assert find_given_up(link) == []


def test_what_was_cancelled_was_waited_for_until_then():
    link = link_of(trace(CALL, wait(5), CANCEL, wait(60), eof("c2s")))

    assert ids(find_given_up(link)) == ids(find_unanswered(link)) == [3]
    assert round(waited_s(link, find_given_up(link)[0])) == 5


def test_what_was_answered_cancelled_at_once_or_meant_to_stay_open_is_none_of_them():
    answered = link_of(trace(CALL, wait(30), answer({"content": []}, id=3), wait(30), eof("c2s")))
    at_once = link_of(trace(CALL, CANCEL, wait(30), eof("c2s")))
    listening = link_of(trace(ask("subscriptions/listen", {"notifications": {}}), wait(30), eof("c2s")))

    assert [find_unanswered(link) for link in (answered, at_once, listening)] == [[], [], []]


def test_they_come_in_their_order():
    link = link_of(
        trace(CALL, wait(2), CANCEL, ask("prompts/list", id=1), ask("tools/list", id=2), wait(2), eof("c2s"))
    )

    assert ids(find_unanswered(link)) == [3, 1, 2]


def test_a_request_has_its_words():
    link = link_of(trace(CALL, ask("ping", id="p"), wait(2), eof("c2s")))

    assert [words_for(each) for each in find_unanswered(link)] == [
        "`tools/call` 'slow' (id 3)",
        "`ping` (id 'p')",
    ]
