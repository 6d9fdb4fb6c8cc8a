"""The rules of sessions: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import hello, http_answer, posted, replied, trace, welcome
from tests.audit.judging import broken_by, check_examples, rules_of


@pytest.mark.parametrize("rule", rules_of("SESS"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


def sessions(count, *, agents=("a",), status=200, used_late=False):
    steps = []
    for number in range(count):
        own = {"mcp_session_id": f"session-{number}-0123456789", "user_agent": agents[number % len(agents)]}
        hail = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        exchange = 10 * number
        steps += [
            posted(hail, exchange=exchange, user_agent=own["user_agent"]),
            replied(
                {"jsonrpc": "2.0", "id": 0, "result": welcome()},
                exchange=exchange,
                mcp_session_id=own["mcp_session_id"],
            ),
            posted(ping, exchange=exchange + 1, **own),
            http_answer(404, exchange=exchange + 1)
            if status == 404
            else replied({"jsonrpc": "2.0", "id": 1, "result": {}}, exchange=exchange + 1),
        ]
    for number in range(count if used_late else 0):
        session = f"session-{number}-0123456789"
        steps += [
            posted(
                {"jsonrpc": "2.0", "id": 2, "method": "ping"}, exchange=500 + number, mcp_session_id=session
            ),
            replied({"jsonrpc": "2.0", "id": 2, "result": {}}, exchange=500 + number),
        ]
    return trace(*steps, transport="http")


def test_sessions_are_left_behind_only_by_who_opens_the_next_one():
    assert "SESS-011" in broken_by(sessions(4))
    # Too few to tell; clients beside each other; sessions that the server lost; sessions that are still used.
    assert "SESS-011" not in broken_by(sessions(3))
    assert "SESS-011" not in broken_by(sessions(4, agents=("a", "b")))
    assert "SESS-011" not in broken_by(sessions(4, status=404))
    assert "SESS-011" not in broken_by(sessions(4, used_late=True))
