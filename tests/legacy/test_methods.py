"""Which methods each revision has, and what gates them."""

import pytest

from mesero.errors import MethodNotFoundError
from mesero.legacy import methods
from mesero.legacy.methods import (
    check_request,
    find_method,
    find_missing_capability,
    has_batches,
    methods_for,
)
from mesero.revisions import HANDSHAKE_REVISIONS, revision_module_for

BARE = {"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_every_method_of_a_revision_is_known_but_for_its_tasks(revision):
    official = {name for name in revision_module_for(revision).METHODS if "tasks/" not in name}

    assert set(methods_for(revision)) == official


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_the_results_that_say_only_that_it_is_done_are_bare(revision):
    assert {name for name, method in methods_for(revision).items() if method.is_bare} == BARE


def test_every_name_of_ours_is_a_method_of_the_newest():
    names = {getattr(methods, name) for name in methods.__all__ if name.isupper()}

    assert names <= set(methods_for("2025-11-25"))


@pytest.mark.parametrize(
    ("revision", "name", "direction", "kind"),
    [
        ("2024-11-05", "tools/call", "c2s", "request"),
        ("2024-11-05", "tools/call", "s2c", None),
        ("2024-11-05", "elicitation/create", "s2c", None),
        ("2025-06-18", "elicitation/create", "s2c", "request"),
        ("2025-06-18", "notifications/elicitation/complete", "s2c", None),
        ("2025-11-25", "notifications/elicitation/complete", "s2c", "notification"),
        ("2025-11-25", "ping", "s2c", "request"),
        ("2025-11-25", "server/discover", "c2s", None),
    ],
)
def test_a_method_is_found_in_its_revision_and_direction(revision, name, direction, kind):
    found = find_method(revision, name, direction)

    assert (found.kind if found else None) == kind


@pytest.mark.parametrize(
    ("name", "declared", "missing"),
    [
        ("tools/call", {"tools": {}}, None),
        ("tools/call", {}, "tools"),
        ("resources/subscribe", {"resources": {"subscribe": True}}, None),
        ("resources/subscribe", {"resources": {"subscribe": False}}, "resources.subscribe"),
        ("resources/subscribe", {"resources": {}}, "resources.subscribe"),
        ("resources/subscribe", {"resources": 7}, "resources.subscribe"),
        ("notifications/roots/list_changed", {"roots": {}}, "roots.listChanged"),
        ("notifications/elicitation/complete", {"elicitation": {"url": {}}}, None),
        ("notifications/cancelled", {}, None),
        ("completion/complete", {}, "completions"),
        ("ping", {}, None),
    ],
)
def test_a_missing_capability_is_named(name, declared, missing):
    assert find_missing_capability(methods_for("2025-11-25")[name], declared) == missing


def test_completion_needs_no_capability_where_there_was_none():
    assert check_request("2024-11-05", "completion/complete", "c2s", {}).name == "completion/complete"
    with pytest.raises(MethodNotFoundError, match="'completions' was not declared"):
        check_request("2025-03-26", "completion/complete", "c2s", {})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tasks/list", "tasks are not offered"),
        ("server/discover", "not a request of 2025-11-25"),
        ("roots/list", "not a request of 2025-11-25"),
        ("notifications/initialized", "not a request of 2025-11-25"),
        ("tools/list", "'tools' was not declared"),
    ],
)
def test_a_request_that_cannot_be_served_is_refused_with_its_reason(name, words):
    with pytest.raises(MethodNotFoundError, match=words):
        check_request("2025-11-25", name, "c2s", {})


def test_a_client_that_declared_no_roots_is_not_asked_for_them():
    with pytest.raises(MethodNotFoundError, match="'roots' was not declared"):
        check_request("2025-11-25", "roots/list", "s2c", {"sampling": {}})


def test_batches_exist_in_one_revision():
    assert [revision for revision in HANDSHAKE_REVISIONS if has_batches(revision)] == ["2025-03-26"]
