"""The registry: ids are unique, links are built, claims match."""

import pytest

from mesero.audit.examples import ask, trace
from mesero.audit.rules import ALL, RULES, STATELESS, check, claim, spec_link


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr("mesero.audit.rules.RULES", registered := {})
    return registered


def test_a_page_without_a_revision_is_that_of_the_newest_one():
    assert spec_link("basic/index#meta") == (
        "https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta"
    )


def test_a_page_may_name_its_revision():
    assert spec_link("2025-11-25/basic/lifecycle").endswith("/specification/2025-11-25/basic/lifecycle")


def test_an_id_is_given_once(registry):
    claim("ENV-001", "Title", spec="x", fix="Do.", passes=(), fails=())

    with pytest.raises(ValueError, match="ENV-001"):
        claim("ENV-001", "Title", spec="x", fix="Do.", passes=(), fails=())


def test_a_decorated_function_stays_what_it_was(registry):
    def find(evidence):
        yield "found"

    register = check("ENV-002", "Title", on=("request",), spec="x", fix="Do.", passes=(), fails=())

    assert register(find) is find
    assert registry["ENV-002"].check is find
    assert registry["ENV-002"].revisions == ALL


def test_a_rule_belongs_to_the_family_of_its_prefix():
    assert RULES["META-001"].family == "metadata"
    assert RULES["META-001"].revisions == STATELESS


def test_examples_are_lines_of_a_trace():
    kinds = [type(line).__name__ for line in trace(ask("tools/list"))]

    assert kinds == ["LinkLine", "MessageLine"]
