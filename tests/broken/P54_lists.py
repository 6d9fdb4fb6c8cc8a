"""Has a parameter that may be null."""

from lines import TOOL, serve

schema = {"type": "object", "properties": {"note": {"type": ["string", "null"]}}}
serve(tools=[TOOL, {"name": "run", "inputSchema": schema}])
