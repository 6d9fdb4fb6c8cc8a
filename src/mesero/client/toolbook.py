"""What a client learned of the tools it listed: header marks and output schemas.

Kept apart from the response cache: a list may be stale at once, what it taught stays useful until the next
one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from mesero.errors import InvalidResultError, UsageError
from mesero.modern.headers import HeaderMark, marks_of
from mesero.schemas import SchemaCheck
from mesero.types import CallToolResult, Tool

__all__ = ["ToolBook", "check_output"]

_log = logging.getLogger("mesero")


class ToolBook:
    """Marks and output schemas by tool name.

    Args:
        validate_output: Check structured results.
        rejects_bad_marks: Leave out tools whose header marks break the rules (over HTTP).
    """

    def __init__(self, *, validate_output: bool, rejects_bad_marks: bool) -> None:
        self._validate_output = validate_output
        self.rejects_bad_marks = rejects_bad_marks
        self.marks: dict[str, tuple[HeaderMark, ...]] = {}
        """The parameters of listed tools that are mirrored in headers."""
        self.schemas: dict[str, dict[str, Any]] = {}
        """The output schemas of listed tools."""
        self._checks: dict[str, SchemaCheck] = {}

    def learn(self, tools: Iterable[Tool]) -> list[Tool]:
        """Take a whole list of tools; gives back those that can be used."""
        self.marks.clear()
        previous, self.schemas = self.schemas, {}
        usable = []
        for tool in tools:
            if self.rejects_bad_marks and not self._learn_marks(tool):
                continue
            usable.append(tool)
            if tool.output_schema is not UNSET:
                self.schemas[tool.name] = tool.output_schema
        self._checks = {
            name: check
            for name, check in self._checks.items()
            if previous.get(name) == self.schemas.get(name)
        }
        return usable

    def _learn_marks(self, tool: Tool) -> bool:
        try:
            marks = marks_of(tool.input_schema)
        except UsageError as error:
            # "the client MUST exclude the invalid tool from the result of tools/list. Clients SHOULD log a
            # warning"
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#schema-extension
            _log.warning("the tool %r is left out: %s", tool.name, error)
            return False
        if marks:
            self.marks[tool.name] = marks
        return True

    def output_check_for(self, name: str, *, where: str) -> SchemaCheck | None:
        """What judges a tool's results; None when its output schema is not known, or not to be checked.

        Asked before the call, so that nothing is done whose result would be refused anyway.

        Raises:
            InvalidResultError: the tool declares a schema that cannot be used.
        """
        schema = self.schemas.get(name)
        if schema is None or not self._validate_output:
            return None
        check = self._checks.get(name)
        if check is None:
            try:
                check = self._checks[name] = SchemaCheck(schema)
            except UsageError as error:
                # "Schemas that fail to validate due to an unresolved external $ref SHOULD be rejected
                # rather than silently treated as permissive."
                # https://modelcontextprotocol.io/specification/2026-07-28/basic/index#ref-resolution
                raise InvalidResultError(
                    f"the output schema of the tool {name!r}: {error}",
                    where=where,
                    fix="Nothing was sent; Client(…, validate_output=False) calls it unchecked",
                ) from None
        return check


def check_output(check: SchemaCheck, name: str, result: CallToolResult, *, where: str) -> None:
    """Judge a result by its tool's output schema; one that says ``is_error`` needs not fit.

    Raises:
        InvalidResultError: it does not fit.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
    """
    if result.is_error:
        return
    if result.structured_content is UNSET:
        raise InvalidResultError(
            f"the tool {name!r} has an output schema but returned no structured content", where=where
        )
    errors = check.find_errors(result.structured_content)
    if errors:
        raise InvalidResultError(
            f"what the tool {name!r} returned does not fit its output schema: {'; '.join(errors)}",
            where=where,
        )
