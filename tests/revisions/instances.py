"""Minimal valid instances, built from the schemas themselves, for the tests of this folder."""

from __future__ import annotations

from typing import Any

from mesero.revisions import REVISIONS, definitions_for, revision_module_for

METHODS = [
    (revision, method, shape)
    for revision in REVISIONS
    for method, shape in revision_module_for(revision).METHODS.items()
]
MESSAGES = [row for row in METHODS if row[2].kind != "input"]
REQUESTS = [row for row in METHODS if row[2].kind == "request"]

SCALARS = {"string": "x", "integer": 1, "number": 1, "boolean": True, "null": None, "array": []}


def minimal(revision: str, schema: dict[str, Any]) -> Any:
    """Build the smallest value that the schema accepts, always taking the first of several shapes."""
    if "$ref" in schema:
        return minimal(revision, definitions_for(revision)[schema["$ref"].rpartition("/")[2]])
    if "allOf" in schema:
        return {k: v for each in schema["allOf"] for k, v in minimal(revision, each).items()}
    if "anyOf" in schema:
        return minimal(revision, schema["anyOf"][0])
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        kind = kind[0]
    if kind != "object":
        return SCALARS[kind]
    return {name: minimal(revision, schema["properties"][name]) for name in schema.get("required", ())}


def minimal_message(revision: str, method: str) -> dict[str, Any]:
    """Build the smallest message with that method, envelope included in every revision."""
    shape = revision_module_for(revision).METHODS[method]
    message = {"jsonrpc": "2.0", **minimal(revision, {"$ref": f"#/{shape.definition}"})}
    return message if shape.kind == "notification" else {"id": 1, **message}


def minimal_result(revision: str, method: str) -> dict[str, Any]:
    """Build the smallest ordinary answer to a request with that method."""
    shape = revision_module_for(revision).METHODS[method]
    result = minimal(revision, {"$ref": f"#/{shape.results[0]}"})
    if "resultType" in result:
        result["resultType"] = "complete"
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key != name}
