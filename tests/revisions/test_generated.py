"""What the generated modules hold, compared with the unions in their own schemas."""

from __future__ import annotations

from types import ModuleType

import pytest

from mesero.revisions import REVISIONS, definitions_for, revision_module_for, schema_for
from mesero.revisions.shapes import RevisionModule
from tests.revisions.instances import METHODS

UNIONS = {
    "ClientRequest": ("request", "c2s"),
    "ServerRequest": ("request", "s2c"),
    "ClientNotification": ("notification", "c2s"),
    "ServerNotification": ("notification", "s2c"),
    "InputRequest": ("input", "s2c"),
}


def methods_in_union(revision, union):
    definitions = definitions_for(revision)
    schema = definitions.get(union, {"anyOf": []})
    members = [definitions[each["$ref"].rpartition("/")[2]] for each in schema.get("anyOf", [])] or [schema]
    return {member["properties"]["method"]["const"] for member in members if "properties" in member}


def keywords_in(schema, *, names=False):
    """Yield the members of every schema inside a schema, but not the names of properties or definitions."""
    if isinstance(schema, list):
        for each in schema:
            yield from keywords_in(each)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if not names:
                yield key
            yield from keywords_in(value, names=not names and key in {"properties", "$defs", "definitions"})


@pytest.mark.parametrize("revision", REVISIONS)
def test_all_modules_export_the_same_names(revision):
    module = revision_module_for(revision)
    assert isinstance(module, ModuleType)
    exported = {"ENVELOPES", "ERRORS", "METHODS", "REVISION", "SCHEMA"}
    assert set(module.__all__) == exported == set(RevisionModule.__annotations__)
    assert all(hasattr(module, name) for name in exported)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("union", UNIONS)
def test_the_methods_table_agrees_with_each_union(revision, union):
    kind, direction = UNIONS[union]
    listed = {
        method
        for method, shape in revision_module_for(revision).METHODS.items()
        if shape.kind == kind and direction in shape.directions
    }
    assert listed == methods_in_union(revision, union)


@pytest.mark.parametrize(("revision", "method", "shape"), METHODS)
def test_every_name_in_the_methods_table_is_a_definition(revision, method, shape):
    definitions = definitions_for(revision)
    assert definitions[shape.definition]["properties"]["method"]["const"] == method
    assert all(result in definitions for result in shape.results)
    assert bool(shape.results) == (shape.kind != "notification")


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_envelope_and_error_is_a_definition(revision):
    module = revision_module_for(revision)
    assert set(module.ENVELOPES) == {"request", "notification", "result", "error"}
    names = [*module.ENVELOPES.values(), *(shape.definition for shape in module.ERRORS.values())]
    assert all(name in definitions_for(revision) for name in names)


def test_the_stateless_revision_knows_its_error_codes():
    errors = revision_module_for("2026-07-28").ERRORS
    assert set(errors) == {-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022}
    assert errors[-32022].definition == "UnsupportedProtocolVersionError"


def test_only_three_methods_may_be_answered_by_a_question():
    methods = revision_module_for("2026-07-28").METHODS
    may_ask = {method for method, shape in methods.items() if "InputRequiredResult" in shape.results}
    assert may_ask == {"tools/call", "prompts/get", "resources/read"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_descriptions_are_gone(revision):
    prose = {"description", "title", "$comment", "examples"}
    assert prose.isdisjoint(keywords_in(schema_for(revision)))


@pytest.mark.parametrize("revision", REVISIONS)
def test_properties_called_description_are_not_gone(revision):
    assert definitions_for(revision)["Tool"]["properties"]["description"] == {"type": "string"}


def test_properties_called_title_are_not_gone():
    assert definitions_for("2026-07-28")["Tool"]["properties"]["title"] == {"type": "string"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_reference_stays_inside_its_schema(revision):
    def references_in(value):
        if isinstance(value, dict):
            yield from (each for key, each in value.items() if key == "$ref" and isinstance(each, str))
            for each in value.values():
                yield from references_in(each)
        elif isinstance(value, list):
            for each in value:
                yield from references_in(each)

    references = set(references_in(schema_for(revision)))
    assert references
    assert all(each.startswith(("#/$defs/", "#/definitions/")) for each in references)
    assert all(each.rpartition("/")[2] in definitions_for(revision) for each in references)
