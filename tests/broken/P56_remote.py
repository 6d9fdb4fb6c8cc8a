"""Refers in an outputSchema to a schema in the network."""

from lines import TOOL, serve

schema = {"type": "object", "properties": {"at": {"$ref": "https://example.com/point.json"}}}
serve(tools=[TOOL, {**TOOL, "name": "read", "outputSchema": schema}])
