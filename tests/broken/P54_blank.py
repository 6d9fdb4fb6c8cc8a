"""Has an enum with an empty text."""

from lines import TOOL, serve

schema = {"type": "object", "properties": {"mode": {"type": "string", "enum": ["fast", ""]}}}
serve(tools=[TOOL, {"name": "run", "inputSchema": schema}])
