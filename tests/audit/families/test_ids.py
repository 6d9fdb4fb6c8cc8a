"""The rules of ids: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import answer, ask, asked, fail, old_answer, old_ask, posted, shake, tell, trace
from tests.audit.judging import broken_by, check_examples, found_in, rules_of


@pytest.mark.parametrize("rule", rules_of("ID"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


def test_an_id_may_come_again_once_it_is_answered():
    assert (
        broken_by(trace(ask("tools/call", {"name": "a"}), fail(-32602), ask("tools/call", {"name": "a"})))
        == set()
    )


def test_an_id_may_come_again_once_its_request_was_cancelled():
    cancelled = tell("notifications/cancelled", {"requestId": 1}, "c2s")

    assert (
        broken_by(trace(ask("tools/call", {"name": "a"}), cancelled, ask("tools/call", {"name": "b"})))
        == set()
    )


def test_both_sides_count_their_ids_by_themselves():
    lines = trace(
        *shake(client={"roots": {}}),
        old_ask("ping"),
        old_ask("roots/list", direction="s2c"),
        old_answer({"roots": []}, direction="c2s"),
        old_answer({}),
    )

    assert broken_by(lines) == set()


@pytest.mark.parametrize("session", ["a", "b"])
def test_ids_of_different_sessions_on_one_link_do_not_meet(session):
    def call(exchange, of):
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        return posted(message, exchange=exchange, mcp_session_id=of, mcp_protocol_version="2025-06-18")

    assert ("ID-003" in broken_by(trace(call(1, "a"), call(2, session)))) == (session == "a")


def test_without_a_session_http_says_nothing_of_who_sent_an_id():
    call = asked("tools/call", {"name": "a"})

    assert broken_by(trace(posted(call, exchange=1), posted(call, exchange=2))) == set()


def test_an_error_without_an_id_that_may_belong_to_two_is_nobody_s():
    lines = trace(ask("tools/list"), ask("tools/list", id=2), fail(-32603, id=None))

    assert broken_by(lines) == set()


def test_an_unreadable_request_may_be_refused_without_its_id():
    assert broken_by(trace(ask("tools/list"), fail(-32700, id=None))) == set()
    assert [each.rule for each in found_in(trace(answer(id=9)))] == ["ID-005"]
