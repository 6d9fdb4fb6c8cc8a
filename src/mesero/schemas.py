"""Foreign JSON Schemas, judged with bounds: nothing is fetched, nothing runs away.

jsonschema-rs does the work, always offline: a ``$ref`` to the network is never followed, and a schema that
needs one is refused rather than taken as permissive.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#json-schema-usage
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mesero.errors import UsageError

__all__ = ["MAX_INSTANCE_DEPTH", "MAX_SCHEMA_DEPTH", "MAX_SUBSCHEMAS", "SchemaCheck"]

MAX_SCHEMA_DEPTH = 64
MAX_SUBSCHEMAS = 10_000
MAX_INSTANCE_DEPTH = 256
_MAX_ERRORS = 5
_BACKTRACK_LIMIT = 100_000


class SchemaCheck:
    """One compiled schema.

    Args:
        schema: A JSON Schema; 2020-12 unless its ``$schema`` says otherwise.

    Raises:
        UsageError: invalid, of an unknown dialect, beyond the bounds, or in need of something from the
            network.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/index#schema-dialect
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        _check_bounds(schema)
        import jsonschema_rs

        try:
            self._validator = jsonschema_rs.validator_for(
                dict(schema),
                offline=True,
                pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACK_LIMIT),
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise UsageError(f"the schema cannot be used: {str(error).splitlines()[0]}") from None

    def find_errors(self, instance: Any) -> list[str]:
        """What is wrong with a value, at most five sentences with their paths; empty when it fits."""
        if _depth_of(instance, MAX_INSTANCE_DEPTH) > MAX_INSTANCE_DEPTH:
            return [f"nested more deeply than {MAX_INSTANCE_DEPTH} levels"]
        texts = []
        try:
            errors = self._validator.iter_errors(instance)
        except ValueError as problem:
            return [f"not plain JSON data: {problem}"]
        for error in errors:
            path = "".join(
                f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path
            )
            texts.append(f"{error.message} (at ${path})")
            if len(texts) == _MAX_ERRORS:
                break
        return texts


def _check_bounds(schema: Any) -> None:
    """Depth and number of subschemas, before anything is compiled.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/index#composition-keyword-resource-use
    """
    todo: list[tuple[Any, int]] = [(schema, 1)]
    count = 0
    while todo:
        value, depth = todo.pop()
        if not isinstance(value, (Mapping, list)):
            continue
        count += isinstance(value, Mapping)
        if count > MAX_SUBSCHEMAS:
            raise UsageError(f"the schema has more than {MAX_SUBSCHEMAS} subschemas")
        if depth > MAX_SCHEMA_DEPTH:
            raise UsageError(f"the schema is nested more deeply than {MAX_SCHEMA_DEPTH} levels")
        todo.extend((inner, depth + 1) for inner in (value.values() if isinstance(value, Mapping) else value))


def _depth_of(value: Any, limit: int) -> int:
    """How deeply a value is nested, counted until the limit is passed."""
    level = [value]
    depth = 0
    while level and depth <= limit:
        depth += 1
        level = [
            inner
            for item in level
            if isinstance(item, (dict, list))
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return depth
