"""Says at the top of an inputSchema what must not be."""

from lines import TOOL, serve

serve(tools=[TOOL, {"name": "query", "inputSchema": {"type": "object", "not": {"required": ["a", "b"]}}}])
