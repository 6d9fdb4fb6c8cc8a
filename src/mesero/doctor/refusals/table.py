"""The table: who refuses what, what happens then, and where that is known from.

Only what somebody documented, or what a host's code or an API's answer shows, is in it. A fact grows old:
each has its source, so that it can be looked at again.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from mesero.audit.diagnosis import Confidence
from mesero.doctor.refusals import kinds

__all__ = ["REFUSALS", "Consequence", "Refusal", "Softening"]

Consequence = Literal[
    "the whole request", "every tool of the server", "this tool", "calls of this tool", "tools of later pages"
]
"""What is lost. ``the whole request``: no answer of the model at all, as long as the tool is there."""

Softening = Literal["no", "some hosts", "most hosts"]
"""Who rewrites tools before they get there, so that nothing happens."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One fact.

    Attributes:
        id: Names it.
        by: Who refuses, as the subject of a sentence.
        what: What is refused, in words.
        kind: How it is seen, with its limits.
        code: The diagnosis that tells it.
        consequence: What is lost.
        source: Where it is known from.
        sure: How sure it is.
        softened: Who mends it on the way.
        since, until: When it holds, where that is known: a date or a version.
        rule: The rule of the audit that forbids it anyway.
        legal_since: The revision that lifted that rule.
    """

    id: str
    by: str
    what: str
    kind: kinds.Kind
    code: str
    consequence: Consequence
    source: str
    sure: Confidence = "certain"
    softened: Softening = "no"
    since: str = ""
    until: str = ""
    rule: str = ""
    legal_since: str = ""

    @property
    def is_grave(self) -> bool:
        """Whether it costs a whole request or a whole server, as far as is known."""
        is_wide = self.consequence in ("the whole request", "every tool of the server")
        return is_wide and self.sure != "possible" and self.softened == "no"


_ANTHROPIC: Final = "Anthropic's API"
_OPENAI: Final = "OpenAI's API"
_GEMINI: Final = "Gemini's API"
_VERTEX: Final = "Vertex AI"
_BEDROCK: Final = "Bedrock's Converse API"
_CLAUDE_APPS: Final = "Claude Desktop and claude.ai"
_REQUEST: Final = "the whole request"
_SERVER: Final = "every tool of the server"
_TOOL: Final = "this tool"
_PLAIN_NAME: Final = "A-Za-z0-9_-"

_NAMES: Final = (
    Refusal(
        id="anthropic-name",
        by=_ANTHROPIC,
        what="a name with other characters than A-Z a-z 0-9 _ -",
        kind=kinds.NameCharacters(_PLAIN_NAME),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://github.com/github/copilot-cli/issues/1879",
    ),
    Refusal(
        id="openai-name",
        by=_OPENAI,
        what="a name with other characters than A-Z a-z 0-9 _ -",
        kind=kinds.NameCharacters(_PLAIN_NAME),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://github.com/openai/codex/issues/8174",
    ),
    Refusal(
        id="bedrock-name",
        by=_BEDROCK,
        what="a name with other characters than A-Z a-z 0-9 _ -",
        kind=kinds.NameCharacters(_PLAIN_NAME),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html",
    ),
    Refusal(
        id="gemini-name",
        by=_GEMINI,
        what="a name with other characters than A-Z a-z 0-9 _ . : -, or that begins with a digit",
        kind=kinds.NameCharacters("A-Za-z0-9_.:-", first="A-Za-z_"),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://github.com/kaitranntt/ccs/issues/25",
    ),
    Refusal(
        id="claude-apps-name",
        by=_CLAUDE_APPS,
        what="a name with other characters than A-Z a-z 0-9 _ -",
        kind=kinds.NameCharacters(_PLAIN_NAME),
        code="MODEL-2",
        consequence=_SERVER,
        source="https://github.com/evoila/meho/issues/2745",
    ),
    Refusal(
        id="openai-length",
        by=_OPENAI,
        what="a name of more than 64 characters",
        kind=kinds.NameLength(64),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://github.com/microsoft/foundry-dev-tools/issues/201",
    ),
    Refusal(
        id="gemini-length",
        by=_GEMINI,
        what="a name of more than 64 characters",
        kind=kinds.NameLength(64),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://github.com/Yeachan-Heo/oh-my-claudecode/issues/235",
    ),
    Refusal(
        id="bedrock-length",
        by=_BEDROCK,
        what="a name of more than 64 characters",
        kind=kinds.NameLength(64),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html",
    ),
    Refusal(
        id="claude-apps-length",
        by=_CLAUDE_APPS,
        what="a name of more than 64 characters",
        kind=kinds.NameLength(64),
        code="MODEL-2",
        consequence=_SERVER,
        source="https://github.com/evoila/meho/issues/2745",
    ),
    Refusal(
        id="anthropic-length",
        by="Claude Code with Anthropic's API",
        what="more than 128 characters in mcp__server__tool",
        kind=kinds.NameLength(128, "mcp__{server}__{tool}"),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://github.com/anthropics/claude-code/issues/96152",
        since="the middle of 2025; 64 before",
    ),
    Refusal(
        id="claude-code-converse-length",
        by="Claude Code through a gateway to Bedrock's Converse API",
        what="more than 64 characters in mcp__server__tool",
        kind=kinds.NameLength(64, "mcp__{server}__{tool}"),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://github.com/awslabs/agent-plugins/issues/131",
        softened="some hosts",
    ),
    Refusal(
        id="copilot-cli-length",
        by="Copilot CLI",
        what="more than 64 characters in server-tool",
        kind=kinds.NameLength(64, "{server}-{tool}"),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://github.com/microsoft/mcp/issues/842",
        sure="likely",
    ),
    Refusal(
        id="librechat-length",
        by="LibreChat with Bedrock, OpenAI or Gemini",
        what="more than 64 characters in tool_mcp_server",
        kind=kinds.NameLength(64, "{tool}_mcp_{server}"),
        code="MODEL-2",
        consequence=_REQUEST,
        source="https://github.com/awslabs/mcp/issues/2395",
    ),
    Refusal(
        id="cursor-length",
        by="Cursor",
        what="60 characters or more of server and tool together",
        kind=kinds.NameLength(59, "{server}{tool}"),
        code="MODEL-2",
        consequence=_TOOL,
        source="https://github.com/ComposioHQ/composio/issues/2788",
    ),
    Refusal(
        id="amazon-q-length",
        by="Amazon Q CLI",
        what="more than 64 characters in server___tool",
        kind=kinds.NameLength(64, "{server}___{tool}"),
        code="MODEL-2",
        consequence=_TOOL,
        source="https://github.com/awslabs/mcp/issues/643",
        sure="likely",
    ),
    Refusal(
        id="anthropic-same",
        by=_ANTHROPIC,
        what="two tools of the same name",
        kind=kinds.SameNames(),
        code="LIST-4",
        consequence=_REQUEST,
        source="https://github.com/onyx-dot-app/onyx/issues/9229",
    ),
    Refusal(
        id="openai-agents-same",
        by="OpenAI's Agents SDK",
        what="two names that are the same with _ in place of other characters",
        kind=kinds.SameNames("A-Za-z0-9_"),
        code="MODEL-8",
        consequence=_TOOL,
        source="https://github.com/openai/openai-agents-js/issues/1934",
    ),
    Refusal(
        id="gemini-cli-cut",
        by="Gemini CLI",
        what="two long names with the same first and last 30 characters in mcp_server_tool",
        kind=kinds.CutNames(63, "mcp_{server}_{tool}", 30, 30),
        code="MODEL-8",
        consequence=_TOOL,
        source="https://github.com/google-gemini/gemini-cli/issues/28970",
    ),
)

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
        by="The TypeScript SDK v2 and Claude Code",
        what="an outputSchema that declares an older dialect than 2020-12",
        kind=kinds.Dialect(("draft-04", "draft-06", "draft-07", "2019-09"), "outputSchema"),
        code="MODEL-6",
        consequence="calls of this tool",
        source="https://github.com/modelcontextprotocol/typescript-sdk/issues/2532",
        until="the release with https://github.com/modelcontextprotocol/typescript-sdk/pull/2534",
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
    Refusal(
        id="openai-count",
        by=_OPENAI,
        what="more than 128 tools",
        kind=kinds.TooMany(128),
        code="MODEL-9",
        consequence=_REQUEST,
        source="https://github.com/zed-industries/zed/issues/32946",
    ),
    Refusal(
        id="first-page-only",
        by="Droid, Open WebUI, and older versions of Copilot CLI, Kiro and Vercel's AI SDK",
        what="tools that are not on the first page",
        kind=kinds.LaterPages(),
        code="LIST-6",
        consequence="tools of later pages",
        source="https://github.com/Factory-AI/factory/issues/7",
    ),
)

REFUSALS: Final[tuple[Refusal, ...]] = (*_NAMES, *_TOPS, *_ARRAYS, *_VALUES, *_DIALECTS)
"""All of them. Their order is that in which they are told."""
