import json

import pytest

from mesero.cli.commands.list import signature_of
from mesero.types import Tool
from tests.cli.programs import invoke


def test_everything_is_listed_by_kind_with_its_number(notes):
    result = invoke(["list", notes])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].endswith(" tools")
    assert "  add(a: integer, b?: integer) - Add two numbers." in lines
    assert "2 resources" in lines
    assert "  notes://{id}" in lines
    assert lines[-2:] == ["1 prompt", "  summarize(topic, style?) - Summarize a topic."]


def test_only_the_named_kinds_are_listed(notes):
    assert invoke(["list", notes, "prompts", "templates"]).stdout.splitlines() == [
        "1 template",
        "  notes://{id}",
        "1 prompt",
        "  summarize(topic, style?) - Summarize a topic.",
    ]
    assert "1 prompt" in invoke(["list", notes, "all"]).stdout


def test_json_is_one_document_by_kind(notes):
    document = json.loads(invoke(["list", notes, "--json"]).stdout)
    assert list(document) == ["tools", "resources", "resourceTemplates", "prompts"]
    assert document["tools"][0]["inputSchema"]["type"] == "object"
    assert list(json.loads(invoke(["list", notes, "tools", "--json"]).stdout)) == ["tools"]


def test_an_unknown_kind_is_a_usage_error(notes):
    result = invoke(["list", notes, "skills"])
    assert result.exit_code == 2
    assert "tools, resources, templates, prompts, all" in result.stderr


def test_what_a_server_does_not_have_is_left_out_or_refused_when_it_is_named(tmp_path):
    path = tmp_path / "empty.py"
    path.write_text("import mesero\nserver = mesero.Server('empty')\n")
    assert "offers no tools" in invoke(["list", str(path)]).stdout
    assert invoke(["list", str(path), "tools"]).exit_code == 2


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "array", "items": {"type": "string"}}, "[string]"),
        ({"type": "array"}, "array"),
        ({"type": ["string", "null"]}, "string|null"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer|null"),
        ({"enum": ["a"]}, "string"),
        ({}, "any"),
        ({"$ref": "#/$defs/A"}, "boolean"),
    ],
)
def test_a_signature_names_the_types(schema, text):
    tool = Tool("t", {"properties": {"x": schema}, "required": ["x"], "$defs": {"A": {"type": "boolean"}}})
    assert signature_of(tool) == f"t(x: {text})"


def test_a_tool_without_properties_has_no_arguments():
    assert signature_of(Tool("t", {})) == "t()"
