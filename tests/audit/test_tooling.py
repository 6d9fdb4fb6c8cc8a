"""What is known of a listed tool."""

from mesero.audit.tooling import ToolFacts


def test_values_are_judged_by_the_schema_of_the_tool():
    tool = ToolFacts({"name": "a", "inputSchema": {"type": "object", "required": ["b"]}})

    assert tool.find_errors("inputSchema", {"b": 1}) == []
    assert "required" in tool.find_errors("inputSchema", {})[0]


def test_a_tool_without_an_output_schema_takes_any_output():
    tool = ToolFacts({"name": "a", "inputSchema": {"type": "object"}})

    assert not tool.has_output_schema
    assert tool.find_errors("outputSchema", [1]) == []


def test_a_schema_that_cannot_be_used_judges_nothing_and_says_why():
    tool = ToolFacts({"name": "a", "inputSchema": {"type": "nothing"}})

    assert "nothing" in tool.schema_fault("inputSchema")
    assert tool.find_errors("inputSchema", {}) == []


def test_the_marks_of_a_tool_are_read_and_invalid_ones_explained():
    marked = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    wrong = {"type": "object", "properties": {"a": {"type": "array", "x-mcp-header": "A"}}}

    assert [mark.header for mark in ToolFacts({"inputSchema": marked}).marks] == ["A"]
    assert "array" in ToolFacts({"inputSchema": wrong}).marks_fault
    assert ToolFacts({"inputSchema": "none"}).marks == ()
