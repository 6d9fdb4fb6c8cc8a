"""The enumerated set of revisions and the way to their shapes."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest

from mesero.errors import UsageError
from mesero.revisions import (
    HANDSHAKE_REVISIONS,
    REVISIONS,
    STATELESS_REVISIONS,
    definitions_for,
    is_older,
    revision_module_for,
    schema_for,
)
from mesero.revisions.shapes import UnknownRevisionError


def test_every_revision_has_one_way_of_beginning():
    assert REVISIONS == HANDSHAKE_REVISIONS + STATELESS_REVISIONS
    assert len(set(REVISIONS)) == len(REVISIONS) == 5


@pytest.mark.parametrize(("older", "newer"), list(itertools.combinations(REVISIONS, 2)))
def test_revisions_are_ordered_by_their_place(older, newer):
    assert is_older(older, newer)
    assert not is_older(newer, older)


def test_a_revision_is_not_older_than_itself():
    assert not any(is_older(revision, revision) for revision in REVISIONS)


@pytest.mark.parametrize("unknown", ["2024-11-06", "draft", "", "2026-07-28 "])
def test_an_unknown_revision_is_refused_by_name_with_the_known_ones(unknown):
    for ask in (revision_module_for, schema_for, definitions_for, lambda each: is_older(each, REVISIONS[0])):
        with pytest.raises(UnknownRevisionError) as caught:
            ask(unknown)
        assert repr(unknown) in str(caught.value)
        assert all(known in str(caught.value) for known in REVISIONS)
        assert (caught.value.revision, caught.value.known) == (unknown, REVISIONS)


def test_an_unknown_revision_is_both_a_usage_error_and_a_key_error():
    with pytest.raises(KeyError):
        revision_module_for("2027-01-01")
    with pytest.raises(UsageError):
        revision_module_for("2027-01-01")


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_module_of_a_revision_is_the_one_named_after_it(revision):
    module = revision_module_for(revision)
    assert revision == module.REVISION
    assert module is sys.modules[f"mesero.revisions.v{revision.replace('-', '_')}"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_schema_is_parsed_once(revision):
    assert schema_for(revision) is schema_for(revision)
    assert definitions_for(revision) is definitions_for(revision)
    assert "JSONRPCRequest" in definitions_for(revision)


def test_importing_the_package_or_the_judge_imports_neither_shapes_nor_the_schema_library():
    program = """
import sys
import mesero.revisions, mesero.revisions.judge
print([name for name in sys.modules if name.startswith(("jsonschema_rs", "mesero.revisions.v2"))])
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.strip() == "[]"
