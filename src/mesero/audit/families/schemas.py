"""Rules about JSON Schemas that servers send, and about values that have to fit them.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#json-schema-usage
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mesero.audit.evidence import Evidence, members_of, short
from mesero.audit.examples import answer, ask, old_answer, old_ask, shake, trace
from mesero.audit.rules import ALL, SINCE_2025_06, STATELESS, Fault, check, claim
from mesero.audit.tooling import ToolFacts

__all__: list[str] = []

_TOOL = "server/tools#tool"
_OUTPUT = "server/tools#output-schema"
_HINTS = {"ttlMs": 0, "cacheScope": "private"}
_FIELDS: Final = ("inputSchema", "outputSchema")


def _tool(schema: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": "add", "inputSchema": schema or {"type": "object"}, **more}


def _listed(*tools: dict[str, Any]) -> Any:
    return trace(ask("tools/list"), answer({"tools": list(tools), **_HINTS}))


_OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
_TYPED = _tool(_OBJECT, outputSchema=_OBJECT)
_TEXT = [{"type": "text", "text": '{"a": 1}'}]


def _called(arguments: Any, **result: Any) -> Any:
    return trace(
        ask("tools/list"),
        answer({"tools": [_TYPED], **_HINTS}),
        ask("tools/call", {"name": "add", "arguments": arguments}, id=2),
        answer({"content": _TEXT, **result}, id=2),
    )


def _tools_of(evidence: Evidence) -> Iterator[tuple[int, str, dict[str, Any]]]:
    tools = evidence.result.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        if isinstance(tool, dict):
            yield index, short(tool.get("name")), tool


def _schemas_of(evidence: Evidence) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """(path, tool, field, schema) of each schema on a page of tools."""
    for index, name, tool in _tools_of(evidence):
        for field in _FIELDS:
            if isinstance(tool.get(field), dict):
                yield f"$.result.tools[{index}].{field}", name, field, tool[field]


claim(
    "SCH-001",
    "The inputSchema of a tool is malformed",
    path=r"\$\.result\.tools\[\d+\]\.inputSchema",
    kinds=("result",),
    spec=_TOOL,
    fix='Make inputSchema a JSON Schema object with "type": "object".',
    passes=_listed(_tool()),
    fails=_listed({"name": "add", "inputSchema": {"properties": {}}}),
)

claim(
    "SCH-002",
    "The outputSchema of a tool is malformed",
    path=r"\$\.result\.tools\[\d+\]\.outputSchema",
    kinds=("result",),
    spec="2025-11-25/server/tools#output-schema",
    fix='Before 2026-07-28, outputSchema needs "type": "object"; some clients lose every tool otherwise.',
    passes=_listed(_tool(outputSchema={"type": "array"})),
    fails=trace(
        *shake(), old_ask("tools/list"), old_answer({"tools": [_tool(outputSchema={"type": "array"})]})
    ),
)


def _remote_reference(schema: Any) -> str:
    """The first reference into the network; empty if there is none. Safe at any depth."""
    todo = [schema]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            target = value.get("$ref", value.get("$dynamicRef"))
            if isinstance(target, str) and re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE):
                return target
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
    return ""


def _faults(evidence: Evidence, *, is_about_bounds: bool) -> Iterator[Fault]:
    for path, name, field, schema in _schemas_of(evidence):
        fault = "" if _remote_reference(schema) else ToolFacts({field: schema}).schema_fault(field)
        if fault and ("nested more deeply" in fault or "more than" in fault) == is_about_bounds:
            yield Fault(f"the {field} of the tool {name}: {fault}", path=path)


@check(
    "SCH-003",
    "A schema is invalid by its own dialect",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    blame="server",
    spec="basic/index#schema-validation",
    fix="Mend the schema, or name the dialect that it is written in with $schema.",
    passes=_listed(_TYPED),
    fails=_listed(_tool({"type": "object", "properties": {"a": {"type": "int"}}})),
)
def _invalid(evidence: Evidence) -> Iterator[Fault | str]:
    yield from _faults(evidence, is_about_bounds=False)


@check(
    "SCH-004",
    "A schema points into the network",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    severity="warning",
    blame="server",
    spec="basic/index#ref-resolution",
    fix="Put what is referred to into $defs of the same schema: clients must not fetch it.",
    passes=_listed(_tool({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {}}})),
    fails=_listed(_tool({"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}})),
)
def _remote(evidence: Evidence) -> Iterator[Fault | str]:
    for path, name, field, schema in _schemas_of(evidence):
        target = _remote_reference(schema)
        if target:
            yield Fault(f"the {field} of the tool {name} refers to {short(target)}", path=path)


@check(
    "SCH-005",
    "A schema has a combinator at its top",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    severity="info",
    blame="server",
    spec=_TOOL,
    fix="Wrap it in a property: legal in MCP, but some model APIs refuse the whole request for it.",
    passes=_listed(_tool({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}})),
    fails=_listed(_tool({"type": "object", "anyOf": [{"required": ["a"]}]})),
)
def _combinator(evidence: Evidence) -> Iterator[Fault | str]:
    for index, name, tool in _tools_of(evidence):
        found = [word for word in ("oneOf", "anyOf", "allOf") if word in members_of(tool.get("inputSchema"))]
        if found:
            yield f"tool #{index}, {name}, has {' and '.join(found)} at the top of its inputSchema"


@check(
    "SCH-006",
    "A schema declares another dialect than 2020-12",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    severity="info",
    blame="server",
    spec="basic/index#schema-dialect",
    fix="Leave $schema out, or write JSON Schema 2020-12: it is the only dialect that all must know.",
    passes=_listed(_tool({"type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema"})),
    fails=_listed(_tool({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"})),
)
def _dialect(evidence: Evidence) -> Iterator[Fault | str]:
    for path, name, field, schema in _schemas_of(evidence):
        dialect = schema.get("$schema")
        if isinstance(dialect, str) and "2020-12" not in dialect:
            yield Fault(f"the {field} of the tool {name} is written in {short(dialect)}", path=path)


@check(
    "SCH-007",
    "An x-mcp-header mark is invalid",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    revisions=STATELESS,
    blame="server",
    spec="basic/transports/streamable-http#schema-extension",
    fix="Mend the mark: clients over HTTP must leave the whole tool out.",
    passes=_listed(
        _tool({"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "Region"}}})
    ),
    fails=_listed(
        _tool({"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "Region"}}})
    ),
)
def _mark(evidence: Evidence) -> Iterator[Fault | str]:
    for index, name, tool in _tools_of(evidence):
        fault = ToolFacts(tool).marks_fault
        if fault:
            yield Fault(f"the tool {name}: {fault}", path=f"$.result.tools[{index}].inputSchema")


_SECRET = re.compile(r"passw|secret|token|api_?-?key|credential|private_?key|ssn", re.IGNORECASE)


@check(
    "SCH-008",
    "A parameter that looks secret is mirrored in a header",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    revisions=STATELESS,
    severity="warning",
    blame="server",
    spec="server/tools#x-mcp-header",
    fix="Take x-mcp-header off: headers are read and logged by everything in between.",
    passes=_listed(
        _tool({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}})
    ),
    fails=_listed(
        _tool({"type": "object", "properties": {"password": {"type": "string", "x-mcp-header": "Pw"}}})
    ),
)
def _secret_mark(evidence: Evidence) -> Iterator[Fault | str]:
    for _, name, tool in _tools_of(evidence):
        for mark in ToolFacts(tool).marks:
            if _SECRET.search(mark.path[-1]):
                yield f"the tool {name} mirrors {short('.'.join(mark.path))} in Mcp-Param-{mark.header}"


@check(
    "SCH-009",
    "The server accepts arguments that do not fit its own inputSchema",
    on=("result",),
    side="s2c",
    methods=("tools/call",),
    severity="warning",
    blame="server",
    spec="server/tools#security-considerations",
    fix="Validate the arguments and answer with isError: true, so that the model can correct them.",
    passes=_called({"a": "one"}, isError=True),
    fails=_called({"a": "one"}, structuredContent={"a": 1}),
)
def _accepted(evidence: Evidence) -> Iterator[Fault | str]:
    fault = evidence.asked.arguments_fault if evidence.asked is not None else ""
    kind = evidence.result.get("resultType", "complete")
    if fault and evidence.result.get("isError") is not True and kind == "complete":
        yield (
            f"{evidence.what} is a success, but the arguments do not fit the inputSchema: "
            f"{short(fault, quoted=False)}"
        )


def _output_of(evidence: Evidence) -> ToolFacts | None:
    """The tool, if it promised structured output and this result has to keep the promise."""
    tool = evidence.link.tools.get(evidence.asked.name) if evidence.asked is not None else None
    is_final = evidence.result.get("resultType", "complete") == "complete" and "task" not in evidence.result
    if tool is None or not tool.has_output_schema or evidence.result.get("isError") is True:
        return None
    return tool if is_final else None


@check(
    "SCH-010",
    "Structured content does not fit the tool's outputSchema",
    on=("result",),
    side="s2c",
    methods=("tools/call",),
    revisions=SINCE_2025_06,
    blame="server",
    spec=_OUTPUT,
    fix=(
        "Return what the outputSchema says, or mend the schema. If a gateway sits in between, "
        "look at what it changed."
    ),
    passes=_called({"a": 1}, structuredContent={"a": 2}),
    fails=_called({"a": 1}, structuredContent={"a": "2"}),
)
def _unfit(evidence: Evidence) -> Iterator[Fault | str]:
    tool = _output_of(evidence)
    if (
        tool is not None
        and "structuredContent" in evidence.result
        and not evidence.is_redacted("structuredContent")
    ):
        for fault in tool.find_errors("outputSchema", evidence.result["structuredContent"]):
            yield Fault(f"{evidence.what}: {short(fault, quoted=False)}", path="$.result.structuredContent")


@check(
    "SCH-011",
    "A tool with an outputSchema returns no structured content",
    on=("result",),
    side="s2c",
    methods=("tools/call",),
    revisions=SINCE_2025_06,
    blame="server",
    spec=_OUTPUT,
    fix="Return structuredContent beside the text, or take the outputSchema off the tool.",
    passes=_called({"a": 1}, structuredContent={"a": 2}),
    fails=_called({"a": 1}),
)
def _missing(evidence: Evidence) -> Iterator[Fault | str]:
    if _output_of(evidence) is not None and "structuredContent" not in evidence.result:
        name = evidence.asked.name if evidence.asked is not None else ""
        yield f"the tool {short(name)} promises structured output and returned none"


@check(
    "SCH-012",
    "Structured content comes without its text",
    on=("result",),
    side="s2c",
    methods=("tools/call",),
    revisions=SINCE_2025_06,
    severity="info",
    blame="server",
    spec="server/tools#structured-content",
    fix="Return the serialized JSON as a text block as well: older hosts show only that.",
    passes=_called({"a": 1}, structuredContent={"a": 2}),
    fails=_called({"a": 1}, structuredContent={"a": 2}, content=[]),
)
def _textless(evidence: Evidence) -> Iterator[Fault | str]:
    content = evidence.result.get("content")
    if (
        "structuredContent" in evidence.result
        and isinstance(content, list)
        and not any(members_of(block).get("type") == "text" for block in content)
    ):
        yield f"{evidence.what} has structured content and no text"


_FORM_SCHEMA = r"\$\.(params|result\.inputRequests.*\.params)\.requestedSchema"

claim(
    "SCH-013",
    "A form asks for more than flat, primitive fields",
    path=_FORM_SCHEMA,
    spec="client/elicitation#requested-schema",
    fix=(
        "Ask for strings, numbers, booleans and choices at the top level; nested objects are "
        "not allowed in forms."
    ),
    passes=trace(
        *shake(client={"elicitation": {}}),
        old_ask(
            "elicitation/create",
            {"message": "?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}},
            id="s",
            direction="s2c",
        ),
    ),
    fails=trace(
        *shake(client={"elicitation": {}}),
        old_ask(
            "elicitation/create",
            {"message": "?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "object"}}}},
            id="s",
            direction="s2c",
        ),
    ),
)


@check(
    "SCH-014",
    "A schema is too deep or too large to be checked safely",
    on=("result",),
    side="s2c",
    methods=("tools/list",),
    revisions=ALL,
    severity="warning",
    blame="server",
    spec="basic/index#composition-keyword-resource-use",
    fix="Make it smaller: clients set bounds and refuse what goes beyond them.",
    passes=_listed(_tool()),
    fails=_listed(_tool({"type": "object", "$defs": {str(number): {} for number in range(10_001)}})),
)
def _too_large(evidence: Evidence) -> Iterator[Fault | str]:
    yield from _faults(evidence, is_about_bounds=True)
