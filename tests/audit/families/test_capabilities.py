"""The rules of capabilities: their examples, and what they must let pass."""

import pytest

from mesero.audit.examples import answer, ask, fail, old_ask, shake, trace
from tests.audit.judging import broken_by, check_examples, rules_of


@pytest.mark.parametrize("rule", rules_of("CAP"))
def test_a_rule_is_broken_by_its_bad_example_alone(rule):
    check_examples(rule)


def test_without_a_word_of_the_server_nothing_is_undeclared():
    assert broken_by(trace(ask("prompts/list"), fail(-32601))) == set()


def test_the_oldest_revision_has_no_capability_for_completion():
    params = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}

    assert (
        broken_by(trace(*shake("2024-11-05"), old_ask("completion/complete", params), fail(-32601))) == set()
    )
    assert "CAP-001" in broken_by(
        trace(*shake("2025-03-26"), old_ask("completion/complete", params), fail(-32601))
    )


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage"])
def test_what_was_not_declared_at_all_is_told_once(method):
    params = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}, "mode": "form"}
    sampling = {"messages": [], "maxTokens": 1, "tools": []}
    asks = old_ask(method, params if "elicit" in method else sampling, id="s", direction="s2c")

    assert broken_by(trace(*shake(), asks)) == {"CAP-005"}


def test_part_of_a_capability_may_be_missing():
    needs = {"requiredCapabilities": {"sampling": {"tools": {}}}}
    declared = ask("tools/call", {"name": "x"}, capabilities={"sampling": {}})

    assert broken_by(trace(declared, fail(-32021, data=needs))) == set()


def test_the_extensions_of_a_server_are_named_like_those_of_a_client():
    found = {"supportedVersions": ["2026-07-28"], "capabilities": {"extensions": {"tasks": {}}}}

    assert broken_by(
        trace(ask("server/discover"), answer(found | {"ttlMs": 0, "cacheScope": "private"}))
    ) == {"CAP-010"}


def test_a_server_of_the_older_era_needs_no_discover():
    assert broken_by(trace(ask("server/discover"), fail(-32601))) == set()
