"""JSON Schemas of tools, and structured content, as the handshake revisions have them: objects only.

Since 2026-07-28 an output schema may be any JSON Schema and structured content any JSON value. Before, both
are objects: what is none becomes the member `result` of one, in the list and in the call alike. Which of the
two a tool needs is told by its schema, so that a client sees what the list promised.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#structured-content
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Raw

from mesero.legacy.shapes import Loss

__all__ = [
    "WRAPPED",
    "fit_structured_content",
    "fit_tool_schemas",
    "is_object",
    "is_object_schema",
    "object_schema_from",
    "wrap_schema",
]

WRAPPED: Final = "was no object (which it need not be since 2026-07-28) and became the member 'result' of one"

_MAX_STEPS = 64
"""How many references and branches are followed to tell whether a schema allows objects only."""

_NO_SCHEMAS: Final = frozenset({"const", "enum", "default", "examples"})
"""Keywords that hold values: what looks like a reference in there is none."""


def is_object(value: Any) -> bool:
    """Whether a JSON value, raw or decoded, is an object."""
    if isinstance(value, Raw):
        return memoryview(value)[0] == ord("{")
    return isinstance(value, dict)


def is_object_schema(schema: Any) -> bool:
    """Whether a schema evidently allows objects only: by its type, value, references or branches."""
    return _is_object_schema(schema, schema, _MAX_STEPS)


def _is_object_schema(schema: Any, root: Any, steps: int) -> bool:
    if not isinstance(schema, Mapping) or steps == 0:
        return False
    if schema.get("type") in ("object", ["object"]) or isinstance(schema.get("const"), dict):
        return True
    if "$ref" in schema and _is_object_schema(_find_target(schema["$ref"], root), root, steps - 1):
        return True
    if any(_is_object_schema(branch, root, steps - 1) for branch in _branches_of(schema, "allOf")):
        return True
    return any(
        branches and all(_is_object_schema(branch, root, steps - 1) for branch in branches)
        for branches in (_branches_of(schema, "anyOf"), _branches_of(schema, "oneOf"))
    )


def _branches_of(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    branches = schema.get(keyword)
    return branches if isinstance(branches, list) else []


def _find_target(reference: Any, root: Any) -> Any:
    """What a local reference points to. None when it is not local, or points nowhere."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found = root
    for step in reference[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def object_schema_from(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of objects as those revisions want its root: with its type, and no boolean for a property."""
    fitted = {**schema, "type": "object"}
    properties = fitted.get("properties")
    if isinstance(properties, Mapping):
        fitted["properties"] = {name: _without_booleans(part) for name, part in properties.items()}
    return fitted


def _without_booleans(schema: Any) -> Any:
    # True and false are schemas, which the older shapes do not know: these mean the same.
    if schema is True:
        return {}
    return {"not": {}} if schema is False else schema


def wrap_schema(schema: Any) -> dict[str, Any]:
    """The schema of an object whose member `result` fits ``schema``; references point where they did."""
    inner = _moved(schema, "#/properties/result")
    wrapped: dict[str, Any] = {
        "type": "object",
        "properties": {"result": _without_booleans(inner)},
        "required": ["result"],
    }
    # A dialect is declared at the root of a schema, or not at all.
    if isinstance(inner, dict) and "$schema" in inner:
        wrapped["$schema"] = inner.pop("$schema")
    return wrapped


def _moved(schema: Any, place: str) -> Any:
    """A copy whose local references begin at ``place``. What has an `$id` is its own root, and stays."""
    if isinstance(schema, list):
        return [_moved(part, place) for part in schema]
    if not isinstance(schema, Mapping) or isinstance(schema.get("$id"), str):
        return schema
    return {name: _moved_member(name, part, place) for name, part in schema.items()}


def _moved_member(name: str, part: Any, place: str) -> Any:
    if name in _NO_SCHEMAS:
        return part
    if name in ("$ref", "$dynamicRef") and isinstance(part, str):
        return place + part[1:] if part == "#" or part.startswith("#/") else part
    return _moved(part, place)


def fit_tool_schemas(tool: dict[str, Any], path: str, losses: list[Loss]) -> None:
    """Change the schemas of a listed tool in place; an output schema that is there may be carried."""
    # Arguments are objects in every revision.
    tool["inputSchema"] = object_schema_from(tool["inputSchema"])
    if "outputSchema" not in tool:
        return
    schema = tool["outputSchema"]
    if is_object_schema(schema):
        tool["outputSchema"] = object_schema_from(schema)
        return
    tool["outputSchema"] = wrap_schema(schema)
    losses.append(Loss(f"{path}.outputSchema", WRAPPED))


def fit_structured_content(value: Any, output_schema: Any, path: str, losses: list[Loss]) -> Any:
    """Structured content as the list promised it.

    Args:
        value: Any JSON value, raw or decoded.
        output_schema: The tool's own schema, or None for a tool without.
        path: Where the value is.
        losses: Grows when it is wrapped.
    """
    if is_object(value) and (output_schema is None or is_object_schema(output_schema)):
        return value
    losses.append(Loss(path, WRAPPED))
    return {"result": value}
