"""What a method needs of the server's capabilities.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
"""

from __future__ import annotations

from typing import Final

from mesero.audit.link import LinkState

__all__ = ["NEEDS", "find_undeclared"]

NEEDS: Final = {
    "tools/list": "tools",
    "tools/call": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "resources/subscribe": "resources",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "logging/setLevel": "logging",
    "completion/complete": "completions",
}
"""Method → the capability that the server declares when it knows the method."""


def find_undeclared(link: LinkState, method: str, revision: str) -> str:
    """The capability that a call needs and the server did not declare; empty if none, or if unknown."""
    needed = NEEDS.get(method, "")
    declared = link.server_capabilities
    if not needed or declared is None or needed in declared:
        return ""
    # The oldest revision has completion, but no capability for it.
    return "" if needed == "completions" and revision == "2024-11-05" else needed
