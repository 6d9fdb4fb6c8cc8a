"""Has alternatives at the top of an inputSchema."""

from lines import TOOL, serve

schema = {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
serve(tools=[TOOL, {"name": "query", "inputSchema": schema}])
