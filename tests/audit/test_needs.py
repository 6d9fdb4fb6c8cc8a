"""What a method needs of the server's capabilities."""

import pytest

from mesero.audit.examples import old_answer, old_ask, shake, trace
from mesero.audit.needs import NEEDS, find_undeclared
from tests.audit.judging import link_of


def link(**capabilities):
    return link_of(trace(*shake(server=capabilities)))


def test_what_was_declared_is_missing_nowhere():
    everything = link(**{name: {} for name in NEEDS.values()})

    assert {find_undeclared(everything, method, "2025-11-25") for method in NEEDS} == {""}


@pytest.mark.parametrize(("method", "needed"), NEEDS.items())
def test_what_was_not_declared_is_named(method, needed):
    assert find_undeclared(link(), method, "2025-11-25") == needed


def test_a_method_that_needs_nothing_is_never_undeclared():
    assert find_undeclared(link(), "ping", "2025-11-25") == ""


def test_of_an_unknown_server_nothing_is_said():
    unknown = link_of(trace(old_ask("tools/list"), old_answer({"tools": []})))

    assert find_undeclared(unknown, "tools/list", "2025-11-25") == ""


def test_the_oldest_revision_has_completion_without_a_capability():
    assert find_undeclared(link(), "completion/complete", "2024-11-05") == ""
    assert find_undeclared(link(), "completion/complete", "2025-03-26") == "completions"
