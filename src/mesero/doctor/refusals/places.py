"""The places of a JSON Schema: every schema inside a schema, with its path.

Only what is a schema is visited: a property that is called ``anyOf`` is not taken for the keyword.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mesero.schemas import MAX_SCHEMA_DEPTH, MAX_SUBSCHEMAS

__all__ = ["inner_schemas", "path_to"]

_ONE: Final = (
    *("items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
    *("contains", "propertyNames", "not", "if", "then", "else"),
)
_LISTED: Final = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_NAMED: Final = (
    *("properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"),
)
_PLAIN: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")


def path_to(path: str, *steps: str | int) -> str:
    """A path that goes on: ``$.inputSchema`` and ``properties``, ``a b`` to
    ``$.inputSchema.properties["a b"]``.
    """
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{step}" if _PLAIN.fullmatch(step) else f'["{step}"]'
    return path


def inner_schemas(schema: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema that is an object, itself first, each with its path.

    Ends at the bounds of `mesero.schemas`: what is beyond them is refused for that already.

    Args:
        schema: A JSON Schema as it came.
        path: Its own path.
    """
    todo: list[tuple[str, Any, int]] = [(path, schema, 0)]
    for _ in range(MAX_SUBSCHEMAS):
        if not todo:
            return
        place, value, depth = todo.pop()
        if isinstance(value, dict):
            yield place, value
            if depth < MAX_SCHEMA_DEPTH:
                # The last to come is the first to go: so they are visited in their order.
                todo.extend((where, each, depth + 1) for where, each in reversed(_children(value, place)))


def _children(schema: dict[str, Any], path: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for word, value in schema.items():
        here = path_to(path, word)
        if word in _NAMED and isinstance(value, dict):
            found += [(path_to(here, name), each) for name, each in value.items()]
        elif word in _LISTED and isinstance(value, list):
            found += [(path_to(here, number), each) for number, each in enumerate(value)]
        elif word in _ONE:
            found.append((here, value))
    return found
