"""What is refused of the schemas of tools."""

from __future__ import annotations

from typing import Final

from mesero.doctor.refusals import kinds
from mesero.doctor.refusals.refusal import Refusal

__all__ = ["SCHEMAS"]

_ANTHROPIC: Final = "Anthropic's API"
_OPENAI: Final = "OpenAI's API"
_GEMINI: Final = "Gemini's API"
_VERTEX: Final = "Vertex AI"
_REQUEST: Final = "the whole request"
_SERVER: Final = "every tool of the server"
_TOOL: Final = "this tool"

_TOPS: Final = (
    Refusal(
        id="anthropic-top",
        by=_ANTHROPIC,
        what="oneOf, anyOf or allOf at the top of inputSchema",
        kind=kinds.SchemaWords(("oneOf", "anyOf", "allOf"), is_top=True),
        code="MODEL-1",
        consequence=_REQUEST,
        source="https://github.com/QwenLM/qwen-code/issues/7984",
    ),
    Refusal(
        id="openai-top",
        by=_OPENAI,
        what="oneOf, anyOf, allOf, enum, const or not at the top of inputSchema",
        kind=kinds.SchemaWords(("oneOf", "anyOf", "allOf", "enum", "const", "not"), is_top=True),
        code="MODEL-1",
        consequence=_REQUEST,
        source="https://github.com/goruck/home-generative-agent/pull/545",
    ),
    Refusal(
        id="openai-root",
        by=_OPENAI,
        what="an inputSchema whose type is not object",
        kind=kinds.NotObject("inputSchema"),
        code="MODEL-1",
        consequence=_REQUEST,
        source="https://github.com/langchain-ai/langchainjs/issues/9804",
        rule="SCH-001",
    ),
    Refusal(
        id="vertex-root",
        by=_VERTEX,
        what="an inputSchema whose type is not object",
        kind=kinds.NotObject("inputSchema"),
        code="MODEL-1",
        consequence=_REQUEST,
        source="https://github.com/ComposioHQ/composio/issues/4518",
        rule="SCH-001",
    ),
    Refusal(
        id="openai-properties",
        by=_OPENAI,
        what="an inputSchema without properties",
        kind=kinds.NoProperties(),
        code="MODEL-1",
        consequence=_REQUEST,
        source="https://github.com/openai/openai-agents-python/pull/454",
        softened="most hosts",
    ),
    Refusal(
        id="anthropic-properties",
        by=_ANTHROPIC,
        what="a parameter whose name is not 1 to 64 of A-Z a-z 0-9 _ . -",
        kind=kinds.PropertyNames(r"[a-zA-Z0-9_.-]{1,64}"),
        code="MODEL-4",
        consequence=_REQUEST,
        source="https://github.com/twilio-labs/mcp/issues/56",
    ),
)

_ARRAYS: Final = (
    Refusal(
        id="openai-items",
        by=_OPENAI,
        what="an array without items",
        kind=kinds.ArrayWithoutItems(),
        code="MODEL-3",
        consequence=_REQUEST,
        source="https://github.com/digitalocean-labs/mcp-digitalocean/issues/265",
    ),
    Refusal(
        id="gemini-items",
        by=_GEMINI,
        what="an array without items",
        kind=kinds.ArrayWithoutItems(),
        code="MODEL-3",
        consequence=_REQUEST,
        source="https://github.com/cline/cline/issues/7339",
    ),
    Refusal(
        id="vscode-items",
        by="VS Code",
        what="an array without items",
        kind=kinds.ArrayWithoutItems(),
        code="MODEL-3",
        consequence=_REQUEST,
        source="https://github.com/microsoft/vscode/issues/284536",
    ),
    Refusal(
        id="windsurf-items",
        by="Windsurf",
        what="an array without items",
        kind=kinds.ArrayWithoutItems(),
        code="MODEL-3",
        consequence=_REQUEST,
        source="https://github.com/DaxianLee/cocos-mcp-server/issues/14",
        sure="likely",
    ),
    Refusal(
        id="anthropic-tuple",
        by=_ANTHROPIC,
        what="items that are a list, as before 2020-12",
        kind=kinds.TupleItems(),
        code="MODEL-6",
        consequence=_REQUEST,
        source=(
            "https://github.com/microsoft/vscode-copilot-chat/blob/main/src/extension/tools/common/"
            "toolSchemaNormalizer.ts"
        ),
        sure="likely",
        softened="some hosts",
    ),
)

