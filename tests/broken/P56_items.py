"""Writes a tuple as it was written before 2020-12."""

from lines import TOOL, serve

schema = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"at": {"type": "array", "items": [{"type": "number"}, {"type": "number"}]}},
}
serve(tools=[TOOL, {"name": "go", "inputSchema": schema}])
