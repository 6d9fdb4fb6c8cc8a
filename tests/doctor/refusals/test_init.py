import pytest

from mesero.doctor.refusals import REFUSALS, Listed
from mesero.doctor.texts import TEXTS


def tool(name="add", output=None, page=0, **schema):
    return Listed(name, {"type": "object", "properties": {}, **schema}, output, page)


def with_property(**schema):
    return tool(properties={"a": schema})


LONG = "a" * 58
PLAIN = [tool(), tool("notes_add-2", properties={"a": {"type": "array", "items": {"type": "string"}}})]

# Fact → (tools that are refused, tools that look like them and are not).
EXAMPLES = {
    "anthropic-name": ([tool("a.b")], [tool("a-b_C9")]),
    "openai-name": ([tool("a/b")], [tool("a-b_C9")]),
    "bedrock-name": ([tool("a b")], [tool("a-b_C9")]),
    "gemini-name": ([tool("9a")], [tool("_a.b:c-9")]),
    "claude-apps-name": ([tool("notes.add")], [tool("notes_add")]),
    "openai-length": ([tool("a" * 65)], [tool("a" * 64)]),
    "gemini-length": ([tool("a" * 65)], [tool("a" * 64)]),
    "bedrock-length": ([tool("a" * 65)], [tool("a" * 64)]),
    "claude-apps-length": ([tool("a" * 65)], [tool("a" * 64)]),
    "anthropic-length": ([tool("a" * 121)], [tool("a" * 120)]),
    "claude-code-converse-length": ([tool("a" * 57)], [tool("a" * 56)]),
    "copilot-cli-length": ([tool("a" * 63)], [tool("a" * 62)]),
    "librechat-length": ([tool("a" * 59)], [tool("a" * 58)]),
    "cursor-length": ([tool("a" * 59)], [tool("a" * 58)]),
    "amazon-q-length": ([tool("a" * 61)], [tool("a" * 60)]),
    "anthropic-same": ([tool("a"), tool("a")], [tool("a"), tool("A")]),
    "openai-agents-same": ([tool("a.b"), tool("a_b")], [tool("a.b"), tool("a.c")]),
    "gemini-cli-cut": (
        [tool(f"{LONG}_create_{LONG}"), tool(f"{LONG}_delete_{LONG}")],
        [tool(f"create_{LONG}"), tool(f"delete_{LONG}")],
    ),
    "openai-count": ([tool(f"a{number}") for number in range(129)], [tool()] * 128),
    "first-page-only": ([tool("a"), tool("b", page=1)], [tool("a"), tool("b")]),
    "anthropic-top": ([tool(anyOf=[{"required": ["a"]}])], [with_property(anyOf=[{"type": "string"}])]),
    "openai-top": ([tool(**{"not": {"required": ["a"]}})], [with_property(**{"not": {"type": "null"}})]),
    "openai-root": ([Listed("a", {"anyOf": []})], [tool()]),
    "vertex-root": ([Listed("a", {"type": "array"})], [tool()]),
    "openai-properties": ([Listed("a", {"type": "object"})], [tool()]),
    "anthropic-properties": ([tool(properties={"filter[a]": {}})], [tool(properties={"filter.a-b_9": {}})]),
    "openai-items": ([with_property(type="array")], [with_property(type="array", items={})]),
    "gemini-items": ([with_property(type="array")], [with_property(type="string")]),
    "vscode-items": ([with_property(anyOf=[{"type": "array"}])], [with_property(type="array", items=True)]),
    "windsurf-items": ([with_property(type="array")], [with_property(type="array", prefixItems=[{}])]),
    "anthropic-tuple": (
        [tool(**{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}]})],
        [tool(**{"$schema": "http://json-schema.org/draft-07/schema#", "items": {}})],
    ),
    "gemini-empty-enum": (
        [with_property(type="string", enum=["a", ""])],
        [with_property(type="string", enum=["a"])],
    ),
    "gemini-number-enum": ([with_property(type="integer", enum=[1])], [with_property(enum=["1"])]),
    "gemini-type-list": ([with_property(type=["string", "null"])], [with_property(type="string")]),
    "gemini-const": ([with_property(const="a")], [tool(properties={"const": {"type": "string"}})]),
    "gemini-reference": (
        [with_property(**{"$ref": "#/$defs/a"})],
        [tool(properties={"$ref": {"type": "string"}})],
    ),
    "gemini-words": ([with_property(exclusiveMinimum=0)], [with_property(minimum=0)]),
    "vertex-untyped": ([with_property(description="anything")], [with_property(anyOf=[{"type": "string"}])]),
    "gemini-cli-untyped": ([with_property(enum=["a"])], [with_property(**{"$ref": "#/$defs/a"})]),
    "zed-words": ([with_property(**{"if": {}})], [tool(properties={"if": {"type": "string"}})]),
    "typescript-output-type": ([tool(output={"type": "array"})], [tool(output={"type": "object"}), tool()]),
    "typescript-output-reference": (
        [tool(output={"properties": {"a": {"$ref": "https://example.com/a.json"}}})],
        [tool(output={"properties": {"a": {"$ref": "#/$defs/a"}}}), tool(**{"$ref": "https://example.com"})],
    ),
    "typescript-output-dialect": (
        [tool(output={"$schema": "http://json-schema.org/draft-07/schema#"})],
        [tool(output={"$schema": "https://json-schema.org/draft/2020-12/schema"})],
    ),
    "vscode-dialect": (
        [tool(**{"$schema": "https://json-schema.org/draft/2020-12/schema"})],
        [tool(**{"$schema": "http://json-schema.org/draft-07/schema#"}), tool()],
    ),
}


def test_every_fact_has_its_examples():
    assert {each.id for each in REFUSALS} == EXAMPLES.keys()
    assert len(EXAMPLES) == len(REFUSALS)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: each.id)
def test_a_fact_refuses_what_it_should_and_nothing_else(refusal):
    refused, accepted = EXAMPLES[refusal.id]

    found = list(refusal.kind.find(refused, None))

    assert found
    assert all(each.what and each.where.startswith("$") for each in found)
    assert {each.number for each in found} <= set(range(len(refused)))
    assert list(refusal.kind.find(accepted, None)) == []
    assert list(refusal.kind.find(PLAIN, "notes")) == []


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: each.id)
def test_a_fact_has_a_source_and_a_text(refusal):
    assert refusal.source.startswith("https://")
    assert " " not in refusal.source
    assert refusal.code in TEXTS
    assert not refusal.what.endswith(".")
