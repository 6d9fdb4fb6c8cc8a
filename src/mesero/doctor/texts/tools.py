"""What hosts and model APIs refuse of tools. What is legal in MCP is not the server's fault."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
    "MODEL-1": Text(
        "Model APIs refuse what stands at the top of a tool's schema",
        "discover",
        "client",
        'Let inputSchema be {"type": "object", "properties": {...}}: put the alternatives into one property, '
        "or make all parameters optional and say in the description which belong together.",
        "degraded",
    ),
    "MODEL-2": Text(
        "Hosts or model APIs refuse the name of a tool",
        "discover",
        "client",
        "Use 1 to 40 of the characters A-Z a-z 0-9 _ -: hosts put the server's name before it.",
        "degraded",
    ),
    "MODEL-3": Text(
        "Hosts and model APIs refuse an array that does not say what is in it",
        "discover",
        "client",
        'Add "items" to each array, for example "items": {"type": "string"}.',
        "degraded",
    ),
    "MODEL-4": Text(
        "A model API refuses the name of a parameter",
        "discover",
        "client",
        "Use 1 to 64 of the characters A-Z a-z 0-9 _ . - for each parameter.",
        "degraded",
    ),
    "MODEL-5": Text(
        "Gemini refuses something in the schema of a tool",
        "discover",
        "client",
        "Give each property one type, and texts as the values of an enum; write definitions out where used.",
        "note",
    ),
    "MODEL-6": Text(
        "A host refuses the dialect of a tool's schema",
        "discover",
        "client",
        'Leave "$schema" out, and write 2020-12, with "$defs" in place of "definitions".',
        "note",
    ),
    "MODEL-7": Text(
        "A host refuses the outputSchema of a tool",
        "discover",
        "client",
        'Return an object with the value in a property, and describe that: "type": "object".',
        "degraded",
    ),
    "MODEL-8": Text(
        "Two tools get the same name in some hosts",
        "discover",
        "client",
        "Rename one of them, so that they differ in letters or digits near their beginning.",
        "note",
    ),
    "MODEL-9": Text(
        "The server has more tools than a model API takes",
        "discover",
        "client",
        "Let the user choose which groups of tools the server has, or divide it into several servers.",
        "degraded",
    ),
}
"""By code."""
