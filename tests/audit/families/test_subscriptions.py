"""The rules of subscriptions: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import answer, ask, eof, s2c, tell, trace, wait
from tests.audit.judging import broken_by, check_examples, rules_of


@pytest.mark.parametrize("rule", rules_of("SUB"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


KEY = "io.modelcontextprotocol/subscriptionId"
ALL = {"toolsListChanged": True, "resourceSubscriptions": ["a://b"]}
LISTEN = ask("subscriptions/listen", {"notifications": ALL})


def tagged(method, **params):
    return tell(method, {**params, "_meta": {KEY: 1}})


def acknowledged(**granted):
    return tagged("notifications/subscriptions/acknowledged", notifications=granted)


def test_a_subset_may_be_acknowledged():
    assert broken_by(trace(LISTEN, acknowledged(toolsListChanged=True))) == set()


def test_more_resources_than_were_asked_for_must_not_be_acknowledged():
    assert broken_by(trace(LISTEN, acknowledged(resourceSubscriptions=["a://b", "x://y"]))) == {"SUB-005"}


def test_what_is_in_a_watched_folder_may_be_told():
    lines = trace(LISTEN, acknowledged(**ALL), tagged("notifications/resources/updated", uri="a://b/c"))

    assert broken_by(lines) == set()


def test_what_was_on_its_way_when_the_client_cancelled_is_no_fault():
    cancel = tell("notifications/cancelled", {"requestId": 1}, "c2s")
    change = tagged("notifications/tools/list_changed")

    assert broken_by(trace(LISTEN, acknowledged(**ALL), cancel, change)) == set()
    assert broken_by(trace(LISTEN, acknowledged(**ALL), cancel, wait(5), change)) == {"SUB-007"}


def test_a_subscription_that_is_refused_needs_no_acknowledgment():
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}
    assert broken_by(trace(LISTEN, s2c(refused), eof("c2s"))) == set()


def test_a_graceful_end_names_its_subscription():
    end = answer({"_meta": {KEY: 1, "io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}})

    assert broken_by(trace(LISTEN, acknowledged(**ALL), end)) == set()


def test_an_acknowledgment_of_nothing_known_is_told_once():
    stray = tell("notifications/subscriptions/acknowledged", {"notifications": {}, "_meta": {KEY: 9}})

    assert broken_by(trace(LISTEN, acknowledged(), stray)) == {"SUB-002"}


def test_an_update_of_an_unknown_subscription_is_told_once():
    stray = tell("notifications/resources/updated", {"uri": "a://b", "_meta": {KEY: 9}})

    assert broken_by(trace(LISTEN, acknowledged(), stray)) == {"SUB-002"}
