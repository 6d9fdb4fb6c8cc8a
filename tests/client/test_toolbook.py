"""What a client learned of the tools that it listed."""

import socket

import pytest

from mesero.client.toolbook import ToolBook, check_output
from mesero.errors import InvalidResultError
from mesero.types import CallToolResult, TextContent, Tool

OBJECT = {"type": "object"}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
MARKED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
BROKEN = {"type": "object", "properties": {"region": {"type": "object", "x-mcp-header": "Region"}}}


def book(*tools, validate_output=True, rejects_bad_marks=True):
    learned = ToolBook(validate_output=validate_output, rejects_bad_marks=rejects_bad_marks)
    learned.learn(tools)
    return learned


def test_marks_are_remembered_by_tool():
    learned = book(Tool("marked", MARKED), Tool("plain", OBJECT))
    assert [mark.header for mark in learned.marks["marked"]] == ["Region"]
    assert set(learned.marks) == {"marked"}


def test_marks_of_a_tool_that_is_listed_no_more_are_forgotten():
    learned = book(Tool("marked", MARKED))
    learned.learn([])
    assert learned.marks == {}


def test_tools_with_broken_marks_are_left_out_with_a_warning(caplog):
    learned = ToolBook(validate_output=True, rejects_bad_marks=True)
    usable = learned.learn([Tool("broken", BROKEN), Tool("marked", MARKED)])
    assert [tool.name for tool in usable] == ["marked"]
    assert "'broken' is left out" in caplog.text
    assert "'Region'" in caplog.text


def test_where_nothing_is_mirrored_broken_marks_do_not_matter():
    learned = ToolBook(validate_output=True, rejects_bad_marks=False)
    assert len(learned.learn([Tool("broken", BROKEN)])) == 1


def check(schema, result):
    found = book(Tool("t", OBJECT, output_schema=schema)).output_check_for("t", where="here")
    check_output(found, "t", result, where="here")


def test_a_result_that_fits_passes():
    check(NUMBER, CallToolResult([], structured_content={"n": 1}))


def test_a_result_that_does_not_fit_is_refused_with_its_path():
    with pytest.raises(InvalidResultError, match=r"here: what the tool 't' returned does not fit.*\$\.n"):
        check(NUMBER, CallToolResult([], structured_content={"n": "one"}))


def test_a_missing_structured_content_is_refused():
    with pytest.raises(InvalidResultError, match="has an output schema but returned no structured content"):
        check(NUMBER, CallToolResult([TextContent("1")]))


def test_null_is_a_value_and_not_a_missing_one():
    check({"type": "null"}, CallToolResult([], structured_content=None))
    with pytest.raises(InvalidResultError, match="does not fit"):
        check(NUMBER, CallToolResult([], structured_content=None))


def test_a_failure_needs_not_fit():
    check(NUMBER, CallToolResult([TextContent("it broke")], is_error=True))


def test_unknown_tools_and_tools_without_a_schema_are_not_checked():
    learned = book(Tool("plain", OBJECT))
    assert learned.output_check_for("plain", where="") is None
    assert learned.output_check_for("never listed", where="") is None


def test_nothing_is_checked_where_it_was_switched_off():
    learned = book(Tool("t", OBJECT, output_schema={"$ref": "https://example.com/s"}), validate_output=False)
    assert learned.output_check_for("t", where="") is None


def test_a_schema_is_compiled_once_and_again_when_it_changed():
    learned = book(Tool("t", OBJECT, output_schema=NUMBER))
    first = learned.output_check_for("t", where="")
    learned.learn([Tool("t", OBJECT, output_schema=NUMBER)])
    assert learned.output_check_for("t", where="") is first
    learned.learn([Tool("t", OBJECT, output_schema=OBJECT)])
    assert learned.output_check_for("t", where="") is not first


def test_a_schema_that_needs_the_network_is_refused_and_nothing_is_fetched(monkeypatch):
    def refuse(*_):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    learned = book(Tool("t", OBJECT, output_schema={"$ref": "https://example.com/schema.json"}))
    with pytest.raises(InvalidResultError, match=r"output schema of the tool 't'.*validate_output=False"):
        learned.output_check_for("t", where="here")
