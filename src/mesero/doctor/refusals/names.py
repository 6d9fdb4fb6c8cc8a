"""What is refused of the names of tools, and of the list that they are in."""

from __future__ import annotations

from typing import Final

from mesero.doctor.refusals import kinds
from mesero.doctor.refusals.refusal import Refusal

__all__ = ["NAMES"]

_ANTHROPIC: Final = "Anthropic's API"
_OPENAI: Final = "OpenAI's API"
_GEMINI: Final = "Gemini's API"
_BEDROCK: Final = "Bedrock's Converse API"
_CLAUDE_APPS: Final = "Claude Desktop and claude.ai"
_REQUEST: Final = "the whole request"
_SERVER: Final = "every tool of the server"
_TOOL: Final = "this tool"
_PLAIN_NAME: Final = "A-Za-z0-9_-"

NAMES: Final[tuple[Refusal, ...]] = (
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
"""In the order in which they are told."""
