"""Has parameters that are called as a query string would have them."""

from lines import TOOL, serve

schema = {"type": "object", "properties": {"filter[name]": {"type": "string"}}}
serve(tools=[TOOL, {"name": "find", "inputSchema": schema}])