_VALUES: Final = (
    Refusal(
        id="gemini-empty-enum",
        by=_GEMINI,
        what="an enum with an empty text",
        kind=kinds.Enumeration(),
        code="MODEL-5",
        consequence=_REQUEST,
        source="https://github.com/sbroenne/mcp-server-excel/issues/607",
    ),
    Refusal(
        id="gemini-number-enum",
        by=_GEMINI,
        what="an enum of numbers or other values than texts",
        kind=kinds.Enumeration(of_texts=True),
        code="MODEL-5",
        consequence=_REQUEST,
        source="https://github.com/BrokkAi/bifrost/issues/25",
        softened="some hosts",
    ),
    Refusal(
        id="gemini-type-list",
        by=_GEMINI,
        what="a list of types",
        kind=kinds.TypeList(),
        code="MODEL-5",
        consequence=_REQUEST,
        source="https://github.com/taylorwilsdon/google_workspace_mcp/issues/1099",
        softened="some hosts",
    ),
    Refusal(
        id="gemini-const",
        by=_GEMINI,
        what="const",
        kind=kinds.SchemaWords(("const",)),
        code="MODEL-5",
        consequence=_REQUEST,
        source="https://github.com/zed-industries/zed/issues/45552",
        softened="some hosts",
    ),
    Refusal(
        id="gemini-reference",
        by=_GEMINI,
        what="$ref to $defs",
        kind=kinds.SchemaWords(("$ref",)),
        code="MODEL-5",
        consequence=_REQUEST,
        source="https://github.com/google-gemini/gemini-cli/issues/13326",
        softened="some hosts",
    ),
    Refusal(
        id="gemini-words",
        by=_GEMINI,
        what=(
            "$schema, additionalProperties, exclusiveMinimum, exclusiveMaximum, propertyNames or "
            "patternProperties, in the field parameters"
        ),
        kind=kinds.SchemaWords(
            (
                *("$schema", "additionalProperties", "exclusiveMinimum", "exclusiveMaximum"),
                *("propertyNames", "patternProperties"),
            )
        ),
        code="MODEL-5",
        consequence=_REQUEST,
        source="https://github.com/zendev-sh/goai/pull/108",
        softened="most hosts",
    ),
    Refusal(
        id="vertex-untyped",
        by=_VERTEX,
        what="a property without a type",
        kind=kinds.Untyped(),
        code="MODEL-5",
        consequence=_REQUEST,
        source="https://github.com/unclecode/crawl4ai/issues/1311",
        softened="some hosts",
    ),
    Refusal(
        id="gemini-cli-untyped",
        by="Gemini CLI",
        what="a property without a type",
        kind=kinds.Untyped(),
        code="MODEL-5",
        consequence=_TOOL,
        source="https://github.com/JetBrains/mcp-jetbrains/issues/71",
        since="0.1.13",
    ),
    Refusal(
        id="zed-words",
        by="Zed with Gemini",
        what="if, then, else or $ref",
        kind=kinds.SchemaWords(("if", "then", "else", "$ref")),
        code="MODEL-5",
        consequence=_TOOL,
        source="https://github.com/zed-industries/zed/blob/main/crates/language_model/src/tool_schema.rs",
        sure="likely",
    ),
)

_DIALECTS: Final = (
    Refusal(
        id="typescript-output-type",
        by="The TypeScript SDK v1",
        what="an outputSchema whose type is not object",
        kind=kinds.NotObject("outputSchema"),
        code="MODEL-7",
        consequence=_SERVER,
        source="https://github.com/modelcontextprotocol/typescript-sdk/issues/1149",
        rule="SCH-002",
        legal_since="2026-07-28",
    ),
    Refusal(
        id="typescript-output-reference",
        by="The TypeScript SDK v1",
        what="a reference in an outputSchema to something outside of it",
        kind=kinds.RemoteReference("outputSchema"),
        code="MODEL-7",
        consequence=_SERVER,
        source="https://github.com/modelcontextprotocol/typescript-sdk/issues/1175",
        sure="likely",
        since="1.22.0",
    ),
    Refusal(
        id="typescript-output-dialect",
        by="Early 2.x of the TypeScript SDK, and hosts on it",
        what="an outputSchema that declares an older dialect than 2020-12",
        kind=kinds.Dialect(("draft-04", "draft-06", "draft-07", "2019-09"), "outputSchema"),
        code="MODEL-6",
        consequence="calls of this tool",
        source="https://github.com/modelcontextprotocol/typescript-sdk/issues/2532",
        until="2.4.0, which takes it",
    ),
    Refusal(
        id="vscode-dialect",
        by="VS Code",
        what="an inputSchema that declares 2020-12",
        kind=kinds.Dialect(("2020-12",), "inputSchema"),
        code="MODEL-6",
        consequence=_TOOL,
        source="https://github.com/microsoft/vscode/issues/251315",
        sure="possible",
        softened="most hosts",
        since="the middle of 2025",
    ),
)

SCHEMAS: Final[tuple[Refusal, ...]] = (*_TOPS, *_ARRAYS, *_VALUES, *_DIALECTS)
"""In the order in which they are told."""
