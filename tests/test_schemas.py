import socket

import pytest

from mesero.errors import UsageError
from mesero.schemas import MAX_INSTANCE_DEPTH, MAX_SCHEMA_DEPTH, MAX_SUBSCHEMAS, SchemaCheck

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}},
    },
    "required": ["name"],
}


def nested(depth, wrap):
    value = {}
    for _ in range(depth - 1):
        value = wrap(value)
    return value


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a schema opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_what_fits_has_no_errors():
    assert SchemaCheck(PERSON).find_errors({"name": "Ana", "tags": ["a"]}) == []


def test_every_error_has_its_path():
    errors = SchemaCheck(PERSON).find_errors({"name": 1, "tags": ["a", "long"]})
    assert len(errors) == 2
    assert any(error.endswith("(at $.name)") for error in errors)
    assert any(error.endswith("(at $.tags[1])") for error in errors)


def test_at_most_five_errors_are_named():
    errors = SchemaCheck(PERSON).find_errors({"name": "a", "tags": ["long"] * 50})
    assert len(errors) == 5


def test_without_a_dialect_a_schema_is_of_2020_12():
    check = SchemaCheck({"prefixItems": [{"type": "integer"}], "items": False})
    assert check.find_errors([1]) == []
    assert check.find_errors([1, 2])


def test_an_older_dialect_is_judged_by_its_own_rules():
    check = SchemaCheck(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "items": [{"type": "integer"}],
            "additionalItems": False,
        }
    )
    assert check.find_errors([1, 2])


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nothing"},
        {"properties": []},
        {"pattern": "("},
        {"$schema": "https://example.com/own-dialect"},
        {"$schema": 5},
        {"$ref": "https://example.com/other.json"},
        {"$ref": "#/$defs/missing"},
        {"$id": "https://example.com/a", "allOf": [{"$ref": "b.json"}]},
        {"$dynamicRef": "https://example.com/x#y"},
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_and_nothing_is_fetched(schema, no_network):
    with pytest.raises(UsageError, match="the schema cannot be used"):
        SchemaCheck(schema)


def test_a_schema_as_deep_as_the_limit_is_used_and_a_deeper_one_is_not():
    assert SchemaCheck(nested(MAX_SCHEMA_DEPTH, lambda inner: {"not": inner})).find_errors(1) is not None
    for wrap in (lambda inner: {"not": inner}, lambda inner: {"allOf": [inner]}):
        with pytest.raises(UsageError, match="nested more deeply than 64"):
            SchemaCheck(nested(MAX_SCHEMA_DEPTH + 1, wrap))


def test_a_schema_with_too_many_parts_is_refused():
    with pytest.raises(UsageError, match="more than 10000 subschemas"):
        SchemaCheck({"anyOf": [{"const": number} for number in range(MAX_SUBSCHEMAS)]})


def test_a_schema_that_contains_itself_is_refused():
    schema = {"type": "object"}
    schema["not"] = schema
    with pytest.raises(UsageError, match="nested more deeply"):
        SchemaCheck(schema)


def test_a_value_as_deep_as_the_limit_is_judged_and_a_deeper_one_is_not():
    check = SchemaCheck({})
    for wrap in (lambda inner: [inner], lambda inner: {"a": inner}):
        assert check.find_errors(nested(MAX_INSTANCE_DEPTH, wrap)) == []
        assert check.find_errors(nested(MAX_INSTANCE_DEPTH + 1, wrap)) == [
            "nested more deeply than 256 levels"
        ]


@pytest.mark.parametrize("value", [{1: 2}, b"bytes", object()])
def test_what_is_no_json_is_an_error_and_not_an_exception(value):
    errors = SchemaCheck(PERSON).find_errors({"name": value})
    assert len(errors) == 1
    assert errors[0].startswith("not plain JSON data: ")


def test_a_pattern_that_would_run_away_is_stopped():
    check = SchemaCheck({"type": "string", "pattern": r"^(?=(a+)+$)(a|aa)+\1b$"})
    assert len(check.find_errors("a" * 60 + "!")) == 1


def test_a_large_integer_is_judged_exactly():
    check = SchemaCheck({"type": "integer", "maximum": 10**30})
    assert check.find_errors(10**30) == []
    assert len(check.find_errors(10**30 + 1)) == 1
