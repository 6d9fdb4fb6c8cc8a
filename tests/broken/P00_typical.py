"""Nothing is wrong: a server as the older TypeScript SDK makes it."""

from lines import serve

schema = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"limit": {"type": "integer", "exclusiveMinimum": 0}},
    "additionalProperties": False,
}
serve(
    tools=[{"name": "list_notes", "inputSchema": schema}, {"name": "add", "inputSchema": {"type": "object"}}]
)
