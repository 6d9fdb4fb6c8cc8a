"""Has an array that does not say what is in it."""

from lines import TOOL, serve

schema = {"type": "object", "properties": {"tags": {"type": "array"}}}
serve(tools=[TOOL, {"name": "tag", "inputSchema": schema}])
