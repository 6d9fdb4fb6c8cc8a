"""What is known of a listed tool: its schemas, compiled when first needed, and its header marks."""

from __future__ import annotations

from typing import Any

from mesero.errors import UsageError
from mesero.modern.headers import HeaderMark, marks_of
from mesero.schemas import SchemaCheck

__all__ = ["ToolFacts"]


class ToolFacts:
    """One tool of a ``tools/list`` result.

    Args:
        tool: Its definition as it came.
    """

    __slots__ = ("_checks", "has_output_schema", "marks", "marks_fault", "schemas")

    def __init__(self, tool: dict[str, Any]) -> None:
        self.schemas = {
            field: tool[field]
            for field in ("inputSchema", "outputSchema")
            if isinstance(tool.get(field), dict)
        }
        self.has_output_schema = "outputSchema" in self.schemas
        self.marks: tuple[HeaderMark, ...] = ()
        self.marks_fault = ""
        self._checks: dict[str, SchemaCheck | str] = {}
        try:
            self.marks = marks_of(self.schemas.get("inputSchema", {}))
        except UsageError as error:
            self.marks_fault = str(error)

    def schema_fault(self, field: str) -> str:
        """Why a schema cannot be used; empty when it can, or when there is none."""
        found = self._check(field)
        return found if isinstance(found, str) else ""

    def find_errors(self, field: str, value: Any) -> list[str]:
        """What is wrong with a value by one of the tool's schemas; empty when it fits or nobody can tell."""
        found = self._check(field)
        return [] if isinstance(found, str) else found.find_errors(value)

    def _check(self, field: str) -> SchemaCheck | str:
        found = self._checks.get(field)
        if found is None:
            found = self._checks[field] = self._compile(field)
        return found

    def _compile(self, field: str) -> SchemaCheck | str:
        try:
            return SchemaCheck(self.schemas.get(field, {}))
        except UsageError as error:
            return str(error).splitlines()[0]
