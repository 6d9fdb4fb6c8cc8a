"""Once connected: the lists, the tools as model APIs see them, ping. Tools are never called."""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import UNSET

from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.doctor.visit import Visit
from mesero.errors import MeseroError, TransportError
from mesero.jsonrpc import ResultResponse, decode_value
from mesero.types import ServerCapabilities

__all__ = ["check_errors", "check_lists", "check_tools"]

_KINDS: Final = (
    ("tools", "tools", "list_tools"),
    ("resources", "resources", "list_resources"),
    ("resources", "templates", "list_resource_templates"),
    ("prompts", "prompts", "list_prompts"),
)
_COMBINATORS: Final = ("oneOf", "anyOf", "allOf")
# https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use: the strictest in use.
_MAX_NAME: Final = 64
_ODD: Final = re.compile(r"[^A-Za-z0-9_.-]")


async def check_lists(sheet: Sheet, visit: Visit) -> tuple[list[Any], list[str]]:
    """Read every list to its end; the tools, and what went wrong with lists."""
    capabilities = visit.facts.capabilities or ServerCapabilities()
    tools: list[Any] = []
    failures: list[str] = []
    with sheet.check("lists") as check:
        for capability, noun, method in _KINDS:
            if getattr(capabilities, capability) is UNSET:
                if noun == "tools":
                    await _ask_unannounced(sheet, check, visit)
                continue
            found = await visit.try_call(getattr(visit.client, method))
            if isinstance(found, MeseroError):
                if noun == "templates" and getattr(found, "code", None) == -32601:
                    continue
                check.fail(f"{noun}: {found}")
                failures.append(f"{noun}: {found}")
            else:
                check.say(f"{noun}: {len(found)}")
                tools = found if noun == "tools" else tools
    return tools, failures


async def _ask_unannounced(sheet: Sheet, check: OpenCheck, visit: Visit) -> None:
    """Ask for tools although none are announced: some servers have them all the same."""
    answer = await visit.ask("tools/list")
    if not isinstance(answer, ResultResponse):
        check.say("tools: none announced")
        return
    result = decode_value(answer.result)
    tools = result.get("tools") if isinstance(result, dict) else None
    count = len(tools) if isinstance(tools, list) else 0
    if count:
        check.warn(f"tools: {count}, which were not announced")
        sheet.diagnose("CAP-1", f"the server has {count} tools, and its capabilities do not name `tools`")


def check_tools(sheet: Sheet, tools: list[Any]) -> None:
    """What model APIs refuse of tools that are legal in MCP."""
    with sheet.check("tools") as check:
        if not tools:
            check.skip("there are none")
            return
        combined, named = [], []
        for number, tool in enumerate(tools):
            schema = tool.input_schema
            top = [word for word in _COMBINATORS if isinstance(schema, dict) and word in schema]
            if top:
                combined.append(f"tool {number} {tool.name!r} has {top[0]} at the top of its inputSchema")
            if len(tool.name) > _MAX_NAME:
                named.append(f"tool {number} {tool.name!r} has {len(tool.name)} characters")
            elif _ODD.search(tool.name):
                named.append(f"tool {number} {tool.name!r} has the character {_ODD.findall(tool.name)[0]!r}")
        for text in (*combined, *named):
            check.warn(text)
        if combined:
            sheet.diagnose("MODEL-1", combined[0] + _more(combined), evidence=combined)
        if named:
            sheet.diagnose("MODEL-2", named[0] + _more(named), evidence=named)
        if check.status == "ok":
            check.say(f"{len(tools)} tools that every known model API takes")


def _more(found: list[str]) -> str:
    return f" (and {len(found) - 1} more)" if len(found) > 1 else ""


async def check_errors(sheet: Sheet, visit: Visit) -> None:
    """Whether ping is answered, where there is one."""
    with sheet.check("ping") as check:
        if visit.facts.era == "modern":
            check.skip("there is no ping in this revision")
            return
        # https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
        answer = await visit.ask("ping")
        if isinstance(answer, ResultResponse):
            check.say("ping is answered")
            return
        if isinstance(answer, TransportError):
            check.skip(f"there is nobody to ask: {answer.what}")
            return
        said = str(answer) if isinstance(answer, MeseroError) else f"{answer.code} {answer.message}"
        check.fail(said)
        sheet.diagnose("PING-1", f"ping was answered with: {said}")
